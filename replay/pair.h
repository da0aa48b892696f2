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
};

/*
 * One row of the plan, and one CONFIG record: an image + entry of the recorded run with the images
 * of A and B that stand in for it. The same image in several bundles is one pair.
 */
struct pair {
	const struct suite_family *family; /* of the base suite; of B's where only B has it */
	const struct suite_config *config;
	const struct suite_member *base;  /* what was recorded; NULL: B only */
	const struct suite_member *a, *b; /* in the suites of A and B; NULL: none */
	const struct suite_config *b_config;
	enum pairing pairing;
	char *reason; /* why it cannot be tested, or NULL */
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
 * Otherwise there is none, or it is ambiguous; the reason says so. A partner of another source that
 * was never launched has no known geometry: not tested, with that reason. 0 or -ENOMEM.
 */
int pairs_build(struct pairs *out, const struct suite *base, const struct suite *a,
		const struct suite *b, const struct pair_rules *rules);
void pairs_free(struct pairs *p);

#endif
