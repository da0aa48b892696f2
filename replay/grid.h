/* SPDX-License-Identifier: MIT */
/* The grid of a config that was never launched, worked out from launches of its siblings. */
#ifndef REPLAY_GRID_H
#define REPLAY_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "lib/image/suite.h"

/* The launch that `target` shall run on was recorded with `base`. */
struct grid_question {
	const struct suite_family *families[2]; /* whose recorded launches show the grid; or NULL */
	const struct record_launch *launch;
	const struct suite_member *base, *target;
};

/*
 * Looks for what explains each dimension of the grid in all recorded launches of the families (of
 * 64 different ones at most, the first; and of 48 integers at most, else it is refused):
 * products of at most three of n, c and cdiv(n, c), n an integer argument (by value and by name; a
 * stride is no count) and c a constexpr that the Python glue noted (docs/glue.md), or a constant.
 * The grid of the target is known where all explanations with the fewest factors, or one more, give
 * it the same one, and at least two different launches show them. *how (malloc'ed) gets for people:
 * "128x1x1 = cdiv(M, BLOCK_M)·cdiv(N, BLOCK_N) x 1 x 1, as in 6 launches". 0; -ENOENT with the
 * reason in err; -ENOMEM.
 */
int grid_infer(uint32_t grid[3], char **how, const struct grid_question *q, struct error *err);

#endif
