/* SPDX-License-Identifier: MIT */
/* Which launches a config runs on that has none of its own, and with what grid. */
#ifndef REPLAY_STAND_IN_H
#define REPLAY_STAND_IN_H

#include <stdbool.h>

#include "kernelab/error.h"
#include "lib/image/suite.h"

/*
 * The recorded member of the family that was launched most, an autotuner's winner, with its config.
 * With `shapes` (text of options as suite_config has it) only configs with the same block shapes
 * and noted constexprs: their grids are equal too, whatever num_warps and num_stages are. NULL:
 * there is none.
 */
const struct suite_member *stand_in_find(const struct suite_family *f, const char *shapes,
					 const struct suite_config **config);

/* Block shapes and constexprs of both options texts are equal and whole (not cut by "…"). */
bool stand_in_same_shapes(const char *x, const char *y);

/*
 * The grid with which `target` was itself launched on arguments like those of `launch`, a launch of
 * base: every scalar of target has base's value by name and type. Block shapes of another config
 * divide the same sizes otherwise. False: no such launch was recorded.
 */
bool stand_in_grid(uint32_t grid[3], const struct record_launch *launch,
		   const struct suite_member *base, const struct suite_member *target);

/*
 * Whether the image of `target` is valid for the launch, of base: every argument that target is
 * specialised for has such a value (a multiple of the divisibility; 1 where target lacks it).
 */
bool stand_in_valid(const struct record_launch *launch, const struct suite_member *base,
		    const struct suite_member *target);

#endif
