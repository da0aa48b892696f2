/* SPDX-License-Identifier: MIT */
/*
 * Float formats and roundings of the GPU in plain C: no use of the host's rounding mode. NaN
 * results are canonical (0x7fffffff, 0x7fff). Rounding modes as LANE_RN..LANE_RP.
 */
#ifndef SOFTGPU_NUMBER_H
#define SOFTGPU_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "softgpu/lanes.h"

#define NUMBER_NAN_F32  0x7fffffffu
#define NUMBER_NAN_HALF 0x7fffu /* f16 and bf16 */

static inline uint32_t f32_bits(float x)
{
	uint32_t u;

	memcpy(&u, &x, 4);
	return u;
}
static inline float f32_from(uint32_t u)
{
	float x;

	memcpy(&x, &u, 4);
	return x;
}
static inline uint64_t f64_bits(double x)
{
	uint64_t u;

	memcpy(&u, &x, 8);
	return u;
}
static inline double f64_from(uint64_t u)
{
	double x;

	memcpy(&x, &u, 8);
	return x;
}

/* Denormals to zero of their sign. */
static inline float f32_flush(float x)
{
	uint32_t u = f32_bits(x);

	return f32_from(u & 0x7f800000u ? u : u & 0x80000000u);
}
static inline float f32_canonical(float x)
{
	return x != x ? f32_from(NUMBER_NAN_F32) : x;
}
/* To [0, 1]; NaN gives +0. */
static inline float f32_saturate(float x)
{
	return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
static inline double f64_saturate(double x)
{
	return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
}

/*
 * s is a sum rounded to nearest, e its exact error: the sum rounded to odd, so that rounding it
 * again to a narrower format is correct (Boldo and Melquiond 2008).
 */
static inline double f64_to_odd(double s, double e)
{
	uint64_t u = f64_bits(s);

	if (e != 0.0 && e == e && !(u & 1) &&
	    (u & 0x7ff0000000000000ull) != 0x7ff0000000000000ull) {
		bool up = (e > 0.0) == (s > 0.0);

		u = up ? u + 1 : u - 1;
	}
	return f64_from(u);
}
/* a + b rounded to odd (TwoSum, Knuth). Values of narrower formats and their products only. */
static inline double f64_add_odd(double a, double b)
{
	double s = a + b, t = s - a;
	double e = (a - (s - t)) + (b - t);

	return f64_to_odd(s, e);
}
static inline double f64_div_odd(double a, double b)
{
	double q = a / b, r = fma(-q, b, a);

	/* q + r / b is exact: the error's sign is that of r / b. */
	return f64_to_odd(q, b < 0.0 ? -r : r);
}
static inline double f64_sqrt_odd(double a)
{
	double q = sqrt(a);

	return f64_to_odd(q, fma(-q, q, a));
}

/* Exact or rounded-to-odd double to f32 in any rounding mode. */
static inline float f32_round(double x, uint32_t mode)
{
	float f = (float)x;
	uint32_t u = f32_bits(f);
	bool down;

	mode &= LANE_ROUND_MASK;
	if (mode == LANE_RN || x != x || (double)f == x)
		return f32_canonical(f);
	/* f is a neighbour of x: step if it lies on the wrong side. */
	down = (double)f > x;
	if (mode == LANE_RZ ? (x > 0.0) == down : (mode == LANE_RM) == down) {
		bool shrink = down == (x > 0.0);

		if ((u << 1) == 0) /* x underflowed to zero: the smallest denormal away from it */
			u = (x > 0.0 ? 0u : 0x80000000u) | 1u;
		else
			u = shrink ? u - 1 : u + 1;
	}
	return f32_from(u);
}

/*
 * Any small format with `e` exponent and `m` mantissa bits, infinities and NaN as IEEE; the value
 * is exact or rounded to odd. Returns the bits. `nearest_away`: ties away from zero.
 */
static inline uint32_t small_round(double x, unsigned e, unsigned m, uint32_t mode,
				   bool nearest_away)
{
	uint64_t u = f64_bits(x), fraction;
	uint32_t sign = (uint32_t)(u >> 63) << (e + m), infinity = ((1u << e) - 1) << m, out;
	int exponent = (int)(u >> 52 & 0x7ff) - 1023, bias = (1 << (e - 1)) - 1;
	unsigned drop = 52 - m;
	bool up;
	uint64_t rest, half;

	mode &= LANE_ROUND_MASK;
	if (x != x)
		return (1u << (e + m)) - 1;
	if (exponent == 1024)
		return sign | infinity;
	fraction = u & 0xfffffffffffffull;
	if (exponent == -1023) {
		if (!fraction)
			return sign;
		exponent = -1022;
	} else {
		fraction |= 1ull << 52;
	}
	if (exponent < 1 - bias) {
		drop += (unsigned)(1 - bias - exponent);
		exponent = 1 - bias;
		if (drop > 62)
			drop = 62;
	}
	out = (uint32_t)(fraction >> drop);
	rest = fraction & ((1ull << drop) - 1);
	half = 1ull << (drop - 1);
	if (mode == LANE_RN)
		up = rest > half || (rest == half && (nearest_away || out & 1));
	else
		up = rest && (mode == LANE_RM ? sign != 0 : mode == LANE_RP && !sign);
	out += up;
	/* The hidden bit carries into the exponent field by itself. */
	out += (uint32_t)(exponent + bias - 1) << m;
	if (out >= infinity) {
		bool stay =
			mode == LANE_RZ || (mode == LANE_RM && !sign) || (mode == LANE_RP && sign);

		out = stay ? infinity - 1 : infinity;
	}
	return sign | out;
}

static inline double small_value(uint32_t bits, unsigned e, unsigned m)
{
	uint32_t fraction = bits & ((1u << m) - 1), exponent = bits >> m & ((1u << e) - 1);
	bool negative = bits >> (e + m) & 1;
	int bias = (1 << (e - 1)) - 1;
	double x;

	if (exponent == (1u << e) - 1)
		x = fraction ? NAN : INFINITY;
	else if (exponent == 0)
		x = ldexp((double)fraction, 1 - bias - (int)m);
	else
		x = ldexp((double)(fraction | 1u << m), (int)exponent - bias - (int)m);
	return negative ? -x : x;
}

static inline float f16_value(uint32_t h)
{
	/* Exponent moved by integer arithmetic; denormals through an exact float subtraction. */
	uint32_t sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
	float magic = f32_from(0x38800000u); /* 2^-14 */
	uint32_t normal = (rest << 13) + 0x38000000u;
	float denormal = f32_from((rest << 13) + 0x38800000u) - magic;
	uint32_t u = rest < 0x400u     ? f32_bits(denormal)
		     : rest >= 0x7c00u ? rest << 13 | 0x7f800000u
				       : normal;

	u = rest > 0x7c00u ? NUMBER_NAN_F32 : u | sign;
	return f32_from(u);
}
static inline float bf16_value(uint32_t h)
{
	return f32_from(h << 16);
}
static inline uint32_t f16_nearest(float x)
{
	uint32_t u = f32_bits(x), sign = u >> 16 & 0x8000u, rest = u & 0x7fffffffu, normal,
		 denormal;

	normal = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1)) >> 13;
	denormal = f32_bits(f32_from(rest) + 0.5f) - 0x3f000000u;
	normal = rest < 0x38800000u ? denormal : normal;
	normal = rest >= 0x47800000u ? 0x7c00u : normal;
	return rest > 0x7f800000u ? NUMBER_NAN_HALF : normal | sign;
}
static inline uint32_t bf16_nearest(float x)
{
	uint32_t u = f32_bits(x), r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;

	return (u & 0x7fffffffu) > 0x7f800000u ? NUMBER_NAN_HALF : r;
}
static inline uint32_t f16_round(double x, uint32_t mode)
{
	return small_round(x, 5, 10, mode, false);
}
static inline uint32_t bf16_round(double x, uint32_t mode)
{
	return small_round(x, 8, 7, mode, false);
}

/* min and max drop NaN unless `nan`; -0 is less than +0. */
static inline float f32_min(float a, float b, bool nan)
{
	if (a != a || b != b)
		return nan || (a != a && b != b) ? f32_from(NUMBER_NAN_F32) : a != a ? b : a;
	return a < b || (a == b && f32_bits(a) >> 31) ? a : b;
}
static inline float f32_max(float a, float b, bool nan)
{
	if (a != a || b != b)
		return nan || (a != a && b != b) ? f32_from(NUMBER_NAN_F32) : a != a ? b : a;
	return a > b || (a == b && !(f32_bits(a) >> 31)) ? a : b;
}

#endif
