/* SPDX-License-Identifier: MIT */
/* Blocks of 64 KiB; a larger piece gets a block of its own. */
#include "lib/bundle/arena.h"

#include <stdlib.h>

#include "lib/base.h"

#define BLOCK_BYTES 65536u

struct arena_block {
	struct arena_block *next;
	size_t size, used;
	_Alignas(16) unsigned char data[];
};

static struct arena_block *block_new(struct arena *a, size_t size)
{
	struct arena_block *b = calloc(1, sizeof(*b) + size);

	if (!b)
		return NULL;
	b->size = size;
	/* A block that one piece fills goes behind the current one, which still has room. */
	if (size > BLOCK_BYTES && a->blocks) {
		b->next = a->blocks->next;
		a->blocks->next = b;
	} else {
		b->next = a->blocks;
		a->blocks = b;
	}
	return b;
}

void *arena_take(struct arena *a, size_t size)
{
	struct arena_block *b = a->blocks;
	size_t rounded;
	void *piece;

	if (__builtin_add_overflow(size ? size : 1, 15, &rounded))
		return NULL;
	rounded &= ~(size_t)15;
	if (rounded > a->limit_bytes - a->used_bytes) {
		a->over_limit = 1;
		return NULL;
	}
	if (!b || b->size - b->used < rounded)
		b = block_new(a, rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES);
	if (!b)
		return NULL;
	piece = b->data + b->used;
	b->used += rounded;
	a->used_bytes += rounded;
	return piece;
}

void *arena_take_array(struct arena *a, size_t count, size_t size)
{
	size_t bytes;

	if (!size_multiply(count, size, &bytes)) {
		a->over_limit = 1;
		return NULL;
	}
	return arena_take(a, bytes);
}

void arena_free(struct arena *a)
{
	struct arena_block *next;

	for (struct arena_block *b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	a->blocks = NULL;
	a->used_bytes = 0;
}
