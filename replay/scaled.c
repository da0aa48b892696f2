/* SPDX-License-Identifier: MIT */
/* Trials on inputs of another scale, where an omitted epsilon or maximum shows. */
#include "replay/scaled.h"

#include <math.h>
#include <stdio.h>

#include "replay/twin.h"

#define SCALED_SEED 0x7363616c65640000ull

/*
 * Small: sums of squares fall below an epsilon. Great: an exponential without its maximum
 * overflows. State at zero: a first optimizer step, whose second moment is no more than the
 * gradient gives.
 */
static const struct point {
	int exponent;
	bool zeroed;
} points[] = {{-10, false}, {6, false}, {-10, true}};

/* The bytes that the launch reads and writes. */
static int find_state(struct trials *t)
{
	int rc = byteset_init(&t->state, &t->contents.pieces);

	if (!rc)
		rc = byteset_or(&t->state, &t->written.bytes);
	return rc ? rc : byteset_minus(&t->state, &t->written.poisonable);
}

static bool touches(const struct byteset *set, const struct float_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		const struct float_input *x = &inputs->items[i];
		uint64_t cursor = x->base;
		struct range run;

		if (byteset_next(set, &cursor, &run) && run.base < x->base + x->size)
			return true;
	}
	return false;
}

static bool scalable(const struct float_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		if (dtype_roundoff(inputs->items[i].dtype) <= 0x1p-8)
			return true;
	return false;
}

/* A alone, moved by +-h: what differs there from point to point is its condition, not B. */
static int run_moved(struct trials *t, const struct twin *at, struct error *err)
{
	struct change change = *at->setting.change;

	change.step = float_step(t->c->pointers, t->c->pointer_count);
	for (uint32_t k = 0; k < SCALED_MOVED && !t->r->lost; k++) {
		struct twin w = *at;
		int rc;

		w.note.index += 1 + k;
		w.note.seed = change.seed = SCALED_SEED + k;
		w.note.step = change.step;
		w.setting.change = &change;
		rc = twin_run_a(t, &w, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int run_point(struct trials *t, const struct float_inputs *inputs, uint32_t number,
		     struct error *err)
{
	const struct point *p = &points[number];
	struct change change = {.kind = CHANGE_SCALE,
				.inputs = inputs,
				.keep = &t->written.poisonable,
				.exponent = p->exponent,
				.zero = p->zeroed ? &t->state : NULL};
	struct twin w = {.note = {.kind = TRIAL_SCALED,
				  .index = number * SCALED_STRIDE,
				  .scale = ldexp(1, p->exponent),
				  .zeroed = p->zeroed},
			 .setting = {.change = &change, .read = &t->written.bytes},
			 .check = twin_check_finite,
			 .look = LOOK_NOT_FINITE,
			 .spare = true};
	int rc;

	if (!scalable(inputs))
		return twin_void(t, &w, "no argument points to floats of 16 bits or more");
	if (p->zeroed && !touches(&t->state, inputs))
		return twin_void(t, &w, "no floats are updated in place");
	rc = twin_run(t, &w, err);
	return !rc && w.differ && !t->r->lost ? run_moved(t, &w, err) : rc;
}

int trials_scaled(struct trials *t, const struct float_inputs *inputs, struct error *err)
{
	int rc = find_state(t);

	if (rc)
		error_set(err, -rc, ERROR_NO_OFFSET, "no memory for scaled inputs");
	for (uint32_t i = 0; !rc && !t->r->lost && i < sizeof(points) / sizeof(*points); i++)
		rc = run_point(t, inputs, i, err);
	return rc;
}
