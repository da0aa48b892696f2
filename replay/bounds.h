/* SPDX-License-Identifier: MIT */
/* Which integer arguments of a Triton kernel bound its masks, read from its IR. */
#ifndef REPLAY_BOUNDS_H
#define REPLAY_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"

#define BOUNDS_MAX_ARGS 64u

struct bounds {
	size_t arg_count; /* of the function, BOUNDS_MAX_ARGS at most are looked at */
	uint64_t bounding;
	uint32_t block[BOUNDS_MAX_ARGS]; /* indices that are compared with it at once; 0 unknown */
};

/*
 * Reads the kernel's function of Triton IR (.ttir, else .source). Argument i is bounding if a
 * tensor of indices is compared to be below it (itself, or it less something, or a minimum with
 * it), and the outcome, possibly and-ed with others, is the mask of a load, store or atomic. So a
 * smaller value masks more. Loops, branches and calls are not followed: what is not seen is not
 * bounding. 0; -ENOENT without a public function; -ENOMEM.
 */
int bounds_find(struct bounds *out, const char *text, size_t size, struct error *err);

#endif
