/* SPDX-License-Identifier: MIT */
/* What holds for some launches of a family and not for others: what a fault may depend on. */
#ifndef ANALYZE_TRAIT_H
#define ANALYZE_TRAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analyze.h"

/* A tested launch of one config. */
struct unit {
	const struct config_verdict *config;
	const struct case_verdict *launch;
	size_t config_index; /* specialisations of a config (divisibility) are one config */
	bool failed;         /* in the bucket that is asked about */
};

struct trait {
	char *text;      /* completes "launches with …": "num_stages=4", "K % 32 ≠ 0" */
	int rank;        /* of several that hold for the same launches the lowest is told */
	bool of_config;  /* the same for all launches of a config */
	bool of_order;   /* place in the run: says little, and nothing together with others */
	bool of_sides;   /* how A and B differ: where a fault lies, and no cause of it */
	size_t found;    /* traits found before it */
	uint64_t *holds; /* a bit a unit */
};

struct traits {
	struct unit *units;
	size_t unit_count, config_count;
	struct trait *items; /* by rank, then in the order they were found */
	size_t count, capacity;
};

/*
 * Takes the launches of f that were tested and not left unproven, and everything that the result
 * says of them and that is not the same for all: options and block sizes of the config, integer
 * scalars, scalars modulo block sizes, alignments, grid, place in the run, whether code or PTX
 * differ between the sides. Of numbers only those thresholds are taken that lie between a launch
 * that failed and one that did not. A unit has failed if its bucket is `bucket`. 0 or -ENOMEM;
 * traits_free in either case.
 */
int traits_find(struct traits *t, const struct family_verdict *f, int bucket);
void traits_free(struct traits *t);

static inline bool trait_holds(const struct trait *x, size_t unit)
{
	return x->holds[unit / 64] >> unit % 64 & 1;
}

#endif
