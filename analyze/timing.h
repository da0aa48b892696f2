/* SPDX-License-Identifier: MIT */
/* Kernel times of A and B: evidence for people, never a verdict. */
#ifndef ANALYZE_TIMING_H
#define ANALYZE_TIMING_H

#include "analyze/analyze.h"

struct timing {
	double us[SIDE_COUNT]; /* sum over the launches that were measured on both sides */
	double least_us[SIDE_COUNT], most_us[SIDE_COUNT]; /* the same of the repeats' range */
	size_t launches; /* how many these are; 0: nothing is known, us is 0 */
};

/*
 * Median, the lower one of an even number, and range of the repeats that were measured, of three or
 * more without the first: the driver may load code meanwhile. 0: none was.
 * 0 or -ENOMEM.
 */
int timing_take(struct case_verdict *v, uint32_t side, const struct record_trial *const *repeats,
		uint32_t count);

struct timing config_timing(const struct config_verdict *c); /* of medians over repeats */
struct timing family_timing(const struct family_verdict *f); /* over all its configs */

/* B's time over A's; 0 where nothing is known. */
double timing_ratio(const struct timing *t);

/*
 * 1: B is slower than A, by more than a tenth and beyond the spread: its fastest repeats take
 * longer than A's slowest. -1: A is, likewise. 0: neither.
 */
int timing_order(const struct timing *t);

/* ", B is slower beyond the spread of the repeats", or "". Static storage. */
const char *timing_remark(const struct timing *t);

/* The config in which B is slowest against A, if timing_order is 1 in any; else NULL. */
const struct config_verdict *family_slowest(const struct family_verdict *f);

#endif
