/* SPDX-License-Identifier: MIT */
/* Keys of tails and the two sets of those that were recorded. */
#include "shim/tails.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shim/kernels.h"
#include "shim/params.h"

#define BLOCK_ASSUMED 16u /* Triton specialises on it */

/* Open addressing, at most half full; only grows, so that it is read without a lock. */
#define SLOTS (2u * TAILS_MAX)

struct tail_set {
	_Atomic uint64_t slots[SLOTS];
	atomic_uint count;
};

struct tails {
	struct tail_set residues, kinds;
};

static void add_block(struct tail_blocks *b, uint32_t size)
{
	size_t at = 0;

	while (at < b->count && b->size[at] > size)
		at++;
	if (at == TAIL_BLOCKS_MAX || (at < b->count && b->size[at] == size))
		return;
	if (b->count < TAIL_BLOCKS_MAX)
		b->count++;
	memmove(&b->size[at + 1], &b->size[at], (b->count - at - 1) * sizeof(b->size[0]));
	b->size[at] = size;
}

/* tt.make_range {end = 1024 : i32, start = 0 : i32} */
void tails_find_blocks(struct tail_blocks *blocks, const char *text, size_t size)
{
	static const char op[] = "tt.make_range {end = ";
	const char *end = text + size, *at = text;

	*blocks = (struct tail_blocks){0};
	while ((at = memmem(at, (size_t)(end - at), op, sizeof(op) - 1))) {
		uint32_t value = 0;

		for (at += sizeof(op) - 1; at < end && *at >= '0' && *at <= '9' && value < 1u << 24;
		     at++)
			value = value * 10 + (uint32_t)(*at - '0');
		if (value > 1)
			add_block(blocks, value);
	}
}

static unsigned char kind_of(uint64_t residue, uint32_t block)
{
	if (residue <= 1)
		return (unsigned char)residue;
	if (residue == block - 1)
		return 2;
	if (!(residue % 16))
		return 3;
	return residue % 2 ? 5 : 4;
}

static bool set_has(const struct tail_set *set, uint64_t key)
{
	for (size_t i = key;; i++) {
		uint64_t there = atomic_load_explicit(&set->slots[i % SLOTS], memory_order_relaxed);

		if (!there || there == key)
			return there == key;
	}
}

static bool set_full(const struct tail_set *set)
{
	return atomic_load_explicit(&set->count, memory_order_relaxed) == TAILS_MAX;
}

static bool set_add(struct tail_set *set, uint64_t key)
{
	size_t i = key;

	if (set_has(set, key) || set_full(set))
		return false;
	while (atomic_load_explicit(&set->slots[i % SLOTS], memory_order_relaxed))
		i++;
	atomic_store_explicit(&set->slots[i % SLOTS], key, memory_order_relaxed);
	atomic_fetch_add_explicit(&set->count, 1, memory_order_relaxed);
	return true;
}

/* The number of a parameter of 1, 2, 4 or 8 bytes; negative ones count as huge. */
static uint64_t number_at(const unsigned char *at, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size < sizeof(value) ? size : sizeof(value));
	return value;
}

/* As params_class: without a signature a word with an empty upper half is a number. */
static bool is_number(const struct key_part *p, const unsigned char *at)
{
	switch (p->kind) {
	case KEY_ALIGNMENT:
		return false;
	case KEY_WORD:
	case KEY_WORDS:
		return p->size <= 8 && !(number_at(at, p->size) >> 32);
	default:
		return true;
	}
}

#define ITEMS_MAX 256u

struct tail_key tails_key(const struct kernel *k, const struct params_view *params)
{
	static const struct tail_blocks assumed = {{BLOCK_ASSUMED}, 1};
	const struct tail_blocks *blocks = &k->image->blocks;
	uint32_t residues[ITEMS_MAX];
	unsigned char kinds[ITEMS_MAX];
	size_t n = 0;

	if (!blocks->count)
		blocks = &assumed;
	for (size_t i = 0; i < k->key_part_count; i++) {
		const struct key_part *p = &k->key_parts[i];
		const unsigned char *at = params_part(params, p);

		if (!at || !is_number(p, at))
			continue;
		for (size_t b = 0; b < blocks->count && n < ITEMS_MAX; b++, n++) {
			residues[n] = (uint32_t)(number_at(at, p->size) % blocks->size[b]);
			kinds[n] = kind_of(residues[n], blocks->size[b]);
		}
	}
	return (struct tail_key){hash_bytes(residues, n * sizeof(residues[0])).low | 1,
				 hash_bytes(kinds, n).low | 1};
}

bool tails_new(_Atomic(struct tails *) *tails, struct tail_key key)
{
	struct tails *t = atomic_load(tails);
	bool fresh;

	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return false;
		atomic_store_explicit(tails, t, memory_order_release);
	}
	fresh = set_add(&t->kinds, key.kinds);
	return set_add(&t->residues, key.residues) || fresh;
}

bool tails_known(const struct tails *t, struct tail_key key)
{
	return t && (set_has(&t->residues, key.residues) || set_full(&t->residues)) &&
	       (set_has(&t->kinds, key.kinds) || set_full(&t->kinds));
}

bool tails_full(const struct tails *t)
{
	return t && set_full(&t->residues) && set_full(&t->kinds);
}
