/* SPDX-License-Identifier: MIT */
/* XXH3-128, the identity of images, chunks, families and configs. */
#ifndef KERNELAB_HASH_H
#define KERNELAB_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash128 {
	uint64_t high, low;
};

_Static_assert(sizeof(struct hash128) == 16, "stored as 16 bytes");

#define HASH_TEXT_BYTES 33 /* 32 lower-case hex digits (high first) and NUL */

/* XXH3-128 (seed 0) of `size` bytes; data may be NULL if size is 0. Pure, any thread. */
struct hash128 hash_bytes(const void *data, size_t size);

/* Total order by (high, low): negative, 0, positive. */
int hash_compare(struct hash128 a, struct hash128 b);

static inline bool hash_equal(struct hash128 a, struct hash128 b)
{
	return a.high == b.high && a.low == b.low;
}

static inline bool hash_is_zero(struct hash128 a)
{
	return !a.high && !a.low;
}

/* Writes 32 hex digits and NUL into text (HASH_TEXT_BYTES) and returns text. */
char *hash_text(struct hash128 h, char *text);

/* Reads exactly 32 hex digits. 0, or -EINVAL (then *h is untouched). */
int hash_parse(const char *text, struct hash128 *h);

/*
 * Streaming form for keys built from several fields. A fixed-size value without heap memory is not
 * offered by XXH3, so the state is opaque: hash_state_new returns NULL without memory.
 */
struct hash_state;
struct hash_state *hash_state_new(void);
void hash_state_free(struct hash_state *s);
void hash_state_add(struct hash_state *s, const void *data, size_t size);
/* A text field: its bytes and one NUL, so that ("ab","c") and ("a","bc") differ. NULL = "". */
void hash_state_add_text(struct hash_state *s, const char *text);
struct hash128 hash_state_end(const struct hash_state *s);

#endif
