/* SPDX-License-Identifier: MIT */
/* The rows of operations.h: kernels around them, inputs, references, comparison. */
#include "tests/softgpu/operations.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "tests/softgpu/operation.h"

typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
/* Inputs that leave out values for which PTX promises nothing. */
typedef s16 nonzero_s16;
typedef u16 nonzero_u16;
typedef f32 normal_f32; /* 2^-126 .. 2^126 in magnitude: div.full's range */
typedef f32 small_f32;  /* -pi .. pi */
typedef f32 finite_f32;
typedef f32 number_f32; /* no NaN */
typedef f64 number_f64;

/* ---- references: slow and simple on purpose ---- */

/* In a row: evaluated in another rounding mode. a, b, c are volatile, so nothing moves out of it.
 */
#define directed(mode, e)                 \
	({                                \
		volatile result r_;       \
		fesetround(mode);         \
		r_ = (result)(e);         \
		fesetround(FE_TONEAREST); \
		r_;                       \
	})

static s32 clamp_s32(s64 x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (s32)x;
}
static s32 floor_shift(s64 x, unsigned n)
{
	s64 d = (s64)1 << n, q = x / d;

	return (s32)(x % d < 0 ? q - 1 : q);
}
static u64 high_u64(u64 a, u64 b)
{
	u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
	u64 middle = ah * bl + (al * bl >> 32);

	return ah * bh + (middle >> 32) + ((al * bh + (u32)middle) >> 32);
}
static s64 high_s64(s64 a, s64 b)
{
	return (s64)(high_u64((u64)a, (u64)b) - (a < 0 ? (u64)b : 0) - (b < 0 ? (u64)a : 0));
}
static s64 low24(s32 x)
{
	x &= 0xffffff;
	return x >= 0x800000 ? x - 0x1000000 : x;
}
static u32 count_ones(u64 x)
{
	u32 n = 0;

	for (; x; x >>= 1)
		n += x & 1;
	return n;
}
static u32 highest(u64 x)
{
	u32 n = UINT32_MAX;

	for (; x; x >>= 1)
		n++;
	return n;
}
static u64 mirror(u64 x, unsigned width)
{
	u64 r = 0;

	for (unsigned i = 0; i < width; i++)
		r |= (x >> i & 1) << (width - 1 - i);
	return r;
}
/* bfe bit by bit, as the PTX ISA words it. */
static u64 field(u64 a, u32 pos, u32 len, unsigned width, int is_signed)
{
	unsigned msb = width - 1;
	u64 sign, d = 0;

	pos &= 0xff;
	len &= 0xff;
	if (!is_signed || len == 0)
		sign = 0;
	else
		sign = a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1;
	for (unsigned i = 0; i <= msb; i++)
		d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
	return d;
}
static u64 place(u64 a, u64 b, u32 pos, u32 len, unsigned width)
{
	pos &= 0xff;
	len &= 0xff;
	for (unsigned i = 0; i < len && pos + i < width; i++)
		b = (b & ~(1ull << (pos + i))) | (i < 64 ? a >> i & 1 : 0) << (pos + i);
	return b;
}
static u32 dot(u32 a, u32 b, u32 c, int a_signed, int b_signed)
{
	for (unsigned i = 0; i < 4; i++) {
		s64 x = a >> 8 * i & 255, y = b >> 8 * i & 255;

		x -= a_signed && x > 127 ? 256 : 0;
		y -= b_signed && y > 127 ? 256 : 0;
		c += (u32)(x * y);
	}
	return c;
}
static u32 pick(u32 a, u32 b, u32 c)
{
	u32 d = 0;

	for (unsigned i = 0; i < 4; i++) {
		u32 n = c >> 4 * i & 15, byte = (n & 4 ? b : a) >> 8 * (n & 3) & 255;

		if (n & 8)
			byte = byte & 128 ? 255 : 0;
		d |= byte << 8 * i;
	}
	return d;
}
static u32 lut(u32 a, u32 b, u32 c, u32 table)
{
	u32 d = 0;

	for (unsigned i = 0; i < 32; i++)
		d |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
	return d;
}
static f32 flush(f32 x)
{
	return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}
