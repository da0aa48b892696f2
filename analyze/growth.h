/* SPDX-License-Identifier: MIT */
/* Does the residual grow with a size of the launch faster than rounding does? */
#ifndef ANALYZE_GROWTH_H
#define ANALYZE_GROWTH_H

#include "analyze/analyze.h"

struct growth {
	char scalar[64];        /* argument name; cut */
	int64_t from, to;       /* its least and greatest value among launches with a residual */
	size_t values;          /* different ones */
	double exponent;        /* of the residual in that scalar, by least squares of logarithms */
	double correlation;     /* of the logarithms */
	double residual;        /* the greatest */
	struct outcome outcome; /* bucket 3 where it grows too fast, else bucket 0 */
};

/*
 * Fits the greatest residuals (recorded inputs, rule 5) at each value of an integer scalar, for
 * scalars that take three values or more, the greatest at least eight times the least, and keeps
 * the one with the greatest exponent of those that fit (correlation > 0.9). Grows too fast:
 * exponent beyond threshold growth, greatest residual beyond threshold growth_residual. The sum of
 * L rounding errors grows with sqrt(L), a biased one with L. 0 or -ENOMEM.
 */
int growth_find(const struct family_verdict *f, struct growth *out);

/* The step of rule 8g. g->values is not 0. */
struct step growth_step(const struct growth *g);

#endif
