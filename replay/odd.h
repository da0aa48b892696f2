/* SPDX-License-Identifier: MIT */
/* Of several runs, which gives an element that all the others give alike another value. */
#ifndef REPLAY_ODD_H
#define REPLAY_ODD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/byteset.h"
#include "replay/contents.h"
#include "replay/extents.h"

/*
 * counts[r] becomes the number of elements in which runs[r] is the odd one out: it differs from all
 * the other runs, which agree. Looked at are the elements in `varying` (whole ones, over the runs'
 * pieces; elsewhere all runs must agree): of an extent's type, single bytes outside the extents.
 * `counts` has `count` items, overwritten; fewer than three runs have no odd one. All is
 * borrowed. 0 or -ENOMEM.
 */
int odd_count(uint64_t *counts, const struct snapshot *const *runs, size_t count,
	      const struct byteset *varying, const struct extents *extents);

/*
 * Whether runs[0] is odd no more often than a run is that is like the others: in at most twice
 * as many elements as one of them, or not more than chance makes of it. For chance the odd one of
 * each element is any of the runs with equal probability, so that of all odd values those of
 * runs[0] are binomial with 1 / count; beyond chance is a tail below 2^-16 (FISHER_LIMIT). Where no
 * other run is ever odd, rare values are not what this kernel gives: then only 0 is plausible.
 */
bool odd_plausible(const uint64_t *counts, size_t count);

#endif
