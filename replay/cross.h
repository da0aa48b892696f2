/* SPDX-License-Identifier: MIT */
/* Replays with the compiler's stages crossed: one side's PTX assembled by the other's ptxas. */
#ifndef REPLAY_CROSS_H
#define REPLAY_CROSS_H

#include "replay/replay.h"

struct cross {
	const struct replay_options *options; /* of the replay of A and B */
	const char *family;                   /* extended regular expression on entry names */
	const uint64_t *launches;             /* only these; NULL: all */
	size_t launch_count;
	enum side from;    /* whose PTX */
	const char *ptxas; /* program that assembles it */
	const char *result;
};

/*
 * Assembles the PTX of side `from` by `ptxas` into a bundle that goes away again, and replays A
 * against it into `result`. Same conditions, errors and summary as replay_run.
 */
int cross_replay(const struct cross *c, struct replay_summary *summary, struct error *err);

/*
 * Assembles the PTX of side `from` by `ptxas`, its own one, and compares machine code with what the
 * side has: *same of *images are equal. Where they are not, options of ptxas were others than a
 * recording tells, and crossing says less. 0 or -errno with err.
 */
int cross_rebuild(const struct cross *c, uint32_t *same, uint32_t *images, struct error *err);

#endif
