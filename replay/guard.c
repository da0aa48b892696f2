/* SPDX-License-Identifier: MIT */
/* The guard trial: memory around what a launch touches holds a pattern. */
#include "replay/guard.h"

#include <errno.h>
#include <stdio.h>

#include "replay/twin.h"

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

/* Neither writes them nor depends on them: else they tell nothing about B. */
static void check_a(struct trials *t, const struct outcome *o, char *why, size_t size)
{
	struct byteset differ;
	int rc = byteset_init(&differ, &t->contents.pieces);

	if (!rc)
		rc = snapshot_match(&differ, &o->after, t->guard, GUARD_FILL, false);
	if (rc || !byteset_is_empty(&differ))
		snprintf(why, size, "%s",
			 rc ? "no memory for the guard trial" : "A writes around its outputs");
	byteset_free(&differ);
	if (why[0])
		return;
	rc = byteset_init(&differ, &t->contents.pieces);
	if (!rc)
		rc = snapshot_differ(&differ, &t->a_runs.items[0].after, &o->after);
	if (!rc)
		rc = byteset_and(&differ, &t->written.bytes);
	if (!rc)
		rc = byteset_minus(&differ, &t->a_runs.noise);
	if (rc || !byteset_is_empty(&differ))
		snprintf(why, size, "%s",
			 rc ? "no memory for the guard trial"
			    : "A's own result depends on memory around what it touches");
	byteset_free(&differ);
}

int trials_guard(struct trials *t, struct error *err)
{
	struct byteset guard;
	struct twin w = {.note = {.kind = TRIAL_GUARD},
			 .setting = {.poison = &guard, .fill = GUARD_FILL},
			 .guard = &guard,
			 .check = check_a};
	int rc = find_guard(t, &guard);

	if (rc)
		error_set(err, -rc, ERROR_NO_OFFSET, "no memory for the guard trial");
	t->guard = &guard;
	if (!rc && t->caution == CAUTION_NO_POISON)
		rc = twin_void(t, &w, "A fails or hangs on poisoned outputs");
	else if (!rc && byteset_is_empty(&guard))
		rc = twin_void(t, &w, "no byte around is known to be free of data");
	else if (!rc)
		rc = twin_run(t, &w, err);
	t->guard = NULL;
	byteset_free(&guard);
	return rc;
}
