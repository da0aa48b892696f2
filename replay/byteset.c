/* SPDX-License-Identifier: MIT */
/* A set of bytes of restored memory: one bit a byte, memory only for chunks of which some are set.
 */
#include "replay/byteset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "lib/base.h"

/* The words of every chunk of which all bytes are set: large outputs have little else. */
static const uint64_t full_words[BYTESET_WORDS] = {[0 ... BYTESET_WORDS - 1] = UINT64_MAX};

static bool is_full(const uint64_t *words)
{
	return words == full_words;
}

static void free_words(uint64_t *words)
{
	if (!is_full(words))
		free(words);
}

static void set_full(struct byteset *s, size_t chunk)
{
	free_words(s->words[chunk]);
	s->words[chunk] = (uint64_t *)full_words; /* chunk_words copies before anything writes */
}

bool byteset_chunk_full(const struct byteset *s, size_t chunk)
{
	return is_full(s->words[chunk]);
}

int byteset_init(struct byteset *s, const struct ranges *pieces)
{
	*s = (struct byteset){.pieces = pieces};
	s->chunks = ranges_bytes(pieces) / CHUNK_BYTES;
	s->words = calloc(s->chunks ? s->chunks : 1, sizeof(*s->words));
	return s->words ? 0 : -ENOMEM;
}

void byteset_free(struct byteset *s)
{
	if (s->words)
		for (size_t i = 0; i < s->chunks; i++)
			free_words(s->words[i]);
	free(s->words);
	*s = (struct byteset){0};
}

size_t byteset_chunk(const struct byteset *s, uint64_t address)
{
	size_t before = 0;

	for (size_t i = 0; i < s->pieces->count; i++) {
		const struct range *p = &s->pieces->items[i];

		if (address >= p->base && address - p->base < p->size)
			return before + (address - p->base) / CHUNK_BYTES;
		before += p->size / CHUNK_BYTES;
	}
	return SIZE_MAX;
}

uint64_t byteset_address(const struct byteset *s, size_t chunk)
{
	for (size_t i = 0; i < s->pieces->count; i++) {
		const struct range *p = &s->pieces->items[i];

		if (chunk < p->size / CHUNK_BYTES)
			return p->base + chunk * (uint64_t)CHUNK_BYTES;
		chunk -= p->size / CHUNK_BYTES;
	}
	return UINT64_MAX;
}

/* Words that may be changed; NULL without memory. */
static uint64_t *chunk_words(struct byteset *s, size_t chunk)
{
	uint64_t *words = s->words[chunk];

	if (!words) {
		s->words[chunk] = calloc(BYTESET_WORDS, sizeof(uint64_t));
	} else if (is_full(words)) {
		words = malloc(BYTESET_WORDS * sizeof(uint64_t));
		if (!words)
			return NULL;
		memcpy(words, full_words, sizeof(full_words));
		s->words[chunk] = words;
	}
	return s->words[chunk];
}

static void clear(struct byteset *s, size_t chunk)
{
	free_words(s->words[chunk]);
	s->words[chunk] = NULL;
}

/* Bits [first, first + count) of a chunk's words. */
static void fill_bits(uint64_t *words, uint32_t first, uint32_t count, bool value)
{
	while (count) {
		uint32_t bit = first % 64, n = 64 - bit < count ? 64 - bit : count;
		uint64_t mask = (n == 64 ? UINT64_MAX : (1ull << n) - 1) << bit;

		if (value)
			words[first / 64] |= mask;
		else
			words[first / 64] &= ~mask;
		first += n;
		count -= n;
	}
}

/* Sets or clears bytes [first, first + count) of a chunk. */
static int fill_part(struct byteset *s, size_t chunk, uint32_t first, uint32_t count, bool value)
{
	const uint64_t *words = s->words[chunk];

	if (value ? is_full(words) : !words)
		return 0;
	if (count == CHUNK_BYTES) {
		if (value)
			set_full(s, chunk);
		else
			clear(s, chunk);
		return 0;
	}
	if (!chunk_words(s, chunk))
		return -ENOMEM;
	fill_bits(s->words[chunk], first, count, value);
	return 0;
}

