/* SPDX-License-Identifier: MIT */
/* A trial that both sides make in the same setting, A first. */
#include "replay/twin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "replay/change.h"
#include "replay/spare.h"

#define DISTURBED_SECONDS 5.0

int twin_void(struct trials *t, const struct twin *w, const char *why)
{
	int rc = trials_send_status(t, SIDE_A, w->note.kind, w->note.index, TRIAL_STATUS_VOID, why);

	return rc ? rc
		  : trials_send_status(t, SIDE_B, w->note.kind, w->note.index, TRIAL_STATUS_VOID,
				       why);
}

int twin_unkept(struct trials *t, const struct twin *w, const struct outcome *o,
		struct trial_note *n)
{
	struct byteset set;
	int rc = byteset_init(&set, &t->contents.pieces);

	if (!rc)
		rc = snapshot_match(&set, &o->after, w->guard, w->setting.fill, false);
	byteset_first(&set, &n->stray_bytes, &n->stray_address);
	byteset_free(&set);
	return rc;
}

int twin_send(struct trials *t, const struct twin *w, enum side side, const struct outcome *o)
{
	struct trial_note n = w->note;

	n.side = side;
	if (w->guard && o->status == TRIAL_STATUS_OK) {
		int rc = twin_unkept(t, w, o, &n);

		if (rc)
			return rc;
	}
	return w->whole && o->status == TRIAL_STATUS_OK ? trials_send_whole(t, &n, o)
							: trials_send(t, &n, o);
}

int twin_launch(struct trials *t, const struct twin *w, enum side side, struct outcome *o,
		struct error *err)
{
	const struct ready *sides[SIDE_COUNT] = {&t->a, &t->b};
	struct moment when = trials_moment(t, PHASE_FURTHER, side, w->note.kind, w->note.index);

	if (w->setting.launches)
		when.seconds *= w->setting.launches;
	if (w->setting.disturb && !t->r->software) {
		/* A grid that needs all its blocks at once may never end where they have no room.
		 */
		double enough = DISTURBED_SECONDS + 50e-6 * w->setting.usual_us;

		when.seconds = enough < when.seconds ? enough : when.seconds;
	}
	return runner_launch(t->r, sides[side], &when, &w->setting, o, err);
}

void twin_check(struct trials *t, const struct twin *w, const struct outcome *o, char *why,
		size_t size)
{
	if (o->status != TRIAL_STATUS_OK)
		snprintf(why, size, "A ends with a %s: %s", trial_status_name(o->status),
			 o->reason);
	else if (w->check)
		w->check(t, o, why, size);
}

/* One side's run; *o is the caller's to free. `why` tells why A's says nothing. */
static int run_side(struct trials *t, const struct twin *w, enum side side, struct outcome *o,
		    char *why, size_t size, struct error *err)
{
	int rc = twin_launch(t, w, side, o, err);

	if (rc)
		return rc;
	if (side == SIDE_A)
		twin_check(t, w, o, why, size);
	return why[0] ? twin_void(t, w, why) : twin_send(t, w, side, o);
}

int twin_differ(struct trials *t, const struct snapshot *x, const struct snapshot *y,
		const struct byteset *except, bool *differ)
{
	struct byteset set;
	int rc = byteset_init(&set, &t->contents.pieces);

	if (!rc)
		rc = snapshot_differ(&set, x, y);
	if (!rc)
		rc = byteset_and(&set, &t->written.bytes);
	if (!rc && except)
		rc = byteset_minus(&set, except);
	*differ = !rc && !byteset_is_empty(&set);
	byteset_free(&set);
	return rc;
}

int twin_other(struct trials *t, const struct runs *plain, const struct outcome *o, bool *other)
{
	*other = false;
	if (!o->after.chunks || !byteset_is_empty(&plain->noise))
		return 0;
	return twin_differ(t, &plain->items[0].after, &o->after, NULL, other);
}

int twin_run_keep(struct trials *t, struct twin *w, struct outcome o[SIDE_COUNT], struct error *err)
{
	char why[560] = "";
	int rc = run_side(t, w, SIDE_A, &o[SIDE_A], why, sizeof(why), err);

	w->differ = false;
	if (!rc && !why[0] && !t->r->lost)
		rc = run_side(t, w, SIDE_B, &o[SIDE_B], why, sizeof(why), err);
	if (!rc && o[SIDE_A].after.chunks && o[SIDE_B].after.chunks)
		rc = twin_differ(t, &o[SIDE_A].after, &o[SIDE_B].after, NULL, &w->differ);
	t->differ |= w->differ;
	if (!rc && o[SIDE_A].after.chunks && o[SIDE_B].after.chunks)
		rc = spare_compare(t, &o[SIDE_A].after, &o[SIDE_B].after);
	t->needed |= !why[0] && !o[SIDE_B].after.chunks;
	return rc;
}

int twin_run(struct trials *t, struct twin *w, struct error *err)
{
	struct outcome o[SIDE_COUNT] = {0};
	int rc;

	if (w->spare && spare_may(t, w->note.kind))
		return spare_run(t, w, err);
	rc = twin_run_keep(t, w, o, err);
	for (int s = 0; s < SIDE_COUNT; s++)
		outcome_free(&o[s]);
	return rc;
}

