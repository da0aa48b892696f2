/* SPDX-License-Identifier: MIT */
/* Integer and bit arithmetic on warps. Semantics: PTX ISA 8.7, chapters 9.7.1, 9.7.7 and 9.7.8. */
#include "softgpu/lanes_build.h"

LANES_1(copy_32, u32, u32, a)
LANES_1(copy_64, u64, u64, a)

/* ---- add, sub ---- */
static inline s32 saturate_s64(s64 x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (s32)x;
}
LANES_2(add_16, u32, u32, u32, U16(a + b))
LANES_2(add_32, u32, u32, u32, a + b)
LANES_2(add_64, u64, u64, u64, a + b)
LANES_2(add_sat_s32, s32, s32, s32, saturate_s64((s64)a + b))
LANES_2(add_16x2, u32, u32, u32, U16(a + b) | ((a >> 16) + (b >> 16)) << 16)
LANES_2(sub_16, u32, u32, u32, U16(a - b))
LANES_2(sub_32, u32, u32, u32, a - b)
LANES_2(sub_64, u64, u64, u64, a - b)
LANES_2(sub_sat_s32, s32, s32, s32, saturate_s64((s64)a - b))

/* ---- mul, mad ---- */
LANES_2(mul_lo_16, u32, u32, u32, U16(a *b))
LANES_2(mul_lo_32, u32, u32, u32, a *b)
LANES_2(mul_lo_64, u64, u64, u64, a *b)
LANES_2(mul_hi_s16, u32, u32, u32, U16((S16(a) * S16(b)) >> 16))
LANES_2(mul_hi_u16, u32, u32, u32, (U16(a) * U16(b)) >> 16)
LANES_2(mul_hi_s32, s32, s32, s32, ((s64)a * b) >> 32)
LANES_2(mul_hi_u32, u32, u32, u32, ((u64)a * b) >> 32)
LANES_2(mul_hi_s64, s64, s64, s64, ((__int128)a * b) >> 64)
LANES_2(mul_hi_u64, u64, u64, u64, ((unsigned __int128)a * b) >> 64)
LANES_2(mul_wide_s16, s32, u32, u32, S16(a) * S16(b))
LANES_2(mul_wide_u16, u32, u32, u32, U16(a) * U16(b))
LANES_2(mul_wide_s32, s64, s32, s32, (s64)a *b)
LANES_2(mul_wide_u32, u64, u32, u32, (u64)a *b)
LANES_3(mad_lo_16, u32, u32, u32, u32, U16(a *b + c))
LANES_3(mad_lo_32, u32, u32, u32, u32, a *b + c)
LANES_3(mad_lo_64, u64, u64, u64, u64, a *b + c)
LANES_3(mad_hi_s16, u32, u32, u32, u32, U16((u32)((S16(a) * S16(b)) >> 16) + c))
LANES_3(mad_hi_u16, u32, u32, u32, u32, U16(((U16(a) * U16(b)) >> 16) + c))
LANES_3(mad_hi_s32, u32, s32, s32, u32, (u32)(((s64)a * b) >> 32) + c)
LANES_3(mad_hi_u32, u32, u32, u32, u32, (u32)(((u64)a * b) >> 32) + c)
LANES_3(mad_hi_s64, u64, s64, s64, u64, (u64)(((__int128)a * b) >> 64) + c)
LANES_3(mad_hi_u64, u64, u64, u64, u64, (u64)(((unsigned __int128)a * b) >> 64) + c)
LANES_3(mad_hi_sat_s32, s32, s32, s32, s32, saturate_s64((((s64)a * b) >> 32) + c))
LANES_3(mad_wide_s16, u32, u32, u32, u32, (u32)(S16(a) * S16(b)) + c)
LANES_3(mad_wide_u16, u32, u32, u32, u32, U16(a) * U16(b) + c)
LANES_3(mad_wide_s32, u64, s32, s32, u64, (u64)((s64)a *b) + c)
LANES_3(mad_wide_u32, u64, u32, u32, u64, (u64)a *b + c)

