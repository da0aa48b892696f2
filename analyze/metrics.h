/* SPDX-License-Identifier: MIT */
/* What is measured on one output: two streams of elements, A and B, into one struct of figures. */
#ifndef ANALYZE_METRICS_H
#define ANALYZE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/number.h"

#define METRICS_TOP 5

struct sweep;

/* One element that differs. */
struct metric_element {
	uint64_t index; /* element index from the extent's start */
	double a, b;
	uint64_t bits_a, bits_b;
	uint64_t ulp;    /* distance in steps of the type; UINT64_MAX where one side is NaN */
	double severity; /* |d| / allowance of rule 9; inf for another class; |d| for integers */
};

/*
 * d = b - a. Counts are of elements; "finite" figures (max_abs, max_rel, sums) are over positions
 * that are finite on both sides. An output whose d has no finite position has max_abs 0.
 */
struct metrics {
	enum dtype dtype;
	uint64_t elements, equal, differing; /* by bits: elements = equal + differing */
	uint64_t payload;                    /* of differing: NaN on both sides, other payload */
	uint64_t zero_sign;                  /* of differing: +0 against -0 */
	uint64_t ftz; /* of differing: both below the least normal number (f32, bf16) */
	uint64_t class_changes;
	uint64_t classes[NUMBER_CLASSES][NUMBER_CLASSES]; /* [A][B], off the diagonal only */
	uint64_t nan_a, nan_b, inf_a, inf_b, zero_a, zero_b, zero_both;
	bool constant;       /* all elements of A have the same bits */
	uint64_t first_bits; /* of A's first element */
	uint64_t finite;     /* positions that are finite on both sides */
	uint64_t steps;      /* finite positions at least one step of the type apart, without ftz */
	uint64_t beyond;     /* positions beyond the allowance of rule 9 */
	double max_ratio;    /* max |d| / allowance of rule 9 */
	double max_abs, max_rel; /* max_rel: |d| / max(|a|, |b|), at most 2 */
	uint64_t max_ulp;
	uint64_t max_ulp_index, max_rel_index;
	struct metric_element max_abs_at, first_change, first_difference;
	double sum_d, sum_d_lost;   /* compensated (Neumaier): sum of d */
	double sum_d2, sum_d2_lost; /* of d*d */
	double sum_a2, sum_a2_lost; /* of a*a */
	uint64_t varying;           /* nondeterministic A: elements on which A's repeats differ */
	struct metric_element top[METRICS_TOP]; /* greatest severity first; earlier index first */
	uint32_t top_count;
	const struct sweep *sweep; /* the loops used; another level gives the same bits */
};

/* What A's repeats gave at each element, where A is nondeterministic; arrays of n elements. */
struct metric_hull {
	double *low, *high; /* over finite values; low > high: none was finite */
	uint8_t *classes;   /* bit 1 << enum number_class: classes seen */
};

/* Sets all to "nothing seen yet". */
void metrics_begin(struct metrics *m, enum dtype t);

/*
 * Adds n elements at a and b (any alignment), the first of which is element `index` of the output.
 * Call in order. Elements are judged in tiles of TILE_ELEMENTS from `a` on (thresholds.h); scale
 * and allowance are docs/numerics.md, rule 9. hull may be NULL; else an element within A's hull
 * does not differ for rule 9 and class, and the allowance grows with its width. Never fails; about
 * 10 KiB of stack. Sums run in lanes (sweep.h): the same bits on every processor. Of maxima that
 * are quotients (max_rel, max_ratio) one within 2^-50 of the greatest is reported.
 */
void metrics_add(struct metrics *m, const void *a, const void *b, size_t n, uint64_t index,
		 const struct metric_hull *hull);

/* Starts a hull of n elements, and adds one repeat of A to it. value has n elements of scratch. */
void metric_hull_begin(struct metric_hull *h, size_t n);
void metric_hull_add(struct metric_hull *h, enum dtype t, const void *a, size_t n, double *value);

double metrics_mean(const struct metrics *m);  /* mean signed difference; 0 if nothing is finite */
double metrics_rms(const struct metrics *m);   /* root of the mean of d*d */
double metrics_rms_a(const struct metrics *m); /* root of the mean of a*a */

/* Lower bound of the share count/n at z standard deviations (Wilson 1927). n = 0: 0. */
double share_lower_bound(uint64_t count, uint64_t n, double z);

#endif
