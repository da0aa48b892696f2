/* SPDX-License-Identifier: MIT */
/*
 * Float arithmetic on warps. f32 and narrower results with a rounding other than to nearest are
 * computed in double, rounded to odd, and rounded once more. Approximate functions are computed in
 * double and rounded to nearest: better than the GPU's few ulp, not its bits (docs/softgpu.md).
 */
#include "softgpu/lanes_build.h"

#include <fenv.h>
#include <math.h>

#include "softgpu/number.h"
#include "softgpu/program.h"

/* flags decide once a call: the loops below are unswitched by the compiler. */
static inline float in(float x, uint32_t flags)
{
	return flags & LANE_FTZ ? f32_flush(x) : x;
}
static inline float out(float x, uint32_t flags)
{
	if (flags & LANE_FTZ)
		x = f32_flush(x);
	return flags & LANE_SAT ? f32_saturate(x) : f32_canonical(x);
}
static inline float negated(float x, uint32_t flags, uint32_t which)
{
	return flags & which ? -x : x;
}

/* The sign of an exact zero sum: + unless rounding down. */
static inline float add_directed(double a, double b, uint32_t flags)
{
	if (a + b == 0.0 && (flags & LANE_ROUND_MASK) == LANE_RM &&
	    !(a == 0.0 && b == 0.0 && !signbit(a) && !signbit(b)))
		return -0.0f;
	return f32_round(f64_add_odd(a, b), flags);
}

LANES(add_f32)
{
	float *d = dv;
	const float *a = s[0], *b = s[1];

	if (!flags)
		EACH_LANE d[l] = f32_canonical(a[l] + b[l]);
	else if (flags == LANE_NEG_C)
		EACH_LANE d[l] = f32_canonical(a[l] - b[l]);
	else if (!(flags & LANE_ROUND_MASK))
		EACH_LANE d[l] =
			out(in(a[l], flags) + negated(in(b[l], flags), flags, LANE_NEG_C), flags);
	else
		for (int l = 0; l < 32; l++)
			d[l] = out(add_directed(in(a[l], flags),
						negated(in(b[l], flags), flags, LANE_NEG_C), flags),
				   flags);
}

LANES(mul_f32)
{
	float *d = dv;
	const float *a = s[0], *b = s[1];

	if (!flags)
		EACH_LANE d[l] = f32_canonical(a[l] * b[l]);
	else if (!(flags & LANE_ROUND_MASK))
		EACH_LANE d[l] = out(in(a[l], flags) * in(b[l], flags), flags);
	else
		for (int l = 0; l < 32; l++)
			d[l] = out(f32_round((double)in(a[l], flags) * in(b[l], flags), flags),
				   flags);
}

static inline float fma_directed(float a, float b, float c, uint32_t flags)
{
	return add_directed((double)a * b, c, flags);
}

LANES(fma_f32)
{
	float *d = dv;
	const float *a = s[0], *b = s[1], *c = s[2];

	if (!flags)
		EACH_LANE d[l] = f32_canonical(__builtin_fmaf(a[l], b[l], c[l]));
	else if (!(flags & LANE_ROUND_MASK))
		EACH_LANE d[l] = out(__builtin_fmaf(negated(in(a[l], flags), flags, LANE_NEG_A),
						    in(b[l], flags),
						    negated(in(c[l], flags), flags, LANE_NEG_C)),
				     flags);
	else
		for (int l = 0; l < 32; l++)
			d[l] = out(fma_directed(negated(in(a[l], flags), flags, LANE_NEG_A),
						in(b[l], flags),
						negated(in(c[l], flags), flags, LANE_NEG_C), flags),
				   flags);
}

