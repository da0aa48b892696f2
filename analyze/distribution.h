/* SPDX-License-Identifier: MIT */
/* The values of A and of B as two distributions: quantiles, and how far apart they lie. */
#ifndef ANALYZE_DISTRIBUTION_H
#define ANALYZE_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/dtype.h"

#define DISTRIBUTION_QUANTILES 5 /* 1, 25, 50, 75 and 99 % */

struct distribution_figures {
	uint64_t elements; /* finite, of both sides; 0: nothing is known */
	/*
	 * Kolmogorov's distance of the finite values, one bin forgiven: max over x of F_A(x) -
	 * F_B(x + bin) and the reverse. A value that rounds to its neighbour moves no mass, so many
	 * equal values that all move a little are no shift. NaN and infinities are other rules'.
	 */
	double distance;
	double at; /* value at which it is reached */
	double quantiles[2][DISTRIBUTION_QUANTILES];
};

/* Counts of both sides, about 1 MiB whatever is added. NULL without memory. */
struct distribution;
struct distribution *distribution_new(enum dtype t);
void distribution_free(struct distribution *d); /* NULL is allowed */

/* Adds n elements of a float type, as bytes of any alignment. */
void distribution_add(struct distribution *d, const unsigned char *a, const unsigned char *b,
		      size_t n);

/*
 * What was added. Bins are the type's numbers, or for types of more than 16 bits the numbers of the
 * same 16 leading bits (f32: those of bf16): quantiles are bins' lower ends, the distance never
 * greater than that of the values.
 */
void distribution_figures(const struct distribution *d, struct distribution_figures *out);

#endif
