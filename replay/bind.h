/* SPDX-License-Identifier: MIT */
/* A recorded launch bound to one image: geometry, attributes and parameter buffer for that image.
 */
#ifndef REPLAY_BIND_H
#define REPLAY_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "kernelab/dtype.h"
#include "kernelab/error.h"
#include "lib/image/suite.h"
#include "replay/extents.h"

#define BOUND_MAX_PARAMS_BYTES   (1u << 20)
#define BOUND_MAX_DESCRIPTORS    8
#define BOUND_MAX_VARIABLE_WORDS 16
#define BOUND_MAX_ATTRIBUTES     8 /* more than attribute_is_portable knows */

/* A hidden parameter that the replayer points at memory of its own. */
struct scratch {
	uint32_t offset; /* in the parameter buffer */
	uint64_t bytes;
	uint64_t recorded; /* the address in the recorded buffer, 0 if it had none */
};

/* A launch attribute whose value means the same in another process. */
struct bound_attribute {
	uint32_t id;       /* CUlaunchAttributeID */
	uint8_t value[64]; /* CUlaunchAttributeValue */
};

/*
 * A TMA descriptor that the target wants encoded differently (another box or swizzle): its tensor
 * is the recorded one, its shape that of the target's own recorded launch.
 */
struct descriptor {
	uint32_t offset; /* in the parameter buffer */
	const struct record_tensor_map *tensor, *shape;
};

/* A word of the parameters that leads into a module variable. */
struct variable_word {
	uint32_t offset;   /* in the parameter buffer */
	uint32_t variable; /* among the launch's variables, as contents_load numbers them */
	uint64_t into;     /* bytes from its begin */
};

struct bound {
	const struct bundle *bundle; /* that holds the image */
	const struct record_image *image;
	const char *entry;
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	bool cooperative;
	struct bound_attribute attributes[BOUND_MAX_ATTRIBUTES];
	size_t attribute_count;
	uint8_t *params; /* owned */
	uint32_t params_bytes;
	const struct record_param *layout; /* borrowed, in order */
	size_t layout_count;
	struct scratch scratch[2];
	size_t scratch_count;
	struct descriptor descriptors[BOUND_MAX_DESCRIPTORS]; /* to encode anew */
	size_t descriptor_count;
	struct variable_word variable_words[BOUND_MAX_VARIABLE_WORDS];
	size_t variable_word_count;
	char note[160]; /* what was assumed: where the geometry comes from; "" */
};

/* The member's parameter layout: as recorded, else from its cubin. NULL with *count 0 if unknown.
 */
const struct record_param *member_params(const struct suite_member *m, size_t *count);

/* The argument that parameter i is, where signature and layout agree in number; else NULL. */
const struct record_arg *member_arg(const struct suite_member *m, size_t i);

/*
 * Binds `launch`, recorded with `base`, to the image of `target` (may be base itself).
 *   grid       the recorded one (equal keys mean equal block shapes)
 *   block      of base: recorded; else of a recorded launch of target, preferring the same shape
 *              class; else the recorded one where both have the same PTX; else 32 x all warps
 *              from target's metadata
 *   shared     likewise; else target's metadata
 *   attributes likewise; else those recorded with base, the cluster by target's num_ctas; those
 *              that name events or memory of the recorded process are left out
 *   parameters matched by argument name and type where both have a signature, else both layouts
 *              must be equal and the bytes are taken over; hidden scratch of target gets memory
 *              of the replayer where its metadata asks for some, else 0; TMA descriptors are
 *              the recorded bytes, or encoded anew where target's own launch had another box,
 *              swizzle or the like
 * launch_bundle holds `launch`, target_bundle holds target; each may be NULL (no descriptors). The
 * result borrows from base, target and launch; bound_free frees the rest. -EINVAL with the reason
 * where the launch cannot be bound.
 */
int bound_make(struct bound *out, const struct bundle *launch_bundle,
	       const struct record_launch *launch, const struct suite_member *base,
	       const struct suite_member *target, const struct bundle *target_bundle,
	       struct error *err);
void bound_free(struct bound *b);

/*
 * The pointers of a recorded launch: 8-byte parameters, and words inside larger ones, that point
 * into its regions; TMA descriptors by the recorded encode arguments; the begin of each module
 * variable, at its stand-in address. dtype and argument from
 * base's signature; hidden scratch is left out; `stored` is filled from the mask of parameters
 * (all of them if `all_stored`). Also the begin of each region that no parameter leads to (pointers
 * in memory do) and that a measured launch writes. What is stored through and of no known type gets
 * stored_dtype, the one type that the kernel stores, or DTYPE_UNKNOWN. Sorted. malloc'ed; 0 or
 * -ENOMEM.
 */
int launch_pointers(struct pointer **out, size_t *count, const struct bundle *bundle,
		    const struct record_launch *launch, const struct suite_member *base,
		    uint64_t stored_params, bool all_stored, enum dtype stored_dtype);

/* For people: "X=0x7f0012340000 n=781"; malloc'ed, NULL without memory. */
char *launch_params_text(const struct record_launch *launch, const struct suite_member *base);

#endif