LANES(div_f32)
{
	float *d = dv;
	const float *a = s[0], *b = s[1];

	if (!(flags & LANE_ROUND_MASK))
		EACH_LANE d[l] = out(in(a[l], flags) / in(b[l], flags), flags);
	else
		for (int l = 0; l < 32; l++)
			d[l] = out(f32_round(f64_div_odd(in(a[l], flags), in(b[l], flags)), flags),
				   flags);
}
/* div.approx and div.full: the quotient in double, rounded: never further off than the GPU's 2 ulp.
 */
LANES(div_approx_f32)
{
	float *d = dv;
	const float *a = s[0], *b = s[1];

	EACH_LANE d[l] = out((float)((double)in(a[l], flags) / (double)in(b[l], flags)), flags);
}
LANES(rcp_f32)
{
	float *d = dv;
	const float *a = s[0];

	if (!(flags & LANE_ROUND_MASK))
		EACH_LANE d[l] = out(1.0f / in(a[l], flags), flags);
	else
		for (int l = 0; l < 32; l++)
			d[l] = out(f32_round(f64_div_odd(1.0, in(a[l], flags)), flags), flags);
}
LANES(sqrt_f32)
{
	float *d = dv;
	const float *a = s[0];

	if (!(flags & LANE_ROUND_MASK))
		EACH_LANE d[l] = out(__builtin_sqrtf(in(a[l], flags)), flags);
	else
		for (int l = 0; l < 32; l++)
			d[l] = out(f32_round(f64_sqrt_odd(in(a[l], flags)), flags), flags);
}
LANES(rsqrt_f32)
{
	float *d = dv;
	const float *a = s[0];

	EACH_LANE d[l] = out((float)(1.0 / __builtin_sqrt((double)in(a[l], flags))), flags);
}

/* 2^x for |x| < 2000 in double, relative error below 1e-16 before the last rounding: Taylor on
 * ±1/2. */
static inline double exp2_double(double x)
{
	static const double c[] = {1.0,
				   6.93147180559945309417e-1,
				   2.40226506959100712334e-1,
				   5.55041086648215799531e-2,
				   9.61812910762847716198e-3,
				   1.33335581464284434234e-3,
				   1.54035303933816099544e-4,
				   1.52527338040598402800e-5,
				   1.32154867901443094884e-6,
				   1.01780860092396997275e-7,
				   7.05491162080112332987e-9,
				   4.44553827187081149760e-10,
				   2.56784359934881951009e-11,
				   1.36914888539041286360e-12};
	double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
	double shifted = x + magic, n = shifted - magic, f = x - n, p = c[13], scale;

#pragma GCC unroll 13
	for (int i = 12; i >= 0; i--)
		p = p * f + c[i];
	scale = f64_from((f64_bits(shifted) + 1023) << 52); /* low bits of `shifted` are n */
	return p * scale;
}
LANES(ex2_f32)
{
	float *d = dv;
	const float *a = s[0];

	EACH_LANE
	{
		float x = in(a[l], flags);
		double y = x > 200.0f ? 200.0 : x < -200.0f ? -200.0 : (double)x;

		d[l] = out(x != x ? x : (float)exp2_double(y), flags);
	}
}
#define APPROXIMATE(name, expression)                           \
	LANES(name)                                             \
	{                                                       \
		float *d = dv;                                  \
		const float *a = s[0];                          \
		for (int l = 0; l < 32; l++) {                  \
			double x = in(a[l], flags);             \
			d[l] = out((float)(expression), flags); \
		}                                               \
	}
APPROXIMATE(lg2_f32, log2(x))
APPROXIMATE(sin_f32, sin(x))
APPROXIMATE(cos_f32, cos(x))
APPROXIMATE(tanh_f32, tanh(x))

/* ptxas makes them additions of -0 (or operand modifiers of the next one): NaN are canonical. */
LANES_1(abs_f32, float, float, out(f32_from(f32_bits(a) & 0x7fffffffu), flags))
LANES_1(neg_f32, float, float, out(-a, flags))
LANES_1(abs_f64, u64, u64, a & 0x7fffffffffffffffull)
LANES_1(neg_f64, u64, u64, a ^ 0x8000000000000000ull)
LANES_2(copysign_f32, u32, u32, u32, (a & 0x80000000u) | (b & 0x7fffffffu))
LANES_2(copysign_f64, u64, u64, u64, (a & 0x8000000000000000ull) | (b & 0x7fffffffffffffffull))

