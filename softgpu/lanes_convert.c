/* SPDX-License-Identifier: MIT */
/*
 * cvt on warps: fast loops for the common pairs, and one general conversion for every other pair of
 * types. PTX ISA 8.7, chapter 9.7.9.21.
 */
#include "softgpu/lanes_build.h"

#include <fenv.h>
#include <math.h>

#include "softgpu/number.h"
#include "softgpu/program.h"

LANES_1(cvt_u64_u32, u64, u32, a)
LANES_1(cvt_s64_s32, s64, s32, a)
LANES_1(cvt_u32_u64, u32, u64, a)
LANES_1(cvt_u32_u16, u32, u32, U16(a))
LANES_1(cvt_s32_s16, s32, u32, S16(a))
LANES_1(cvt_u16_u32, u32, u32, U16(a))
LANES_1(cvt_f32_s32, float, s32, (float)a)
LANES_1(cvt_f32_u32, float, u32, (float)a)
LANES_1(cvt_f32_f16, float, u32, f16_value(a & 0xffff))
LANES_1(cvt_f32_bf16, u32, u32, a << 16) /* ptxas makes it a shift: NaN keep their bits */
LANES_1(cvt_bf16_f32, u32, float, bf16_nearest(a))
LANES_1(cvt_f16_f32, u32, float, f16_nearest(a))
/* The first source is the high half. */
LANES_2(cvt_bf16x2_f32, u32, float, float, bf16_nearest(a) << 16 | bf16_nearest(b))
LANES_2(cvt_f16x2_f32, u32, float, float, f16_nearest(a) << 16 | f16_nearest(b))

/* ---- the general conversion ---- */

/* e4m3 has no infinities: its largest finite value is 448, 0x7f is NaN. satfinite always. */
static uint32_t fp8_round(double x, bool e4m3)
{
	uint32_t r, sign = signbit(x) ? 0x80 : 0;

	if (x != x)
		return 0x7f;
	if (e4m3) {
		/* One binade above IEEE's range of 4 exponent bits is in use: round with 5. */
		if (fabs(x) >= 448.0)
			return sign | 0x7e;
		r = small_round(x, 4, 3, LANE_RN, false);
		if (fabs(x) >= 240.0) {
			r = small_round(x / 2.0, 4, 3, LANE_RN, false) + 8;
			r = (r & 0x7f) > 0x7e ? sign | 0x7e : r;
		}
		return r;
	}
	r = small_round(x, 5, 2, LANE_RN, false);
	return (r & 0x7f) >= 0x7c ? sign | 0x7b : r;
}
static double fp8_value(uint32_t bits, bool e4m3)
{
	bits &= 0xff;
	if (!e4m3)
		return small_value(bits, 5, 2);
	if ((bits & 0x7f) == 0x7f)
		return NAN;
	if ((bits & 0x78) == 0x78)
		return 2.0 * small_value(bits - 8, 4, 3);
	return small_value(bits, 4, 3);
}

static inline bool type_is_wide(enum type t)
{
	return t >= TYPE_B64 && t <= TYPE_F64;
}
static inline bool type_is_any_float(enum type t)
{
	return t == TYPE_F16 || t == TYPE_BF16 || t == TYPE_F32 || t == TYPE_TF32 || t == TYPE_F64;
}

struct value {
	bool is_float;
	double f;
	__int128 i;
};

static struct value load(const void *v, int l, enum type t)
{
	uint64_t u = type_is_wide(t) ? ((const u64 *)v)[l] : ((const u32 *)v)[l];

