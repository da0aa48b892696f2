/* SPDX-License-Identifier: MIT */
/* The counts of threads, and their sum. */
#include "shim/numbers.h"

#include <pthread.h>
#include <stdlib.h>

#include "shim/classes.h"
#include "shim/recorder.h"

__thread struct thread_launches *numbers_mine __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its destructor knows of a thread's end */
static bool key_made;
static struct thread_launches *all;
/* Counted by all threads: what is exact, and what no memory was there for. */
static struct {
	_Alignas(CACHE_LINE) _Atomic uint64_t count;
	char rest[CACHE_LINE - sizeof(uint64_t)];
} shared;

static void leave(void *mine)
{
	pthread_mutex_lock(&lock);
	((struct thread_launches *)mine)->taken = false;
	numbers_mine = NULL;
	pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
	key_made = !pthread_key_create(&key, leave);
}

bool numbers_exact(void)
{
	const struct selection *s = recorder_settings();

	return s->start.launches || s->stop.launches;
}

/* Caller holds lock. Without the key a thread could not give its count away: it gets none then. */
static struct thread_launches *join(void)
{
	struct thread_launches *t = all;

	pthread_once(&once, make_key);
	while (t && t->taken)
		t = t->next;
	if (!t && key_made) {
		t = aligned_alloc(CACHE_LINE,
				  (sizeof(*t) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
		if (!t)
			return NULL;
		*t = (struct thread_launches){.next = all};
		all = t;
	}
	if (!t || pthread_setspecific(key, t))
		return NULL;
	t->taken = true;
	t->left = NUMBERS_ROUND;
	numbers_mine = t;
	return t;
}

/* Caller holds lock. */
static uint64_t sum(void)
{
	uint64_t n = atomic_load_explicit(&shared.count, memory_order_relaxed);

	for (const struct thread_launches *t = all; t; t = t->next)
		n += atomic_load_explicit(&t->count, memory_order_relaxed);
	return n;
}

/* Caller holds lock. */
static void add(uint64_t count)
{
	struct thread_launches *mine = numbers_mine ? numbers_mine : join();

	atomic_fetch_add_explicit(mine ? &mine->count : &shared.count, count, memory_order_relaxed);
	if (mine)
		mine->left = NUMBERS_ROUND;
}

uint64_t numbers_take(uint64_t count)
{
	uint64_t first;

	if (numbers_exact())
		return atomic_fetch_add_explicit(&shared.count, count, memory_order_relaxed) + 1;
	pthread_mutex_lock(&lock);
	add(count);
	first = sum() - count + 1;
	pthread_mutex_unlock(&lock);
	return first;
}

void numbers_add(uint64_t count)
{
	if (numbers_exact()) {
		atomic_fetch_add_explicit(&shared.count, count, memory_order_relaxed);
		return;
	}
	pthread_mutex_lock(&lock);
	add(count);
	pthread_mutex_unlock(&lock);
}

uint64_t numbers_total(void)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = sum();
	pthread_mutex_unlock(&lock);
	return n;
}

void numbers_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	atomic_store(&shared.count, 0);
	/* The other threads of the parent are not here. */
	for (struct thread_launches *t = all; t; t = t->next) {
		atomic_store(&t->count, 0);
		t->taken = t == numbers_mine;
	}
}
