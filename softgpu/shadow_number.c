/* SPDX-License-Identifier: MIT */
/* What float arithmetic means in double precision. */
#include <math.h>

#include "softgpu/lanes.h"
#include "softgpu/shadow_cell.h"

#define ROW(name, op, format, sources) [LANE_##name] = {SHADOW_OP_##op, SHADOW_##format, sources}
static const struct shadow_arithmetic rows[LANE_FUNCTION_COUNT] = {
	ROW(add_f32, ADD, F32, 2),     ROW(mul_f32, MUL, F32, 2),
	ROW(fma_f32, FMA, F32, 3),     ROW(div_f32, DIV, F32, 2),
	ROW(rcp_f32, RCP, F32, 1),     ROW(div_approx_f32, DIV, F32, 2),
	ROW(sqrt_f32, SQRT, F32, 1),   ROW(rsqrt_f32, RSQRT, F32, 1),
	ROW(ex2_f32, EX2, F32, 1),     ROW(lg2_f32, LG2, F32, 1),
	ROW(sin_f32, SIN, F32, 1),     ROW(cos_f32, COS, F32, 1),
	ROW(tanh_f32, TANH, F32, 1),   ROW(abs_f32, ABS, F32, 1),
	ROW(neg_f32, NEG, F32, 1),     ROW(min_f32, MIN, F32, 2),
	ROW(max_f32, MAX, F32, 2),     ROW(copysign_f32, COPYSIGN, F32, 2),
	ROW(add_f64, ADD, F64, 2),     ROW(mul_f64, MUL, F64, 2),
	ROW(fma_f64, FMA, F64, 3),     ROW(div_f64, DIV, F64, 2),
	ROW(rcp_f64, RCP, F64, 1),     ROW(sqrt_f64, SQRT, F64, 1),
	ROW(rsqrt_f64, RSQRT, F64, 1), ROW(abs_f64, ABS, F64, 1),
	ROW(neg_f64, NEG, F64, 1),     ROW(min_f64, MIN, F64, 2),
	ROW(max_f64, MAX, F64, 2),     ROW(copysign_f64, COPYSIGN, F64, 2),
	ROW(add_f16, ADD, F16, 2),     ROW(mul_f16, MUL, F16, 2),
	ROW(fma_f16, FMA, F16, 3),     ROW(min_f16, MIN, F16, 2),
	ROW(max_f16, MAX, F16, 2),     ROW(abs_f16, ABS, F16, 1),
	ROW(neg_f16, NEG, F16, 1),     ROW(ex2_f16, EX2, F16, 1),
	ROW(tanh_f16, TANH, F16, 1),
};

struct shadow_arithmetic shadow_arithmetic(unsigned function)
{
	return function < LANE_FUNCTION_COUNT ? rows[function] : (struct shadow_arithmetic){0};
}

static double plain(enum shadow_operation o, double a, double b, double c)
{
	switch (o) {
	case SHADOW_OP_ADD:
		return a + b;
	case SHADOW_OP_MUL:
		return a * b;
	case SHADOW_OP_FMA:
		return fma(a, b, c);
	case SHADOW_OP_DIV:
		return a / b;
	case SHADOW_OP_RCP:
		return 1.0 / a;
	case SHADOW_OP_SQRT:
		return sqrt(a);
	case SHADOW_OP_RSQRT:
		return 1.0 / sqrt(a);
	case SHADOW_OP_EX2:
		return exp2(a);
	case SHADOW_OP_LG2:
		return log2(a);
	case SHADOW_OP_SIN:
		return sin(a);
	case SHADOW_OP_COS:
		return cos(a);
	case SHADOW_OP_TANH:
		return tanh(a);
	case SHADOW_OP_ABS:
		return fabs(a);
	case SHADOW_OP_NEG:
		return -a;
	default: /* SHADOW_OP_COPYSIGN: PTX takes the sign of a */
		return copysign(b, a);
	}
}

static double extreme(const double x[3], uint32_t flags, bool max)
{
	double a = x[0], b = x[1], r;

	if (flags & LANE_XORSIGN) {
		a = fabs(a);
		b = fabs(b);
	}
	r = max ? fmax(a, b) : fmin(a, b);
	if (flags & LANE_XORSIGN)
		r = copysign(r, signbit(x[0]) != signbit(x[1]) ? -1.0 : 1.0);
	return r;
}

double shadow_compute(enum shadow_operation o, const double x[3], uint32_t flags)
{
	double a = flags & LANE_NEG_A ? -x[0] : x[0], b = x[1], c = x[2], r;

	if (flags & LANE_NEG_C && o == SHADOW_OP_ADD)
		b = -b;
	if (flags & LANE_NEG_C && o == SHADOW_OP_FMA)
		c = -c;
	if (o == SHADOW_OP_MIN || o == SHADOW_OP_MAX)
		r = extreme(x, flags, o == SHADOW_OP_MAX);
	else
		r = plain(o, a, b, c);
	if (flags & LANE_SAT)
		r = f64_saturate(r);
	if (flags & LANE_RELU && r < 0.0)
		r = 0.0;
	return r;
}

/*
 * Adding 1.5 * 2^23 (or 2^23, and up to 255 more, an exponent bias) to a small number rounds it to
 * an integer: that rounding is meant. Without it the number's integer part, which goes on as
 * integer bits, and its fraction would not fit together.
 */
bool shadow_is_magic(enum shadow_format format, double constant, double other)
{
	double one = format == SHADOW_F64 ? 0x1p52 : 0x1p23, k = fabs(constant);
	bool is_magic;

	if (format != SHADOW_F32 && format != SHADOW_F64)
		return false;
	is_magic = (k >= one && k < one + 256.0) || fabs(k - 1.5 * one) < 256.0;
	return is_magic && fabs(other) < one;
}
