/* SPDX-License-Identifier: MIT */
/*
 * What tells the shape classes of one kernel apart, as a few words that are compared as they are: a
 * launch that passes computes no hash of them. Their hash, the key of the class, is for the bundle.
 */
#ifndef SHIM_CLASS_ID_H
#define SHIM_CLASS_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelab/hash.h"

/* With the two counters in front of them in struct shape_class they are two cache lines. */
#define CLASS_WORDS 14u

/*
 * words[0] and the lower half of words[1] are the grid, then come the parameters; the upper half of
 * words[1] is how many words there are, and those behind are 0. What has more is told by its hash:
 * then there are three, and CLASS_ID_HASHED.
 */
struct class_id {
	uint64_t words[CLASS_WORDS];
};

#define CLASS_ID_HASHED (1ull << 63)

static inline unsigned class_id_count(const struct class_id *id)
{
	return (unsigned)(id->words[1] >> 32) & 0xff;
}

/* Stores one by one: compilers make of zeros what takes longer than all the rest. */
static inline void class_id_clear(struct class_id *id)
{
#pragma GCC unroll 14
	for (unsigned i = 2; i < CLASS_WORDS; i++) {
		uint64_t zero = 0;

		__asm__("" : "+r"(zero));
		id->words[i] = zero;
	}
}

static inline void class_id_begin(struct class_id *id, const uint32_t grid[3], unsigned count)
{
	id->words[0] = grid[0] | (uint64_t)grid[1] << 32;
	id->words[1] = grid[2] | (uint64_t)count << 32;
	class_id_clear(id);
}

static inline void class_id_hashed(struct class_id *id, struct hash128 hash)
{
	class_id_clear(id);
	id->words[0] = hash.high;
	id->words[1] = CLASS_ID_HASHED | 3ull << 32;
	id->words[2] = hash.low;
}

/* Words by themselves: they were just written so, and a wider load would wait for them all. */
static inline uint64_t class_id_word(const struct class_id *id, unsigned i)
{
	uint64_t word = id->words[i];

	__asm__("" : "+r"(word));
	return word;
}

/* Without a branch: between two launches the driver's own work takes the predictor too. */
static inline bool class_id_equal(const struct class_id *a, const struct class_id *b)
{
	uint64_t differ = 0;

#pragma GCC unroll 14
	for (unsigned i = 0; i < CLASS_WORDS; i++)
		differ |= class_id_word(a, i) ^ b->words[i];
	return !differ;
}

/* For the place in a table; nothing rests on different ones being different. */
static inline uint64_t class_id_mix(const struct class_id *id)
{
	uint64_t mix = class_id_word(id, 0);

#pragma GCC unroll 14
	for (unsigned i = 1; i < CLASS_WORDS; i++) {
		uint64_t word = class_id_word(id, i);

		mix ^= word << 4 * i | word >> (64 - 4 * i);
	}
	mix = (mix ^ mix >> 32) * 0x9e3779b97f4a7c15u;
	return mix ^ mix >> 29;
}

/* The hash that stands in the bundle: of the words without their number, or the one that it is. */
struct hash128 class_id_key(const struct class_id *id);

#endif
