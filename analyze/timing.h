/* SPDX-License-Identifier: MIT */
/* Kernel times of A and B: evidence for people, never a verdict. */
#ifndef ANALYZE_TIMING_H
#define ANALYZE_TIMING_H

#include "analyze/analyze.h"

struct timing {
	double us[SIDE_COUNT]; /* sum over the launches that were measured on both sides */
	size_t launches;       /* how many these are; 0: nothing is known, us is 0 */
};

struct timing config_timing(const struct config_verdict *c); /* of medians over repeats */
struct timing family_timing(const struct family_verdict *f); /* over all its configs */

/* B's time over A's; 0 where nothing is known. */
double timing_ratio(const struct timing *t);

/* The config in which B is slowest against A, if by more than a tenth; else NULL. */
const struct config_verdict *family_slowest(const struct family_verdict *f);

#endif
