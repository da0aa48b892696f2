/* SPDX-License-Identifier: MIT */
/* Which stage of the compiler a fault comes from: ptxas, or what is before it. */
#ifndef ANALYZE_STAGE_H
#define ANALYZE_STAGE_H

#include <stdbool.h>

#include "kernelab/error.h"

struct analysis;
struct family_verdict;

enum stage_kind {
	STAGE_NONE,   /* nothing to tell: not in bucket 3, or unproven */
	STAGE_PTXAS,  /* ptxas alone shows it, at least in the configs where some stage is meant */
	STAGE_BEFORE, /* what comes before ptxas alone shows it */
	STAGE_EITHER, /* each of the two alone shows it */
	STAGE_TOGETHER, /* only both together do */
	STAGE_NEITHER,  /* machine code is equal: neither */
	STAGE_OPEN      /* both differ and were not crossed, or the crossing failed */
};

/* "none", "ptxas", "before ptxas", "either", "together", "neither", "open" */
const char *stage_kind_name(enum stage_kind k);

struct stage {
	enum stage_kind kind;
	bool crossed; /* shown by trials with crossed stages; else told by PTX and versions */
	char *text;   /* why, in a sentence without a full stop; NULL: STAGE_NONE */
};

/*
 * Fills stage of every family in bucket 3, from its configs that fail: equal PTX means ptxas,
 * another PTX with the same ptxas (or on the software device, which has none) what is before it;
 * else what a STAGE record says. Where failing configs tell different things the text counts them.
 * 0 or -ENOMEM with err.
 */
int stage_families(struct analysis *a, struct error *err);
void stage_clear(struct stage *s);

#endif
