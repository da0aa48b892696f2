/* SPDX-License-Identifier: MIT */
/*
 * Open addressing with linear probing. Readers hold no lock, so a slot never moves: one that is
 * given up keeps its key as long as others may lie behind it, and a table that grows is replaced
 * by a larger one and kept, since a reader may still be in it (all old ones together are smaller
 * than the newest).
 */
#include "shim/functions.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shim/classes.h"
#include "shim/guard.h"

#define CAPACITY_MIN 256u

struct slot {
	_Atomic uint64_t handle;         /* 0: never used, or nothing lies behind it */
	_Atomic(struct kernel *) kernel; /* NULL: given up */
	uint64_t holder;                 /* this and below: table_lock */
	bool in_library;
};

struct table {
	struct table *older;
	size_t capacity, used; /* capacity: a power of two; used: slots with a handle */
	_Alignas(CACHE_LINE) struct slot slots[];
};

_Static_assert(sizeof(struct slot) == 32, "two of them are a cache line");

/*
 * The table and, in the lower bits that its alignment leaves, the binary logarithm of its capacity:
 * who looks a handle up needs not the line in which the table begins. 0: none.
 */
SHIM_HOT_DATA static _Atomic uintptr_t current;

static struct table *table_of(uintptr_t tagged)
{
	return (struct table *)(tagged & ~(uintptr_t)(CACHE_LINE - 1));
}

static struct table *table_now(void)
{
	return table_of(atomic_load_explicit(&current, memory_order_acquire));
}

/* Handles are addresses: multiply so that their upper bits count (Fibonacci hashing). */
static size_t home(uint64_t handle, size_t mask)
{
	return (size_t)((handle * 0x9e3779b97f4a7c15u) >> 32) & mask;
}

/* The slot of the handle, or the empty one where the search ended. */
static inline struct slot *find(struct table *t, size_t mask, uint64_t handle)
{
	for (size_t i = home(handle, mask);; i = (i + 1) & mask) {
		uint64_t there = atomic_load_explicit(&t->slots[i].handle, memory_order_acquire);

		if (there == handle || !there)
			return &t->slots[i];
	}
}

SHIM_HOT struct kernel *functions_kernel(CUfunction handle)
{
	uintptr_t tagged = atomic_load_explicit(&current, memory_order_acquire);
	size_t mask = ((size_t)1 << (tagged & (CACHE_LINE - 1))) - 1;

	if (!tagged || !handle)
		return NULL;
	/* Of an empty slot it is NULL too. */
	return atomic_load_explicit(&find(table_of(tagged), mask, (uintptr_t)handle)->kernel,
				    memory_order_acquire);
}

bool functions_get(CUfunction handle, struct function *f)
{
	struct table *t = table_now();
	struct slot *s = t && handle ? find(t, t->capacity - 1, (uintptr_t)handle) : NULL;

	if (!s || !atomic_load(&s->kernel))
		return false;
	*f = (struct function){s->holder, atomic_load(&s->kernel), s->in_library};
	return true;
}

/* ---- changes ---- */

static void fill(struct table *t, struct slot *s, uint64_t handle, const struct function *f)
{
	s->holder = f->holder;
	s->in_library = f->in_library;
	atomic_store_explicit(&s->kernel, f->kernel, memory_order_release);
	if (atomic_load(&s->handle) == handle)
		return;
	t->used += !atomic_load(&s->handle);
	atomic_store_explicit(&s->handle, handle, memory_order_release);
}

static size_t live(const struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; t && i < t->capacity; i++)
		n += atomic_load(&t->slots[i].kernel) != NULL;
	return n;
}

/* A table with room for one more, which has what is live of the current one. */
static struct table *grow(struct table *old)
{
	size_t capacity = CAPACITY_MIN, need = live(old);
	struct table *t;

	while (capacity < 4 * (need + 1) || (old && capacity < old->capacity))
		capacity *= 2;
	t = aligned_alloc(CACHE_LINE, sizeof(*t) + capacity * sizeof(t->slots[0]));
	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t) + capacity * sizeof(t->slots[0]));
	t->older = old;
	t->capacity = capacity;
	for (size_t i = 0; old && i < old->capacity; i++) {
		struct slot *s = &old->slots[i];
		struct function f = {s->holder, atomic_load(&s->kernel), s->in_library};
		uint64_t handle = atomic_load(&s->handle);

		if (f.kernel)
			fill(t, find(t, capacity - 1, handle), handle, &f);
	}
	atomic_store_explicit(&current, (uintptr_t)t | (unsigned)__builtin_ctzll(capacity),
			      memory_order_release);
	return t;
}

/* Where the handle is, else the first slot given up on the way, else the empty one behind. */
static struct slot *place(struct table *t, uint64_t handle)
{
	struct slot *given_up = NULL;

	for (size_t i = home(handle, t->capacity - 1);; i = (i + 1) & (t->capacity - 1)) {
		struct slot *s = &t->slots[i];
		uint64_t there = atomic_load(&s->handle);

		if (there == handle)
			return s;
		if (!there)
			return given_up ? given_up : s;
		if (!given_up && !atomic_load(&s->kernel))
			given_up = s;
	}
}

int functions_put(CUfunction handle, const struct function *f)
{
	struct table *t = table_now();

	if (!t || 2 * (t->used + 1) > t->capacity)
		t = grow(t);
	if (!t)
		return -ENOMEM;
	fill(t, place(t, (uintptr_t)handle), (uintptr_t)handle, f);
	return 0;
}

/* Nothing lies behind a slot whose follower is empty: it, and such before it, are empty again. */
static void empty(struct table *t, size_t i)
{
	size_t mask = t->capacity - 1;

	if (atomic_load(&t->slots[(i + 1) & mask].handle))
		return;
	while (atomic_load(&t->slots[i].handle) && !atomic_load(&t->slots[i].kernel)) {
		atomic_store_explicit(&t->slots[i].handle, 0, memory_order_release);
		t->used--;
		i = (i - 1) & mask;
	}
}

void functions_drop(uint64_t holder)
{
	struct table *t = table_now();

	for (size_t i = 0; t && i < t->capacity; i++) {
		struct slot *s = &t->slots[i];

		if (s->holder != holder || !atomic_load(&s->kernel))
			continue;
		atomic_store_explicit(&s->kernel, NULL, memory_order_release);
		empty(t, i);
	}
}

void functions_forget(void)
{
	atomic_store(&current, 0);
}
