/* SPDX-License-Identifier: MIT */
/* One chunk's bytes between memory and their stored form. */
#ifndef LIB_BUNDLE_CHUNK_H
#define LIB_BUNDLE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bundle/format.h"

/* Working memory of chunk_pack: compressor state and the compressed bytes. */
struct chunk_scratch {
	struct chunk_scratch *next; /* for a free list */
	char *packed;               /* CHUNK_BYTES */
	void *state;
};

/* NULL without memory. */
struct chunk_scratch *chunk_scratch_new(void);
void chunk_scratch_free(struct chunk_scratch *s);

/* True if all `size` bytes are zero; stops at the first 4 KiB that are not. */
bool chunk_is_zero(const void *data, size_t size);

/*
 * The smallest stored form of 1 … CHUNK_BYTES bytes that are not all zero: *stored points into s or
 * to data, *stored_bytes is its length.
 */
enum chunk_codec chunk_pack(struct chunk_scratch *s, const void *data, uint32_t size,
			    const void **stored, uint32_t *stored_bytes);

/*
 * Expands stored bytes to exactly raw_bytes at `data` (no further: LZ4_decompress_safe). 0;
 * -EBADMSG if they do not give raw_bytes. Says nothing about their hash.
 */
int chunk_unpack(uint32_t codec, const void *stored, uint32_t stored_bytes, void *data,
		 uint32_t raw_bytes);

/* Does a stored length make sense: zero 0, stored raw_bytes, LZ4 less than raw_bytes? */
bool chunk_sizes_valid(uint32_t codec, uint32_t raw_bytes, uint64_t stored_bytes);

#endif