#define S24(x) ((s64)((s32)((u32)(x) << 8) >> 8))
#define U24(x) ((u64)((x)&0xffffffu))
LANES_2(mul24_lo_s32, u32, u32, u32, (u32)(S24(a) * S24(b)))
LANES_2(mul24_lo_u32, u32, u32, u32, (u32)(U24(a) * U24(b)))
LANES_2(mul24_hi_s32, u32, u32, u32, (u32)((S24(a) * S24(b)) >> 16))
LANES_2(mul24_hi_u32, u32, u32, u32, (u32)((U24(a) * U24(b)) >> 16))
LANES_3(mad24_lo_s32, u32, u32, u32, u32, (u32)(S24(a) * S24(b)) + c)
LANES_3(mad24_lo_u32, u32, u32, u32, u32, (u32)(U24(a) * U24(b)) + c)
LANES_3(mad24_hi_s32, u32, u32, u32, u32, (u32)((S24(a) * S24(b)) >> 16) + c)
LANES_3(mad24_hi_u32, u32, u32, u32, u32, (u32)((U24(a) * U24(b)) >> 16) + c)

LANES_3(sad_s16, u32, u32, u32, u32,
	U16(c + (u32)(S16(a) < S16(b) ? S16(b) - S16(a) : S16(a) - S16(b))))
LANES_3(sad_u16, u32, u32, u32, u32, U16(c + (U16(a) < U16(b) ? b - a : a - b)))
LANES_3(sad_s32, u32, s32, s32, u32, c + (a < b ? (u32)b - (u32)a : (u32)a - (u32)b))
LANES_3(sad_u32, u32, u32, u32, u32, c + (a < b ? b - a : a - b))
LANES_3(sad_s64, u64, s64, s64, u64, c + (a < b ? (u64)b - (u64)a : (u64)a - (u64)b))
LANES_3(sad_u64, u64, u64, u64, u64, c + (a < b ? b - a : a - b))

/*
 * Division by zero is "unspecified, machine-specific" in PTX. As on the GPUs known: quotient all
 * ones, remainder the dividend. INT_MIN / -1 wraps.
 */
static inline s32 div_s(s32 a, s32 b)
{
	return b == 0 ? -1 : b == -1 ? (s32)(0u - (u32)a) : a / b;
}
static inline s32 rem_s(s32 a, s32 b)
{
	return b == 0 ? a : b == -1 ? 0 : a % b;
}
static inline s64 div_sl(s64 a, s64 b)
{
	return b == 0 ? -1 : b == -1 ? (s64)(0ull - (u64)a) : a / b;
}
static inline s64 rem_sl(s64 a, s64 b)
{
	return b == 0 ? a : b == -1 ? 0 : a % b;
}
LANES_2(div_s16, u32, u32, u32, U16(div_s(S16(a), S16(b))))
LANES_2(div_u16, u32, u32, u32, U16(b) ? U16(a) / U16(b) : 0xffffu)
LANES_2(div_s32, s32, s32, s32, div_s(a, b))
LANES_2(div_u32, u32, u32, u32, b ? a / b : UINT32_MAX)
LANES_2(div_s64, s64, s64, s64, div_sl(a, b))
LANES_2(div_u64, u64, u64, u64, b ? a / b : UINT64_MAX)
LANES_2(rem_s16, u32, u32, u32, U16(rem_s(S16(a), S16(b))))
LANES_2(rem_u16, u32, u32, u32, U16(b) ? U16(a) % U16(b) : U16(a))
LANES_2(rem_s32, s32, s32, s32, rem_s(a, b))
LANES_2(rem_u32, u32, u32, u32, b ? a % b : a)
LANES_2(rem_s64, s64, s64, s64, rem_sl(a, b))
LANES_2(rem_u64, u64, u64, u64, b ? a % b : a)

