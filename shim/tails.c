/* SPDX-License-Identifier: MIT */
/* Keys of tails and the two sets of those that were recorded. */
#include "shim/tails.h"

#include <stdlib.h>
#include <string.h>

#include "shim/kernels.h"

#define BLOCK_ASSUMED 16u /* Triton specialises on it */

struct tail_set {
	struct hash128 keys[TAILS_MAX];
	size_t count;
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

static bool set_add(struct tail_set *set, const void *data, size_t size)
{
	struct hash128 key = hash_bytes(data, size);

	for (size_t i = 0; i < set->count; i++)
		if (hash_equal(set->keys[i], key))
			return false;
	if (set->count == TAILS_MAX)
		return false;
	set->keys[set->count++] = key;
	return true;
}

/* The number of a parameter of 1, 2, 4 or 8 bytes; negative ones count as huge. */
static uint64_t number_at(const unsigned char *at, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size < sizeof(value) ? size : sizeof(value));
	return value;
}

static bool is_number(const struct kernel *k, size_t i, const unsigned char *at)
{
	uint32_t size = k->params[i].size;

	if (k->kinds[i] == PARAM_INTEGER)
		return true;
	/* As params_class: without a signature a word with an empty upper half is a number. */
	return k->kinds[i] == PARAM_UNKNOWN && size <= 8 && !(number_at(at, size) >> 32);
}

#define ITEMS_MAX 256u

bool tails_new(struct tails **tails, const struct kernel *k, const unsigned char *params,
	       size_t params_size)
{
	static const struct tail_blocks assumed = {{BLOCK_ASSUMED}, 1};
	const struct tail_blocks *blocks = &k->image->blocks;
	uint32_t residues[ITEMS_MAX];
	unsigned char kinds[ITEMS_MAX];
	size_t n = 0;
	bool fresh;

	if (!blocks->count)
		blocks = &assumed;
	if (!*tails)
		*tails = calloc(1, sizeof(**tails));
	if (!*tails)
		return false;
	for (size_t i = 0; i < k->param_count; i++) {
		const unsigned char *at = params + k->params[i].offset;

		if ((size_t)k->params[i].offset + k->params[i].size > params_size ||
		    !is_number(k, i, at))
			continue;
		for (size_t b = 0; b < blocks->count && n < ITEMS_MAX; b++, n++) {
			residues[n] =
				(uint32_t)(number_at(at, k->params[i].size) % blocks->size[b]);
			kinds[n] = kind_of(residues[n], blocks->size[b]);
		}
	}
	fresh = set_add(&(*tails)->kinds, kinds, n);
	return set_add(&(*tails)->residues, residues, n * sizeof(residues[0])) || fresh;
}

bool tails_full(const struct tails *tails)
{
	return tails && tails->residues.count == TAILS_MAX && tails->kinds.count == TAILS_MAX;
}
