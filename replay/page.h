/* SPDX-License-Identifier: MIT */
/* CHUNK_BYTES of memory at one moment, shared by the pictures in which they are the same. */
#ifndef REPLAY_PAGE_H
#define REPLAY_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "kernelab/hash.h"

#define PAGE_KEYS 4

/* Where pages are whose bytes nobody has asked for yet. */
struct page_store {
	void *owner;
	/* Fills CHUNK_BYTES of data. 0 or -errno. */
	int (*fetch)(void *owner, uint64_t place, void *data);
	int error; /* of the first fetch that failed: its page holds zeros */
};

/* Not for several threads. Written only by who made it, before it is shared. */
struct page {
	uint32_t refs;
	uint32_t clean;           /* 1 << enum look (replay/look.h): of no such element */
	struct page_store *store; /* its bytes are still there; NULL: in data */
	uint64_t place;           /* in the store */
	int uniform;              /* the byte that all of it holds; -1: not known to be so */
	struct {
		uint32_t offset, bytes;
		struct hash128 key;
	} keys[PAGE_KEYS]; /* hashes reckoned before; bytes 0: none */
	uint32_t next_key;
	bool stray_known;       /* the next two were reckoned, for the case that the page is of */
	uint64_t stray_bytes;   /* of it, changed outside the case's extents */
	uint64_t stray_address; /* first of them */
	_Alignas(64) uint8_t data[CHUNK_BYTES]; /* to be written; page_bytes reads it */
};

/* One reference, contents undefined; NULL without memory. */
struct page *page_new(void);
/* All bytes alike. */
struct page *page_uniform(uint8_t byte);

/* Its bytes are in the store, which must stay and keep them as long as they were not asked for. */
struct page *page_away(struct page_store *store, uint64_t place);

/* The CHUNK_BYTES of a page, fetched if they are away. */
const uint8_t *page_bytes(struct page *p);

struct page *page_ref(struct page *p);
void page_unref(struct page *p); /* NULL is allowed */

/* hash_bytes of a part, kept for the next time. */
struct hash128 page_hash(struct page *p, uint32_t offset, uint32_t bytes);

#endif