int twin_run_a(struct trials *t, struct twin *w, struct error *err)
{
	struct outcome o = {0};
	char why[560] = "";
	int rc = run_side(t, w, SIDE_A, &o, why, sizeof(why), err);

	outcome_free(&o);
	return rc;
}

/* Written elements of one extent within one chunk. False: the call ended it. */
static bool for_chunk(struct trials *t, const struct snapshot *s, const struct record_extent *x,
		      size_t chunk, enum look look, any_element *any, each_element *call,
		      void *data)
{
	uint64_t start = byteset_address(&t->written.bytes, chunk), end = start + CHUNK_BYTES;
	uint32_t bytes = dtype_bytes((enum dtype)x->dtype);
	const uint64_t *words = t->written.bytes.words[chunk];
	const uint8_t *now;
	uint64_t at = x->address;

	if (!words || snapshot_page(s, chunk)->clean & 1u << look)
		return true;
	now = snapshot_chunk(s, chunk);
	if (at < start)
		at += (start - at + bytes - 1) / bytes * bytes;
	if (end > x->address + x->size)
		end = x->address + x->size;
	if (at + bytes > end ||
	    (any && !any(data, x->dtype, now + (at - start), (end - at) / bytes)))
		return true;
	for (; at + bytes <= end; at += bytes) {
		uint64_t offset = at - start;

		if (words[offset / 64] >> offset % 64 & 1 &&
		    !call(data, x->dtype, at, now + offset))
			return false;
	}
	return true;
}

void twin_elements(struct trials *t, const struct snapshot *s, enum look look, any_element *any,
		   each_element *call, void *data)
{
	for (size_t i = 0; i < t->written.extents.count; i++) {
		const struct record_extent *x = &t->written.extents.items[i];
		size_t chunk = byteset_chunk(&t->written.bytes, x->address);
		size_t last = byteset_chunk(&t->written.bytes, x->address + x->size - 1);

		if (!dtype_is_float((enum dtype)x->dtype) || chunk == SIZE_MAX || last == SIZE_MAX)
			continue;
		for (; chunk <= last; chunk++)
			if (!for_chunk(t, s, x, chunk, look, any, call, data))
				return;
	}
}

struct class_search {
	const struct snapshot *plain;
	enum float_class least; /* of this class or a greater one, and was not */
	uint64_t found;         /* address; 0: none */
};

/* Whether one is greater than the greatest finite number; simple enough for a vector unit. */
#define ANY_GREATER(type)                                                                        \
	static bool any_greater_##type(const uint8_t *elements, size_t count, uint64_t greatest) \
	{                                                                                        \
		const type mask = (type) ~((type)1 << (8 * sizeof(type) - 1));                   \
		type seen = 0;                                                                   \
                                                                                                 \
		for (size_t i = 0; i < count; i++) {                                             \
			type bits;                                                               \
                                                                                                 \
			memcpy(&bits, elements + i * sizeof(bits), sizeof(bits));                \
			seen |= (type)((bits & mask) > (type)greatest);                          \
		}                                                                                \
		return seen;                                                                     \
	}
ANY_GREATER(uint16_t)
ANY_GREATER(uint32_t)
ANY_GREATER(uint64_t)

/* Most chunks hold finite numbers only: that is seen faster of all of them than of each. */
static bool any_not_finite(void *data, uint32_t dtype, const uint8_t *elements, size_t count)
{
	const struct float_format *f = float_format(dtype);

	(void)data;
	if (f->bytes == 2)
		return any_greater_uint16_t(elements, count, f->greatest);
	if (f->bytes == 4)
		return any_greater_uint32_t(elements, count, f->greatest);
	/* The negative zero of some types of one byte is their NaN. */
	return f->bytes == 1 || any_greater_uint64_t(elements, count, f->greatest);
}

static bool changes_class(void *data, uint32_t dtype, uint64_t address, const void *now)
{
	struct class_search *n = data;
	uint8_t before[8];

	if (float_class(dtype, now) < n->least)
		return true;
	snapshot_copy(n->plain, address, dtype_bytes((enum dtype)dtype), before);
	if (float_class(dtype, before) >= n->least)
		return true;
	n->found = address;
	return false;
}

static void check_class(struct trials *t, const struct outcome *o, enum float_class least,
			const char *what, char *why, size_t size)
{
	struct class_search n = {.plain = &t->a_runs.items[0].after, .least = least};
	char place[120];

	twin_elements(t, &o->after, LOOK_NOT_FINITE, any_not_finite, changes_class, &n);
	if (n.found)
		snprintf(why, size, "A turns numbers into %s on these inputs, first at %s", what,
			 contents_place(&t->contents, n.found, place, sizeof(place)));
}

void twin_check_nan(struct trials *t, const struct outcome *o, char *why, size_t size)
{
	check_class(t, o, FLOAT_NAN, "NaN", why, size);
}

void twin_check_finite(struct trials *t, const struct outcome *o, char *why, size_t size)
{
	check_class(t, o, FLOAT_INFINITE, "infinity or NaN", why, size);
}