static f32 unit(f32 x)
{
	return isnan(x) || x <= 0 ? 0 : x >= 1 ? 1 : x;
}
static f32 exp2_wide(f32 x)
{
	return (f32)exp2l(x);
}
static f64 smaller(f64 a, f64 b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	if (a == b)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}
/* To an integer type: clamped, NaN as 0. */
static s64 to_integer(f64 x, f64 low, f64 high)
{
	return isnan(x) ? 0 : x < low ? (s64)low : x > high ? (s64)high : (s64)x;
}
static s64 to_s64(f64 x)
{
	return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (s64)x;
}

/* Small float formats by a search through all their values. */
static f64 wide(u32 bits, unsigned e, unsigned m)
{
	u32 fraction = bits & ((1u << m) - 1), exponent = bits >> m & ((1u << e) - 1);
	f64 x = exponent ? 1.0 + fraction / (f64)(1u << m) : fraction / (f64)(1u << m);
	int bias = (1 << (e - 1)) - 1;

	if (exponent == (1u << e) - 1)
		x = fraction ? NAN : INFINITY;
	else
		x *= pow(2, (int)(exponent ? exponent : 1) - bias);
	return bits >> (e + m) & 1 ? -x : x;
}
/* The largest magnitude that is not above |x|. */
static u32 below(f64 x, unsigned e, unsigned m)
{
	u32 low = 0, high = ((1u << e) - 1) << m; /* [finite values), infinity at high */

	while (low + 1 < high) {
		u32 middle = (low + high) / 2;

		if (wide(middle, e, m) <= fabs(x))
			low = middle;
		else
			high = middle;
	}
	return low;
}
static u16 narrow_down(f64 x, unsigned e, unsigned m)
{
	u32 sign = signbit(x) ? 1u << (e + m) : 0;

	if (isnan(x))
		return 0x7fff;
	if (isinf(x))
		return (u16)(sign | ((1u << e) - 1) << m);
	return (u16)(sign | below(x, e, m));
}
static u16 narrow(f64 x, unsigned e, unsigned m)
{
	u32 low = below(x, e, m), sign = signbit(x) ? 1u << (e + m) : 0;
	f64 step, a = fabs(x), v = wide(low, e, m), rest;

	if (isnan(x))
		return 0x7fff;
	if (isinf(x))
		return (u16)(sign | ((1u << e) - 1) << m);
	step = wide(low + 1, e, m);
	if (isinf(step))
		step = v + (v - wide(low - 1, e, m));
	rest = a - v;
	if (rest > step - a || (rest == step - a && low & 1))
		low++;
	return (u16)(sign | low);
}
static u32 canonical_half(u32 h)
{
	return (h & 0x7fff) > 0x7c00 ? 0x7fff : h;
}
static u32 pairwise(u32 a, u32 b, char op, unsigned e, unsigned m)
{
	u32 d = 0;

	for (unsigned k = 0; k < 32; k += 16) {
		f64 x = wide(a >> k & 0xffff, e, m), y = wide(b >> k & 0xffff, e, m);
		f64 r = op == '+'   ? x + y
			: op == '*' ? x * y
			: op == '<' ? smaller(x, y)
				    : -smaller(-x, -y);

		d |= (u32)narrow(r, e, m) << k;
	}
	return d;
}
static u32 tf32_away(f32 x)
{
	u32 u;

	memcpy(&u, &x, 4);
	if (isinf(x))
		return u;
	return (u + 0x1000) & ~0x1fffu;
}
static u32 e5m2(f32 x)
{
	u32 r;

	if (isnan(x))
		return 0x7f;
	if (fabsf(x) >= 57344)
		return signbit(x) ? 0xfb : 0x7b;
	r = narrow(x, 5, 2);
	return (r & 0x7f) >= 0x7c ? (r & 0x80) | 0x7b : r;
}
static f64 e4m3_value(u32 bits)
{
	u32 exponent = bits >> 3 & 15;
	f64 x = exponent ? (8 + (bits & 7)) * pow(2, (int)exponent - 10) : (bits & 7) * pow(2, -9);

	return x;
}
static u32 e4m3(f32 x)
{
	u32 best = 0;

	if (isnan(x))
		return 0x7f;
	for (u32 k = 1; k < 0x7f; k++) {
		f64 d = fabs(fabs(x) - e4m3_value(k)), old = fabs(fabs(x) - e4m3_value(best));

		if (d < old || (d == old && !(k & 1)))
			best = k;
	}
	return best | (signbit(x) ? 0x80 : 0);
}

