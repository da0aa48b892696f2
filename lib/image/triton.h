/* SPDX-License-Identifier: MIT */
/* What a Triton cache entry says about a kernel: .json and .source. Needs jansson; never in the
 * shim. */
#ifndef LIB_IMAGE_TRITON_H
#define LIB_IMAGE_TRITON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/hash.h"
#include "lib/image/note.h"
#include "lib/ir.h"
#include "lib/signature.h"

/* The texts of a cache entry; data NULL where there is none. json is required. */
struct triton_texts {
	struct span json;
	struct span source;      /* .source (Triton 3.4 and later), before that .ttir */
	struct span ttgir;       /* only for the config's num_warps of warp-specialised kernels */
	const struct note *note; /* of the Python glue; NULL: none. Only for `options` */
};

/*
 * Immutable, owned by the caller, freed with triton_kernel_free. Keys are those of
 * docs/identity.md; they do not depend on paths, SSA names or the machine.
 */
struct triton_kernel {
	struct signature *signature; /* NULL without .source */
	char *name;                  /* entry name of .json */
	int64_t num_warps;           /* the config's value */
	int64_t total_warps;         /* of .json: the block has 32 * total_warps threads */
	bool warps_known; /* num_warps is from the IR; else it is total_warps, the same unless the
			     kernel is warp-specialised */
	int64_t num_stages, num_ctas;
	int64_t maxnreg; /* 0 if none */
	bool enable_fp_fusion;
	uint32_t arch;      /* 90; 0 where the target is no NVIDIA GPU */
	uint32_t warp_size; /* 32 */
	uint64_t shared_bytes;
	uint64_t global_scratch_bytes, global_scratch_align; /* a block (times num_ctas) */
	uint64_t profile_scratch_bytes, profile_scratch_align;
	/*
	 * The hidden parameters are there, whatever their size: exactly where .json has the size
	 * (compiled and compared with 3.0 to 3.9 and fbtriton 3.7.4: global from 3.3, profile
	 * from 3.5).
	 */
	bool has_global_scratch, has_profile_scratch;
	bool cooperative, pdl;
	char *triton_version; /* "3.6.0"; "" before 3.3, where .json does not say */
	char *options; /* for people: "num_warps=4 num_stages=3 64x32 128x32", then the constexprs
			  where the glue has noted them */

	struct hash128 family; /* entry + argument types + source location, see docs/identity.md */
	struct hash128 config; /* canonical .source + options; without specialisation */
	struct hash128
		loose; /* entry + argument types + block shapes + options: pairs across versions */
	struct hash128 special; /* specialisation: number and divisibility of the arguments */
};

/*
 * Parses metadata. Without .source the keys rest on what .json has, and signature is NULL.
 * 0; -EINVAL with err on bad input; -ENOMEM. The texts are not kept.
 */
int triton_kernel_parse(struct triton_kernel **out, const struct triton_texts *texts,
			struct error *err);
void triton_kernel_free(struct triton_kernel *k);

#endif
