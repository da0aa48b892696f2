/* SPDX-License-Identifier: MIT */
/* Trials of a case by what they are for. */
#ifndef ANALYZE_CASE_TRIALS_H
#define ANALYZE_CASE_TRIALS_H

#include "analyze/result.h"

struct trials {
	const struct record_trial **repeats[SIDE_COUNT]; /* status ok */
	uint32_t repeat_count[SIDE_COUNT];
	const struct record_trial **poisons[SIDE_COUNT]; /* ok on both sides, the same index */
	uint32_t poison_count;
	const struct record_trial **moved[SIDE_COUNT]; /* perturbed, ok on both sides */
	uint32_t moved_count;
	/* scaled by the inputs' own factor alone, ok on both sides */
	const struct record_trial **scaled[SIDE_COUNT];
	uint32_t scaled_count;
	const struct record_trial *exact[SIDE_COUNT], *chain[SIDE_COUNT], *guard[SIDE_COUNT],
		*race[SIDE_COUNT]; /* ok on both, or NULL */
	/* Runs beyond the first of a kind and pattern, ok: poisoned, guarded, in a row. */
	const struct record_trial **again[SIDE_COUNT];
	uint32_t again_count[SIDE_COUNT];
	const struct record_trial *failed[SIDE_COUNT]; /* first that failed, without excuse */
	void *memory;
};

/* Sorts the case's trials; free(t->memory) afterwards. 0 or -ENOMEM. */
int trials_sort(const struct result_case *c, struct trials *t);

/* NULL: not there. */
const struct record_trial *trials_find(const struct result_case *c, uint32_t side, uint32_t kind,
				       uint32_t index);

/* How many of the trials have contents, before the first one that replay did not store. */
uint32_t trials_stored(const struct record_trial *const *t, uint32_t count);

#endif