	switch (t) {
	case TYPE_S8:
		return (struct value){.i = (int8_t)u};
	case TYPE_S16:
		return (struct value){.i = (int16_t)u};
	case TYPE_S32:
		return (struct value){.i = (s32)u};
	case TYPE_S64:
		return (struct value){.i = (s64)u};
	case TYPE_B8:
	case TYPE_U8:
		return (struct value){.i = (uint8_t)u};
	case TYPE_B16:
	case TYPE_U16:
		return (struct value){.i = (uint16_t)u};
	case TYPE_F16:
		return (struct value){true, f16_value(u & 0xffff), 0};
	case TYPE_BF16:
		return (struct value){true, bf16_value(u & 0xffff), 0};
	case TYPE_F32:
		return (struct value){true, f32_from((u32)u), 0};
	case TYPE_F64:
		return (struct value){true, f64_from(u), 0};
	default:
		return (struct value){.i = (__int128)u};
	}
}

static double integral(double x, uint32_t flags)
{
	switch (flags & LANE_ROUND_MASK) {
	case LANE_RZ:
		return trunc(x);
	case LANE_RM:
		return floor(x);
	case LANE_RP:
		return ceil(x);
	default:
		return nearbyint(x); /* the host rounds to nearest even */
	}
}

static unsigned bits_of(enum type t)
{
	switch (t) {
	case TYPE_B8 ... TYPE_S8:
		return 8;
	case TYPE_B16 ... TYPE_S16:
		return 16;
	case TYPE_B64 ... TYPE_S64:
		return 64;
	default:
		return 32;
	}
}
static bool is_signed(enum type t)
{
	return t == TYPE_S8 || t == TYPE_S16 || t == TYPE_S32 || t == TYPE_S64;
}

static uint64_t to_integer(struct value v, enum type to, enum type from, uint32_t flags)
{
	unsigned bits = bits_of(to);
	__int128 high = is_signed(to) ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1;
	__int128 low = is_signed(to) ? -high - 1 : 0, i = v.i;
	uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;

	if (v.is_float) {
		bool flushed = flags & LANE_FTZ && from == TYPE_F32;
		double x = integral(flushed ? f32_flush((float)v.f) : v.f, flags);

		if (x != x)
			return from != TYPE_F64 && bits != 64 ? 0 : 1ull << (bits - 1);
		i = x >= 1.8446744073709552e19    ? high
		    : x <= -1.8446744073709552e19 ? low
						  : (__int128)x;
	}
	if (v.is_float || flags & LANE_SAT)
		i = i > high ? high : i < low ? low : i;
	else if (is_signed(to)) /* wrapped, then signed again */
		i = (__int128)((unsigned __int128)i << (128 - bits)) >> (128 - bits);
	if (is_signed(to) && bits < 32 && i < 0) /* sign beyond the type, to the register's width */
		mask = flags & LANE_WRAP ? 0xffffffffu : 0xffffu;
	return (uint64_t)i & mask;
}

/* An integer as a double rounded to odd, for rounding to narrower formats. */
static double odd_from_integer(__int128 i)
{
	double x = (double)i;
	__int128 rest = i - (__int128)x;

	return f64_to_odd(x, (double)rest);
}
static double round_f64(struct value v, uint32_t flags)
{
	double x = (double)v.i;
	__int128 back = (__int128)x;
	uint32_t mode = flags & LANE_ROUND_MASK;

	if (back == v.i || mode == LANE_RN)
		return x;
	if (back > v.i && (mode == LANE_RM || (mode == LANE_RZ && v.i > 0)))
		return nextafter(x, -INFINITY);
	if (back < v.i && (mode == LANE_RP || (mode == LANE_RZ && v.i < 0)))
		return nextafter(x, INFINITY);
	return x;
}
static uint64_t to_half(double x, enum type to, uint32_t flags)
{
	bool bf16 = to == TYPE_BF16;
	uint32_t r, limit = bf16 ? 0x7f7f : 0x7bff;

	r = bf16 ? bf16_round(x, flags) : f16_round(x, flags);
	if (flags & LANE_SATFINITE && (r & 0x7fff) > limit && x == x)
		r = (r & 0x8000) | limit;
	return r;
}

