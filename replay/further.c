/* SPDX-License-Identifier: MIT */
/* Trials beyond identical repeats and poison: changed inputs, and several launches in a row. */
#include "replay/trial_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernelab/dtype.h"
#include "replay/change.h"

#define PERTURBED_RUNS 4
#define CHAIN_LAUNCHES 4
#define EXACT_LIMIT    0x1p24 /* integers up to here are exact in f32 */
#define EXACT_SEED     1u
#define PERTURBED_SEED 0x6b65726e656c6162ull

/* A trial that both sides make in the same setting, A first. */
struct twin {
	struct trial_note note;
	struct setting setting;
	bool whole; /* everything was read back: bytes outside the extents count */
	/* Why A's outcome is no ground to stand on; "" if it is. May be NULL. */
	void (*check)(struct trials *t, const struct outcome *o, char *why, size_t size);
};

static int twin_void(struct trials *t, const struct twin *w, const char *why)
{
	int rc = trials_send_status(t, SIDE_A, w->note.kind, w->note.index, TRIAL_STATUS_VOID, why);

	return rc ? rc
		  : trials_send_status(t, SIDE_B, w->note.kind, w->note.index, TRIAL_STATUS_VOID,
				       why);
}

static int twin_send(struct trials *t, const struct twin *w, enum side side,
		     const struct outcome *o)
{
	struct trial_note n = w->note;

	n.side = side;
	return w->whole && o->status == TRIAL_STATUS_OK ? trials_send_whole(t, &n, o)
							: trials_send(t, &n, o);
}

static int twin_run(struct trials *t, const struct twin *w, struct error *err)
{
	const struct ready *sides[SIDE_COUNT] = {&t->a, &t->b};

	for (int s = 0; s < SIDE_COUNT; s++) {
		struct moment when =
			trials_moment(t, PHASE_FURTHER, (enum side)s, w->note.kind, w->note.index);
		struct outcome o;
		char why[560] = "";
		int rc;

		if (w->setting.launches)
			when.seconds *= w->setting.launches;
		rc = runner_launch(t->r, sides[s], &when, &w->setting, &o, err);
		if (rc)
			return rc;
		if (s == SIDE_A && o.status != TRIAL_STATUS_OK)
			snprintf(why, sizeof(why), "A ends with a %s: %s",
				 trial_status_name(o.status), o.reason);
		else if (s == SIDE_A && w->check)
			w->check(t, &o, why, sizeof(why));
		rc = why[0] ? twin_void(t, w, why) : twin_send(t, w, (enum side)s, &o);
		outcome_free(&o);
		if (rc || why[0] || t->r->lost)
			return rc;
	}
	return 0;
}

/* Calls for each element of each float extent; stops where it returns false. */
typedef bool each_element(void *data, uint32_t dtype, uint64_t address, const void *now);

/* Written elements of one extent within one chunk. False: the call ended it. */
static bool for_chunk(struct trials *t, const struct snapshot *s, const struct record_extent *x,
		      size_t chunk, each_element *call, void *data)
{
	uint64_t start = byteset_address(&t->written.bytes, chunk), end = start + CHUNK_BYTES;
	uint32_t bytes = dtype_bytes((enum dtype)x->dtype);
	const uint64_t *words = t->written.bytes.words[chunk];
	const uint8_t *now = snapshot_chunk(s, chunk);
	uint64_t at = x->address;

	if (!words)
		return true;
	if (at < start)
		at += (start - at + bytes - 1) / bytes * bytes;
	if (end > x->address + x->size)
		end = x->address + x->size;
	for (; at + bytes <= end; at += bytes) {
		uint64_t offset = at - start;

		if (words[offset / 64] >> offset % 64 & 1 &&
		    !call(data, x->dtype, at, now + offset))
			return false;
	}
	return true;
}

static void for_elements(struct trials *t, const struct snapshot *s, each_element *call, void *data)
{
	for (size_t i = 0; i < t->written.extents.count; i++) {
		const struct record_extent *x = &t->written.extents.items[i];
		size_t chunk = byteset_chunk(&t->written.bytes, x->address);
		size_t last = byteset_chunk(&t->written.bytes, x->address + x->size - 1);

		if (!dtype_is_float((enum dtype)x->dtype) || chunk == SIZE_MAX || last == SIZE_MAX)
			continue;
		for (; chunk <= last; chunk++)
			if (!for_chunk(t, s, x, chunk, call, data))
				return;
	}
}

struct nan_search {
	const struct snapshot *plain;
	uint64_t found; /* address; 0: none */
};

static bool turns_to_nan(void *data, uint32_t dtype, uint64_t address, const void *now)
{
	struct nan_search *n = data;
	uint8_t before[8];

	if (float_class(dtype, now) != FLOAT_NAN)
		return true;
	snapshot_copy(n->plain, address, dtype_bytes((enum dtype)dtype), before);
	if (float_class(dtype, before) == FLOAT_NAN)
		return true;
	n->found = address;
	return false;
}

static void check_nan(struct trials *t, const struct outcome *o, char *why, size_t size)
{
	struct nan_search n = {.plain = &t->a_runs.items[0].after};

	for_elements(t, &o->after, turns_to_nan, &n);
	if (n.found)
		snprintf(why, size, "A turns numbers into NaN on these inputs, first at 0x%llx",
			 (unsigned long long)n.found);
}

static bool is_exact_integer(void *data, uint32_t dtype, uint64_t address, const void *now)
{
	double v = float_class(dtype, now) == FLOAT_FINITE ? float_value(dtype, now) : NAN;

	if (fabs(v) < EXACT_LIMIT && v == nearbyint(v))
		return true;
	*(uint64_t *)data = address;
	return false;
}

static void check_exact(struct trials *t, const struct outcome *o, char *why, size_t size)
{
	uint64_t found = 0;

	for_elements(t, &o->after, is_exact_integer, &found);
	if (found)
		snprintf(why, size, "A's result at 0x%llx is no integer below 2^24",
			 (unsigned long long)found);
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
				 .check = check_nan};
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
			 .check = check_exact};
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

static int run_chain(struct trials *t, struct error *err)
{
	struct twin w = {.note = {.kind = TRIAL_BACK_TO_BACK, .launches = CHAIN_LAUNCHES},
			 .setting = {.launches = CHAIN_LAUNCHES},
			 .whole = true};

	return twin_run(t, &w, err);
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
	if (!rc && !t->r->lost && wanted & TRIALS_PERTURBED)
		rc = run_perturbed(t, &inputs, err);
	if (!rc && !t->r->lost && wanted & TRIALS_EXACT)
		rc = run_exact(t, &inputs, err);
	free(inputs.items);
	return rc;
}
