/* SPDX-License-Identifier: MIT */
/* Does the recorded kernel, run on the recorded contents, give what was recorded after it? */
#include "replay/fidelity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/odd.h"

/* Adds `from`, rounded out to whole elements within each extent. */
static int add_elements(struct byteset *out, const struct byteset *from,
			const struct extents *extents)
{
	int rc = byteset_or(out, from);

	for (size_t i = 0; !rc && i < extents->count; i++) {
		const struct record_extent *x = &extents->items[i];
		uint64_t bytes = dtype_bytes((enum dtype)x->dtype), cursor = x->address;
		struct range run;

		while (!rc && byteset_next(from, &cursor, &run) &&
		       run.base < x->address + x->size) {
			uint64_t first = (run.base - x->address) / bytes * bytes;
			uint64_t end = run.base + run.size - x->address;

			end = (end + bytes - 1) / bytes * bytes;
			end = end < x->size ? end : x->size;
			rc = byteset_add(out, x->address + first, end - first);
		}
	}
	return rc;
}

/* Changes of the recording that the replay never writes: inside extents, and elsewhere. */
static int count_unwritten(const struct fidelity_evidence *e, uint64_t *inside, uint64_t *elsewhere)
{
	struct byteset changed;
	int rc = byteset_init(&changed, &e->recorded->base->pieces);

	*inside = *elsewhere = 0;
	if (!rc)
		rc = snapshot_changed(&changed, e->recorded);
	if (!rc)
		rc = byteset_minus(&changed, e->written);
	for (size_t i = 0; !rc && i < e->scratch->count; i++)
		rc = byteset_remove(&changed, e->scratch->items[i].base, e->scratch->items[i].size);
	*inside = rc ? 0 : byteset_count(&changed);
	for (size_t i = 0; !rc && i < e->extents->count; i++)
		rc = byteset_remove(&changed, e->extents->items[i].address,
				    e->extents->items[i].size);
	*elsewhere = rc ? 0 : byteset_count(&changed);
	*inside -= *elsewhere;
	byteset_free(&changed);
	return rc;
}

/* Bytes of `written` at which the recording differs from the nearest repeat. */
static int nearest(const struct fidelity_evidence *e, struct byteset *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < e->repeat_count; i++) {
		byteset_free(out);
		rc = byteset_init(out, &e->recorded->base->pieces);
		if (!rc)
			rc = snapshot_differ(out, e->recorded, &e->repeats[i]);
		if (!rc)
			rc = byteset_and(out, e->written);
		if (rc || byteset_is_empty(out))
			return rc;
	}
	return rc;
}

/* Whether what differs, though the repeats agree there, is no more than one of them shows. */
static int plausible(const struct fidelity_evidence *e, const struct byteset *differ,
		     const struct byteset *noise, bool *out)
{
	size_t count = e->repeat_count + 1;
	_cleanup_free_ const struct snapshot **runs = calloc(count, sizeof(*runs));
	_cleanup_free_ uint64_t *counts = calloc(count, sizeof(*counts));
	struct byteset some = {0}, varying = {0};
	int rc = runs && counts ? byteset_init(&some, &e->recorded->base->pieces) : -ENOMEM;

	*out = false;
	if (rc || byteset_is_empty(noise))
		goto out;
	runs[0] = e->recorded;
	for (size_t i = 1; i < count; i++)
		runs[i] = &e->repeats[i - 1];
	rc = byteset_init(&varying, &e->recorded->base->pieces);
	if (!rc)
		rc = byteset_or(&some, noise);
	if (!rc)
		rc = byteset_or(&some, differ);
	if (!rc)
		rc = byteset_and(&some, e->written);
	if (!rc)
		rc = add_elements(&varying, &some, e->extents);
	if (!rc)
		rc = odd_count(counts, runs, count, &varying, e->extents);
	if (!rc)
		*out = odd_plausible(counts, count);
out:
	byteset_free(&some);
	byteset_free(&varying);
	return rc;
}

int fidelity_judge(const struct fidelity_evidence *e, enum fidelity *out, char *reason, size_t size)
{
	uint64_t inside, elsewhere, differing, noisy, left;
	struct byteset differ = {0}, noise = {0};
	bool like_repeats = true;
	int rc = count_unwritten(e, &inside, &elsewhere);

	*out = FIDELITY_UNTESTED;
	reason[0] = 0;
	if (!rc)
		rc = nearest(e, &differ);
	if (!rc)
		rc = byteset_init(&noise, &e->recorded->base->pieces);
	if (!rc)
		rc = add_elements(&noise, e->noise, e->extents);
	if (rc)
		goto out;
	differing = byteset_count(&differ);
	noisy = byteset_count(&noise);
	rc = byteset_minus(&differ, &noise);
	if (rc)
		goto out;
	left = byteset_count(&differ);
	/* The recorded run had other neighbours: up to a tenth as many bytes as vary may be new. */
	if (left * 10 > noisy)
		rc = plausible(e, &differ, &noise, &like_repeats);
	if (rc)
		goto out;
	if (!e->extents->count && !inside && !elsewhere) {
		snprintf(reason, size, "no byte is written: no output known");
	} else if (!e->extents->count) {
		*out = FIDELITY_UNFAITHFUL;
		snprintf(reason, size,
			 "%llu bytes changed when it was recorded, the replay writes none "
			 "(concurrent writer or unrecorded input)",
			 (unsigned long long)elsewhere);
	} else if (inside) {
		*out = FIDELITY_UNFAITHFUL;
		snprintf(reason, size,
			 "%llu bytes between its outputs changed when it was recorded and are "
			 "never written in replay (concurrent writer or unrecorded input)",
			 (unsigned long long)inside);
	} else if (!like_repeats) {
		uint64_t cursor = 0;
		struct range run = {0};
		char place[120];

		byteset_next(&differ, &cursor, &run);
		*out = FIDELITY_UNFAITHFUL;
		snprintf(reason, size,
			 "%llu of %llu written bytes differ from the recorded ones, the first at "
			 "%s, where the %zu repeats agree",
			 (unsigned long long)left, (unsigned long long)byteset_count(e->written),
			 contents_place(e->recorded->base, run.base, place, sizeof(place)),
			 e->repeat_count);
	} else if (differing) {
		*out = FIDELITY_NONDETERMINISTIC;
		snprintf(reason, size,
			 "%llu written bytes differ from the recorded ones; %llu vary among %zu "
			 "repeats",
			 (unsigned long long)differing, (unsigned long long)noisy, e->repeat_count);
	} else {
		*out = FIDELITY_FAITHFUL;
		if (elsewhere)
			snprintf(reason, size,
				 "%llu bytes outside its outputs changed when it was recorded "
				 "(other streams)",
				 (unsigned long long)elsewhere);
	}
out:
	byteset_free(&differ);
	byteset_free(&noise);
	return rc;
}