static int fill_range(struct byteset *s, uint64_t address, uint64_t size, bool value)
{
	size_t before = 0;

	for (size_t i = 0; i < s->pieces->count; i++) {
		const struct range *p = &s->pieces->items[i];
		uint64_t from = address > p->base ? address : p->base;
		uint64_t to =
			address + size < p->base + p->size ? address + size : p->base + p->size;

		while (from < to) {
			size_t chunk = before + (from - p->base) / CHUNK_BYTES;
			uint32_t first = from % CHUNK_BYTES;
			uint32_t n =
				to - from < CHUNK_BYTES - first ? to - from : CHUNK_BYTES - first;
			int rc = fill_part(s, chunk, first, n, value);

			if (rc)
				return rc;
			from += n;
		}
		before += p->size / CHUNK_BYTES;
	}
	return 0;
}

int byteset_add(struct byteset *s, uint64_t address, uint64_t size)
{
	return fill_range(s, address, size, true);
}

int byteset_remove(struct byteset *s, uint64_t address, uint64_t size)
{
	return fill_range(s, address, size, false);
}

bool byteset_has(const struct byteset *s, uint64_t address)
{
	size_t chunk = byteset_chunk(s, address);
	uint32_t bit = address % CHUNK_BYTES;

	return chunk != SIZE_MAX && s->words[chunk] && s->words[chunk][bit / 64] >> bit % 64 & 1;
}

/* Two halves may make a whole: outputs, of which each pattern of poison shows a part. */
static void add_words(struct byteset *s, size_t chunk, const uint64_t *more)
{
	uint64_t *words = s->words[chunk], all = UINT64_MAX;

	for (size_t i = 0; i < BYTESET_WORDS; i++) {
		words[i] |= more[i];
		all &= words[i];
	}
	if (all == UINT64_MAX)
		set_full(s, chunk);
}

/* Bit i set where byte i of 64 differs between x and y. */
#ifdef __SSE2__
static uint64_t differing_bytes(const uint8_t *x, const uint8_t *y)
{
	uint64_t same = 0;

	for (unsigned i = 0; i < 4; i++) {
		__m128i p = _mm_loadu_si128((const __m128i *)(x + 16 * i));
		__m128i q = _mm_loadu_si128((const __m128i *)(y + 16 * i));

		same |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(p, q)) << 16 * i;
	}
	return ~same;
}
#else
static uint64_t differing_bytes(const uint8_t *x, const uint8_t *y)
{
	const uint64_t low7 = 0x7f7f7f7f7f7f7f7full;
	uint64_t bits = 0;

	for (unsigned i = 0; i < 8; i++) {
		uint64_t p, q, high;

		memcpy(&p, x + 8 * i, 8);
		memcpy(&q, y + 8 * i, 8);
		p ^= q;
		high = (((p & low7) + low7) | p) & ~low7;
		bits |= ((high * 0x0002040810204081ull) >> 56) << 8 * i;
	}
	return bits;
}
#endif

int byteset_add_compare(struct byteset *s, size_t chunk, const void *x, const void *y, bool equal)
{
	static _Thread_local uint64_t found[BYTESET_WORDS];
	uint64_t all = UINT64_MAX, any = 0;

	if (is_full(s->words[chunk]) || (!equal && !memcmp(x, y, CHUNK_BYTES)))
		return 0;
	for (size_t i = 0; i < BYTESET_WORDS; i++) {
		uint64_t bits =
			differing_bytes((const uint8_t *)x + 64 * i, (const uint8_t *)y + 64 * i);

		found[i] = equal ? ~bits : bits;
		all &= found[i];
		any |= found[i];
	}
	if (all == UINT64_MAX)
		set_full(s, chunk);
	if (all == UINT64_MAX || !any)
		return 0;
	if (!chunk_words(s, chunk))
		return -ENOMEM;
	add_words(s, chunk, found);
	return 0;
}

