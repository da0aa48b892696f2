/* SPDX-License-Identifier: MIT */
/* The guard trial: memory around what a launch touches holds a pattern. */
#include "replay/guard.h"

#include <errno.h>
#include <stdio.h>

#include "replay/dispute.h"

static int surround(struct byteset *s, uint64_t address, uint64_t size)
{
	uint64_t before = address < GUARD_BYTES ? address : GUARD_BYTES;
	int rc = byteset_add(s, address - before, before);

	return rc ? rc : byteset_add(s, address + size, GUARD_BYTES);
}

/* Calls for each measured pair of the launch's regions. */
static int for_touched(struct byteset *s, const struct record_launch *l,
		       int (*call)(struct byteset *s, uint64_t address, uint64_t size))
{
	int rc = 0;

	for (size_t i = 0; !rc && i < l->regions.count; i++) {
		const struct record_region *r = &l->regions.items[i];
		const struct u64s *pairs[] = {&r->reads, &r->writes};

		for (size_t k = 0; k < 2 && region_is_addressed(r); k++)
			for (size_t j = 0; !rc && j + 1 < pairs[k]->count; j += 2)
				rc = call(s, r->base + pairs[k]->items[j], pairs[k]->items[j + 1]);
	}
	return rc;
}

static int find_guard(struct trials *t, struct byteset *guard)
{
	const struct record_launch *l = t->c->launch;
	const struct extents *e = &t->written.extents;
	int rc = byteset_init(guard, &t->contents.pieces);

	for (size_t i = 0; !rc && i < e->count; i++)
		rc = surround(guard, e->items[i].address, e->items[i].size);
	if (!rc && l->measured)
		rc = for_touched(guard, l, surround);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < e->count; i++)
		rc = byteset_remove(guard, e->items[i].address, e->items[i].size);
	if (!rc && l->measured)
		return for_touched(guard, l, byteset_remove);
	for (size_t i = 0; !rc && i < l->regions.count; i++)
		if (region_is_addressed(&l->regions.items[i]))
			rc = byteset_remove(guard, l->regions.items[i].base,
					    l->regions.items[i].size);
	return rc;
}

/*
 * A under the pattern: it may neither write these bytes nor depend on them, else they tell nothing
 * about B. *why says which.
 */
static int guard_a(struct trials *t, const struct twin *w, char *why, size_t size,
		   struct error *err)
{
	struct trial_note seen = {0};
	struct outcome o;
	bool other = false, by_fill = false;
	int rc = twin_launch(t, w, SIDE_A, &o, err);

	if (rc)
		return rc;
	if (o.status != TRIAL_STATUS_OK)
		snprintf(why, size, "A ends with a %s: %s", trial_status_name(o.status), o.reason);
	else
		rc = twin_unkept(t, w, &o, &seen);
	if (!rc && seen.stray_bytes)
		snprintf(why, size, "A writes around its outputs");
	if (!rc && !why[0])
		rc = twin_other(t, &t->a_runs, &o, &other);
	if (!rc && other)
		rc = dispute_run(t, w, SIDE_A, GUARD_OTHER, &by_fill, err);
	if (by_fill)
		snprintf(why, size, "A's own result depends on memory around what it touches");
	if (!rc)
		rc = why[0] ? twin_void(t, w, why) : twin_send(t, w, SIDE_A, &o);
	outcome_free(&o);
	return rc;
}

/* B under the pattern; another result is the pattern's doing, or B varies. */
static int guard_b(struct trials *t, const struct twin *w, struct error *err)
{
	struct outcome o;
	bool other = false, by_fill = false;
	int rc = twin_launch(t, w, SIDE_B, &o, err);

	if (rc)
		return rc;
	rc = twin_send(t, w, SIDE_B, &o);
	if (!rc)
		rc = twin_other(t, &t->b_runs, &o, &other);
	t->needed |= other || o.status != TRIAL_STATUS_OK;
	outcome_free(&o);
	if (!rc && other)
		rc = dispute_run(t, w, SIDE_B, GUARD_OTHER, &by_fill, err);
	return !rc && other && !by_fill && !t->r->lost ? dispute_vary_a(t, w, err) : rc;
}

static int guard_both(struct trials *t, const struct twin *w, struct error *err)
{
	char why[560] = "";
	int rc = guard_a(t, w, why, sizeof(why), err);

	return rc || why[0] || t->r->lost ? rc : guard_b(t, w, err);
}

int trials_guard(struct trials *t, struct error *err)
{
	struct byteset guard;
	struct twin w = {.note = {.kind = TRIAL_GUARD},
			 .setting = {.poison = &guard, .fill = GUARD_FILL},
			 .guard = &guard};
	int rc = find_guard(t, &guard);

	if (rc)
		error_set(err, -rc, ERROR_NO_OFFSET, "no memory for the guard trial");
	else if (t->caution == CAUTION_NO_POISON)
		rc = twin_void(t, &w, "A fails or hangs on poisoned outputs");
	else if (byteset_is_empty(&guard))
		rc = twin_void(t, &w, "no byte around is known to be free of data");
	else
		rc = guard_both(t, &w, err);
	byteset_free(&guard);
	return rc;
}