/* ---- rows ---- */

#define DEFINE_REFERENCE(text, D, A, B, C, ulp, expression) \
	{                                                   \
		typedef D result;                           \
		volatile A a;                               \
		volatile B b;                               \
		volatile C c;                               \
		D d;                                        \
		memcpy((void *)&a, &in[0], sizeof(A));      \
		memcpy((void *)&b, &in[1], sizeof(B));      \
		memcpy((void *)&c, &in[2], sizeof(C));      \
		(void)sizeof(result);                       \
		d = (D)(expression);                        \
		out = 0;                                    \
		memcpy(&out, &d, sizeof(D));                \
	}                                                   \
	break;
#define CASE(...)                            \
	case __COUNTER__ - COUNTER_BASE - 1: \
		DEFINE_REFERENCE(__VA_ARGS__)
enum { COUNTER_BASE = __COUNTER__ };

u64 operation_reference(unsigned index, const u64 in[3])
{
	u64 out = 0;

	switch (index) {
		OPERATIONS(CASE)
	}
	return out;
}

#define ROW(text, D, A, B, C, ulp, expression) {text, {#D, #A, #B, #C}, ulp},
const struct operation operations[] = {OPERATIONS(ROW)};
const unsigned operation_count = ARRAY_LENGTH(operations);

/* ---- inputs ---- */

static const u32 edges32[] = {0,          1,          2,          5,          7,
			      8,          15,         16,         31,         32,
			      33,         63,         64,         65,         255,
			      256,        0x7fff,     0x8000,     0xffff,     0x10000,
			      0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
			      0xffff8000, 0x55555555, 0x00ff00ff};
static const u32 edges_f32[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
				0x00800000, 0x80800000, 0x00800001, 0x3f800000, 0xbf800000,
				0x3f800001, 0x3f7fffff, 0x40000000, 0x3f000000, 0xbf000000,
				0x3fc00000, 0x40200000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
				0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0x4b000000,
				0x4b800001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000,
				0x5f000000, 0x477fe000, 0x477ff000, 0x33800000, 0x38800000,
				0x387fc000, 0x43dfffff, 0x43e80000, 0x1f800000, 0x9f800000};

static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static u64 f32_input(u64 r, u64 edge)
{
	if (edge < ARRAY_LENGTH(edges_f32))
		return edges_f32[edge];
	/* half of the others near 1, where roundings differ, half of any size */
	return r & 1 ? (u32)(r >> 8) : ((r >> 8) & 0x80ffffffu) | 0x3f000000u;
}

static u64 f64_input(u64 r, u64 edge)
{
	u32 narrow_bits = (u32)f32_input(r, edge);
	f32 x;
	f64 y;
	u64 u;

	memcpy(&x, &narrow_bits, 4);
	y = x;
	memcpy(&u, &y, 8);
	if (edge >= ARRAY_LENGTH(edges_f32))
		u = r & 2 ? (r & 0x800fffffffffffffull) | (u & 0x7ff0000000000000ull) : r;
	return isnan(y) && edge < ARRAY_LENGTH(edges_f32) ? 0xfff8000000000000ull : u;
}

