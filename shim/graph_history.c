/* SPDX-License-Identifier: MIT */
/* What recording launches of a graph taught about a kernel whose extents depend on memory. */
#include "shim/graph_history.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base.h"
#include "lib/pairs.h"

void graph_history_free(struct graph_history *h)
{
	if (!h)
		return;
	free(h->found);
	regions_free(&h->seen);
	free(h);
}

int graph_history_regions(const struct graph_history *h, struct regions *regions)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < h->found_count; i++)
		r = regions_add(regions, h->found[i], REGIONS_NO_PARAM);
	regions_merge(regions);
	return r;
}

static int add_pairs(struct u64s *to, const struct u64s *from, uint64_t from_base, uint64_t to_base)
{
	int r = 0;

	for (size_t k = 0; r >= 0 && k + 1 < from->count; k += 2)
		r = pairs_add(to, from->items[k] + from_base - to_base, from->items[k + 1]);
	return r;
}

static int add_extents(struct regions *to, const struct regions *from)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < from->count; i++) {
		const struct record_region *x = &from->items[i];

		for (size_t k = 0; r >= 0 && k < to->count; k++) {
			struct record_region *y = &to->items[k];

			if (x->base < y->base || x->base + x->size > y->base + y->size)
				continue;
			r = add_pairs(&y->reads, &x->reads, x->base, y->base);
			if (r >= 0)
				r = add_pairs(&y->writes, &x->writes, x->base, y->base);
		}
	}
	return r;
}

bool graph_history_extents(const struct graph_history *h, struct regions *regions)
{
	return h->seen.count && add_extents(regions, &h->seen) >= 0;
}

static int remember_found(struct graph_history *h, uint64_t base)
{
	int r = array_reserve(&h->found, h->found_count, &h->capacity, sizeof(*h->found));

	if (r >= 0)
		h->found[h->found_count++] = base;
	return r;
}

/* The memory that the launch reached beyond its regions. Adds to `regions`, in no order. */
static int follow(struct graph_history *h, struct regions *regions, uint64_t outside,
		  const struct copies_source *source, CUstream stream)
{
	size_t known = regions->count;
	const char *limited;
	int r;

	pointers_follow(regions, stream, source, &limited);
	r = regions_add(regions, outside, REGIONS_NO_PARAM);
	for (size_t i = known; r >= 0 && i < regions->count; i++)
		r = remember_found(h, regions->items[i].base);
	return r;
}

/* Adds what is new in `regions` to the extents seen. */
static int remember_extents(struct graph_history *h, const struct regions *regions)
{
	struct regions sum = {0};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < regions->count; i++)
		r = regions_add(&sum, regions->items[i].base, REGIONS_NO_PARAM);
	regions_merge(&sum);
	if (r >= 0)
		r = add_extents(&sum, &h->seen);
	if (r >= 0)
		r = add_extents(&sum, regions);
	if (r < 0) {
		regions_free(&sum);
		return r;
	}
	regions_free(&h->seen);
	h->seen = sum;
	return 0;
}

int graph_history_learn(struct graph_history **out, struct regions *regions, uint64_t outside,
			const struct copies_source *source, CUstream stream)
{
	struct graph_history *h = *out ? *out : calloc(1, sizeof(*h));
	int r = 0;

	if (!h)
		return -ENOMEM;
	*out = h;
	h->rounds++;
	if (regions->measured)
		r = remember_extents(h, regions);
	if (r >= 0 && outside)
		r = follow(h, regions, outside, source, stream);
	return r;
}
