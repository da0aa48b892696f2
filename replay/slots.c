/* SPDX-License-Identifier: MIT */
/* Chunks on the device, found again by what they hold: recorded contents cross the bus once. */
#include "replay/slots.h"

#include <stdlib.h>

#include "kernelab/bundle.h"
#include "lib/base.h"

/* Allocations grow with what is there: 4 to 64 MiB. */
#define LEAST_SLOTS 16u
#define MOST_SLOTS  256u

void slots_begin(struct slots *s)
{
	s->turn++;
	s->full = false;
}

static uint32_t *bucket_of(struct slots *s, struct hash128 identity)
{
	return &s->buckets[identity.low & (s->bucket_count - 1)];
}

static struct slot *find_slot(struct slots *s, struct hash128 identity)
{
	if (!s->bucket_count)
		return NULL;
	for (uint32_t i = *bucket_of(s, identity); i; i = s->items[i - 1].next)
		if (hash_equal(s->items[i - 1].identity, identity))
			return &s->items[i - 1];
	return NULL;
}

CUdeviceptr slots_find(struct slots *s, struct hash128 identity)
{
	struct slot *found = find_slot(s, identity);

	if (!found)
		return 0;
	found->turn = s->turn;
	return found->address;
}

static void link_slot(struct slots *s, size_t index)
{
	uint32_t *bucket = bucket_of(s, s->items[index].identity);

	s->items[index].next = *bucket;
	*bucket = (uint32_t)index + 1;
}

static void unlink_slot(struct slots *s, size_t index)
{
	uint32_t *at = bucket_of(s, s->items[index].identity);

	while (*at && *at != index + 1)
		at = &s->items[*at - 1].next;
	if (*at)
		*at = s->items[index].next;
}

static bool grow_buckets(struct slots *s)
{
	size_t count = s->bucket_count ? 4 * s->bucket_count : 1024;
	uint32_t *bigger;

	if (s->count <= s->bucket_count)
		return true;
	bigger = calloc(count, sizeof(*bigger));
	if (!bigger)
		return s->bucket_count;
	free(s->buckets);
	s->buckets = bigger;
	s->bucket_count = count;
	for (size_t i = 0; i < s->count; i++)
		if (!hash_is_zero(s->items[i].identity))
			link_slot(s, i);
	return true;
}

/* One more allocation, cut into slots that nobody uses. */
static bool add_block(struct slots *s)
{
	size_t slots = s->count < LEAST_SLOTS  ? LEAST_SLOTS
		       : s->count > MOST_SLOTS ? MOST_SLOTS
					       : s->count;
	size_t free_bytes = 0, all_bytes = 0, bytes;
	CUdeviceptr block = 0;

	/* A gap behind it: slots side by side can be copied at once, those of two blocks cannot. */
	bytes = (slots + 1) * (size_t)CHUNK_BYTES;
	if (array_reserve(&s->blocks, s->block_count, &s->block_capacity, sizeof(*s->blocks)) ||
	    s->driver->cuMemGetInfo_v2(&free_bytes, &all_bytes) != CUDA_SUCCESS ||
	    free_bytes < all_bytes / 8 + bytes ||
	    s->driver->cuMemAlloc_v2(&block, bytes) != CUDA_SUCCESS)
		return false;
	s->plenty = all_bytes / 4 / CHUNK_BYTES;
	s->blocks[s->block_count++] = block;
	s->hand = s->count;
	for (size_t i = 0; i < slots; i++) {
		if (array_reserve(&s->items, s->count, &s->capacity, sizeof(*s->items)))
			return i;
		s->items[s->count++] = (struct slot){.address = block + i * (size_t)CHUNK_BYTES};
	}
	return grow_buckets(s);
}

/* The next slot that the present launch does not use, once round; SIZE_MAX: none. */
static size_t find_unused(struct slots *s)
{
	for (size_t n = 0; n < s->count; n++) {
		size_t i = s->hand;

		s->hand = i + 1 < s->count ? i + 1 : 0;
		if (s->items[i].turn != s->turn)
			return i;
	}
	return SIZE_MAX;
}

static bool never_used(const struct slots *s)
{
	return s->hand < s->count && !s->items[s->hand].turn;
}

/* A slot that no launch ever used, for which there must be memory. */
static size_t take_fresh(struct slots *s)
{
	size_t i = SIZE_MAX;

	if (never_used(s) || (!s->full && add_block(s)))
		i = s->hand++;
	else
		s->full = true;
	if (s->hand >= s->count)
		s->hand = 0;
	return i;
}

CUdeviceptr slots_take(struct slots *s, struct hash128 identity)
{
	/* Up to a quarter of the device what a later launch may want again is kept. */
	bool plenty = s->count >= s->plenty && !never_used(s);
	size_t i = plenty ? find_unused(s) : take_fresh(s);

	if (i == SIZE_MAX)
		i = plenty ? take_fresh(s) : find_unused(s);
	if (i == SIZE_MAX || !s->bucket_count)
		return 0;
	if (!hash_is_zero(s->items[i].identity))
		unlink_slot(s, i);
	s->items[i].identity = identity;
	s->items[i].turn = s->turn;
	if (!hash_is_zero(identity))
		link_slot(s, i);
	return s->items[i].address;
}

void slots_forget(struct slots *s, struct hash128 identity)
{
	struct slot *found = find_slot(s, identity);

	if (!found)
		return;
	unlink_slot(s, (size_t)(found - s->items));
	found->identity = (struct hash128){0};
}

void slots_clear(struct slots *s)
{
	for (size_t i = 0; i < s->block_count; i++)
		s->driver->cuMemFree_v2(s->blocks[i]);
	free(s->blocks);
	free(s->items);
	free(s->buckets);
	*s = (struct slots){.driver = s->driver, .turn = s->turn};
}
