/* SPDX-License-Identifier: MIT */
/* The loops over elements, built once for each instruction set; all give the same bits. */
#ifndef ANALYZE_SWEEP_H
#define ANALYZE_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/dtype.h"

/* The allowance of rule 9m without a hull. */
struct allowance {
	double noise; /* relative to max(|a|, |b|) + scale */
	double step;  /* steps * 2^-mantissa_bits; 0: the output is as wide as its accumulator */
	double least; /* 2^min_exponent */
	double ftz;
};

/* What one side holds in a block. */
struct block_side {
	double a2; /* sum of squares of what is finite */
	uint64_t nan, inf, zero;
};

/*
 * Figures of a pair of blocks. Sums run in eight lanes (element i of a block in lane i % 8, blocks
 * in their order) whatever the instruction set, so that no build rounds otherwise than another.
 */
#define LANES 8
struct pair_sums {
	double d[LANES], d2[LANES];
	int64_t differing[LANES]; /* by bits */
	int64_t numbers[LANES];   /* of those, another number: all but the sign of zero */
	int64_t steps[LANES];     /* of those, at least one side not below the least normal */
	int64_t beyond[LANES];    /* of those, beyond the allowance */
	int64_t zero_b[LANES], zero_both[LANES];
};

/* What has been reached already: a block that stays below in all need not be looked at singly. */
struct pair_limits {
	double size;     /* |d| */
	double relative; /* |d| / max(|a|, |b|) */
	double ratio;    /* |d| / allowance */
	uint64_t ulp;
};

enum pair_look {
	PAIR_PLAIN,      /* counted; nothing in it goes beyond the limits */
	PAIR_REMARKABLE, /* counted; some element may go beyond them */
	PAIR_SPECIAL     /* not counted: NaN or infinity on some side */
};

/* Pure functions, any thread. Pointers to elements may have any alignment. */
struct sweep {
	const char *name;
	/* number_load of number.h. */
	void (*load)(enum dtype t, const void *raw, size_t n, double *value, int64_t *order);
	/* a2 and zero of n <= BLOCK_ELEMENTS elements; false, and *out worthless, if one is not
	 * finite. */
	bool (*side)(enum dtype t, const unsigned char *a, size_t n, struct block_side *out);
	/*
	 * What any number n >= 1 of elements at a hold, NaN and infinities too, summed up in an
	 * order of its own; false, and *out worthless, if b (may be a: not compared) holds other
	 * bits.
	 */
	bool (*alike)(enum dtype t, const unsigned char *a, const unsigned char *b, size_t n,
		      struct block_side *out);
	/* A pair of blocks of n <= BLOCK_ELEMENTS elements of a float type; adds to *total. */
	enum pair_look (*pair)(enum dtype t, const unsigned char *a, const unsigned char *b,
			       size_t n, const struct allowance *w, double scale,
			       const struct pair_limits *limits, struct pair_sums *total);
};

/* The instruction sets that this processor has, the widest first; NULL behind the last. */
const struct sweep *sweep_level(size_t i);

/* Sum of the lanes, always in the same order. */
static inline double lanes_sum(const double *x)
{
	return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

static inline uint64_t lanes_count(const int64_t *x)
{
	int64_t sum = 0;

	for (int i = 0; i < LANES; i++)
		sum += x[i];
	return (uint64_t)sum;
}

#endif
