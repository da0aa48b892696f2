/* SPDX-License-Identifier: MIT */
/* CHUNK_BYTES of memory at one moment, shared by the pictures in which they are the same. */
#include "replay/page.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct page *page_new(void)
{
	struct page *p = aligned_alloc(64, sizeof(*p));

	if (!p)
		return NULL;
	memset(p, 0, offsetof(struct page, data));
	p->refs = 1;
	p->uniform = -1;
	return p;
}

struct page *page_uniform(uint8_t byte)
{
	struct page *p = page_new();

	if (!p)
		return NULL;
	memset(p->data, byte, sizeof(p->data));
	p->uniform = byte;
	return p;
}

struct page *page_away(struct page_store *store, uint64_t place)
{
	struct page *p = page_new();

	if (p) {
		p->store = store;
		p->place = place;
	}
	return p;
}

const uint8_t *page_bytes(struct page *p)
{
	if (p->store) {
		struct page_store *store = p->store;
		int rc = store->fetch(store->owner, p->place, p->data);

		p->store = NULL;
		if (rc) {
			memset(p->data, 0, sizeof(p->data));
			store->error = store->error ? store->error : rc;
		}
	}
	return p->data;
}

struct page *page_ref(struct page *p)
{
	if (p)
		p->refs++;
	return p;
}

void page_unref(struct page *p)
{
	if (p && !--p->refs)
		free(p);
}

struct hash128 page_hash(struct page *p, uint32_t offset, uint32_t bytes)
{
	struct hash128 key;

	for (size_t i = 0; i < PAGE_KEYS; i++)
		if (p->keys[i].offset == offset && p->keys[i].bytes == bytes)
			return p->keys[i].key;
	key = hash_bytes(page_bytes(p) + offset, bytes);
	p->keys[p->next_key].offset = offset;
	p->keys[p->next_key].bytes = bytes;
	p->keys[p->next_key].key = key;
	p->next_key = (p->next_key + 1) % PAGE_KEYS;
	return key;
}
