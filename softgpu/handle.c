/* SPDX-License-Identifier: MIT */
/* Tables behind the handles, one a kind. */
#include "softgpu/handle.h"

#include <stdbool.h>

#include "lib/base.h"

/* 0x4K GGGGGGG IIIIII 0: kind, generation, index. Bit 62 makes it no address of any memory. */
#define INDEX_BITS      24
#define GENERATION_BITS 28
#define MARK            (UINT64_C(1) << 62)

struct slot {
	void *object;
	uint32_t generation;
	uint32_t next_free; /* index + 1; 0 ends the list */
};

static struct table {
	struct slot *slots;
	size_t count, capacity;
	uint32_t first_free; /* index + 1 */
} tables[HANDLE_KIND_END];

static uint64_t handle_make(enum handle_kind kind, uint32_t generation, size_t index)
{
	return MARK | (uint64_t)kind << (4 + INDEX_BITS + GENERATION_BITS) |
	       (uint64_t)generation << (4 + INDEX_BITS) | (uint64_t)index << 4;
}

static struct slot *handle_slot(enum handle_kind kind, uint64_t handle)
{
	struct table *t = &tables[kind];
	size_t index = handle >> 4 & ((1u << INDEX_BITS) - 1);

	if (index >= t->count || !t->slots[index].object ||
	    handle_make(kind, t->slots[index].generation, index) != handle)
		return NULL;
	return &t->slots[index];
}

uint64_t handle_new(enum handle_kind kind, void *object)
{
	struct table *t = &tables[kind];
	size_t index;

	if (t->first_free) {
		index = t->first_free - 1;
		t->first_free = t->slots[index].next_free;
	} else {
		if (t->count >> INDEX_BITS ||
		    array_reserve(&t->slots, t->count, &t->capacity, sizeof(*t->slots)))
			return 0;
		index = t->count++;
		t->slots[index] = (struct slot){0};
	}
	t->slots[index].object = object;
	return handle_make(kind, t->slots[index].generation, index);
}

void *handle_get(enum handle_kind kind, uint64_t handle)
{
	struct slot *s = handle_slot(kind, handle);

	return s ? s->object : NULL;
}

void handle_free(enum handle_kind kind, uint64_t handle)
{
	struct table *t = &tables[kind];
	struct slot *s = handle_slot(kind, handle);

	if (!s)
		return;
	s->object = NULL;
	s->generation = (s->generation + 1) & ((1u << GENERATION_BITS) - 1);
	if (!s->generation)
		return; /* worn out: its values would repeat */
	s->next_free = t->first_free;
	t->first_free = (uint32_t)(s - t->slots) + 1;
}

void *handle_next(enum handle_kind kind, size_t *cursor)
{
	struct table *t = &tables[kind];

	while (*cursor < t->count) {
		void *object = t->slots[(*cursor)++].object;

		if (object)
			return object;
	}
	return NULL;
}
