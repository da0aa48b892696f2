/* SPDX-License-Identifier: MIT */
/* The suspected scope of a difference: what separates the launches that show it from the others. */
#ifndef ANALYZE_SCOPE_H
#define ANALYZE_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/error.h"

struct analysis;
struct family_verdict;

enum scope_kind {
	SCOPE_NONE,   /* nothing to tell: bucket 1, unproven, or no launch was tested */
	SCOPE_ALL,    /* every tested launch shows it: there is nothing to separate */
	SCOPE_EXACT,  /* the clauses hold for all launches that show it and for no other */
	SCOPE_PARTLY, /* the best that there is; counts say how far it goes */
	SCOPE_OPEN    /* some show it, some do not, and no feature tells which */
};

const char *scope_kind_name(enum scope_kind k); /* "none", "all", "exact", "partly", "open" */

/* Up to three features together, with how many configs (of_config) or launches have them all, and
 * how many of these show it. */
struct scope_clause {
	char *text; /* completes "launches with …": "num_stages=3 and blocks=32x32" */
	bool of_config;
	size_t in, in_failed, out, out_failed;
};

struct scope {
	enum scope_kind kind;
	size_t configs, configs_failed, launches, launches_failed; /* tested */
	struct scope_clause clauses[2]; /* the second within the first: its counts are of there */
	size_t clause_count;
	char **also; /* features that could be told as well, in place of the last clause's */
	size_t also_count, also_capacity;
	char *outputs; /* "only output y (f16), not mean (f32)"; NULL: nothing to tell */
	char *types;   /* families of the same source with other types */
	char *trials;  /* which trials show it */
	char *place;   /* where in the worst output */
	char *text;    /* all of it in one sentence, without a full stop; NULL: SCOPE_NONE */
};

/*
 * Fills scope of every family in bucket 3 (fails) and 2 (differs). The search: single features,
 * then two, then three together that separate without exception; else one that separates configs of
 * which some launch shows it; else the best, which leaves exceptions. Of equally good ones those
 * that come first in analyze/trait.c. Reads the worst output of families in bucket 3 once more, for
 * its place. 0 or -ENOMEM with err; contents that cannot be read have no place.
 */
int scope_families(struct analysis *a, struct error *err);
void scope_clear(struct scope *s);

#endif
