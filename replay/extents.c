/* SPDX-License-Identifier: MIT */
/* From the set of written bytes to the few extents, one or more an argument, that results list. */
#include "replay/extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"

void extents_free(struct extents *e)
{
	free(e->items);
	*e = (struct extents){0};
}

static int compare_pointers(const void *a, const void *b)
{
	const struct pointer *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (!x->arg != !y->arg)
		return x->arg ? -1 : 1;
	if (x->stored != y->stored) /* in-place aliases: the one that is stored through */
		return x->stored ? -1 : 1;
	return x->arg < y->arg ? -1 : x->arg > y->arg;
}

void pointers_sort(struct pointer *pointers, size_t *count)
{
	size_t kept = 0;

	if (!*count)
		return;
	qsort(pointers, *count, sizeof(*pointers), compare_pointers);
	for (size_t i = 1; i < *count; i++) {
		if (pointers[i].address != pointers[kept].address) {
			pointers[++kept] = pointers[i];
			continue;
		}
		pointers[kept].stored |= pointers[i].stored;
		if (pointers[kept].dtype == DTYPE_UNKNOWN)
			pointers[kept].dtype = pointers[i].dtype;
	}
	*count = kept + 1;
}

/* The greatest pointer at or below the address and inside its region; NULL if there is none. */
static const struct pointer *owner_of(const struct pointer *pointers, size_t count,
				      uint64_t address, uint64_t *next)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pointers[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*next = low < count ? pointers[low].address : UINT64_MAX;
	if (!low || address >= pointers[low - 1].limit)
		return NULL;
	if (pointers[low - 1].limit < *next)
		*next = pointers[low - 1].limit;
	return &pointers[low - 1];
}

static int append(struct extents *e, const struct record_extent *x)
{
	int rc = array_reserve(&e->items, e->count, &e->capacity, sizeof(*e->items));

	if (!rc)
		e->items[e->count++] = *x;
	return rc;
}

/* Rounds [from, to) out to elements of p; never across `next`. */
static struct record_extent extent_of(const struct pointer *p, uint64_t from, uint64_t to,
				      uint64_t next)
{
	struct record_extent x = {.address = from, .size = to - from};
	uint64_t bytes;

	if (!p)
		return x;
	bytes = dtype_bytes((enum dtype)p->dtype);
	x.arg = p->arg;
	x.dtype = p->dtype;
	x.address = from - (from - p->address) % bytes;
	to += (bytes - (to - p->address) % bytes) % bytes;
	if (to > next)
		to = next;
	x.size = to - x.address;
	return x;
}

static bool same_owner(const struct record_extent *x, const struct record_extent *y)
{
	return x->arg == y->arg && x->dtype == y->dtype;
}

static int compare_sizes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Merges the extents [first, e->count), all of one pointer, by the rule of extents_build.
 * `written` is the sum of their sizes.
 */
static int merge_group(struct extents *e, size_t first, uint64_t written)
{
	size_t n = e->count - first, kept = first;
	struct record_extent *x;
	uint64_t hull, gap_limit, *gaps;

	if (n < 2)
		return 0;
	x = e->items + first;
	hull = x[n - 1].address + x[n - 1].size - x[0].address;
	if (hull / 4 <= written) {
		x[0].size = hull;
		e->count = first + 1;
		return 0;
	}
	if (n <= EXTENTS_PER_POINTER)
		return 0;
	gaps = malloc((n - 1) * sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < n; i++)
		gaps[i] = x[i + 1].address - x[i].address - x[i].size;
	qsort(gaps, n - 1, sizeof(*gaps), compare_sizes);
	gap_limit = gaps[n - 1 - EXTENTS_PER_POINTER];
	free(gaps);
	for (size_t i = first + 1; i < e->count; i++) {
		struct record_extent *last = &e->items[kept];
		uint64_t gap = e->items[i].address - last->address - last->size;

		if (gap <= gap_limit)
			last->size += gap + e->items[i].size;
		else
			e->items[++kept] = e->items[i];
	}
	e->count = kept + 1;
	return 0;
}

int extents_build(struct extents *out, const struct byteset *written,
		  const struct pointer *pointers, size_t count)
{
	uint64_t cursor = 0, group_bytes = 0, group_end = 0, next;
	size_t group_first = 0;
	struct range run;
	int rc;

	*out = (struct extents){0};
	while (byteset_next(written, &cursor, &run)) {
		uint64_t end = run.base + run.size;
		const struct pointer *p = owner_of(pointers, count, run.base, &next);
		struct record_extent x, *last;

		if (end > next) { /* the rest belongs to another pointer */
			end = next;
			cursor = next;
		}
		x = extent_of(p, run.base, end, next);
		if (run.base >= group_end) { /* another pointer's bytes begin */
			rc = merge_group(out, group_first, group_bytes);
			if (rc)
				goto fail;
			group_first = out->count;
			group_bytes = 0;
			group_end = next;
		}
		last = out->count > group_first ? &out->items[out->count - 1] : NULL;
		if (last && same_owner(last, &x) &&
		    x.address < last->address + last->size + EXTENTS_GAP_BYTES) {
			uint64_t to = x.address + x.size, old = last->address + last->size;

			group_bytes += to > old ? to - (x.address > old ? x.address : old) : 0;
			if (to > old)
				last->size = to - last->address;
		} else {
			group_bytes += x.size;
			rc = append(out, &x);
			if (rc)
				goto fail;
		}
	}
	rc = merge_group(out, group_first, group_bytes);
	if (!rc)
		return 0;
fail:
	extents_free(out);
	return rc;
}

size_t extents_find(const struct extents *e, uint64_t address)
{
	size_t low = 0, high = e->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - e->items[low - 1].address >= e->items[low - 1].size)
		return SIZE_MAX;
	return low - 1;
}