static uint64_t to_float(struct value v, enum type to, enum type from, uint32_t flags)
{
	double x = v.is_float ? v.f : odd_from_integer(v.i);

	if (flags & LANE_FTZ && from == TYPE_F32)
		x = f32_flush((float)x);
	if (flags & LANE_INTEGRAL)
		x = integral(x, flags);
	if (flags & LANE_SAT)
		x = f64_saturate(x);
	if (flags & LANE_RELU && x < 0.0)
		x = 0.0;
	switch (to) {
	case TYPE_F16:
	case TYPE_BF16:
		return to_half(x, to, flags);
	case TYPE_TF32:
		if (x != x)
			return NUMBER_NAN_F32;
		return (uint64_t)small_round(x, 8, 10, flags, (flags & LANE_RNA) != 0) << 13;
	case TYPE_F64:
		return f64_bits(v.is_float ? x : round_f64(v, flags));
	default: {
		float f = f32_round(x, flags);

		return f32_bits(flags & LANE_FTZ ? f32_flush(f) : f);
	}
	}
}

LANES(cvt_any)
{
	enum type to = flags >> LANE_TO_SHIFT & 31, from = flags >> LANE_FROM_SHIFT & 31;
	bool to_number = type_is_any_float(to);

	for (int l = 0; l < 32; l++) {
		struct value v = load(s[0], l, from);
		uint64_t r =
			to_number ? to_float(v, to, from, flags) : to_integer(v, to, from, flags);

		if (type_is_wide(to))
			((u64 *)dv)[l] = r;
		else
			((u32 *)dv)[l] = (u32)r;
	}
}

static double pair_value(uint32_t v, unsigned half, enum type from)
{
	switch (from) {
	case TYPE_F16X2:
		return f16_value(v >> 16 * half & 0xffff);
	case TYPE_BF16X2:
		return bf16_value(v >> 16 * half & 0xffff);
	case TYPE_E4M3X2:
	case TYPE_E5M2X2:
		return fp8_value(v >> 8 * half & 0xff, from == TYPE_E4M3X2);
	default:
		return f32_from(v);
	}
}
static uint32_t pair_round(double x, enum type to, uint32_t flags)
{
	if (flags & LANE_RELU && x < 0.0)
		x = 0.0;
	switch (to) {
	case TYPE_F16X2:
		return (uint32_t)to_half(x, TYPE_F16, flags);
	case TYPE_BF16X2:
		return (uint32_t)to_half(x, TYPE_BF16, flags);
	default:
		return fp8_round(x, to == TYPE_E4M3X2);
	}
}
/* To and from pairs of narrow floats: from two f32 (the first is the high half), or from a pair. */
LANES(cvt_pair)
{
	enum type to = flags >> LANE_TO_SHIFT & 31, from = flags >> LANE_FROM_SHIFT & 31;
	unsigned shift = to == TYPE_E4M3X2 || to == TYPE_E5M2X2 ? 8 : 16;
	u32 *d = dv;
	const u32 *a = s[0], *b = from == TYPE_F32 ? s[1] : s[0];

	for (int l = 0; l < 32; l++) {
		uint32_t high = pair_round(pair_value(a[l], 1, from), to, flags);
		uint32_t low = pair_round(pair_value(b[l], 0, from), to, flags);

		d[l] = high << shift | low;
	}
}

const struct lane_table LANES_TABLE = {
#define LANES_TEXT2(x) #x
#define LANES_TEXT(x)  LANES_TEXT2(x)
	.name = LANES_TEXT(LANES_ISA),
	.functions =
		{
#define X(name) LANES_NAME(name),
			LANE_FUNCTIONS(X)
#undef X
		},
	.span = LANES_NAME(span),
	.blend32 = LANES_NAME(blend32),
	.blend64 = LANES_NAME(blend64),
	.compares =
		{
#define X(name) LANES_NAME(name),
			COMPARE_FUNCTIONS(X)
#undef X
		},
};
