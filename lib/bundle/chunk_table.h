/* SPDX-License-Identifier: MIT */
/* The chunks of one bundle by key and size: what the writer has and where the reader finds it. */
#ifndef LIB_BUNDLE_CHUNK_TABLE_H
#define LIB_BUNDLE_CHUNK_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/hash.h"
#include "lib/bundle/format.h"

/* Open addressing over an array in file order. Zero-initialised = empty. Not thread-safe. */
struct chunk_table {
	struct format_index_chunk *items;
	size_t count, capacity;
	uint32_t *slots;   /* index into items plus one; 0 = free */
	size_t slot_count; /* power of two */
};

/* Key and raw_bytes together are a chunk's identity. NULL if it is not there. */
const struct format_index_chunk *chunk_table_find(const struct chunk_table *t, struct hash128 key,
						  uint32_t raw_bytes);
/* Any size: the first entered with that key. */
const struct format_index_chunk *chunk_table_find_key(const struct chunk_table *t,
						      struct hash128 key);
/* Makes room for one more, so that chunk_table_add cannot fail. 0, -ENOMEM, -EOVERFLOW (2^32). */
int chunk_table_reserve(struct chunk_table *t);
/* Copies *c in; chunk_table_reserve must have been called since the last add. */
void chunk_table_add(struct chunk_table *t, const struct format_index_chunk *c);
void chunk_table_free(struct chunk_table *t);

#endif
