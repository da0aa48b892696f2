/* SPDX-License-Identifier: MIT */
/* The kernel of one side that stands in for a recorded one, and by which rule. */
#ifndef REPLAY_PARTNER_H
#define REPLAY_PARTNER_H

#include <stdbool.h>

#include "kernelab/records.h"
#include "lib/image/suite.h"
#include "replay/rules.h"

/* A recorded kernel: what a partner is looked for. */
struct recorded_kernel {
	const struct suite *suite; /* the recorded run's */
	const struct suite_family *family;
	const struct suite_config *config;
	const struct suite_member *member;
};

struct partner {
	const struct suite_config *config; /* NULL: none */
	const struct suite_member *member; /* NULL: none */
	enum pairing pairing; /* EXACT, SOURCE_CHANGED, BY_RULE; AMBIGUOUS: see reason */
	char *reason;         /* malloc'ed: why there is none, or NULL */
};

/* The same image and entry, of whatever bundle. */
bool same_kernel(const struct suite_member *x, const struct suite_member *y);
/* True if an earlier member of the config is the same image and entry (of another bundle). */
bool is_repeated(const struct suite_config *c, size_t index);

/*
 * The kernel of `side` that was made from m's image (replay/made.h), and its config. NULL: none
 * was, or its image has no such entry.
 */
const struct suite_member *partner_successor(const struct suite *side, const struct suite_member *m,
					     const struct suite_config **config);

/*
 * Looks for k's partner in `side`, which is not k->suite. `name` ("A", "B") is for reasons. The
 * rules are those of pairs_build. 0 or -ENOMEM; out->reason is the caller's.
 */
int partner_find(struct partner *out, const struct suite *side, const char *name,
		 const struct pair_rules *rules, const struct recorded_kernel *k);

#endif