static inline float xorsign(float r, float a, float b, uint32_t flags)
{
	if (!(flags & LANE_XORSIGN))
		return r;
	return f32_from((f32_bits(r) & 0x7fffffffu) | ((f32_bits(a) ^ f32_bits(b)) & 0x80000000u));
}
static inline float magnitude(float x, uint32_t flags)
{
	return flags & LANE_XORSIGN ? f32_from(f32_bits(x) & 0x7fffffffu) : x;
}
#define EXTREME_F32(name, f)                                                              \
	LANES_2(name, float, float, float,                                                \
		xorsign(f(magnitude(in(a, flags), flags), magnitude(in(b, flags), flags), \
			  (flags & LANE_NAN) != 0),                                       \
			a, b, flags))
EXTREME_F32(min_f32, f32_min)
EXTREME_F32(max_f32, f32_max)

/* ---- f64: the host's arithmetic is IEEE. Directed roundings set the host's mode for one warp.
 * ---- */
static const int host_modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
#define LANES_F64(name, sources, expression)                                                 \
	static __attribute__((noinline)) void name##_loop(double *d, const double *const *s, \
							  uint32_t flags)                    \
	{                                                                                    \
		const double *pa = s[0], *pb = s[sources > 1], *pc = s[sources > 2 ? 2 : 0]; \
		EACH_LANE                                                                    \
		{                                                                            \
			double a = pa[l], b = pb[l], c = pc[l];                              \
			(void)b;                                                             \
			(void)c;                                                             \
			d[l] = expression;                                                   \
			if (flags & LANE_SAT)                                                \
				d[l] = f64_saturate(d[l]);                                   \
		}                                                                            \
	}                                                                                    \
	LANES(name)                                                                          \
	{                                                                                    \
		uint32_t mode = flags & LANE_ROUND_MASK;                                     \
		if (mode)                                                                    \
			fesetround(host_modes[mode]);                                        \
		name##_loop(dv, (const double *const *)s, flags);                            \
		if (mode)                                                                    \
			fesetround(FE_TONEAREST);                                            \
	}
LANES_F64(add_f64, 2, a + (flags & LANE_NEG_C ? -b : b))
LANES_F64(mul_f64, 2, a *b)
LANES_F64(fma_f64, 3, __builtin_fma(flags &LANE_NEG_A ? -a : a, b, flags &LANE_NEG_C ? -c : c))
LANES_F64(div_f64, 2, a / b)
LANES_F64(rcp_f64, 1, 1.0 / a)
LANES_F64(sqrt_f64, 1, __builtin_sqrt(a))
LANES_F64(rsqrt_f64, 1, 1.0 / __builtin_sqrt(a))
#define LESS_F64(a, b) ((a) < (b) || ((a) == (b) && f64_bits(a) >> 63))
LANES_2(min_f64, double, double, double, a != a ? b : b != b ? a : LESS_F64(a, b) ? a : b)
LANES_2(max_f64, double, double, double, a != a ? b : b != b ? a : LESS_F64(a, b) ? b : a)

LANES_3(slct_16_f32, u32, u32, u32, float, in(c, flags) >= 0.0f ? a : b)
LANES_3(slct_32_f32, u32, u32, u32, float, in(c, flags) >= 0.0f ? a : b)
LANES_3(slct_64_f32, u64, u64, u64, float, in(c, flags) >= 0.0f ? a : b)

