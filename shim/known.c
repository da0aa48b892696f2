/* SPDX-License-Identifier: MIT */
/* Open addressing by the hash itself, whose bits are random. */
#include "shim/known.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/budget.h"
#include "shim/recorder.h"

#define FIRST_SIZE 1024u

struct entry {
	struct nh hash;
	struct hash128 key;
	uint32_t bytes; /* 0: free */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *table;
static size_t size, count; /* size: a power of two */

static struct entry *place_of(struct entry *entries, size_t n, const struct nh *hash,
			      uint32_t bytes)
{
	for (size_t i = (size_t)hash->sums[0] & (n - 1);; i = (i + 1) & (n - 1)) {
		struct entry *e = &entries[i];

		if (!e->bytes || (e->bytes == bytes && !memcmp(&e->hash, hash, sizeof(*hash))))
			return e;
	}
}

/* Makes it at most half full. Caller holds lock. */
static bool make_room(void)
{
	size_t wanted = size ? 2 * size : FIRST_SIZE;
	struct entry *bigger;

	if (2 * (count + 1) <= size)
		return true;
	if (wanted * sizeof(*bigger) > recorder_settings()->host_bytes / 4 ||
	    !budget_take(wanted * sizeof(*bigger)))
		return false;
	bigger = calloc(wanted, sizeof(*bigger));
	if (!bigger) {
		budget_give(wanted * sizeof(*bigger));
		return false;
	}
	for (size_t i = 0; i < size; i++)
		if (table[i].bytes)
			*place_of(bigger, wanted, &table[i].hash, table[i].bytes) = table[i];
	free(table);
	budget_give(size * sizeof(*table));
	table = bigger;
	size = wanted;
	return true;
}

bool known_add(struct nh hash, uint32_t bytes, struct hash128 key)
{
	struct entry *e;
	bool room;

	pthread_mutex_lock(&lock);
	room = make_room();
	if (room) {
		e = place_of(table, size, &hash, bytes);
		count += !e->bytes;
		*e = (struct entry){hash, key, bytes};
	}
	pthread_mutex_unlock(&lock);
	return room;
}

uint64_t known_find(const struct nh *hashes, const struct known_query *queries, size_t n)
{
	uint64_t found = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; size && i < n; i++) {
		const struct entry *e;

		/* The places are far apart in memory. */
		if (i + 8 < n)
			__builtin_prefetch(&table[(size_t)hashes[i + 8].sums[0] & (size - 1)]);
		e = place_of(table, size, &hashes[i], queries[i].bytes);
		if (!e->bytes)
			continue;
		*queries[i].key = e->key;
		found += e->bytes;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* The memory stays: another thread of the parent may have been changing it. */
void known_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	table = NULL;
	size = count = 0;
}
