/* SPDX-License-Identifier: MIT */
/* The loops of the metrics over one block of elements, without branches, for the vectoriser. */
#ifndef ANALYZE_BLOCK_H
#define ANALYZE_BLOCK_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/metrics.h"

static inline bool is_finite(double x)
{
	return fabs(x) <= DBL_MAX;
}

#define GREATER(x, y) ((x) > (y) ? (x) : (y)) /* no NaN comes here; fmax would be a call */

/* |x - y| without overflow. */
static inline uint64_t order_distance(int64_t x, int64_t y)
{
	return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* The allowance of rule 9 without a hull. */
struct allowance {
	double noise; /* relative to max(|a|, |b|) + scale */
	double step;  /* steps * 2^-mantissa_bits; 0: the output is as wide as its accumulator */
	double least; /* 2^min_exponent */
	double ftz;
};

/* From the table of thresholds and the type's format. */
struct allowance allowance_of(enum dtype t);

/* Figures that need no index: of a block, then of a tile. */
struct sums {
	double d, d2, a2, max_abs, max_rel, max_ratio;
	uint64_t finite, steps, beyond;
	uint64_t differing, payload, zero_sign, ftz, changes, max_ulp;
};

/* Both sides equal: only what A holds is added to *t (finite, a2). */
void block_equal(const double *a, size_t n, struct sums *t);

/* Magnitudes of one block against its allowance: sets *t, fills ratio[0 … n) (|d| / allowance). */
void block_magnitudes(const double *a, const double *b, size_t n, double scale,
		      const struct allowance *allowance, double *ratio, struct sums *t);

/* Nondeterministic A: nothing within the hull differs, and its rms width is allowed besides. */
void block_hull(const double *a, const double *b, size_t n, double scale, double width,
		const struct allowance *w, const struct metric_hull *h, double *ratio);

/* beyond and max_ratio of *t. */
void block_ratios(const double *ratio, size_t n, struct sums *t);

/* differs[i]: the bits of element i are not the same. bytes: 1, 2, 4 or 8. */
void block_differs(const unsigned char *a, const unsigned char *b, size_t n, uint32_t bytes,
		   uint8_t *differs);

/* Kinds of difference: differing, payload, zero_sign, ftz, changes and max_ulp of *t. */
void block_kinds(const double *a, const double *b, const int64_t *order_a, const int64_t *order_b,
		 const uint8_t *differs, size_t n, double ftz, struct sums *t);

#endif
