/* SPDX-License-Identifier: MIT */
/* Sorted keys of one array of records, for look-ups in O(log n). */
#ifndef LIB_BUNDLE_LOOKUP_H
#define LIB_BUNDLE_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/hash.h"

struct lookup_entry {
	struct hash128 key; /* numbers: in low */
	size_t index;       /* of the record in its array */
};

struct lookup {
	struct lookup_entry *entries; /* by key, then index */
	size_t count;
};

enum lookup_key { LOOKUP_U32, LOOKUP_U64, LOOKUP_HASH };

/* Of `count` structs of `stride` bytes at `items` with a key at key_offset. 0 or -ENOMEM. */
int lookup_build(struct lookup *l, const void *items, size_t count, size_t stride,
		 size_t key_offset, enum lookup_key kind);
void lookup_free(struct lookup *l);
/* Position in entries of the first with that key, or count. */
size_t lookup_first(const struct lookup *l, struct hash128 key);
/* Index of the first record with that key, or SIZE_MAX. */
size_t lookup_hash(const struct lookup *l, struct hash128 key);
size_t lookup_number(const struct lookup *l, uint64_t number);

#endif
