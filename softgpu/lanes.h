/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic on whole warps: each function computes 32 lanes, active or not, from source vectors
 * into a destination vector that may be one of the sources. Pure: no memory, no faults, no flags of
 * the host's FPU left changed. Sources s[0..3]; `flags` says rounding and the like (LANE_*).
 *
 * lanes_*.c are compiled once for each instruction set; all builds give the same bits (tested).
 */
#ifndef SOFTGPU_LANES_H
#define SOFTGPU_LANES_H

#include <stdint.h>

typedef void lane_function(void *d, const void *const *s, uint32_t flags);
typedef uint32_t compare_function(const void *a, const void *b, uint32_t flags);

#define LANE_ROUND_MASK      3u /* 0 nearest even, 1 to zero, 2 down, 3 up */
#define LANE_RN              0u
#define LANE_RZ              1u
#define LANE_RM              2u
#define LANE_RP              3u
#define LANE_FTZ             4u
#define LANE_SAT             8u
#define LANE_NEG_A           0x10u /* a * b: negate the product */
#define LANE_NEG_C           0x20u /* the last source is negated; of add: b */
#define LANE_NAN             0x40u /* min, max: NaN wins */
#define LANE_RELU            0x80u
#define LANE_XORSIGN         0x100u
#define LANE_SATFINITE       0x200u
#define LANE_RNA             0x400u  /* cvt: nearest, ties away */
#define LANE_INTEGRAL        0x800u  /* cvt: round to an integer (rni and so on) */
#define LANE_WRAP            0x1000u /* shf: shift modulo 32; otherwise clamped */
#define LANE_TO_SHIFT        16u /* cvt: destination type in bits 16..20, source type in 21..25 */
#define LANE_FROM_SHIFT      21u
#define LANE_IMMEDIATE_SHIFT 24u /* lop3: the table in bits 24..31; prmt, testp: mode */

enum comparison {
	COMPARE_EQ,
	COMPARE_NE,
	COMPARE_LT,
	COMPARE_LE,
	COMPARE_GT,
	COMPARE_GE,
	COMPARE_EQU, /* from here: floats only */
	COMPARE_NEU,
	COMPARE_LTU,
	COMPARE_LEU,
	COMPARE_GTU,
	COMPARE_GEU,
	COMPARE_NUM,
	COMPARE_NAN
};
#define LANE_COMPARE_MASK 0xfu /* of compare_function's flags, beside LANE_COMPARE_FTZ */
#define LANE_COMPARE_FTZ  0x10u

/* clang-format off */
#define LANE_FUNCTIONS_INTEGER(X) \
	X(copy_32) X(copy_64) X(add_16) X(add_32) X(add_64) X(add_sat_s32) X(add_16x2) \
	X(sub_16) X(sub_32) X(sub_64) X(sub_sat_s32) X(mul_lo_16) X(mul_lo_32) X(mul_lo_64) \
	X(mul_hi_s16) X(mul_hi_u16) X(mul_hi_s32) X(mul_hi_u32) X(mul_hi_s64) X(mul_hi_u64) \
	X(mul_wide_s16) X(mul_wide_u16) X(mul_wide_s32) X(mul_wide_u32) X(mad_lo_16) \
	X(mad_lo_32) X(mad_lo_64) X(mad_hi_s16) X(mad_hi_u16) X(mad_hi_s32) X(mad_hi_u32) \
	X(mad_hi_s64) X(mad_hi_u64) X(mad_hi_sat_s32) X(mad_wide_s16) X(mad_wide_u16) \
	X(mad_wide_s32) X(mad_wide_u32) X(mul24_lo_s32) X(mul24_lo_u32) X(mul24_hi_s32) \
	X(mul24_hi_u32) X(mad24_lo_s32) X(mad24_lo_u32) X(mad24_hi_s32) X(mad24_hi_u32) \
	X(sad_s16) X(sad_u16) X(sad_s32) X(sad_u32) X(sad_s64) X(sad_u64) X(div_s16) \
	X(div_u16) X(div_s32) X(div_u32) X(div_s64) X(div_u64) X(rem_s16) X(rem_u16) \
	X(rem_s32) X(rem_u32) X(rem_s64) X(rem_u64) X(abs_s16) X(abs_s32) X(abs_s64) \
	X(neg_16) X(neg_32) X(neg_64) X(min_s16) X(min_u16) X(min_s32) X(min_u32) X(min_s64) \
	X(min_u64) X(max_s16) X(max_u16) X(max_s32) X(max_u32) X(max_s64) X(max_u64) \
	X(min_s16x2) X(min_u16x2) X(max_s16x2) X(max_u16x2) X(popc_32) X(popc_64) X(clz_32) \
	X(clz_64) X(brev_32) X(brev_64) X(bfind_s32) X(bfind_u32) X(bfind_s64) X(bfind_u64) \
	X(bfind_shift_s32) X(bfind_shift_u32) X(bfind_shift_s64) X(bfind_shift_u64) \
	X(bfe_s32) X(bfe_u32) X(bfe_s64) X(bfe_u64) X(bfi_32) X(bfi_64) X(szext_s32) \
	X(szext_u32) X(bmsk_32) X(dp4a_ss) X(dp4a_su) X(dp4a_us) X(dp4a_uu) X(dp2a_lo_ss) \
	X(dp2a_lo_su) X(dp2a_lo_us) X(dp2a_lo_uu) X(dp2a_hi_ss) X(dp2a_hi_su) X(dp2a_hi_us) \
	X(dp2a_hi_uu) X(prmt) X(lop3) X(shf_l) X(shf_r) X(and_16) X(and_32) X(and_64) \
	X(or_16) X(or_32) X(or_64) X(xor_16) X(xor_32) X(xor_64) X(not_16) X(not_32) \
	X(not_64) X(cnot_16) X(cnot_32) X(cnot_64) X(shl_16) X(shl_32) X(shl_64) X(shr_u16) \
	X(shr_u32) X(shr_u64) X(shr_s16) X(shr_s32) X(shr_s64) X(slct_32_s32) X(slct_64_s32) \
	X(slct_16_s32)

