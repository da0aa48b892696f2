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
#include "lib/signature.h"

/*
 * Immutable, owned by the caller, freed with triton_kernel_free. Keys are those of
 * docs/identity.md; they do not depend on paths, SSA names or the machine.
 */
struct triton_kernel {
	struct signature *signature; /* NULL without .source */
	char *name;                  /* entry name of .json */
	int64_t num_warps;           /* the config's value */
	int64_t num_stages, num_ctas;
	int64_t maxnreg; /* 0 if none */
	bool enable_fp_fusion;
	uint32_t arch;      /* 90 */
	uint32_t warp_size; /* 32 */
	uint64_t shared_bytes;
	uint64_t global_scratch_bytes, global_scratch_align; /* a block (times num_ctas) */
	uint64_t profile_scratch_bytes, profile_scratch_align;
	bool has_global_scratch, has_profile_scratch; /* hidden parameters are there (by version) */
	bool cooperative, pdl;
	char *triton_version; /* "3.6.0"; "" where the version does not say */
	char *options;        /* for people: "num_warps=4 num_stages=3 64x32 128x32" */

	struct hash128 family; /* entry + argument names and types + source location */
	struct hash128 config; /* canonical .source + options; without specialisation */
	struct hash128
		loose; /* entry + argument types + block shapes + options: pairs across versions */
	struct hash128 special; /* specialisation: divisibility and ==1 of the arguments */
};

/*
 * Parses metadata. json is required. source may be NULL (old caches): then the keys rest on what
 * .json has, and signature is NULL. texts need not be NUL-terminated. -EINVAL with err on bad
 * input.
 */
int triton_kernel_parse(struct triton_kernel **out, const char *json, size_t json_size,
			const char *source, size_t source_size, struct error *err);
void triton_kernel_free(struct triton_kernel *k);

#endif
