/* SPDX-License-Identifier: MIT */
/* One value of each launch of a family, and the traits that its values give. */
#ifndef ANALYZE_COLUMN_H
#define ANALYZE_COLUMN_H

#include "analyze/trait.h"

/* Among traits that hold for the same launches: what a person can act on comes first. */
enum rank {
	RANK_OPTION,
	RANK_BLOCK,
	RANK_BLOCKS,
	RANK_OPTION_NOT,
	RANK_OPTION_THRESHOLD,
	RANK_TAIL,
	RANK_NO_TAIL,
	RANK_OTHER_TAIL, /* by a block size that no failing config has */
	RANK_SCALAR,
	RANK_SCALAR_THRESHOLD,
	RANK_ALIGNED,
	RANK_ALIGNED_SCALAR,
	RANK_GRID,
	RANK_GRID_THRESHOLD,
	RANK_RECORDING,
	RANK_ORDER,
	RANK_PTX,
	RANK_CODE,
	RANK_SOURCE,
};

/* A value a unit: of a scalar, an option … Texts are numbered in the order they appear in. */
struct column {
	int64_t *value;
	bool *known;
	const char **text; /* NULL: a number */
	int *length;
};

typedef bool unit_test(const struct traits *t, size_t unit, const void *data);

/* Adds a trait unless it holds for all units or for none. 0 or -ENOMEM. */
__attribute__((format(printf, 6, 7))) int trait_add(struct traits *t, int rank, bool of_config,
						    unit_test *test, const void *data,
						    const char *format, ...);

/* Room for a value of each unit of t; column_free in either case. 0 or -ENOMEM. */
int column_make(const struct traits *t, struct column *c);
void column_free(struct column *c);

/* No value is known. */
void column_clear(const struct traits *t, struct column *c);

/* Data of a unit_test on a column. */
struct comparison {
	const struct column *column;
	size_t of; /* the unit whose value it is compared with */
	int64_t divisor;
};

/* Known, and not a multiple of the divisor, or a multiple. */
bool test_remainder(const struct traits *t, size_t i, const void *data);
bool test_divides(const struct traits *t, size_t i, const void *data);

/* What the traits of a column are called, and their ranks. */
struct naming {
	const char *name; /* "num_warps", "grid x" */
	int length;
	int rank_equal, rank_other, rank_threshold; /* -1: none of these */
	bool of_config;
};

/* Adds the traits "name=value", "name ≠ value" and, of numbers, thresholds. 0 or -ENOMEM. */
int column_add(struct traits *t, const struct column *c, const struct naming *w);

#endif
