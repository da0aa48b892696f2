/* SPDX-License-Identifier: MIT */
/*
 * Numbers of launches: each is one of all launches of the process. A launch that is only counted
 * needs none: its thread counts it by itself, and what has a number is put behind all that.
 */
#ifndef SHIM_NUMBERS_H
#define SHIM_NUMBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/guard.h"

/* Of so many launches of a thread at least one is numbered. */
#define NUMBERS_ROUND 256u

/* What one thread at a time writes. Never freed: the next thread that comes goes on with it. */
struct thread_launches {
	_Atomic uint64_t count;
	uint32_t left; /* that may be counted until one has to get a number */
	bool taken;    /* the lock of numbers.c, as next */
	struct thread_launches *next;
};

/* NULL: this thread has not asked for a number yet, or all are numbered (numbers_exact). */
extern __thread struct thread_launches *numbers_mine __attribute__((tls_model("initial-exec")));

/* Whether this launch may be counted by numbers_count; else it has to get a number. */
static inline bool numbers_can_count(void)
{
	return numbers_mine && numbers_mine->left;
}

/* Counts a launch of this thread: no other one writes there. */
static inline void numbers_count(void)
{
	struct thread_launches *mine = numbers_mine;
	uint64_t count = atomic_load_explicit(&mine->count, memory_order_relaxed);

	atomic_store_explicit(&mine->count, count + 1, memory_order_relaxed);
	mine->left--;
}

/*
 * Numbers the next `count` launches of the process: returns the first, from 1. Different ones at
 * each call, and larger than all that were returned before. Any thread; takes a lock of its own,
 * but where all are numbered.
 */
uint64_t numbers_take(uint64_t count);

/* Counts so many that need no number. Any thread, as numbers_take. */
void numbers_add(uint64_t count);

/*
 * Whether each launch has to get its number: what is recorded begins or ends at one
 * (KERNELAB_START_AFTER, KERNELAB_STOP_AFTER). Constant once recorder_wanted() was true.
 */
bool numbers_exact(void);

/* All launches so far. Any thread. */
uint64_t numbers_total(void);

/* After fork. */
void numbers_forget(void);

#endif