int byteset_or(struct byteset *s, const struct byteset *other)
{
	for (size_t i = 0; i < s->chunks; i++) {
		if (!other->words[i] || is_full(s->words[i]))
			continue;
		if (is_full(other->words[i])) {
			set_full(s, i);
			continue;
		}
		if (!chunk_words(s, i))
			return -ENOMEM;
		add_words(s, i, other->words[i]);
	}
	return 0;
}

int byteset_and(struct byteset *s, const struct byteset *other)
{
	for (size_t i = 0; i < s->chunks; i++) {
		if (!s->words[i] || is_full(other->words[i]))
			continue;
		if (!other->words[i]) {
			clear(s, i);
			continue;
		}
		if (!chunk_words(s, i))
			return -ENOMEM;
		for (size_t j = 0; j < BYTESET_WORDS; j++)
			s->words[i][j] &= other->words[i][j];
	}
	return 0;
}

int byteset_minus(struct byteset *s, const struct byteset *other)
{
	for (size_t i = 0; i < s->chunks; i++) {
		if (!s->words[i] || !other->words[i])
			continue;
		if (is_full(other->words[i])) {
			clear(s, i);
			continue;
		}
		if (!chunk_words(s, i))
			return -ENOMEM;
		for (size_t j = 0; j < BYTESET_WORDS; j++)
			s->words[i][j] &= ~other->words[i][j];
	}
	return 0;
}

uint64_t byteset_count(const struct byteset *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->chunks; i++) {
		if (is_full(s->words[i]))
			sum += CHUNK_BYTES;
		else
			for (size_t j = 0; s->words[i] && j < BYTESET_WORDS; j++)
				sum += (uint64_t)__builtin_popcountll(s->words[i][j]);
	}
	return sum;
}

bool byteset_is_empty(const struct byteset *s)
{
	uint64_t cursor = 0;
	struct range run;

	return !byteset_next(s, &cursor, &run);
}

/* First bit at or behind `from` that equals value; CHUNK_BYTES if none. */
static uint32_t find_bit(const uint64_t *words, uint32_t from, bool value)
{
	for (uint32_t i = from / 64; i < BYTESET_WORDS; i++) {
		uint64_t w = value ? words[i] : ~words[i];

		if (i == from / 64)
			w &= UINT64_MAX << from % 64;
		if (w)
			return i * 64 + (uint32_t)__builtin_ctzll(w);
	}
	return CHUNK_BYTES;
}

/* First byte at or behind `from` in piece p (chunk number `before` its first) that is set or not.
 */
static uint64_t find_byte(const struct byteset *s, const struct range *p, size_t before,
			  uint64_t from, bool value)
{
	uint64_t end = p->base + p->size;

	while (from < end) {
		const uint64_t *words = s->words[before + (from - p->base) / CHUNK_BYTES];
		uint64_t first = from - from % CHUNK_BYTES;

		if (is_full(words)) {
			if (value)
				return from;
		} else if (words) {
			uint32_t bit = find_bit(words, from % CHUNK_BYTES, value);

			if (bit < CHUNK_BYTES)
				return first + bit;
		} else if (!value) {
			return from;
		}
		from = first + CHUNK_BYTES;
	}
	return end;
}

bool byteset_next(const struct byteset *s, uint64_t *cursor, struct range *run)
{
	size_t before = 0;

	for (size_t i = 0; i < s->pieces->count; i++) {
		const struct range *p = &s->pieces->items[i];
		uint64_t end = p->base + p->size;

		if (*cursor < end) {
			uint64_t from = *cursor > p->base ? *cursor : p->base;
			uint64_t first = find_byte(s, p, before, from, true);

			if (first < end) {
				uint64_t last = find_byte(s, p, before, first, false);

				*run = (struct range){first, last - first};
				*cursor = last;
				return true;
			}
		}
		before += p->size / CHUNK_BYTES;
	}
	return false;
}

void byteset_first(const struct byteset *s, uint64_t *bytes, uint64_t *address)
{
	uint64_t cursor = 0;
	struct range run;

	*bytes = byteset_count(s);
	*address = byteset_next(s, &cursor, &run) ? run.base : 0;
}
