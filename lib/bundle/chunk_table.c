/* SPDX-License-Identifier: MIT */
/* Linear probing, at most half full; keys are hashes already. */
#include "lib/bundle/chunk_table.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base.h"

/* A bundle's keys come from a file: mix both halves, so that a crafted one costs more to collide.
 */
static size_t first_slot(const struct chunk_table *t, struct hash128 key)
{
	uint64_t v = (key.low ^ key.high * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;

	return (size_t)(v ^ v >> 32) & (t->slot_count - 1);
}

const struct format_index_chunk *chunk_table_find(const struct chunk_table *t, struct hash128 key,
						  uint32_t raw_bytes)
{
	if (!t->slot_count)
		return NULL;
	for (size_t s = first_slot(t, key); t->slots[s]; s = (s + 1) & (t->slot_count - 1)) {
		const struct format_index_chunk *c = &t->items[t->slots[s] - 1];

		if (hash_equal(c->key, key) && c->raw_bytes == raw_bytes)
			return c;
	}
	return NULL;
}

const struct format_index_chunk *chunk_table_find_key(const struct chunk_table *t,
						      struct hash128 key)
{
	if (!t->slot_count)
		return NULL;
	for (size_t s = first_slot(t, key); t->slots[s]; s = (s + 1) & (t->slot_count - 1))
		if (hash_equal(t->items[t->slots[s] - 1].key, key))
			return &t->items[t->slots[s] - 1];
	return NULL;
}

static void enter(struct chunk_table *t, size_t index)
{
	size_t s = first_slot(t, t->items[index].key);

	while (t->slots[s])
		s = (s + 1) & (t->slot_count - 1);
	t->slots[s] = (uint32_t)index + 1;
}

int chunk_table_reserve(struct chunk_table *t)
{
	size_t wanted = t->slot_count ? t->slot_count * 2 : 1024;
	uint32_t *slots, *old = t->slots;
	int status;

	if (t->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	status = array_reserve(&t->items, t->count, &t->capacity, sizeof(*t->items));
	if (status || (t->count + 1) * 2 <= t->slot_count)
		return status;
	slots = calloc(wanted, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	t->slots = slots;
	t->slot_count = wanted;
	for (size_t i = 0; i < t->count; i++)
		enter(t, i);
	free(old);
	return 0;
}

void chunk_table_add(struct chunk_table *t, const struct format_index_chunk *c)
{
	t->items[t->count] = *c;
	enter(t, t->count++);
}

void chunk_table_free(struct chunk_table *t)
{
	free(t->items);
	free(t->slots);
	*t = (struct chunk_table){0};
}
