/* SPDX-License-Identifier: MIT */
/* Recorded contents that a worker read before: the launches of a sweep share theirs. */
#ifndef REPLAY_SHELF_H
#define REPLAY_SHELF_H

#include <stddef.h>
#include <stdint.h>

#include "replay/page.h"

#define SHELF_BYTES (4ull << 30) /* of pages kept for later launches */

/* Identity of a page's contents → page. Zero-initialised = empty. Not for several threads. */
struct shelf {
	struct shelf_entry {
		struct hash128 identity;
		struct page *page; /* NULL: free */
		uint64_t used;     /* turn of the last use */
	} * entries;               /* open addressing, power of two */
	size_t count, capacity;
	uint64_t turn;
};

/* A reference of the page with these contents, or NULL. */
struct page *shelf_get(struct shelf *s, struct hash128 identity);

/*
 * Keeps a reference for later; what was not used for longest makes room. Without memory it is not
 * kept.
 */
void shelf_put(struct shelf *s, struct hash128 identity, struct page *page);

void shelf_free(struct shelf *s);

#endif
