/* SPDX-License-Identifier: MIT */
/* Trials of a case by what they are for. */
#include "analyze/case_trials.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base.h"

static bool trial_failed(const struct record_trial *t)
{
	return t->status != TRIAL_STATUS_OK && t->status != TRIAL_STATUS_VOID;
}

struct trial_key {
	uint32_t side, kind, index;
};

static int compare_trial_key(const void *key, const void *item)
{
	const struct trial_key *k = key;
	const struct record_trial *t = *(const struct record_trial *const *)item;

	if (t->side != k->side)
		return t->side < k->side ? 1 : -1;
	if (t->kind != k->kind)
		return t->kind < k->kind ? 1 : -1;
	return (k->index > t->index) - (k->index < t->index);
}

/* Trials are sorted by side, kind, index. NULL: not there. */
const struct record_trial *trials_find(const struct result_case *c, uint32_t side, uint32_t kind,
				       uint32_t index)
{
	struct trial_key key = {side, kind, index};
	const struct record_trial **found =
		bsearch(&key, c->trials, c->trial_count, sizeof(*c->trials), compare_trial_key);

	return found ? *found : NULL;
}

uint32_t trials_stored(const struct record_trial *const *t, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (t[i]->unstored)
			return i;
	return count;
}

/* A run that replay made to tell what varies by itself from what a pattern changes. */
static bool is_again(const struct record_trial *t)
{
	if (t->kind == TRIAL_DISTURBED)
		return true;
	return t->index > 1 &&
	       (t->kind == TRIAL_POISON || t->kind == TRIAL_GUARD || t->kind == TRIAL_BACK_TO_BACK);
}

/*
 * A grid that has no room while it is disturbed, or needs more of it than there is to get on, shows
 * nothing; nor does A where it runs on a pattern.
 */
static bool failure_counts(const struct record_trial *t)
{
	if (t->kind == TRIAL_DISTURBED)
		return t->side == SIDE_B &&
		       (t->status == TRIAL_STATUS_FAULT || t->status == TRIAL_STATUS_CRASH);
	return t->kind == TRIAL_REPEAT || t->side == SIDE_B;
}

/*
 * All trials but repeats count only as pairs: where A's is void (the memory is read too, A fails on
 * changed inputs) nothing that B does there is held against it.
 */
static void sort_pairs(const struct result_case *c, struct trials *t)
{
	for (size_t i = 0; i < c->trial_count; i++) {
		const struct record_trial *a = c->trials[i], *b;

		if (a->side != SIDE_A || a->kind == TRIAL_REPEAT || a->status != TRIAL_STATUS_OK ||
		    is_again(a))
			continue;
		b = trials_find(c, SIDE_B, a->kind, a->index);
		if (b && trial_failed(b) && !t->failed[SIDE_B])
			t->failed[SIDE_B] = b;
		if (!b || b->status != TRIAL_STATUS_OK)
			continue;
		if (a->kind == TRIAL_POISON) {
			t->poisons[SIDE_A][t->poison_count] = a;
			t->poisons[SIDE_B][t->poison_count++] = b;
		} else if (a->kind == TRIAL_PERTURBED) {
			t->moved[SIDE_A][t->moved_count] = a;
			t->moved[SIDE_B][t->moved_count++] = b;
		} else if (a->kind == TRIAL_SCALED && !(a->step > 0)) {
			t->scaled[SIDE_A][t->scaled_count] = a;
			t->scaled[SIDE_B][t->scaled_count++] = b;
		} else if (a->kind == TRIAL_EXACT_INTEGER) {
			t->exact[SIDE_A] = a;
			t->exact[SIDE_B] = b;
		} else if (a->kind == TRIAL_GUARD) {
			t->guard[SIDE_A] = a;
			t->guard[SIDE_B] = b;
		} else if (a->kind == TRIAL_RACE) {
			t->race[SIDE_A] = a;
			t->race[SIDE_B] = b;
		} else if (a->kind == TRIAL_BACK_TO_BACK) {
			t->chain[SIDE_A] = a;
			t->chain[SIDE_B] = b;
		}
	}
}

int trials_sort(const struct result_case *c, struct trials *t)
{
	const struct record_trial **p =
		calloc(c->trial_count ? 10 * c->trial_count : 1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	*t = (struct trials){.memory = p};
	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		t->repeats[s] = p + s * c->trial_count;
		t->poisons[s] = p + (2 + s) * c->trial_count;
		t->moved[s] = p + (4 + s) * c->trial_count;
		t->scaled[s] = p + (6 + s) * c->trial_count;
		t->again[s] = p + (8 + s) * c->trial_count;
	}
	for (size_t i = 0; i < c->trial_count; i++) {
		const struct record_trial *x = c->trials[i];

		if (x->kind != TRIAL_REPEAT && !is_again(x))
			continue;
		if (x->status == TRIAL_STATUS_OK && x->kind == TRIAL_REPEAT)
			t->repeats[x->side][t->repeat_count[x->side]++] = x;
		else if (x->status == TRIAL_STATUS_OK)
			t->again[x->side][t->again_count[x->side]++] = x;
		else if (trial_failed(x) && !t->failed[x->side] && failure_counts(x))
			t->failed[x->side] = x;
	}
	sort_pairs(c, t);
	return 0;
}
