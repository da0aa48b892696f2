/* SPDX-License-Identifier: MIT */
/* Which bytes a launch writes, measured: by what changes, and by what poison does not survive. */
#include "replay/written.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trials.h"

#define MAX_GROUPS 32 /* arguments that are poisoned one by one; the rest together */

void written_free(struct written *w)
{
	byteset_free(&w->bytes);
	byteset_free(&w->poisonable);
	extents_free(&w->extents);
	*w = (struct written){0};
}

static int no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the write extent");
}

/* First pointer behind p that is not stored through, in the same region; else the region's end. */
static uint64_t stored_until(const struct written_input *in, size_t index)
{
	const struct pointer *p = &in->pointers[index];

	for (size_t i = index + 1; i < in->pointer_count; i++) {
		if (in->pointers[i].address >= p->limit)
			break;
		if (!in->pointers[i].stored)
			return in->pointers[i].address;
	}
	return p->limit;
}

/* What to poison in the probe. */
static int find_candidates(struct byteset *out, const struct written_input *in,
			   const struct byteset *changed)
{
	struct extents extents;
	int rc;

	if (in->measured) {
		rc = byteset_or(out, in->measured);
		return rc ? rc : byteset_or(out, changed);
	}
	if (in->stores_known) {
		for (size_t i = 0; i < in->pointer_count; i++) {
			const struct pointer *p = &in->pointers[i];

			if (!p->stored)
				continue;
			rc = byteset_add(out, p->address, stored_until(in, i) - p->address);
			if (rc)
				return rc;
		}
		return byteset_or(out, changed);
	}
	/* Hull of each pointer's changed bytes. */
	rc = extents_build(&extents, changed, in->pointers, in->pointer_count);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < extents.count; i++) {
		const struct record_extent *x = &extents.items[i];
		const struct record_extent *next = i + 1 < extents.count ? x + 1 : NULL;
		bool same = next && x->arg && next->arg == x->arg;

		rc = byteset_add(out, x->address, same ? next->address - x->address : x->size);
	}
	extents_free(&extents);
	return rc;
}

/* Both patterns over the candidates: what does not survive is written. */
static int probe(struct written *out, const struct written_input *in,
		 const struct byteset *candidates, struct error *err)
{
	for (unsigned k = 0; k < 2; k++) {
		struct snapshot after = {0};
		int rc = in->run(in->data, candidates, k, true, &after, err);

		if (rc)
			return rc;
		rc = snapshot_match(&out->bytes, &after, candidates, POISON_BYTE(k), false);
		snapshot_free(&after);
		if (rc)
			return no_memory(err);
	}
	return 0;
}

static bool same_group(const struct record_extent *x, const struct record_extent *y)
{
	return x->arg && y->arg == x->arg;
}

/* Written bytes of the extents [first, last). */
static int group_bytes(struct byteset *out, const struct written *w, size_t first, size_t last)
{
	int rc = 0;

	for (size_t i = first; !rc && i < last; i++)
		rc = byteset_add(out, w->extents.items[i].address, w->extents.items[i].size);
	return rc ? rc : byteset_and(out, &w->bytes);
}

/* Does any written byte depend on what the bytes of this group hold? 1, 0 or -errno. */
static int depends_on(struct written *w, const struct written_input *in,
		      const struct byteset *group, struct error *err)
{
	int depends = 0;

	/* Both patterns: adding a tiny number, or the maximum with it, can leave no trace. */
	for (unsigned k = 0; !depends && k < 2; k++) {
		struct snapshot after = {0};
		struct byteset differ = {0};
		int rc = in->run(in->data, group, k, false, &after, err);

		if (rc)
			return rc;
		rc = byteset_init(&differ, &in->contents->pieces);
		if (!rc)
			rc = snapshot_differ(&differ, in->plain, &after);
		if (!rc)
			rc = byteset_and(&differ, &w->bytes);
		if (!rc)
			rc = byteset_minus(&differ, in->noise);
		depends = !rc && !byteset_is_empty(&differ);
		byteset_free(&differ);
		snapshot_free(&after);
		if (rc)
			return no_memory(err);
	}
	return depends;
}

/* Marks what is read as well, one argument after the other; the others become poisonable. */
static int find_in_place(struct written *w, const struct written_input *in, struct error *err)
{
	size_t groups = 0;

	for (size_t first = 0, last; first < w->extents.count; first = last) {
		struct byteset group;
		int rc, depends;

		for (last = first + 1; last < w->extents.count; last++)
			if (groups < MAX_GROUPS &&
			    !same_group(&w->extents.items[first], &w->extents.items[last]))
				break;
		groups++;
		rc = byteset_init(&group, &in->contents->pieces);
		if (!rc)
			rc = group_bytes(&group, w, first, last);
		depends = rc ? no_memory(err) : depends_on(w, in, &group, err);
		for (size_t i = first; depends == 1 && i < last; i++)
			w->extents.items[i].flags |= EXTENT_IN_PLACE;
		if (!depends && byteset_or(&w->poisonable, &group))
			depends = no_memory(err);
		byteset_free(&group);
		if (depends < 0)
			return depends;
	}
	return 0;
}

static int find_bytes(struct written *out, const struct written_input *in, struct error *err)
{
	struct byteset candidates = {0};
	int rc = snapshot_changed(&out->bytes, in->plain);

	if (!rc)
		rc = byteset_or(&out->bytes, in->noise);
	if (!rc)
		rc = byteset_init(&candidates, &in->contents->pieces);
	if (!rc)
		rc = find_candidates(&candidates, in, &out->bytes);
	if (rc)
		rc = no_memory(err);
	else if (in->probe && !byteset_is_empty(&candidates))
		rc = probe(out, in, &candidates, err);
	byteset_free(&candidates);
	return rc;
}

int written_find(struct written *out, const struct written_input *in, struct error *err)
{
	int rc;

	*out = (struct written){0};
	if (byteset_init(&out->bytes, &in->contents->pieces) ||
	    byteset_init(&out->poisonable, &in->contents->pieces)) {
		written_free(out);
		return no_memory(err);
	}
	if (!in->probe)
		snprintf(out->note, sizeof(out->note),
			 "write extent from changed bytes only: A fails on poisoned outputs");
	else if (!in->stores_known && !in->measured)
		snprintf(out->note, sizeof(out->note),
			 "write extent from changed bytes: no PTX tells where it stores");
	rc = find_bytes(out, in, err);
	if (!rc && extents_build(&out->extents, &out->bytes, in->pointers, in->pointer_count))
		rc = no_memory(err);
	if (!rc && in->poison)
		rc = find_in_place(out, in, err);
	if (rc)
		written_free(out);
	return rc;
}
