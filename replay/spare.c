/* SPDX-License-Identifier: MIT */
/* Trials whose outputs are not read back, as long as B leaves in them what A leaves. */
#include "replay/spare.h"

#include <stdio.h>
#include <string.h>

#include "lib/base.h"

/* Whether another config of the family is replayed, whose verdict may rest on this case's outputs.
 */
static bool has_siblings(const struct trials *t)
{
	const struct plan *plan = t->r->plan;
	const struct pair *own = &plan->pairs.items[t->c->pair];

	for (size_t i = 0; i < plan->pairs.count; i++)
		if (i != t->c->pair && plan->selected[i] &&
		    hash_equal(plan->pairs.items[i].family->key, own->family->key))
			return true;
	return false;
}

bool spare_may(const struct trials *t, enum trial_kind kind)
{
	return !t->needed && !t->r->options->store_all &&
	       (kind == TRIAL_PERTURBED || !has_siblings(t));
}

/* Whether a run of bytes has one of an extent. */
static bool touches_extent(const struct extents *e, const struct range *run)
{
	size_t low = 0, high = e->count;

	while (low < high) { /* the first that ends behind the run's begin */
		size_t middle = low + (high - low) / 2;

		if (e->items[middle].address + e->items[middle].size <= run->base)
			low = middle + 1;
		else
			high = middle;
	}
	return low < e->count && e->items[low].address < run->base + run->size;
}

/* Whether a byte of the extents differs, one that A does not write included. */
static int listed_differ(struct trials *t, const struct snapshot *x, const struct snapshot *y,
			 bool *differ)
{
	struct byteset set;
	uint64_t cursor = 0;
	struct range run;
	int rc = byteset_init(&set, &t->contents.pieces);

	*differ = false;
	if (!rc)
		rc = snapshot_differ(&set, x, y);
	while (!rc && !*differ && byteset_next(&set, &cursor, &run))
		*differ = touches_extent(&t->written.extents, &run);
	byteset_free(&set);
	return rc;
}

int spare_compare(struct trials *t, const struct snapshot *a, const struct snapshot *b)
{
	bool differ;
	int rc = t->needed ? 0 : listed_differ(t, a, b, &differ);

	if (!rc && !t->needed)
		t->needed = differ;
	return rc;
}

/* The outcome stays where it is; what was asked of it meanwhile was there. */
static int send_unstored(struct trials *t, const struct twin *w, enum side side,
			 const struct outcome *o, struct error *err)
{
	struct trial_note n = w->note;
	struct outcome bare = {.status = o->status, .time_us = o->time_us};
	int rc = board_fetched(&t->r->board, err);

	n.side = side;
	n.unstored = true;
	return rc ? rc : trials_send(t, &n, &bare);
}

static int remember(struct trials *t, const struct twin *w)
{
	int rc =
		array_reserve(&t->spared, t->spared_count, &t->spared_capacity, sizeof(*t->spared));

	if (rc)
		return rc;
	t->spared[t->spared_count] = (struct spared){.note = w->note,
						     .setting = w->setting,
						     .whole = w->whole,
						     .look = w->look,
						     .check = w->check};
	if (w->setting.change)
		t->spared[t->spared_count].change = *w->setting.change;
	t->spared_count++;
	return 0;
}

/* With contents this time, in place of what was sent before. */
static int run_again(struct trials *t, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->spared_count && !t->r->lost && !t->r->parent_gone; i++) {
		const struct spared *s = &t->spared[i];
		struct twin w = {.note = s->note,
				 .setting = s->setting,
				 .whole = s->whole,
				 .look = s->look,
				 .check = s->check};

		if (w.setting.change)
			w.setting.change = &s->change;
		rc = twin_run(t, &w, err);
	}
	t->spared_count = 0;
	return rc;
}

/* B gave something else, or failed. */
static int send_both(struct trials *t, struct twin *w, const struct outcome o[SIDE_COUNT],
		     struct error *err)
{
	int rc = 0;

	t->needed = true;
	t->differ |= w->differ;
	if (!t->r->lost) {
		rc = board_fetch(&t->r->board, &o[SIDE_A].after, err);
		if (!rc)
			rc = twin_send(t, w, SIDE_A, &o[SIDE_A]);
		if (!rc)
			rc = board_fetched(&t->r->board, err);
	}
	return rc ? rc : twin_send(t, w, SIDE_B, &o[SIDE_B]);
}

static int run_b(struct trials *t, struct twin *w, struct outcome o[SIDE_COUNT], struct error *err)
{
	bool equal = false;
	int rc = twin_launch(t, w, SIDE_B, &o[SIDE_B], err);

	if (rc)
		return rc;
	if (o[SIDE_B].status == TRIAL_STATUS_OK) {
		rc = listed_differ(t, &o[SIDE_A].after, &o[SIDE_B].after, &equal);
		equal = !equal;
	}
	if (!rc && o[SIDE_B].status == TRIAL_STATUS_OK && !equal)
		rc = twin_differ(t, &o[SIDE_A].after, &o[SIDE_B].after, NULL, &w->differ);
	if (rc)
		return rc;
	if (!equal)
		return send_both(t, w, o, err);
	rc = send_unstored(t, w, SIDE_B, &o[SIDE_B], err);
	return rc ? rc : remember(t, w);
}

int spare_end(struct trials *t, struct error *err)
{
	return t->needed && t->spared_count ? run_again(t, err) : 0;
}

int spare_run(struct trials *t, struct twin *w, struct error *err)
{
	struct outcome o[SIDE_COUNT] = {0};
	struct twin away = *w;
	char why[560] = "";
	int rc;

	away.setting.away = true;
	away.setting.look = w->look;
	away.setting.outputs = &t->written;
	w->differ = false;
	rc = twin_launch(t, &away, SIDE_A, &o[SIDE_A], err);
	if (!rc)
		twin_check(t, w, &o[SIDE_A], why, sizeof(why));
	if (!rc && why[0])
		rc = twin_void(t, w, why);
	else if (!rc)
		rc = send_unstored(t, w, SIDE_A, &o[SIDE_A], err);
	if (!rc && !why[0] && !t->r->lost)
		rc = run_b(t, w, o, err);
	for (int s = 0; s < SIDE_COUNT; s++)
		outcome_free(&o[s]);
	return rc ? rc : spare_end(t, err);
}