#define LANE_FUNCTIONS_FLOAT(X) \
	X(add_f32) X(mul_f32) X(fma_f32) X(div_f32) X(div_approx_f32) X(rcp_f32) X(sqrt_f32) \
	X(rsqrt_f32) X(ex2_f32) X(lg2_f32) X(sin_f32) X(cos_f32) X(tanh_f32) X(abs_f32) \
	X(neg_f32) X(min_f32) X(max_f32) X(copysign_f32) X(add_f64) X(mul_f64) X(fma_f64) \
	X(div_f64) X(rcp_f64) X(sqrt_f64) X(rsqrt_f64) X(abs_f64) X(neg_f64) X(min_f64) \
	X(max_f64) X(copysign_f64) X(add_f16) X(mul_f16) X(fma_f16) X(min_f16) X(max_f16) \
	X(abs_f16) X(neg_f16) X(ex2_f16) X(tanh_f16) X(slct_32_f32) X(slct_64_f32) \
	X(slct_16_f32)

#define LANE_FUNCTIONS_CONVERT(X) \
	X(cvt_u64_u32) X(cvt_s64_s32) X(cvt_u32_u64) X(cvt_u32_u16) X(cvt_s32_s16) \
	X(cvt_u16_u32) X(cvt_f32_s32) X(cvt_f32_u32) X(cvt_f32_f16) X(cvt_f32_bf16) \
	X(cvt_bf16_f32) X(cvt_bf16x2_f32) X(cvt_f16_f32) X(cvt_f16x2_f32) X(cvt_any) \
	X(cvt_pair)

#define LANE_FUNCTIONS(X) \
	LANE_FUNCTIONS_INTEGER(X) LANE_FUNCTIONS_FLOAT(X) LANE_FUNCTIONS_CONVERT(X)

#define COMPARE_FUNCTIONS(X) \
	X(compare_s16) X(compare_u16) X(compare_s32) X(compare_u32) X(compare_s64) \
	X(compare_u64) X(compare_f32) X(compare_f64) X(compare_f16) X(compare_bf16) \
	X(test_f32) X(test_f64)
/* clang-format on */

/* test_f32 and test_f64 (testp): flags are one of these, b is ignored. */
enum float_test {
	TEST_FINITE,
	TEST_INFINITE,
	TEST_NUMBER,
	TEST_NOTANUMBER,
	TEST_NORMAL,
	TEST_SUBNORMAL
};

enum lane_function_id {
#define X(name) LANE_##name,
	LANE_FUNCTIONS(X)
#undef X
		LANE_FUNCTION_COUNT
};
enum compare_function_id {
#define X(name) ID_##name,
	COMPARE_FUNCTIONS(X)
#undef X
		COMPARE_FUNCTION_COUNT
};

/* Of the active lanes' addresses: least, greatest, all bits or'ed. */
struct address_span {
	uint64_t low, high, bits;
};
typedef void span_function(const uint64_t *addresses, uint32_t mask, struct address_span *out);

/* d = a in the lanes of the mask, b in the others. 32 or 64 bits a lane; d may be a or b. */
typedef void blend_function(void *d, const void *a, const void *b, uint32_t mask);

struct lane_table {
	const char *name;
	lane_function *functions[LANE_FUNCTION_COUNT];
	compare_function *compares[COMPARE_FUNCTION_COUNT];
	span_function *span;
	blend_function *blend32, *blend64;
};

/* Table i of those that this CPU can run, best first: avx512, avx2, baseline. NULL at the end. */
const struct lane_table *lanes_available(unsigned i);

#endif