/* ---- abs, neg, min, max ---- */
LANES_1(abs_s16, u32, u32, U16(S16(a) < 0 ? 0u - a : a))
LANES_1(abs_s32, u32, u32, (s32)a < 0 ? 0u - a : a)
LANES_1(abs_s64, u64, u64, (s64)a < 0 ? 0ull - a : a)
LANES_1(neg_16, u32, u32, U16(0u - a))
LANES_1(neg_32, u32, u32, 0u - a)
LANES_1(neg_64, u64, u64, 0ull - a)
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define RELU(x)   (flags & LANE_RELU && (x) < 0 ? 0 : (x))
LANES_2(min_s16, u32, u32, u32, U16(MIN(S16(a), S16(b))))
LANES_2(min_u16, u32, u32, u32, MIN(U16(a), U16(b)))
LANES_2(min_s32, s32, s32, s32, RELU(MIN(a, b)))
LANES_2(min_u32, u32, u32, u32, MIN(a, b))
LANES_2(min_s64, s64, s64, s64, MIN(a, b))
LANES_2(min_u64, u64, u64, u64, MIN(a, b))
LANES_2(max_s16, u32, u32, u32, U16(MAX(S16(a), S16(b))))
LANES_2(max_u16, u32, u32, u32, MAX(U16(a), U16(b)))
LANES_2(max_s32, s32, s32, s32, RELU(MAX(a, b)))
LANES_2(max_u32, u32, u32, u32, MAX(a, b))
LANES_2(max_s64, s64, s64, s64, MAX(a, b))
LANES_2(max_u64, u64, u64, u64, MAX(a, b))
LANES_2(min_s16x2, u32, u32, u32,
	U16(RELU(MIN(S16(a), S16(b)))) | U16(RELU(MIN(S16(a >> 16), S16(b >> 16)))) << 16)
LANES_2(max_s16x2, u32, u32, u32,
	U16(RELU(MAX(S16(a), S16(b)))) | U16(RELU(MAX(S16(a >> 16), S16(b >> 16)))) << 16)
LANES_2(min_u16x2, u32, u32, u32, MIN(U16(a), U16(b)) | MIN(a >> 16, b >> 16) << 16)
LANES_2(max_u16x2, u32, u32, u32, MAX(U16(a), U16(b)) | MAX(a >> 16, b >> 16) << 16)

/* ---- bits ---- */
static inline u32 reverse32(u32 x)
{
	x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
	x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
	x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(x);
}
LANES_1(popc_32, u32, u32, __builtin_popcount(a))
LANES_1(popc_64, u32, u64, __builtin_popcountll(a))
LANES_1(clz_32, u32, u32, a ? __builtin_clz(a) : 32)
LANES_1(clz_64, u32, u64, a ? __builtin_clzll(a) : 64)
LANES_1(brev_32, u32, u32, reverse32(a))
LANES_1(brev_64, u64, u64, (u64)reverse32((u32)a) << 32 | reverse32((u32)(a >> 32)))
static inline u32 find32(u32 x, u32 shift_amount)
{
	u32 n = x ? (u32)__builtin_clz(x) : 0;

	return !x ? UINT32_MAX : shift_amount ? n : 31 - n;
}
static inline u32 find64(u64 x, u32 shift_amount)
{
	u32 n = x ? (u32)__builtin_clzll(x) : 0;

	return !x ? UINT32_MAX : shift_amount ? n : 63 - n;
}
LANES_1(bfind_u32, u32, u32, find32(a, 0))
LANES_1(bfind_s32, u32, s32, find32((u32)(a < 0 ? ~a : a), 0))
LANES_1(bfind_u64, u32, u64, find64(a, 0))
LANES_1(bfind_s64, u32, s64, find64((u64)(a < 0 ? ~a : a), 0))
LANES_1(bfind_shift_u32, u32, u32, find32(a, 1))
LANES_1(bfind_shift_s32, u32, s32, find32((u32)(a < 0 ? ~a : a), 1))
LANES_1(bfind_shift_u64, u32, u64, find64(a, 1))
LANES_1(bfind_shift_s64, u32, s64, find64((u64)(a < 0 ? ~a : a), 1))

