/* SPDX-License-Identifier: MIT */
/* Tables of classes that only grow, so that they are read without a lock; credits. */
#include "shim/classes.h"

#include <stdlib.h>
#include <string.h>

#include "shim/guard.h"

#define CAPACITY_MIN 4u

_Static_assert(sizeof(struct class_id) + 2 * sizeof(uint64_t) == 2 * CACHE_LINE, "see classes.h");

struct class_slot {
	_Atomic(struct shape_class *) class; /* NULL: free */
	uint64_t mix;                        /* of its id; there before the class is */
};

/*
 * Open addressing; at most half full. A larger one replaces it; it is kept for its readers. Its
 * alignment leaves bits for the logarithm of its capacity in the pointer.
 */
struct class_table {
	_Alignas(CACHE_LINE) uintptr_t older;
	struct class_slot slots[];
};

static struct class_table *table_of(uintptr_t tagged)
{
	return (struct class_table *)(tagged & ~(uintptr_t)(CACHE_LINE - 1));
}

static size_t capacity_of(uintptr_t tagged)
{
	return tagged ? (size_t)1 << (tagged & (CACHE_LINE - 1)) : 0;
}

static struct shape_class *find_in(uintptr_t tagged, const struct class_id *id)
{
	const struct class_table *t = table_of(tagged);
	size_t mask = capacity_of(tagged) - 1;
	uint64_t mix = class_id_mix(id);
	struct shape_class *c;

	for (size_t i = mix >> 32;; i++) {
		const struct class_slot *s = &t->slots[i & mask];

		c = atomic_load_explicit(&s->class, memory_order_acquire);
		if (!c || (s->mix == mix && class_id_equal(id, &c->id)))
			return c;
	}
}

SHIM_HOT struct shape_class *classes_find(const struct classes *classes, const struct class_id *id)
{
	struct shape_class *only = atomic_load_explicit(&classes->only, memory_order_acquire);
	struct shape_class *more, *c;
	uintptr_t table;

	/* While it is alone what is not in it is in none. */
	if (only)
		return class_id_equal(id, &only->id) ? only : NULL;
	/* First: if it is there, the table that is read next has all that it will ever have. */
	more = atomic_load_explicit(&classes->more, memory_order_acquire);
	table = atomic_load_explicit(&classes->table, memory_order_acquire);
	c = table ? find_in(table, id) : NULL;
	return c ? c : more;
}

static void table_add(uintptr_t tagged, struct shape_class *c)
{
	struct class_table *t = table_of(tagged);
	size_t mask = capacity_of(tagged) - 1;
	uint64_t mix = class_id_mix(&c->id);
	size_t i = mix >> 32;

	while (atomic_load(&t->slots[i & mask].class))
		i++;
	t->slots[i & mask].mix = mix;
	atomic_store_explicit(&t->slots[i & mask].class, c, memory_order_release);
}

/* Room for one more. 0 without memory. */
static uintptr_t table_grow(struct classes *classes)
{
	uintptr_t old = atomic_load(&classes->table), grown;
	size_t capacity = old ? 2 * capacity_of(old) : CAPACITY_MIN;
	size_t bytes = sizeof(struct class_table) + capacity * sizeof(struct class_slot);
	struct class_table *t;

	if (old && 2 * (classes->count + 1) <= capacity_of(old))
		return old;
	bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	t = aligned_alloc(CACHE_LINE, bytes);
	if (!t)
		return 0;
	memset(t, 0, bytes);
	t->older = old;
	grown = (uintptr_t)t | (unsigned)__builtin_ctzll(capacity);
	for (struct shape_class *c = classes->first; c; c = c->next)
		table_add(grown, c);
	atomic_store_explicit(&classes->table, grown, memory_order_release);
	return grown;
}

static struct shape_class *class_new(void)
{
	struct shape_class *c = aligned_alloc(2 * CACHE_LINE, sizeof(*c));

	if (c)
		memset(c, 0, sizeof(*c));
	return c;
}

struct shape_class *classes_get(struct classes *classes, const struct class_id *id,
				const uint32_t grid[3])
{
	struct shape_class *c = classes_find(classes, id);
	uintptr_t table;

	if (c)
		return c;
	c = class_new();
	if (c && classes->count == CLASSES_MAX) {
		atomic_store_explicit(&classes->more, c, memory_order_release);
		return c;
	}
	table = c ? table_grow(classes) : 0;
	if (!table) {
		free(c);
		return NULL;
	}
	c->id = *id;
	c->key = class_id_key(id);
	memcpy(c->grid, grid, sizeof(c->grid));
	table_add(table, c);
	atomic_store_explicit(&classes->only, classes->count ? NULL : c, memory_order_release);
	if (classes->last)
		classes->last->next = c;
	else
		classes->first = c;
	classes->last = c;
	classes->count++;
	return c;
}

bool classes_is_more(const struct classes *classes, const struct shape_class *c)
{
	return c == atomic_load_explicit(&classes->more, memory_order_relaxed);
}

/* ---- credit ---- */

void classes_grant(struct shape_class *c, enum launch_left why, int64_t launches)
{
	c->passing = why;
	c->granted = launches;
	atomic_store_explicit(&c->credit, launches, memory_order_relaxed);
}

/* remains: of the credit. Threads that came too late took it below 0: they are decided alone. */
static void count_passed(struct shape_class *c, int64_t remains)
{
	int64_t passed = c->granted - (remains > 0 ? remains : 0);
	uint64_t tails = atomic_exchange_explicit(&c->tails, 0, memory_order_relaxed);

	c->seen += tails;
	c->left[LEFT_CLASSES].count += tails;
	c->seen += (uint64_t)passed;
	c->left[c->passing].count += (uint64_t)passed;
	c->granted -= passed;
}

void classes_fold(struct shape_class *c)
{
	count_passed(c, atomic_load_explicit(&c->credit, memory_order_relaxed));
}

void classes_revoke(struct shape_class *c)
{
	count_passed(c, atomic_exchange_explicit(&c->credit, 0, memory_order_relaxed));
	c->granted = 0;
}
