/* SPDX-License-Identifier: MIT */
/* Binned data for the pictures of one output: of bounded size, gathered only for reports. */
#ifndef ANALYZE_PICTURE_H
#define ANALYZE_PICTURE_H

#include "analyze/contents.h"
#include "analyze/shape.h"
#include "kernelab/error.h"

#define PICTURE_SCATTER_COLUMNS 64
#define PICTURE_SCATTER_ROWS    48
#define PICTURE_ULP_BINS        33 /* |ulp| in [2^k, 2^(k+1)), k = 0 … 32; the last one is open */
#define PICTURE_VALUE_BINS      64
#define PICTURE_HEAT_SIDE       128

struct picture_range {
	double low, high; /* low > high: nothing was seen */
};

/* d = b - a. "Finite" positions are finite on both sides. */
struct picture {
	enum dtype dtype;
	uint64_t elements;
	/* |d| against |a|, base-2 logarithms; finite positions with d != 0. a = 0 stands apart. */
	struct picture_range magnitude, difference;
	uint64_t scatter[PICTURE_SCATTER_ROWS][PICTURE_SCATTER_COLUMNS];
	uint64_t from_zero[PICTURE_SCATTER_ROWS];
	/* Signed steps of the type from A to B over positions that are NaN on neither side. */
	uint64_t ulp_equal, ulp_above[PICTURE_ULP_BINS], ulp_below[PICTURE_ULP_BINS];
	/* Values of each side, linear bins over the finite values of both. */
	struct picture_range values;
	uint64_t value_counts[2][PICTURE_VALUE_BINS];
	uint64_t not_finite[2];
	/* The output as a plane: cell (r, c) covers the elements that scale into it. */
	struct shape shape;
	uint32_t heat_rows, heat_columns;
	uint64_t heat_differing[PICTURE_HEAT_SIDE * PICTURE_HEAT_SIDE]; /* by bits */
	float heat_max[PICTURE_HEAT_SIDE * PICTURE_HEAT_SIDE];          /* greatest |d|, finite */
	uint64_t heat_changes[PICTURE_HEAT_SIDE * PICTURE_HEAT_SIDE];   /* of class */
};

/*
 * Reads contents a and b of `extent`, as elements of type t, twice: for the ranges, then for the
 * bins. shape lays out the plane. 0 and *out (free with free()), or -errno with err where a chunk
 * is missing or damaged, or memory lacks. About 9 MiB, whatever the output's size. Threads: any.
 */
int picture_take(struct picture **out, const struct bundle *bundle,
		 const struct record_extent *extent, enum dtype t, const struct record_content *a,
		 const struct record_content *b, const struct shape *shape, struct error *err);

#endif
