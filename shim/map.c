/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing; removal moves the followers up, so there are no tombstones.
 */
#include "shim/map.h"

#include <errno.h>
#include <stdlib.h>

struct map_slot {
	uint64_t key;
	void *value;
};

/* Handles are addresses: multiply so that their upper bits count (Fibonacci hashing). */
static size_t home(const struct map *m, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (m->capacity - 1);
}

static struct map_slot *find(const struct map *m, uint64_t key)
{
	size_t i = home(m, key);

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & (m->capacity - 1);
	return &m->slots[i];
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->capacity ? find(m, key)->value : NULL;
}

static int grow(struct map *m)
{
	struct map bigger = {.capacity = m->capacity ? 2 * m->capacity : 64, .count = m->count};

	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->capacity; i++)
		if (m->slots[i].key)
			*find(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int map_put(struct map *m, uint64_t key, void *value)
{
	struct map_slot *slot;

	if (2 * (m->count + 1) > m->capacity) {
		int r = grow(m);

		if (r < 0)
			return r;
	}
	slot = find(m, key);
	m->count += !slot->key;
	slot->key = key;
	slot->value = value;
	return 0;
}

static void remove_slot(struct map *m, size_t hole)
{
	size_t mask = m->capacity - 1;

	for (size_t i = (hole + 1) & mask; m->slots[i].key; i = (i + 1) & mask) {
		/* May slot i move to the hole? Only if its home is not behind the hole. */
		if (((i - home(m, m->slots[i].key)) & mask) >= ((i - hole) & mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole] = (struct map_slot){0};
	m->count--;
}

void *map_remove(struct map *m, uint64_t key)
{
	struct map_slot *slot = m->capacity ? find(m, key) : NULL;
	void *value = slot ? slot->value : NULL;

	if (slot && slot->key)
		remove_slot(m, (size_t)(slot - m->slots));
	return value;
}

void map_filter(struct map *m, int (*drop)(void *value, void *data), void *data)
{
	for (size_t i = 0; i < m->capacity;) {
		if (m->slots[i].key && drop(m->slots[i].value, data))
			remove_slot(m, i); /* a follower may be here now: look again */
		else
			i++;
	}
}

void map_clear(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}
