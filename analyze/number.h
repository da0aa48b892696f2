/* SPDX-License-Identifier: MIT */
/* Elements of outputs as numbers: exact conversion of every dtype, ulp order, classes. */
#ifndef ANALYZE_NUMBER_H
#define ANALYZE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/dtype.h"

enum number_class { NUMBER_FINITE, NUMBER_NAN, NUMBER_PLUS_INF, NUMBER_MINUS_INF, NUMBER_CLASSES };

/* "finite", "NaN", "+inf", "-inf". Static storage. */
const char *number_class_name(enum number_class c);

/* NaN stands for every payload. Pure, any thread. */
static inline enum number_class number_class(double x)
{
	if (x != x)
		return NUMBER_NAN;
	if (x > 0x1.fffffffffffffp1023)
		return NUMBER_PLUS_INF;
	return x < -0x1.fffffffffffffp1023 ? NUMBER_MINUS_INF : NUMBER_FINITE;
}

/*
 * Converts n elements of dtype t at raw (any alignment) exactly to double: value[i] is what the
 * element means; NaN for every NaN, whose payload is lost. An i64 beyond 2^53 is rounded to
 * nearest. BOOL and UNKNOWN are taken as unsigned bytes, the other integers as signed. order[i] is
 * the element's place in the order of its type, so that |order[i] - order[j]| counts the
 * representable values between: sign-magnitude mapped to an integer, +0 and -0 equal (0). What it
 * is for a NaN means nothing. For integers it is the value itself. order may be NULL. Formats: IEEE
 * 754 binary64/32/16; bfloat16; fp8 E4M3 (no inf, S.1111.111 is NaN) and E5M2 of the OCP 8-bit
 * specification; the FNUZ forms (bias + 1, no inf, no -0: 0x80 is the NaN) of arXiv 2206.02915.
 * Pure, any thread.
 */
void number_load(enum dtype t, const void *raw, size_t n, double *value, int64_t *order);

/* The bits of one element as an unsigned integer. Pure, any thread. */
uint64_t number_bits(enum dtype t, const void *raw);

/*
 * What an ulp is: the spacing of type t's numbers just above |x| in magnitude is
 * 2^max(exponent(x), min_exponent) * 2^-mantissa_bits.
 */
struct number_format {
	int mantissa_bits; /* stored bits of the significand; 0: no float */
	int min_exponent;  /* exponent of the least normal number */
};

/* Static storage; all zero for what is no float. */
const struct number_format *number_format(enum dtype t);

#endif
