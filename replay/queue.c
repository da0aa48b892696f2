/* SPDX-License-Identifier: MIT */
/* The cases that are still to be run, in the order in which devices take them. */
#include "replay/queue.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base.h"
#include "replay/table.h"

/* Same memory with the same recorded contents, as far as their keys tell. */
static bool same_contents(const struct record_launch *x, const struct record_launch *y)
{
	if (x->regions.count != y->regions.count)
		return false;
	for (size_t i = 0; i < x->regions.count; i++) {
		const struct record_region *a = &x->regions.items[i], *b = &y->regions.items[i];

		if (a->base != b->base || a->size != b->size || a->chunks.count != b->chunks.count)
			return false;
		for (size_t k = 0; k < a->chunks.count; k++)
			if (!hash_equal(a->chunks.items[k], b->chunks.items[k]))
				return false;
	}
	return true;
}

static int add_case(struct queue *q, const struct plan *plan, size_t number)
{
	const struct record_launch *launch = plan->cases[number].launch;
	struct unit *last = q->unit_count ? &q->units[q->unit_count - 1] : NULL;
	int rc;

	q->cases[q->case_count++] = number;
	if (!last || !same_contents(plan->cases[q->cases[last->end - 1]].launch, launch)) {
		rc = array_reserve(&q->units, q->unit_count, &q->unit_capacity, sizeof(*q->units));
		if (rc)
			return rc;
		last = &q->units[q->unit_count++];
		*last = (struct unit){.first = q->case_count - 1, .next = q->case_count - 1};
	}
	last->end = q->case_count;
	last->bytes += launch_region_bytes(launch);
	return 0;
}

static int largest_first(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

int queue_make(struct queue *q, const struct plan *plan, size_t devices,
	       bool (*wanted)(const void *data, size_t number), const void *data)
{
	int rc = 0;

	*q = (struct queue){0};
	q->cases = calloc(plan->count ? plan->count : 1, sizeof(*q->cases));
	if (!q->cases)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < plan->count; i++)
		if (!plan->cases[i].reason && wanted(data, i))
			rc = add_case(q, plan, i);
	if (rc)
		queue_free(q);
	else if (devices > 1 && q->unit_count)
		qsort(q->units, q->unit_count, sizeof(*q->units), largest_first);
	return rc;
}

void queue_free(struct queue *q)
{
	free(q->cases);
	free(q->units);
	*q = (struct queue){0};
}

static size_t find_unit(const struct queue *q)
{
	size_t most = SIZE_MAX, left = 0;

	for (size_t i = 0; i < q->unit_count; i++) {
		const struct unit *u = &q->units[i];

		if (!u->taken)
			return i;
		if (u->end - u->next > left) {
			left = u->end - u->next;
			most = i;
		}
	}
	return most;
}

bool queue_take(struct queue *q, size_t *unit, size_t *number)
{
	if (*unit >= q->unit_count || q->units[*unit].next == q->units[*unit].end)
		*unit = find_unit(q);
	if (*unit == SIZE_MAX)
		return false;
	q->units[*unit].taken = true;
	*number = q->cases[q->units[*unit].next++];
	return true;
}