/* The sign bit of bfe is that of the field, or bit 31/63 if the field reaches beyond it. */
static inline u64 extract(u64 x, u32 position, u32 length, unsigned width, bool is_signed)
{
	u32 last;
	u64 field;

	position &= 0xff;
	length &= 0xff;
	if (!length)
		return 0;
	last = MIN(position + length - 1, width - 1);
	field = position < width ? x >> position : 0;
	if (length < 64)
		field &= (1ull << length) - 1;
	if (is_signed && x >> last & 1) {
		u32 kept = position < width ? MIN(length, width - position) : 0;

		field |= kept < 64 ? UINT64_MAX << kept : 0;
	}
	return field;
}
LANES_3(bfe_u32, u32, u32, u32, u32, extract(a, b, c, 32, false))
LANES_3(bfe_s32, u32, u32, u32, u32, extract(a, b, c, 32, true))
LANES_3(bfe_u64, u64, u64, u32, u32, extract(a, b, c, 64, false))
LANES_3(bfe_s64, u64, u64, u32, u32, extract(a, b, c, 64, true))

static inline u64 insert(u64 a, u64 b, u32 position, u32 length)
{
	u64 mask;

	position &= 0xff;
	length &= 0xff;
	if (position >= 64)
		return b;
	mask = (length >= 64 ? UINT64_MAX : (1ull << length) - 1) << position;
	return (b & ~mask) | (a << position & mask);
}
LANES(bfi_32)
{
	u32 *d = dv;
	const u32 *a = s[0], *b = s[1], *c = s[2], *e = s[3];

	EACH_LANE d[l] = (c[l] & 0xff) >= 32 ? b[l] : (u32)insert(a[l], b[l], c[l], e[l]);
}
LANES(bfi_64)
{
	u64 *d = dv;
	const u64 *a = s[0], *b = s[1];
	const u32 *c = s[2], *e = s[3];

	EACH_LANE d[l] = insert(a[l], b[l], c[l], e[l]);
}

static inline u32 extend(u32 a, u32 b, uint32_t flags, bool is_signed)
{
	b = flags & LANE_WRAP ? b & 31 : MIN(b, 32u);
	if (b == 32)
		return a;
	if (b == 0)
		return 0;
	return is_signed ? (u32)((s32)(a << (32 - b)) >> (32 - b)) : a & ((1u << b) - 1);
}
LANES_2(szext_s32, u32, u32, u32, extend(a, b, flags, true))
LANES_2(szext_u32, u32, u32, u32, extend(a, b, flags, false))
static inline u32 bit_mask(u32 a, u32 b, uint32_t flags)
{
	a = flags & LANE_WRAP ? a & 31 : MIN(a, 32u);
	b = flags & LANE_WRAP ? b & 31 : MIN(b, 32u);
	return (u32)(((1ull << b) - 1) << a);
}
LANES_2(bmsk_32, u32, u32, u32, bit_mask(a, b, flags))

#define BYTE_S(x, i) ((s32)(int8_t)((x) >> 8 * (i)))
#define BYTE_U(x, i) ((s32)(uint8_t)((x) >> 8 * (i)))
#define DP4(A, B) \
	(c + (u32)(A(a, 0) * B(b, 0) + A(a, 1) * B(b, 1) + A(a, 2) * B(b, 2) + A(a, 3) * B(b, 3)))
LANES_3(dp4a_ss, u32, u32, u32, u32, DP4(BYTE_S, BYTE_S))
LANES_3(dp4a_su, u32, u32, u32, u32, DP4(BYTE_S, BYTE_U))
LANES_3(dp4a_us, u32, u32, u32, u32, DP4(BYTE_U, BYTE_S))
LANES_3(dp4a_uu, u32, u32, u32, u32, DP4(BYTE_U, BYTE_U))
#define HALF_S(x, i) ((s32)(int16_t)((x) >> 16 * (i)))
#define HALF_U(x, i) ((s64)(uint16_t)((x) >> 16 * (i)))
#define DP2(A, B, k) (c + (u32)(A(a, 0) * B(b, k) + A(a, 1) * B(b, k + 1)))
LANES_3(dp2a_lo_ss, u32, u32, u32, u32, DP2(HALF_S, BYTE_S, 0))
LANES_3(dp2a_lo_su, u32, u32, u32, u32, DP2(HALF_S, BYTE_U, 0))
LANES_3(dp2a_lo_us, u32, u32, u32, u32, DP2(HALF_U, BYTE_S, 0))
LANES_3(dp2a_lo_uu, u32, u32, u32, u32, DP2(HALF_U, BYTE_U, 0))
LANES_3(dp2a_hi_ss, u32, u32, u32, u32, DP2(HALF_S, BYTE_S, 2))
LANES_3(dp2a_hi_su, u32, u32, u32, u32, DP2(HALF_S, BYTE_U, 2))
LANES_3(dp2a_hi_us, u32, u32, u32, u32, DP2(HALF_U, BYTE_S, 2))
LANES_3(dp2a_hi_uu, u32, u32, u32, u32, DP2(HALF_U, BYTE_U, 2))

