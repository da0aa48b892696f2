/* SPDX-License-Identifier: MIT */
/* Everything a replay will do, worked out before any device is touched. */
#ifndef REPLAY_PLAN_H
#define REPLAY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/bind.h"
#include "replay/derive.h"
#include "replay/layout.h"
#include "replay/pair.h"
#include "replay/precision.h"
#include "replay/replay.h"
#include "replay/rules.h"
#include "replay/shard.h"
#include "replay/siblings.h"
#include "replay/source.h"

/* A compiled with another num_warps, bound to the launch. */
struct sibling {
	struct bound bound;
	char *how; /* "num_warps=8 in place of 4"; owned */
};

/* One recorded launch to be run under A and B. */
struct replay_case {
	size_t pair; /* index into plan.pairs */
	const struct bundle *bundle;
	const struct record_launch *launch;
	struct bound base, a, b;                /* base: the recorded image */
	struct sibling siblings[SIBLINGS_MOST]; /* of A, for the noise floor; see sibling_count */
	size_t sibling_count;
	struct pointer *pointers;
	size_t pointer_count;
	bool stores_known; /* pointers[].stored comes from PTX */
	uint64_t serial; /* additions one after the other, by A's Triton IR (serial.h); 0 unknown */
	const struct precision *precision[SIDE_COUNT]; /* NULL: no readable PTX */
	char *reason;                                  /* why it cannot be run, or NULL */
	bool look_for_races;     /* the first of its pair's cases of this shape class */
	struct derived *derived; /* owned; NULL: recorded. `launch` is in it */
	size_t share; /* what shard_has goes by: a derived launch stays with its origin */
};

struct plan {
	struct source *base, *a, *b; /* a and b may be base */
	struct pair_rules rules;     /* of --pair */
	struct shard shard;          /* which of the cases are run */
	struct pairs pairs;
	struct siblings siblings; /* of A, where they were asked for */
	bool *selected; /* a pair each: not filtered out by --family, --config, --launch */
	struct replay_case *cases;
	size_t count, capacity;
	size_t shares;                 /* recorded launches among the cases */
	struct precision **precisions; /* owned; two a pair, by side */
	struct reservations reserve;   /* of all cases that can be run */
};

/*
 * Opens the sources (which may mean to assemble or compile), pairs, filters and binds. 0 or -errno
 * with err; -EINTR once *stop (may be NULL) is not 0.
 */
int plan_make(struct plan **out, const struct replay_options *options, const volatile int *stop,
	      struct error *err);
void plan_free(struct plan *p);

/*
 * Identity of what will be run: the sides' kernels by machine code (else by image), launches,
 * shard and trials. A result goes on only in a replay of equal hash.
 */
struct hash128 plan_hash(const struct plan *p, const struct replay_options *options);

/* The same of the whole replay that the shard is a part of: equal for all its parts. */
struct hash128 plan_hash_whole(const struct plan *p, const struct replay_options *options);

#endif