/* ---- f16, bf16, and packed pairs of them ---- */
/* The format stands in the flags as a type, as for cvt. */
struct half_format {
	bool bf16, packed;
};
static inline struct half_format half_format(uint32_t flags)
{
	unsigned t = flags >> LANE_TO_SHIFT & 31;

	return (struct half_format){t == TYPE_BF16 || t == TYPE_BF16X2,
				    t == TYPE_F16X2 || t == TYPE_BF16X2};
}
static inline float half_in(uint32_t h, bool bf16, uint32_t flags)
{
	float x = bf16 ? bf16_value(h) : f16_value(h);

	/* ftz of f16: denormals of the format. */
	return flags & LANE_FTZ && !bf16 && (h & 0x7c00u) == 0 ? copysignf(0.0f, x) : x;
}
static inline uint32_t half_out(double x, bool bf16, uint32_t flags)
{
	uint32_t h;

	if (flags & LANE_SAT)
		x = f64_saturate(x);
	if (flags & LANE_RELU && x < 0.0)
		x = 0.0;
	h = bf16 ? bf16_round(x, flags) : f16_round(x, flags);
	return flags & LANE_FTZ && !bf16 && (h & 0x7c00u) == 0 ? h & 0x8000u : h;
}
enum half_operation { HALF_ADD, HALF_MUL, HALF_FMA, HALF_MIN, HALF_MAX, HALF_EX2, HALF_TANH };
static uint32_t half_one(enum half_operation o, uint32_t ha, uint32_t hb, uint32_t hc, bool bf16,
			 uint32_t flags)
{
	double a = half_in(ha, bf16, flags), b = half_in(hb, bf16, flags);
	double c = half_in(hc, bf16, flags), r;

	switch (o) {
	case HALF_ADD:
		r = f64_add_odd(a, flags & LANE_NEG_C ? -b : b);
		break;
	case HALF_MUL:
		r = a * b;
		break;
	case HALF_FMA:
		r = f64_add_odd(a * b, c);
		break;
	case HALF_MIN:
	case HALF_MAX:
		r = o == HALF_MIN ? f32_min((float)a, (float)b, (flags & LANE_NAN) != 0)
				  : f32_max((float)a, (float)b, (flags & LANE_NAN) != 0);
		r = xorsign((float)r, (float)a, (float)b, flags);
		break;
	case HALF_EX2:
		r = a != a ? a : exp2_double(a > 200.0 ? 200.0 : a < -200.0 ? -200.0 : a);
		break;
	default:
		r = tanh(a);
		break;
	}
	return half_out(r, bf16, flags);
}
static inline void half_loop(u32 *d, const u32 *a, const u32 *b, const u32 *c, uint32_t flags,
			     enum half_operation o)
{
	struct half_format f = half_format(flags);

	for (int l = 0; l < 32; l++) {
		u32 x = a[l], y = b[l], z = c[l];
		u32 low = half_one(o, x & 0xffff, y & 0xffff, z & 0xffff, f.bf16, flags);

		d[l] = f.packed ? low | half_one(o, x >> 16, y >> 16, z >> 16, f.bf16, flags) << 16
				: low;
	}
}
#define HALF(name, sources, operation)                                                         \
	LANES(name)                                                                            \
	{                                                                                      \
		half_loop(dv, s[0], s[sources > 1], s[sources > 2 ? 2 : 0], flags, operation); \
	}
HALF(add_f16, 2, HALF_ADD)
HALF(mul_f16, 2, HALF_MUL)
HALF(fma_f16, 3, HALF_FMA)
HALF(min_f16, 2, HALF_MIN)
HALF(max_f16, 2, HALF_MAX)
HALF(ex2_f16, 1, HALF_EX2)
HALF(tanh_f16, 1, HALF_TANH)
static inline u32 half_sign_mask(uint32_t flags)
{
	return half_format(flags).packed ? 0x80008000u : 0x8000u;
}
LANES_1(abs_f16, u32, u32, a & ~half_sign_mask(flags))
LANES_1(neg_f16, u32, u32, a ^ half_sign_mask(flags))