/* Byte selectors of prmt's special modes, four nibbles for each value of c & 3. */
static const uint16_t permute_modes[7][4] = {
	{0},
	{0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
	{0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
	{0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
	{0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
	{0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
	{0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
};
static inline u32 permute(u32 a, u32 b, u32 selector)
{
	u64 bytes = (u64)b << 32 | a;
	u32 out = 0;

	for (unsigned i = 0; i < 4; i++) {
		u32 n = selector >> 4 * i & 0xf;
		u32 byte = (u32)(bytes >> 8 * (n & 7)) & 0xff;
		u32 sign = (u32)((s32)(byte << 24) >> 31) & 0xff;

		out |= (n & 8 ? sign : byte) << 8 * i;
	}
	return out;
}
LANES(prmt)
{
	u32 *d = dv;
	const u32 *a = s[0], *b = s[1], *c = s[2];
	const uint16_t *mode = permute_modes[flags >> LANE_IMMEDIATE_SHIFT];

	if (flags >> LANE_IMMEDIATE_SHIFT)
		for (int l = 0; l < 32; l++)
			d[l] = permute(a[l], b[l], mode[c[l] & 3]);
	else
		EACH_LANE d[l] = permute(a[l], b[l], c[l]);
}

LANES(lop3)
{
	u32 *d = dv;
	const u32 *a = s[0], *b = s[1], *c = s[2];
	u32 table = flags >> LANE_IMMEDIATE_SHIFT, t[8];

	for (unsigned i = 0; i < 8; i++)
		t[i] = table >> i & 1 ? UINT32_MAX : 0;
	EACH_LANE
	{
		u32 x = a[l], y = b[l], z = c[l];

		d[l] = (t[0] & ~x & ~y & ~z) | (t[1] & ~x & ~y & z) | (t[2] & ~x & y & ~z) |
		       (t[3] & ~x & y & z) | (t[4] & x & ~y & ~z) | (t[5] & x & ~y & z) |
		       (t[6] & x & y & ~z) | (t[7] & x & y & z);
	}
}

#define FUNNEL(c) (flags & LANE_WRAP ? (c)&31 : MIN(c, 32u))
LANES_3(shf_l, u32, u32, u32, u32, (((u64)b << 32 | a) << FUNNEL(c)) >> 32)
LANES_3(shf_r, u32, u32, u32, u32, ((u64)b << 32 | a) >> FUNNEL(c))

LANES_2(and_16, u32, u32, u32, U16(a &b))
LANES_2(and_32, u32, u32, u32, a &b)
LANES_2(and_64, u64, u64, u64, a &b)
LANES_2(or_16, u32, u32, u32, U16(a | b))
LANES_2(or_32, u32, u32, u32, a | b)
LANES_2(or_64, u64, u64, u64, a | b)
LANES_2(xor_16, u32, u32, u32, U16(a ^ b))
LANES_2(xor_32, u32, u32, u32, a ^ b)
LANES_2(xor_64, u64, u64, u64, a ^ b)
LANES_1(not_16, u32, u32, U16(~a))
LANES_1(not_32, u32, u32, ~a)
LANES_1(not_64, u64, u64, ~a)
LANES_1(cnot_16, u32, u32, U16(a) == 0)
LANES_1(cnot_32, u32, u32, a == 0)
LANES_1(cnot_64, u64, u64, a == 0)

/* Shift amounts beyond the width are clamped to it. */
LANES_2(shl_16, u32, u32, u32, b > 15 ? 0 : U16(a << (b & 15)))
LANES_2(shl_32, u32, u32, u32, b > 31 ? 0 : a << (b & 31))
LANES_2(shl_64, u64, u64, u32, b > 63 ? 0 : a << (b & 63))
LANES_2(shr_u16, u32, u32, u32, b > 15 ? 0 : U16(a) >> (b & 15))
LANES_2(shr_u32, u32, u32, u32, b > 31 ? 0 : a >> (b & 31))
LANES_2(shr_u64, u64, u64, u32, b > 63 ? 0 : a >> (b & 63))
LANES_2(shr_s16, u32, u32, u32, U16(S16(a) >> MIN(b, 15u)))
LANES_2(shr_s32, s32, s32, u32, a >> MIN(b, 31u))
LANES_2(shr_s64, s64, s64, u32, a >> MIN(b, 63u))

LANES_3(slct_16_s32, u32, u32, u32, s32, c >= 0 ? a : b)
LANES_3(slct_32_s32, u32, u32, u32, s32, c >= 0 ? a : b)
LANES_3(slct_64_s32, u64, u64, u64, s32, c >= 0 ? a : b)

/* ---- addresses ---- */
void LANES_NAME(span)(const uint64_t *addresses, uint32_t mask, struct address_span *out)
{
	u64 low = UINT64_MAX, high = 0, bits = 0;

	EACH_LANE
	{
		u64 a = addresses[l], active = 0 - (u64)(mask >> l & 1);

		low = MIN(low, a | ~active);
		high = MAX(high, a & active);
		bits |= a & active;
	}
	*out = (struct address_span){low, high, bits};
}

/* ---- masks ---- */
void LANES_NAME(blend32)(void *dv, const void *av, const void *bv, uint32_t mask)
{
	u32 *d = dv;
	const u32 *a = av, *b = bv;

	EACH_LANE d[l] = mask >> l & 1 ? a[l] : b[l];
}
void LANES_NAME(blend64)(void *dv, const void *av, const void *bv, uint32_t mask)
{
	u64 *d = dv;
	const u64 *a = av, *b = bv;

	EACH_LANE d[l] = mask >> l & 1 ? a[l] : b[l];
}

/* ---- setp ---- */
#define COMPARE_LOOP(expression)             \
	EACH_LANE                            \
	{                                    \
		x = TYPED(pa[l]);            \
		y = TYPED(pb[l]);            \
		m |= (u32)(expression) << l; \
	}                                    \
	break
#define COMPARE(name, T, V)                                                       \
	uint32_t LANES_NAME(name)(const void *av, const void *bv, uint32_t flags) \
	{                                                                         \
		const T *pa = av, *pb = bv;                                       \
		V x, y;                                                           \
		u32 m = 0;                                                        \
		switch (flags & LANE_COMPARE_MASK) {                              \
		case COMPARE_EQ:                                                  \
			COMPARE_LOOP(x == y);                                     \
		case COMPARE_NE:                                                  \
			COMPARE_LOOP(x != y);                                     \
		case COMPARE_LT:                                                  \
			COMPARE_LOOP(x < y);                                      \
		case COMPARE_LE:                                                  \
			COMPARE_LOOP(x <= y);                                     \
		case COMPARE_GT:                                                  \
			COMPARE_LOOP(x > y);                                      \
		default:                                                          \
			COMPARE_LOOP(x >= y);                                     \
		}                                                                 \
		return m;                                                         \
	}
#define TYPED(x) (x)
COMPARE(compare_s32, s32, s32)
COMPARE(compare_u32, u32, u32)
COMPARE(compare_s64, s64, s64)
COMPARE(compare_u64, u64, u64)
#undef TYPED
#define TYPED(x) S16(x)
COMPARE(compare_s16, u32, s32)
#undef TYPED
#define TYPED(x) U16(x)
COMPARE(compare_u16, u32, u32)
