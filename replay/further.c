/* SPDX-License-Identifier: MIT */
/* Trials beyond identical repeats and poison: changed inputs, and several launches in a row. */
#include "replay/trial_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "replay/change.h"
#include "replay/dispute.h"
#include "replay/disturbed.h"
#include "replay/guard.h"
#include "replay/race.h"
#include "replay/reference.h"
#include "replay/scaled.h"
#include "replay/spare.h"
#include "replay/twin.h"

#define PERTURBED_RUNS 4
#define CHAIN_LAUNCHES 4
#define EXACT_LIMIT    0x1p24 /* integers up to here are exact in f32 */
#define EXACT_SEED     1u
#define PERTURBED_SEED 0x6b65726e656c6162ull

static bool is_exact_integer(void *data, uint32_t dtype, uint64_t address, const void *now)
{
	double v = float_class(dtype, now) == FLOAT_FINITE ? float_value(dtype, now) : NAN;

	if (fabs(v) < EXACT_LIMIT && v == (double)(int64_t)v)
		return true;
	*(uint64_t *)data = address;
	return false;
}

static bool any_not_exact(void *data, uint32_t dtype, const uint8_t *elements, size_t count)
{
	const float limit = (float)EXACT_LIMIT;
	int seen = 0;

	(void)data;
	if (dtype != DTYPE_F32 && dtype != DTYPE_BF16)
		return true;
	for (size_t i = 0; i < count; i++) {
		uint32_t bits = 0;
		float v, small;

		if (dtype == DTYPE_F32)
			memcpy(&bits, elements + 4 * i, 4);
		else
			memcpy((uint8_t *)&bits + 2, elements + 2 * i, 2);
		memcpy(&v, &bits, sizeof(v));
		small = fabsf(v) < limit ? v : 0.5f;
		seen |= small != (float)(int32_t)small;
	}
	return seen;
}

static void check_exact(struct trials *t, const struct outcome *o, char *why, size_t size)
{
	uint64_t found = 0;
	char place[120];

	twin_elements(t, &o->after, LOOK_NOT_EXACT, any_not_exact, is_exact_integer, &found);
	if (found)
		snprintf(why, size, "A's result at %s is no integer below 2^24",
			 contents_place(&t->contents, found, place, sizeof(place)));
}

static int run_perturbed(struct trials *t, const struct float_inputs *inputs, struct error *err)
{
	struct change change = {.kind = CHANGE_PERTURB,
				.inputs = inputs,
				.keep = &t->written.poisonable,
				.step = float_step(t->c->pointers, t->c->pointer_count)};

	for (uint32_t k = 0; k < PERTURBED_RUNS && !t->r->lost; k++) {
		struct twin w = {.note = {.kind = TRIAL_PERTURBED, .index = k, .step = change.step},
				 .setting = {.change = &change, .read = &t->written.bytes},
				 .check = twin_check_nan,
				 .look = LOOK_NOT_FINITE,
				 .spare = true};
		int rc;

		w.note.seed = change.seed = PERTURBED_SEED + k;
		rc = inputs->count ? twin_run(t, &w, err)
				   : twin_void(t, &w, "no argument points to floats");
		if (rc)
			return rc;
	}
	return 0;
}

static int run_exact(struct trials *t, const struct float_inputs *inputs, struct error *err)
{
	struct change change = {.kind = CHANGE_INTEGERS,
				.inputs = inputs,
				.keep = &t->written.poisonable,
				.seed = EXACT_SEED};
	struct twin w = {.note = {.kind = TRIAL_EXACT_INTEGER, .seed = EXACT_SEED},
			 .setting = {.change = &change, .read = &t->written.bytes},
			 .check = check_exact,
			 .look = LOOK_NOT_EXACT,
			 .spare = true};
	char why[160];

	if (!inputs->count)
		return twin_void(t, &w, "no argument points to floats");
	for (int s = 0; s < SIDE_COUNT; s++) {
		const struct precision *p = t->c->precision[s];

		if (p && p->exact)
			continue;
		snprintf(why, sizeof(why), "%s is not exact: %s", side_name((uint32_t)s),
			 p ? p->inexact : "no readable PTX");
		return twin_void(t, &w, why);
	}
	return twin_run(t, &w, err);
}

/*
 * Where several launches leave what one leaves, but for B, A may vary as well and have shown one
 * result by chance: it is run more often.
 */
static int run_chain(struct trials *t, struct error *err)
{
	struct twin w = {.note = {.kind = TRIAL_BACK_TO_BACK, .launches = CHAIN_LAUNCHES},
			 .setting = {.launches = CHAIN_LAUNCHES},
			 .whole = true};
	struct outcome o[SIDE_COUNT] = {0};
	bool other[SIDE_COUNT] = {0};
	int rc = twin_run_keep(t, &w, o, err);

	if (!rc && w.differ)
		rc = twin_other(t, &t->a_runs, &o[SIDE_A], &other[SIDE_A]);
	if (!rc && w.differ)
		rc = twin_other(t, &t->b_runs, &o[SIDE_B], &other[SIDE_B]);
	for (int s = 0; s < SIDE_COUNT; s++)
		outcome_free(&o[s]);
	return !rc && other[SIDE_B] && !other[SIDE_A] && !t->r->lost ? dispute_vary_a(t, &w, err)
								     : rc;
}

int trials_further(struct trials *t, struct error *err)
{
	uint32_t wanted = t->r->options->trials;
	struct float_inputs inputs;
	int rc = float_inputs_find(&inputs, t->c->pointers, t->c->pointer_count, t->c->launch);

	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "no memory for changed inputs");
	if (wanted & TRIALS_BACK_TO_BACK)
		rc = run_chain(t, err);
	if (!rc && !t->r->lost && wanted & TRIALS_GUARD)
		rc = trials_guard(t, err);
	if (!rc && !t->r->lost && wanted & TRIALS_PERTURBED)
		rc = run_perturbed(t, &inputs, err);
	if (!rc && !t->r->lost && wanted & TRIALS_EXACT)
		rc = run_exact(t, &inputs, err);
	if (!rc && !t->r->lost && wanted & TRIALS_SCALED)
		rc = trials_scaled(t, &inputs, err);
	if (!rc && !t->r->lost && wanted & TRIALS_RACE && t->c->look_for_races)
		rc = trials_race(t, err);
	/* After these, since A may hang in it. The software device has no timing: only where it is
	 * asked for by name. */
	if (!rc && !t->r->lost && wanted & TRIALS_DISTURBED && t->c->look_for_races &&
	    (!t->r->software || wanted != TRIALS_ALL))
		rc = trials_disturbed(t, err);
	if (!rc && !t->r->lost)
		rc = spare_end(t, err);
	if (!rc && !t->r->lost)
		rc = trials_siblings(t, err);
	if (!rc && !t->r->lost)
		rc = trials_reference(t, err);
	free(inputs.items);
	return rc;
}
