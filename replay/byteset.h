/* SPDX-License-Identifier: MIT */
/* A set of bytes of restored memory: one bit a byte, memory only for chunks of which some are set.
 */
#ifndef REPLAY_BYTESET_H
#define REPLAY_BYTESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "replay/layout.h"

#define BYTESET_WORDS (CHUNK_BYTES / 64)

/*
 * Over the pieces of one launch. `pieces` is borrowed, merged, and every piece is a multiple of
 * CHUNK_BYTES in base and size. Not for several threads at once.
 */
struct byteset {
	const struct ranges *pieces;
	size_t chunks;    /* of all pieces, in address order */
	uint64_t **words; /* a chunk's bits, to be read; NULL where none was ever set */
};

int byteset_init(struct byteset *s, const struct ranges *pieces);
void byteset_free(struct byteset *s);

/* Chunk number of an address; SIZE_MAX outside the pieces. Address of a chunk's first byte. */
size_t byteset_chunk(const struct byteset *s, uint64_t address);
uint64_t byteset_address(const struct byteset *s, size_t chunk);

/* Sets one byte or a range (clipped to the pieces). 0 or -ENOMEM. */
int byteset_add(struct byteset *s, uint64_t address, uint64_t size);
/* Whether all bytes of a chunk are known to be set, without looking at each. */
bool byteset_chunk_full(const struct byteset *s, size_t chunk);

/* Clears a range. 0 or -ENOMEM. */
int byteset_remove(struct byteset *s, uint64_t address, uint64_t size);
bool byteset_has(const struct byteset *s, uint64_t address);

/*
 * Sets the bytes at which x and y (CHUNK_BYTES each, any alignment) differ, or with `equal` those
 * at which they agree.
 */
int byteset_add_compare(struct byteset *s, size_t chunk, const void *x, const void *y, bool equal);

/* s |= other, s &= other, s &= ~other; both over the same pieces. 0 or -ENOMEM. */
int byteset_or(struct byteset *s, const struct byteset *other);
int byteset_and(struct byteset *s, const struct byteset *other);
int byteset_minus(struct byteset *s, const struct byteset *other);

uint64_t byteset_count(const struct byteset *s);
bool byteset_is_empty(const struct byteset *s);
/* How many, and the address of the first; 0 and 0 of an empty set. */
void byteset_first(const struct byteset *s, uint64_t *bytes, uint64_t *address);

/*
 * Runs of set bytes in address order, whole across chunk borders but never across pieces. Start
 * with *cursor = 0; false when there is none any more. *cursor is the next address to look at.
 */
bool byteset_next(const struct byteset *s, uint64_t *cursor, struct range *run);

#endif
