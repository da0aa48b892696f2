/* SPDX-License-Identifier: MIT */
/* Tables of classes that only grow, so that they are read without a lock; credits. */
#include "shim/classes.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 4u

/* Open addressing; at most half full. A larger one replaces it; it is kept for its readers. */
struct class_table {
	struct class_table *older;
	size_t capacity; /* a power of two */
	_Atomic(struct shape_class *) slots[];
};

struct shape_class *classes_find(const struct classes *classes, struct hash128 key)
{
	/* First: if it is there, the table that is read next has all that it will ever have. */
	struct shape_class *more = atomic_load_explicit(&classes->more, memory_order_acquire), *c;
	struct class_table *t = atomic_load_explicit(&classes->table, memory_order_acquire);

	for (size_t i = key.low; t; i++) {
		c = atomic_load_explicit(&t->slots[i & (t->capacity - 1)], memory_order_acquire);
		if (!c)
			break;
		if (hash_equal(c->key, key))
			return c;
	}
	return more;
}

static void table_add(struct class_table *t, struct shape_class *c)
{
	size_t i = c->key.low;

	while (atomic_load(&t->slots[i & (t->capacity - 1)]))
		i++;
	atomic_store_explicit(&t->slots[i & (t->capacity - 1)], c, memory_order_release);
}

/* Room for one more. NULL without memory. */
static struct class_table *table_grow(struct classes *classes)
{
	struct class_table *old = atomic_load(&classes->table), *t;
	size_t capacity = old ? 2 * old->capacity : CAPACITY_MIN;

	if (old && 2 * (classes->count + 1) <= old->capacity)
		return old;
	t = calloc(1, sizeof(*t) + capacity * sizeof(t->slots[0]));
	if (!t)
		return NULL;
	t->older = old;
	t->capacity = capacity;
	for (struct shape_class *c = classes->first; c; c = c->next)
		table_add(t, c);
	atomic_store_explicit(&classes->table, t, memory_order_release);
	return t;
}

static struct shape_class *class_new(void)
{
	struct shape_class *c = aligned_alloc(CACHE_LINE, sizeof(*c));

	if (c)
		memset(c, 0, sizeof(*c));
	return c;
}

struct shape_class *classes_get(struct classes *classes, struct hash128 key, const uint32_t grid[3])
{
	struct shape_class *c = classes_find(classes, key);
	struct class_table *t;

	if (c)
		return c;
	c = class_new();
	if (c && classes->count == CLASSES_MAX) {
		atomic_store_explicit(&classes->more, c, memory_order_release);
		return c;
	}
	t = c ? table_grow(classes) : NULL;
	if (!t) {
		free(c);
		return NULL;
	}
	c->key = key;
	memcpy(c->grid, grid, sizeof(c->grid));
	table_add(t, c);
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
