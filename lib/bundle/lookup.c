/* SPDX-License-Identifier: MIT */
/* Sorting and binary search of record keys. */
#include "lib/bundle/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct hash128 key_at(const char *at, enum lookup_key kind)
{
	struct hash128 key = {0, 0};
	uint32_t number;

	if (kind == LOOKUP_HASH) {
		memcpy(&key, at, sizeof(key));
	} else if (kind == LOOKUP_U64) {
		memcpy(&key.low, at, sizeof(key.low));
	} else {
		memcpy(&number, at, sizeof(number));
		key.low = number;
	}
	return key;
}

static int compare(const void *a, const void *b)
{
	const struct lookup_entry *x = a, *y = b;
	int order = hash_compare(x->key, y->key);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

int lookup_build(struct lookup *l, const void *items, size_t count, size_t stride,
		 size_t key_offset, enum lookup_key kind)
{
	l->entries = calloc(count ? count : 1, sizeof(*l->entries));
	if (!l->entries)
		return -ENOMEM;
	l->count = count;
	for (size_t i = 0; i < count; i++) {
		const char *item = (const char *)items + i * stride;

		l->entries[i] = (struct lookup_entry){key_at(item + key_offset, kind), i};
	}
	qsort(l->entries, count, sizeof(*l->entries), compare);
	return 0;
}

void lookup_free(struct lookup *l)
{
	free(l->entries);
	*l = (struct lookup){0};
}

size_t lookup_first(const struct lookup *l, struct hash128 key)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (hash_compare(l->entries[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->count && hash_equal(l->entries[low].key, key) ? low : l->count;
}

size_t lookup_hash(const struct lookup *l, struct hash128 key)
{
	size_t at = lookup_first(l, key);

	return at < l->count ? l->entries[at].index : SIZE_MAX;
}

size_t lookup_number(const struct lookup *l, uint64_t number)
{
	return lookup_hash(l, (struct hash128){0, number});
}
