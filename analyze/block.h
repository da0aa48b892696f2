/* SPDX-License-Identifier: MIT */
/* One pair of blocks the careful way: NaN, infinities, and a nondeterministic A. */
#ifndef ANALYZE_BLOCK_H
#define ANALYZE_BLOCK_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/metrics.h"
#include "analyze/sweep.h"

static inline bool is_finite(double x)
{
	return fabs(x) <= DBL_MAX;
}

#define GREATER(x, y) ((x) > (y) ? (x) : (y)) /* no NaN comes here */

/* |x - y| without overflow. */
static inline uint64_t order_distance(int64_t x, int64_t y)
{
	return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* From the table of thresholds and the type's format. */
struct allowance allowance_of(enum dtype t);

/* |d| / allowance of an element; 0 where it does not count as different, or is not finite. */
double element_ratio(double a, double b, const struct allowance *w, double scale);

/* The same for a nondeterministic A: nothing within its hull (element i) differs, and the rms width
 * of the hull around the element is allowed besides. */
double element_ratio_hull(double a, double b, const struct allowance *w, double scale, double width,
			  const struct metric_hull *h, size_t i);

/* Counts of one side, whatever its elements are. */
void block_side_careful(const double *a, size_t n, struct block_side *out);

/* What struct pair_sums lacks in a block with elements that are not finite. */
struct block_kinds {
	uint64_t finite, payload;
	uint64_t special; /* bits differ, and some side is not finite */
	double a2;        /* over positions that are finite on both sides */
};

/*
 * Adds to *t what struct sweep's pair does, in the same lanes, for blocks of any elements; ratio[i]
 * is what element_ratio or element_ratio_hull gives; differs[i]: the bits are not the same.
 */
void block_pair_careful(const double *a, const double *b, const double *ratio, const bool *differs,
			double ftz, size_t n, struct pair_sums *t, struct block_kinds *kinds);

#endif
