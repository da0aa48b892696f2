/* SPDX-License-Identifier: MIT */
/*
 * The kernel suite: what one or more captures launched, by family, config, specialisation and shape
 * class. ls and show print it, replay pairs two of them. The identities are those of
 * docs/identity.md.
 */
#ifndef LIB_IMAGE_SUITE_H
#define LIB_IMAGE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"
#include "kernelab/hash.h"
#include "kernelab/records.h"
#include "lib/image/cubin.h"
#include "lib/image/triton.h"

/* Launches of one member in one shape class. */
struct suite_class {
	struct hash128 key; /* LAUNCH.shape_class */
	uint32_t grid[3];
	uint64_t seen;      /* launches; a lower bound where the capture did not end by itself */
	uint64_t recorded;  /* LAUNCH records */
	const char *reason; /* why the others were not recorded, or most of them; "" */
};

/* Launches of a member that were only counted, all of one class, for one reason. */
struct suite_left {
	const struct suite_class *shape_class;
	const char *reason;
	int64_t launches; /* below 0 while a record of what was written is still to come: ignored */
};

/*
 * One kernel (image + entry) of one bundle. The same image in two bundles is two members, so that
 * each of them has the launches of its own bundle.
 */
struct suite_member {
	size_t bundle; /* index into suite.bundles */
	const struct record_image *image;
	const struct record_kernel *kernel; /* NULL: the image was loaded, the kernel never used */
	const char *entry;                  /* entry name */
	const struct triton_kernel *triton; /* metadata; NULL without */
	const struct note *note;            /* of the Python glue; NULL without */
	const struct cubin *cubin;          /* NULL where the image is no cubin */
	const struct cubin_kernel *code;    /* the entry in it; NULL without cubin */
	const char *problem; /* why metadata or cubin could not be read (they are NULL then); "" */
	struct hash128 special;   /* triton_kernel.special; zero without metadata */
	struct hash128 code_hash; /* cubin_kernel.code; zero without cubin */
	struct hash128
		ptx_hash; /* ptx_canonical_hash of .ptx, else of the image's own; zero without */
	const struct record_launch **launches; /* recorded ones, by seq */
	size_t launch_count;
	struct suite_class *classes; /* by grid, then key */
	size_t class_count;
	struct suite_left *left; /* by class, then reason */
	size_t left_count;
	uint64_t seen, recorded; /* sums over classes */
};

/* One config of a family: paired with the other side's by (family key, config key). */
struct suite_config {
	struct hash128 key;   /* triton_kernel.config; without metadata cubin_kernel.code */
	struct hash128 loose; /* triton_kernel.loose: second try across Triton versions; or zero */
	const char *options;  /* for people: "num_warps=4 num_stages=3 64x32" */
	struct suite_member *members; /* by special, image id, bundle */
	size_t member_count;
	size_t special_count; /* different specialisations among the members */
	size_t class_count;   /* different shape classes among the members' */
	uint64_t seen, recorded;
};

struct suite_family {
	struct hash128 key;
	const char *name;       /* entry name */
	enum origin origin;     /* of its first image */
	const char *origin_how; /* the rule */
	const char *source;     /* file; "" where unknown */
	uint32_t line;
	const struct record_arg *args; /* as in the IR; NULL without metadata */
	size_t arg_count;
	bool metadata;                /* there is a Triton cache entry */
	struct suite_config *configs; /* by options, then key */
	size_t config_count;
	size_t class_count; /* different shape classes among the configs' */
	uint64_t seen, recorded;
	size_t sweeps, sweep_configs; /* an autotuner's sweeps, and configs tried in one */
	uint64_t benchmarks;          /* recorded launches of Inductor's compile-time benchmark */
};

/*
 * Launches that no LAUNCH record stands for, over all bundles, by reason, origin, name: those of
 * kernels that were not recorded at all, and those beyond the recorded ones of a shape class.
 */
struct suite_missing {
	const char *name; /* kernel name */
	enum origin origin;
	const char *reason;
	uint64_t launches;
};

struct suite {
	struct bundle *const
		*bundles; /* a copy of the array given; the bundles stay the caller's */
	size_t bundle_count;
	struct suite_family *families; /* by name, source, line, key */
	size_t family_count;
	struct suite_missing *missing;
	size_t missing_count;
	size_t unused_images;    /* without Triton metadata, and no kernel of them was used */
	uint64_t seen, recorded; /* of the families */
	uint64_t unlisted;       /* launches of kernels that stand in no family */
	struct suite_private *priv;
};

/*
 * Builds the suite of `count` open bundles (captures). Reads every image and its metadata. Points
 * into the bundles: free it before they are closed. Kernels without (readable) Triton metadata are
 * families of their own: entry + parameter layout, config = machine code. 0; -ENOMEM; -EINVAL for a
 * bundle whose records do not fit together (a launch of a kernel that is not there), with err.
 */
int suite_build(struct suite **out, struct bundle *const *bundles, size_t count, struct error *err);
void suite_free(struct suite *s); /* NULL is allowed */

/* By key, or NULL. */
const struct suite_family *suite_family(const struct suite *s, struct hash128 key);
const struct suite_config *suite_config(const struct suite_family *f, struct hash128 key);

#endif
