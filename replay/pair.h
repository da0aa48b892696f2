/* SPDX-License-Identifier: MIT */
/* Which kernel of B belongs to which kernel of A. Pure: works on suites, opens nothing. */
#ifndef REPLAY_PAIR_H
#define REPLAY_PAIR_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/records.h"
#include "lib/image/suite.h"
#include "replay/rules.h"

/* A recorded launch: the bundle is an index into the base suite's bundles. */
struct pair_launch {
	size_t bundle;
	const struct record_launch *launch;
	uint32_t grid[3]; /* of a config with other block shapes on it; 0: not known, or the same */
};

/*
 * One row of the plan, and one CONFIG record: an image + entry of the recorded run with the images
 * of A and B that stand in for it. The same image in several bundles is one pair.
 */
struct pair {
	const struct suite_family *family; /* of the base suite; of B's where only B has it */
	const struct suite_config *config;
	const struct suite_member *base;  /* whose launches were recorded; NULL: nobody's */
	const struct suite_member *a, *b; /* in the suites of A and B; NULL: none */
	const struct suite_config *b_config;
	enum pairing pairing;
	char *reason; /* why it cannot be tested, or NULL */
	/*
	 * A config without a recorded launch of its own runs on those of `on`, base is of that
	 * config then; of a config that only B has, a too. NULL: on its own.
	 */
	const struct suite_config *on;
	char *stand_in; /* for people: on what it runs; NULL */
	struct pair_launch *launches;
	size_t launch_count;
};

struct pairs {
	struct pair *items;
	size_t count, capacity;
};

/*
 * Pairs every member of `base` (the recorded run) with members of a and b; a or b may be `base`
 * itself: then a member stands for itself. Order: families, configs and members as in the suite,
 * then what only B has. The rules, for one side:
 *   0. the side was made from the recorded images: the image made from this one;
 *      then what `rules` (NULL: none) say about B: by rule;
 *   1. same family key and config key: exact;
 *   2. else, with metadata, same entry name and loose key (source changed), if each suite has one
 *      such config that the other does not have exactly; or a cubin without metadata of that entry
 *      and parameter layout: exact with the same PTX, else source changed if it is the only one.
 *      Without metadata, same family key, if each suite has one config of it: exact;
 *   3. of several images the one with an equal specialisation; of several such, equal machine code
 *      makes them one; else by position (equally many on both sides, in order of first launch);
 *      else the only one that shares a grid.
 * Otherwise there is none, or it is ambiguous; the reason says so. A config that was loaded and
 * never launched runs on the launches of the most launched config with the same block shapes; one
 * that only B has on those of the most launched config at all, if B launched it (its grid is known
 * then), else on those of one with the same block shapes. Where none has them, the grid may follow
 * from the recorded launches (grid.h). A partner of another source that was
 * never launched has no known geometry: not tested, with that reason. 0 or -ENOMEM.
 */
int pairs_build(struct pairs *out, const struct suite *base, const struct suite *a,
		const struct suite *b, const struct pair_rules *rules);
void pairs_free(struct pairs *p);

#endif