/* ---- setp and testp ---- */
#define COMPARE_LOOP(expression)             \
	EACH_LANE                            \
	{                                    \
		x = LOAD(pa[l]);             \
		y = LOAD(pb[l]);             \
		m |= (u32)(expression) << l; \
	}                                    \
	break
#define UNORDERED (x != x || y != y)
#define COMPARE_FLOAT(name, T, V)                                                 \
	uint32_t LANES_NAME(name)(const void *av, const void *bv, uint32_t flags) \
	{                                                                         \
		const T *pa = av, *pb = bv;                                       \
		bool ftz = flags & LANE_COMPARE_FTZ;                              \
		V x, y;                                                           \
		u32 m = 0;                                                        \
		(void)ftz;                                                        \
		switch (flags & LANE_COMPARE_MASK) {                              \
		case COMPARE_EQ:                                                  \
			COMPARE_LOOP(x == y);                                     \
		case COMPARE_NE:                                                  \
			COMPARE_LOOP(x<y || x> y);                                \
		case COMPARE_LT:                                                  \
			COMPARE_LOOP(x < y);                                      \
		case COMPARE_LE:                                                  \
			COMPARE_LOOP(x <= y);                                     \
		case COMPARE_GT:                                                  \
			COMPARE_LOOP(x > y);                                      \
		case COMPARE_GE:                                                  \
			COMPARE_LOOP(x >= y);                                     \
		case COMPARE_EQU:                                                 \
			COMPARE_LOOP(!(x < y || x > y));                          \
		case COMPARE_NEU:                                                 \
			COMPARE_LOOP(x != y);                                     \
		case COMPARE_LTU:                                                 \
			COMPARE_LOOP(!(x >= y));                                  \
		case COMPARE_LEU:                                                 \
			COMPARE_LOOP(!(x > y));                                   \
		case COMPARE_GTU:                                                 \
			COMPARE_LOOP(!(x <= y));                                  \
		case COMPARE_GEU:                                                 \
			COMPARE_LOOP(!(x < y));                                   \
		case COMPARE_NUM:                                                 \
			COMPARE_LOOP(!UNORDERED);                                 \
		default:                                                          \
			COMPARE_LOOP(UNORDERED);                                  \
		}                                                                 \
		return m;                                                         \
	}
#define LOAD(x) (ftz ? f32_flush(x) : (x))
COMPARE_FLOAT(compare_f32, float, float)
#undef LOAD
#define LOAD(x) (x)
COMPARE_FLOAT(compare_f64, double, double)
#undef LOAD
#define LOAD(x) half_in(x, false, ftz ? LANE_FTZ : 0)
COMPARE_FLOAT(compare_f16, u32, float)
#undef LOAD
#define LOAD(x) bf16_value(x)
COMPARE_FLOAT(compare_bf16, u32, float)
#undef LOAD

#define TEST(name, T)                                                                         \
	uint32_t LANES_NAME(name)(const void *av, const void *bv, uint32_t flags)             \
	{                                                                                     \
		const T *a = av;                                                              \
		u32 m = 0;                                                                    \
		(void)bv;                                                                     \
		for (int l = 0; l < 32; l++) {                                                \
			int k = fpclassify(a[l]);                                             \
			bool r = flags == TEST_FINITE       ? k != FP_NAN && k != FP_INFINITE \
				 : flags == TEST_INFINITE   ? k == FP_INFINITE                \
				 : flags == TEST_NUMBER     ? k != FP_NAN                     \
				 : flags == TEST_NOTANUMBER ? k == FP_NAN                     \
				 : flags == TEST_NORMAL     ? k == FP_NORMAL                  \
							    : k == FP_SUBNORMAL;                  \
			m |= (u32)r << l;                                                     \
		}                                                                             \
		return m;                                                                     \
	}
TEST(test_f32, float)
TEST(test_f64, double)
