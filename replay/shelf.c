/* SPDX-License-Identifier: MIT */
/* Recorded contents that a worker read before: the launches of a sweep share theirs. */
#include "replay/shelf.h"

#include <stdlib.h>

static size_t slot_of(const struct shelf *s, struct hash128 identity)
{
	size_t i = identity.low & (s->capacity - 1);

	while (s->entries[i].page && !hash_equal(s->entries[i].identity, identity))
		i = (i + 1) & (s->capacity - 1);
	return i;
}

/* Takes over the entries used after `since`, in a table of that capacity. */
static bool rebuild(struct shelf *s, size_t capacity, uint64_t since)
{
	struct shelf old = *s;
	struct shelf_entry *entries = calloc(capacity, sizeof(*entries));

	if (!entries)
		return false;
	s->entries = entries;
	s->capacity = capacity;
	s->count = 0;
	for (size_t i = 0; i < old.capacity; i++) {
		struct shelf_entry *e = &old.entries[i];

		if (!e->page)
			continue;
		if (e->used <= since) {
			page_unref(e->page);
			continue;
		}
		s->entries[slot_of(s, e->identity)] = *e;
		s->count++;
	}
	free(old.entries);
	return true;
}

struct page *shelf_get(struct shelf *s, struct hash128 identity)
{
	struct shelf_entry *e = s->capacity ? &s->entries[slot_of(s, identity)] : NULL;

	if (!e || !e->page)
		return NULL;
	e->used = ++s->turn;
	return page_ref(e->page);
}

void shelf_put(struct shelf *s, struct hash128 identity, struct page *page)
{
	struct shelf_entry *e;

	if (2 * (s->count + 1) > s->capacity &&
	    !rebuild(s, s->capacity ? 2 * s->capacity : 1024, 0))
		return;
	/* Each turn uses one page: at least half go at once, so that it is not done each time. */
	if (s->count >= SHELF_BYTES / CHUNK_BYTES &&
	    !rebuild(s, s->capacity, s->turn - SHELF_BYTES / CHUNK_BYTES / 2))
		return;
	e = &s->entries[slot_of(s, identity)];
	if (e->page)
		return;
	*e = (struct shelf_entry){identity, page_ref(page), ++s->turn};
	s->count++;
}

void shelf_free(struct shelf *s)
{
	for (size_t i = 0; i < s->capacity; i++)
		page_unref(s->entries[i].page);
	free(s->entries);
	*s = (struct shelf){0};
}