static bool allowed(const char *type, u64 v)
{
	f32 x;
	f64 y;

	memcpy(&x, &v, 4);
	memcpy(&y, &v, 8);
	if (!strncmp(type, "nonzero", 7))
		return (u16)v != 0;
	if (!strcmp(type, "normal_f32"))
		return fabsf(x) >= 0x1p-126f && fabsf(x) <= 0x1p126f;
	if (!strcmp(type, "small_f32"))
		return fabsf(x) <= 3.14159f;
	if (!strcmp(type, "finite_f32"))
		return isfinite(x);
	if (!strcmp(type, "number_f32"))
		return !isnan(x);
	if (!strcmp(type, "number_f64"))
		return !isnan(y);
	return true;
}

static u64 input(const char *type, unsigned operand, unsigned i)
{
	size_t n = strlen(type);
	bool is_float = type[n - 3] == 'f';

	for (u64 attempt = 0;; attempt++) {
		u64 r = mix(i * 3 + operand + attempt * 0x9e3779b97f4a7c15ull + 1);
		u64 limit = is_float ? ARRAY_LENGTH(edges_f32) : ARRAY_LENGTH(edges32);
		u64 edge = i % 4 == 3 ? limit
				      : (operand == 0   ? (u64)i
					 : operand == 1 ? (u64)i / 7
							: r) +
						attempt;
		u64 v;

		if (edge != limit)
			edge %= limit;
		if (is_float && type[n - 2] == '6')
			v = f64_input(r, edge);
		else if (is_float)
			v = f32_input(r, edge);
		else if (edge < limit)
			v = type[n - 2] == '6' && edges32[edge] >> 31
				    ? (u64)edges32[edge] << 32 | (edge & 1)
				    : edges32[edge];
		else
			v = mix(r);
		if (allowed(type, v))
			return v;
	}
}

void operation_inputs(const struct operation *o, u64 in[][3])
{
	for (unsigned i = 0; i < OPERATION_LANES; i++)
		for (unsigned k = 0; k < 3; k++)
			in[i][k] = input(o->types[k + 1], k, i);
}

/* ---- kernels ---- */

unsigned operation_bits(const char *type)
{
	return (unsigned)atoi(type + strlen(type) - 2);
}

char *operation_kernel(const struct operation *o)
{
	unsigned d = operation_bits(o->types[0]), a = operation_bits(o->types[1]);
	unsigned b = operation_bits(o->types[2]), c = operation_bits(o->types[3]);

	return text_format(
		".version 8.0\n.target sm_90\n.address_size 64\n"
		".visible .entry k(.param .u64 source, .param .u64 target)\n{\n"
		".reg .pred p, q; .reg .b16 lo, hi; .reg .b32 x, y, t; .reg .b64 i, o;\n"
		".reg .b%u D; .reg .b%u A; .reg .b%u B; .reg .b%u C;\n"
		"ld.param.u64 i, [source]; ld.param.u64 o, [target];\n"
		"mov.u32 t, %%tid.x; mad.wide.u32 i, t, 24, i; mad.wide.u32 o, t, 8, o;\n"
		"ld.global.b%u A, [i]; ld.global.b%u B, [i+8]; ld.global.b%u C, [i+16];\n"
		"%s\nst.global.b%u [o], D;\nret;\n}\n",
		d, a, b, c, a, b, c, o->text, d);
}

/* Distance in units in the last place between two f32. */
static u32 f32_distance(u32 x, u32 y)
{
	s64 a = x >> 31 ? -(s64)(x & 0x7fffffff) : (s64)x;
	s64 b = y >> 31 ? -(s64)(y & 0x7fffffff) : (s64)y;
	s64 d = a > b ? a - b : b - a;

	return (u32)d;
}

bool operation_agrees(const struct operation *o, u64 got, u64 want)
{
	if (got == want)
		return true;
	if (!strcmp(o->types[0], "f32")) {
		bool got_nan = (got & 0x7fffffff) > 0x7f800000,
		     want_nan = (want & 0x7fffffff) > 0x7f800000;

		/* NaN is canonical. */
		if (got_nan || want_nan)
			return want_nan && got == 0x7fffffff;
		return f32_distance((u32)got, (u32)want) <= o->ulp;
	}
	if (!strcmp(o->types[0], "f64"))
		return (got << 1) > 0xffe0000000000000ull && (want << 1) > 0xffe0000000000000ull;
	return false;
}
