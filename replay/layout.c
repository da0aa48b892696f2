/* SPDX-License-Identifier: MIT */
/* Where restored memory lies: address ranges, rounded out and merged. Pure arithmetic, no driver.
 */
#include "replay/layout.h"

#include <errno.h>
#include <stdlib.h>

#include "kernelab/bundle.h"
#include "lib/base.h"

void ranges_free(struct ranges *r)
{
	free(r->items);
	*r = (struct ranges){0};
}

int ranges_add(struct ranges *r, uint64_t base, uint64_t size)
{
	int rc;

	if (!size)
		return 0;
	if (base + size < base)
		return -EOVERFLOW;
	rc = array_reserve(&r->items, r->count, &r->capacity, sizeof(*r->items));
	if (rc)
		return rc;
	r->items[r->count++] = (struct range){base, size};
	return 0;
}

int ranges_add_rounded(struct ranges *r, uint64_t base, uint64_t size, uint64_t unit)
{
	uint64_t first, last;

	if (!size)
		return 0;
	if (base + size < base)
		return -EOVERFLOW;
	first = base & ~(unit - 1);
	last = base + size - 1;
	if (last > UINT64_MAX - unit)
		return -EOVERFLOW;
	last = (last & ~(unit - 1)) + unit;
	return ranges_add(r, first, last - first);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

void ranges_merge(struct ranges *r)
{
	size_t kept = 0;

	if (!r->count)
		return;
	qsort(r->items, r->count, sizeof(*r->items), compare_ranges);
	for (size_t i = 1; i < r->count; i++) {
		struct range *last = &r->items[kept];
		uint64_t end = last->base + last->size;
		uint64_t next = r->items[i].base + r->items[i].size;

		if (r->items[i].base <= end) {
			if (next > end)
				last->size = next - last->base;
		} else {
			r->items[++kept] = r->items[i];
		}
	}
	r->count = kept + 1;
}

const struct range *ranges_find(const struct ranges *r, uint64_t base, uint64_t size)
{
	size_t low = 0, high = r->count;

	while (low < high) { /* first range that begins behind base */
		size_t middle = low + (high - low) / 2;

		if (r->items[middle].base <= base)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	const struct range *at = &r->items[low - 1];
	uint64_t into = base - at->base;

	return into <= at->size && size <= at->size - into ? at : NULL;
}

uint64_t ranges_bytes(const struct ranges *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->count; i++)
		sum += r->items[i].size;
	return sum;
}

bool region_is_addressed(const struct record_region *region)
{
	return region->memory != MEMORY_GLOBAL;
}

/* Slots leave a gap, so that no two variables share a piece. */
uint64_t layout_address(const struct record_region *regions, size_t index)
{
	uint64_t at = STAND_IN_BASE;

	if (region_is_addressed(&regions[index]))
		return regions[index].base;
	for (size_t i = 0; i < index; i++)
		if (!region_is_addressed(&regions[i]))
			at += (regions[i].size & ~(MAP_BYTES - 1)) + 4 * MAP_BYTES;
	return at + regions[index].base % CHUNK_BYTES;
}

void reservations_free(struct reservations *r)
{
	ranges_free(&r->device);
	ranges_free(&r->host);
	ranges_free(&r->host_as_device);
}

static int add_reservation(struct reservations *reserve, const struct record_region *region)
{
	int rc;

	if (region->memory == MEMORY_HOST)
		return ranges_add_rounded(&reserve->host, region->base, region->size, MAP_BYTES);
	rc = ranges_add_rounded(&reserve->device, region->base, region->size, RESERVE_BYTES);
	if (!rc && region->memory == MEMORY_VMM && region->reservation_size)
		rc = ranges_add_rounded(&reserve->device, region->reservation_base,
					region->reservation_size, RESERVE_BYTES);
	return rc;
}

int layout_add_reservations(struct reservations *reserve, const struct record_region *regions,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int rc = region_is_addressed(&regions[i]) ? add_reservation(reserve, &regions[i])
							  : 0;

		if (rc)
			return rc;
	}
	return 0;
}

/* A range of the merged list that overlaps or touches [base, base + size). */
static bool ranges_meet(const struct ranges *r, const struct range *x)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->items[i].base <= x->base + x->size &&
		    x->base <= r->items[i].base + r->items[i].size)
			return true;
	return false;
}

int layout_settle(struct reservations *reserve)
{
	bool moved = true;

	ranges_merge(&reserve->device);
	ranges_merge(&reserve->host);
	while (moved) { /* what is moved is rounded out further, and may meet the next one */
		size_t kept = 0;

		moved = false;
		for (size_t i = 0; i < reserve->host.count; i++) {
			const struct range x = reserve->host.items[i];
			int rc = 0;

			if (!ranges_meet(&reserve->device, &x)) {
				reserve->host.items[kept++] = x;
				continue;
			}
			rc = ranges_add(&reserve->host_as_device, x.base, x.size);
			if (!rc)
				rc = ranges_add_rounded(&reserve->device, x.base, x.size,
							RESERVE_BYTES);
			if (rc)
				return rc;
			ranges_merge(&reserve->device);
			moved = true;
		}
		reserve->host.count = kept;
	}
	ranges_merge(&reserve->host_as_device);
	return 0;
}

int layout_pieces(struct ranges *pieces, const struct record_region *regions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int rc;

		if (!region_is_addressed(&regions[i]) && regions[i].size > STAND_IN_BYTES_MAX)
			return -EOVERFLOW;
		rc = ranges_add_rounded(pieces, layout_address(regions, i), regions[i].size,
					MAP_BYTES);
		if (rc)
			return rc;
	}
	ranges_merge(pieces);
	return 0;
}
