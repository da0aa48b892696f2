/* SPDX-License-Identifier: MIT */
/*
 * Shape classes of a kernel and their counters. A class that has nothing to record for a while is
 * given a credit of launches, and these pass with one atomic step; table_lock is for the others.
 */
#ifndef SHIM_CLASSES_H
#define SHIM_CLASSES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernelab/hash.h"
#include "shim/class_id.h"

#define CLASSES_MAX 64u

/* Why a launch of a recorded kernel was only counted. shim/launches.c has the words. */
enum launch_left {
	LEFT_PER_CLASS,
	LEFT_SKIPPED,
	LEFT_BEFORE,
	LEFT_AFTER,
	LEFT_MAX_LAUNCHES,
	LEFT_MAX_BYTES,
	LEFT_IN_CAPTURE,
	LEFT_FAILED,
	LEFT_CLASSES,
	LEFT_NOT_RECORDABLE,
	LEFT_POSTPONED,
	LEFT_ENDED,
	LEFT_COUNT
};

/* A number, and how much of it CLASS records have told so far. */
struct tally {
	uint64_t count, flushed;
};

#define CACHE_LINE     64
#define CREDIT_FOREVER (INT64_MAX / 2)

/* But for id, key, credit and tails all is under table_lock. */
struct shape_class {
	/* What every launch touches has two cache lines side by side. */
	_Alignas(2 * CACHE_LINE) _Atomic int64_t
		credit;      /* launches that may still pass; 0 and less: none */
	atomic_ullong tails; /* launches of `more` that passed since their tail is known */
	struct class_id id;  /* constant, as is the key */
	struct hash128 key;
	uint32_t grid[3];
	enum launch_left passing; /* the reason why those that pass are left */
	int64_t granted;          /* credit that classes_fold has not counted yet */
	uint64_t seen;            /* without what is not folded */
	uint64_t claimed; /* launches that are being recorded, or are with contents; samples not */
	uint64_t next_sample; /* number in the class of the next one; 0: not computed yet */
	uint32_t samples;     /* taken */
	uint32_t schedule;    /* index of the next sample */
	struct tally written; /* LAUNCH records */
	struct tally left[LEFT_COUNT];
	uint32_t captured; /* LAUNCH records made in stream capture: at most one */
	uint32_t failed;   /* recordings that got no contents */
	struct shape_class *next;
};

struct class_table;

/* The classes of one kernel. All zero: none. Lives as long as the process. */
struct classes {
	_Atomic(struct shape_class *) only; /* while there is one class: that */
	_Atomic(struct shape_class *)
		more;            /* once there are CLASSES_MAX: what is in none of them */
	_Atomic uintptr_t table; /* of struct class_table, and the logarithm of its capacity */
	struct shape_class *first, *last; /* all but `more`, in the order they came; table_lock */
	size_t count;
};

/* That class, `more` if it is beyond the limit; NULL: it has to be made. No lock. What was found
 * once is the answer for good. */
struct shape_class *classes_find(const struct classes *classes, const struct class_id *id);
/* Makes it at need; NULL without memory. Caller holds table_lock; so for all below. */
struct shape_class *classes_get(struct classes *classes, const struct class_id *id,
				const uint32_t grid[3]);
bool classes_is_more(const struct classes *classes, const struct shape_class *c);

/* Uses one of the credit: true, the launch is counted as left and needs nothing else. No lock. */
static inline bool classes_pass(struct shape_class *c)
{
	return atomic_load_explicit(&c->credit, memory_order_relaxed) > 0 &&
	       atomic_fetch_sub_explicit(&c->credit, 1, memory_order_relaxed) > 0;
}

/* Counts a launch of `more` that has no credit, but of which nothing is to be recorded. No lock. */
static inline void classes_pass_tail(struct shape_class *more)
{
	atomic_fetch_add_explicit(&more->tails, 1, memory_order_relaxed);
}

/* The next `launches` ones pass, left for that reason. There must be no credit. */
void classes_grant(struct shape_class *c, enum launch_left why, int64_t launches);
/* Counts what has passed so far, in seen and left. */
void classes_fold(struct shape_class *c);
/* Takes the credit away: the next launch is to be decided. Folds. */
void classes_revoke(struct shape_class *c);

#endif
