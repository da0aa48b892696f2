/* SPDX-License-Identifier: MIT */
/* The opcode table: the one place that knows which spellings exist and what they mean. */
#include "softgpu/opcodes.h"

#include <string.h>

#include "lib/base.h"
#include "softgpu/lanes.h"

#define L(base, grammar, operands, function)                                            \
	{                                                                               \
		base, grammar, operands, build_lanes, CODE_LANES, LANE_##function, 0, 0 \
	}
#define LF(base, grammar, operands, function, flags)                                        \
	{                                                                                   \
		base, grammar, operands, build_lanes, CODE_LANES, LANE_##function, flags, 0 \
	}
#define LC(grammar, operands, function)                                                    \
	{                                                                                  \
		"cvt", grammar, operands, build_convert, CODE_LANES, LANE_##function, 0, 0 \
	}
#define B(base, grammar, builder, code, mode)                \
	{                                                    \
		base, grammar, "", builder, code, 0, 0, mode \
	}
#define TO(type) ((uint32_t)TYPE_##type << LANE_TO_SHIFT)
#define IMM(x)   ((uint32_t)(x) << LANE_IMMEDIATE_SHIFT)

#define ROUND   "rn|rz|rm|rp? "
#define ROUND_1 "rn|rz|rm|rp "
#define FTZ     "ftz? "
#define SAT     "sat? "
#define CACHE                                                                               \
	"ca|cg|cs|lu|cv|wb|wt? L1::evict_normal|L1::evict_unchanged|L1::evict_first|"       \
	"L1::evict_last|L1::no_allocate? L2::evict_last|L2::evict_normal|L2::evict_first? " \
	"L2::cache_hint? L2::64B|L2::128B|L2::256B? "
#define ORDER       "weak|volatile|relaxed|acquire|release|acq_rel|mmio? "
#define SCOPE       "cta|cluster|gpu|sys? "
#define SPACES      "global|shared|shared::cta|local|const|param|param::entry|param::func? "
#define MEMORY_TYPE "b8|u8|s8|b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64"
#define COMPARISON  "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan "
#define COMPARED    "b16|u16|s16|b32|u32|s32|b64|u64|s64|f16|bf16|f32|f64"
#define HALVES      "f16|bf16|f16x2|bf16x2"

const struct opcode opcodes[] = {
	/* integer arithmetic */
	L("add", "u16|s16", "000", add_16),
	L("add", "u32|s32", "000", add_32),
	L("add", "u64|s64", "000", add_64),
	L("add", "sat s32", "000", add_sat_s32),
	L("add", "u16x2|s16x2", "000", add_16x2),
	L("sub", "u16|s16", "000", sub_16),
	L("sub", "u32|s32", "000", sub_32),
	L("sub", "u64|s64", "000", sub_64),
	L("sub", "sat s32", "000", sub_sat_s32),
	L("mul", "lo u16|s16", "000", mul_lo_16),
	L("mul", "lo u32|s32", "000", mul_lo_32),
	L("mul", "lo u64|s64", "000", mul_lo_64),
	L("mul", "hi s16", "000", mul_hi_s16),
	L("mul", "hi u16", "000", mul_hi_u16),
	L("mul", "hi s32", "000", mul_hi_s32),
	L("mul", "hi u32", "000", mul_hi_u32),
	L("mul", "hi s64", "000", mul_hi_s64),
	L("mul", "hi u64", "000", mul_hi_u64),
	L("mul", "wide s16", "w00", mul_wide_s16),
	L("mul", "wide u16", "w00", mul_wide_u16),
	L("mul", "wide s32", "w00", mul_wide_s32),
	L("mul", "wide u32", "w00", mul_wide_u32),
	L("mad", "lo u16|s16", "0000", mad_lo_16),
	L("mad", "lo u32|s32", "0000", mad_lo_32),
	L("mad", "lo u64|s64", "0000", mad_lo_64),
	L("mad", "hi s16", "0000", mad_hi_s16),
	L("mad", "hi u16", "0000", mad_hi_u16),
	L("mad", "hi s32", "0000", mad_hi_s32),
	L("mad", "hi u32", "0000", mad_hi_u32),
	L("mad", "hi s64", "0000", mad_hi_s64),
	L("mad", "hi u64", "0000", mad_hi_u64),
	L("mad", "hi sat s32", "0000", mad_hi_sat_s32),
	L("mad", "wide s16", "w00w", mad_wide_s16),
	L("mad", "wide u16", "w00w", mad_wide_u16),
	L("mad", "wide s32", "w00w", mad_wide_s32),
	L("mad", "wide u32", "w00w", mad_wide_u32),
	L("mul24", "lo s32", "000", mul24_lo_s32),
	L("mul24", "lo u32", "000", mul24_lo_u32),
	L("mul24", "hi s32", "000", mul24_hi_s32),
	L("mul24", "hi u32", "000", mul24_hi_u32),
	L("mad24", "lo s32", "0000", mad24_lo_s32),
	L("mad24", "lo u32", "0000", mad24_lo_u32),
	L("mad24", "hi s32", "0000", mad24_hi_s32),
	L("mad24", "hi u32", "0000", mad24_hi_u32),
	L("sad", "s16", "0000", sad_s16),
	L("sad", "u16", "0000", sad_u16),
	L("sad", "s32", "0000", sad_s32),
	L("sad", "u32", "0000", sad_u32),
	L("sad", "s64", "0000", sad_s64),
	L("sad", "u64", "0000", sad_u64),
	L("div", "s16", "000", div_s16),
	L("div", "u16", "000", div_u16),
	L("div", "s32", "000", div_s32),
	L("div", "u32", "000", div_u32),
	L("div", "s64", "000", div_s64),
	L("div", "u64", "000", div_u64),
	L("rem", "s16", "000", rem_s16),
	L("rem", "u16", "000", rem_u16),
	L("rem", "s32", "000", rem_s32),
	L("rem", "u32", "000", rem_u32),
	L("rem", "s64", "000", rem_s64),
	L("rem", "u64", "000", rem_u64),
	L("abs", "s16", "00", abs_s16),
	L("abs", "s32", "00", abs_s32),
	L("abs", "s64", "00", abs_s64),
	L("neg", "s16", "00", neg_16),
	L("neg", "s32", "00", neg_32),
	L("neg", "s64", "00", neg_64),
	L("min", "s16", "000", min_s16),
	L("min", "u16", "000", min_u16),
	L("min", "relu? s32", "000", min_s32),
	L("min", "u32", "000", min_u32),
	L("min", "s64", "000", min_s64),
	L("min", "u64", "000", min_u64),
	L("min", "relu? s16x2", "000", min_s16x2),
	L("min", "u16x2", "000", min_u16x2),
	L("max", "s16", "000", max_s16),
	L("max", "u16", "000", max_u16),
	L("max", "relu? s32", "000", max_s32),
	L("max", "u32", "000", max_u32),
	L("max", "s64", "000", max_s64),
	L("max", "u64", "000", max_u64),
	L("max", "relu? s16x2", "000", max_s16x2),
	L("max", "u16x2", "000", max_u16x2),
	L("popc", "b32", "u0", popc_32),
	L("popc", "b64", "u0", popc_64),
	L("clz", "b32", "u0", clz_32),
	L("clz", "b64", "u0", clz_64),
	L("brev", "b32", "00", brev_32),
	L("brev", "b64", "00", brev_64),
	L("bfind", "s32", "u0", bfind_s32),
	L("bfind", "u32", "u0", bfind_u32),
	L("bfind", "s64", "u0", bfind_s64),
	L("bfind", "u64", "u0", bfind_u64),
	L("bfind", "shiftamt s32", "u0", bfind_shift_s32),
	L("bfind", "shiftamt u32", "u0", bfind_shift_u32),
	L("bfind", "shiftamt s64", "u0", bfind_shift_s64),
	L("bfind", "shiftamt u64", "u0", bfind_shift_u64),
	L("bfe", "s32", "00uu", bfe_s32),
	L("bfe", "u32", "00uu", bfe_u32),
	L("bfe", "s64", "00uu", bfe_s64),
	L("bfe", "u64", "00uu", bfe_u64),
	L("bfi", "b32", "000uu", bfi_32),
	L("bfi", "b64", "000uu", bfi_64),
	L("szext", "clamp|wrap s32", "00u", szext_s32),
	L("szext", "clamp|wrap u32", "00u", szext_u32),
	L("bmsk", "clamp|wrap b32", "0uu", bmsk_32),
	LF("dp4a", "s32 s32", "u01u", dp4a_ss, 0),
	L("dp2a", "lo s32 s32", "u01u", dp2a_lo_ss),
	L("dp2a", "hi s32 s32", "u01u", dp2a_hi_ss),
	L("dp4a", "s32 u32", "u01u", dp4a_su),
	L("dp2a", "lo s32 u32", "u01u", dp2a_lo_su),
	L("dp2a", "hi s32 u32", "u01u", dp2a_hi_su),
	L("dp4a", "u32 s32", "u01u", dp4a_us),
	L("dp2a", "lo u32 s32", "u01u", dp2a_lo_us),
	L("dp2a", "hi u32 s32", "u01u", dp2a_hi_us),
	L("dp4a", "u32 u32", "u01u", dp4a_uu),
	L("dp2a", "lo u32 u32", "u01u", dp2a_lo_uu),
	L("dp2a", "hi u32 u32", "u01u", dp2a_hi_uu),

	/* bits */
	L("prmt", "b32", "000u", prmt),
	LF("prmt", "b32 f4e", "000u", prmt, IMM(1)),
	LF("prmt", "b32 b4e", "000u", prmt, IMM(2)),
	LF("prmt", "b32 rc8", "000u", prmt, IMM(3)),
	LF("prmt", "b32 ecl", "000u", prmt, IMM(4)),
	LF("prmt", "b32 ecr", "000u", prmt, IMM(5)),
	LF("prmt", "b32 rc16", "000u", prmt, IMM(6)),
	L("lop3", "b32", "0000i", lop3),
	L("shf", "l clamp|wrap b32", "000u", shf_l),
	L("shf", "r clamp|wrap b32", "000u", shf_r),
	B("and", "pred", build_predicate, CODE_PREDICATE, PREDICATE_AND),
	L("and", "b16", "000", and_16),
	L("and", "b32", "000", and_32),
	L("and", "b64", "000", and_64),
	B("or", "pred", build_predicate, CODE_PREDICATE, PREDICATE_OR),
	L("or", "b16", "000", or_16),
	L("or", "b32", "000", or_32),
	L("or", "b64", "000", or_64),
	B("xor", "pred", build_predicate, CODE_PREDICATE, PREDICATE_XOR),
	L("xor", "b16", "000", xor_16),
	L("xor", "b32", "000", xor_32),
	L("xor", "b64", "000", xor_64),
	B("not", "pred", build_predicate, CODE_PREDICATE, PREDICATE_NOT),
	L("not", "b16", "00", not_16),
	L("not", "b32", "00", not_32),
	L("not", "b64", "00", not_64),
	L("cnot", "b16", "00", cnot_16),
	L("cnot", "b32", "00", cnot_32),
	L("cnot", "b64", "00", cnot_64),
	L("shl", "b16", "00u", shl_16),
	L("shl", "b32", "00u", shl_32),
	L("shl", "b64", "00u", shl_64),
	L("shr", "u16|b16", "00u", shr_u16),
	L("shr", "u32|b32", "00u", shr_u32),
	L("shr", "u64|b64", "00u", shr_u64),
	L("shr", "s16", "00u", shr_s16),
	L("shr", "s32", "00u", shr_s32),
	L("shr", "s64", "00u", shr_s64),

	/* f32 and f64 */
	L("add", ROUND FTZ SAT "f32", "000", add_f32),
	L("add", ROUND "f64", "000", add_f64),
	LF("sub", ROUND FTZ SAT "f32", "000", add_f32, LANE_NEG_C),
	LF("sub", ROUND "f64", "000", add_f64, LANE_NEG_C),
	L("mul", ROUND FTZ SAT "f32", "000", mul_f32),
	L("mul", ROUND "f64", "000", mul_f64),
	L("fma", ROUND_1 FTZ SAT "f32", "0000", fma_f32),
	L("fma", ROUND_1 "f64", "0000", fma_f64),
	L("mad", ROUND_1 FTZ SAT "f32", "0000", fma_f32),
	L("mad", ROUND_1 "f64", "0000", fma_f64),
	L("div", ROUND_1 FTZ "f32", "000", div_f32),
	L("div", "approx|full " FTZ "f32", "000", div_approx_f32),
	L("div", ROUND_1 "f64", "000", div_f64),
	L("rcp", ROUND_1 FTZ "f32", "00", rcp_f32),
	L("rcp", "approx " FTZ "f32", "00", rcp_f32),
	L("rcp", ROUND_1 "f64", "00", rcp_f64),
	L("rcp", "approx ftz f64", "00", rcp_f64),
	L("sqrt", ROUND_1 FTZ "f32", "00", sqrt_f32),
	L("sqrt", "approx " FTZ "f32", "00", sqrt_f32),
	L("sqrt", ROUND_1 "f64", "00", sqrt_f64),
	L("rsqrt", "approx " FTZ "f32", "00", rsqrt_f32),
	L("rsqrt", "approx ftz? f64", "00", rsqrt_f64),
	L("ex2", "approx " FTZ "f32", "00", ex2_f32),
	L("lg2", "approx " FTZ "f32", "00", lg2_f32),
	L("sin", "approx " FTZ "f32", "00", sin_f32),
	L("cos", "approx " FTZ "f32", "00", cos_f32),
	L("tanh", "approx f32", "00", tanh_f32),
	L("abs", FTZ "f32", "00", abs_f32),
	L("abs", "f64", "00", abs_f64),
	L("neg", FTZ "f32", "00", neg_f32),
	L("neg", "f64", "00", neg_f64),
	L("min", FTZ "NaN? xorsign? abs? f32", "000", min_f32),
	L("min", "f64", "000", min_f64),
	L("max", FTZ "NaN? xorsign? abs? f32", "000", max_f32),
	L("max", "f64", "000", max_f64),
	L("copysign", "f32", "000", copysign_f32),
	L("copysign", "f64", "000", copysign_f64),
	{"testp", "finite|infinite|number|notanumber|normal|subnormal f32", "p0", build_test,
	 CODE_TEST, ID_test_f32, 0, 0},
	{"testp", "finite|infinite|number|notanumber|normal|subnormal f64", "p0", build_test,
	 CODE_TEST, ID_test_f64, 0, 0},

	/* f16, bf16 and pairs of them */
	L("add", "rn? " FTZ SAT HALVES, "000", add_f16),
	LF("sub", "rn? " FTZ SAT HALVES, "000", add_f16, LANE_NEG_C),
	L("mul", "rn? " FTZ SAT HALVES, "000", mul_f16),
	L("fma", "rn " FTZ SAT "relu? " HALVES, "0000", fma_f16),
	L("min", FTZ "NaN? xorsign? abs? " HALVES, "000", min_f16),
	L("max", FTZ "NaN? xorsign? abs? " HALVES, "000", max_f16),
	L("abs", FTZ HALVES, "00", abs_f16),
	L("neg", FTZ HALVES, "00", neg_f16),
	L("ex2", "approx " FTZ HALVES, "00", ex2_f16),
	L("tanh", "approx " HALVES, "00", tanh_f16),

	/* comparison and selection */
	B("setp", COMPARISON "and|or|xor? " FTZ COMPARED, build_compare, CODE_COMPARE, 0),
	B("set", COMPARISON "and|or|xor? " FTZ "u32|s32|f32 " COMPARED, build_set, CODE_SET, 0),
	{"selp", "b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64", "000p", build_select, CODE_SELECT,
	 0, 0, 0},
	{"slct", "b16|u16|s16 s32", "0001", build_lanes, CODE_LANES, LANE_slct_16_s32, 0, 0},
	{"slct", "b32|u32|s32|f32 s32", "0001", build_lanes, CODE_LANES, LANE_slct_32_s32, 0, 0},
	{"slct", "b64|u64|s64|f64 s32", "0001", build_lanes, CODE_LANES, LANE_slct_64_s32, 0, 0},
	{"slct", FTZ "b16|u16|s16 f32", "0001", build_slct, CODE_LANES, LANE_slct_16_f32, 0, 0},
	{"slct", FTZ "b32|u32|s32|f32 f32", "0001", build_slct, CODE_LANES, LANE_slct_32_f32, 0, 0},
	{"slct", FTZ "b64|u64|s64|f64 f32", "0001", build_slct, CODE_LANES, LANE_slct_64_f32, 0, 0},

	/* moves and conversions */
	B("mov", "pred", build_predicate, CODE_PREDICATE, PREDICATE_MOVE),
	B("mov", "b16|u16|s16|f16|bf16|b32|u32|s32|f32|b64|u64|s64|f64", build_move, CODE_LANES, 0),
	LC("u64 u32", "01", cvt_u64_u32),
	LC("s64 s32", "01", cvt_s64_s32),
	LC("u32|s32 u64|s64", "01", cvt_u32_u64),
	LC("u32 u16", "01", cvt_u32_u16),
	LC("s32 s16", "01", cvt_s32_s16),
	LC("u16|s16 u32|s32", "01", cvt_u16_u32),
	LC("rn f32 s32", "01", cvt_f32_s32),
	LC("rn f32 u32", "01", cvt_f32_u32),
	LC("f32 f16", "01", cvt_f32_f16),
	LC("f32 bf16", "01", cvt_f32_bf16),
	LC("rn f16 f32", "01", cvt_f16_f32),
	LC("rn bf16 f32", "01", cvt_bf16_f32),
	LC("rn f16x2 f32", "011", cvt_f16x2_f32),
	LC("rn bf16x2 f32", "011", cvt_bf16x2_f32),
	{"cvt", "rn|rz relu? satfinite? f16x2|bf16x2 f32", "011", build_convert, CODE_LANES,
	 LANE_cvt_pair, 0, 0},
	{"cvt", "rn satfinite relu? e4m3x2|e5m2x2 f32", "h11", build_convert, CODE_LANES,
	 LANE_cvt_pair, 0, 0},
	{"cvt", "rn satfinite relu? e4m3x2|e5m2x2 f16x2", "hu", build_convert, CODE_LANES,
	 LANE_cvt_pair, 0, 0},
	{"cvt", "rn relu? f16x2 e4m3x2|e5m2x2", "uh", build_convert, CODE_LANES, LANE_cvt_pair, 0,
	 0},
	{"cvt", "rn|rz|rna relu? satfinite? tf32 f32", "uu", build_convert, CODE_LANES,
	 LANE_cvt_any, 0, 0},
	{"cvt",
	 "rn|rz|rm|rp|rni|rzi|rmi|rpi? ftz? sat? relu? satfinite? "
	 "u8|s8|u16|s16|u32|s32|u64|s64|f16|bf16|f32|f64 "
	 "u8|s8|u16|s16|u32|s32|u64|s64|f16|bf16|f32|f64",
	 "01", build_convert, CODE_LANES, LANE_cvt_any, 0, 0},

	/* memory */
	B("ld", "nc? " ORDER SCOPE SPACES CACHE "v2|v4|v8? " MEMORY_TYPE, build_load, CODE_LOAD, 0),
	B("ldu", SPACES "v2|v4? " MEMORY_TYPE, build_load, CODE_LOAD, 0),
	B("st", ORDER SCOPE SPACES CACHE "v2|v4|v8? " MEMORY_TYPE, build_store, CODE_STORE, 0),
	B("atom",
	  ORDER SCOPE "global|shared|shared::cta? and|or|xor|cas|exch|add|inc|dec|min|max "
		      "noftz? L2::cache_hint? v2|v4|v8? "
		      "b16|b32|u32|s32|f32|b64|u64|s64|f64|f16|bf16|f16x2|bf16x2",
	  build_atomic, CODE_ATOMIC, 1),
	B("red",
	  ORDER SCOPE "global|shared|shared::cta? and|or|xor|add|inc|dec|min|max "
		      "noftz? L2::cache_hint? v2|v4|v8? "
		      "b32|u32|s32|f32|b64|u64|s64|f64|f16|bf16|f16x2|bf16x2",
	  build_atomic, CODE_ATOMIC, 0),
	B("cvta", "global|shared|shared::cta|local|const|param|param::entry u32|u64", build_address,
	  CODE_TO_GENERIC, 0),
	B("cvta", "to global|shared|shared::cta|local|const|param|param::entry u32|u64",
	  build_address, CODE_FROM_GENERIC, 0),
	B("isspacep", "global|shared|shared::cta|local|const|param|param::entry", build_is_space,
	  CODE_IS_SPACE, 0),
	B("cp.async", "ca|cg shared|shared::cta global L2::cache_hint? L2::64B|L2::128B|L2::256B?",
	  build_copy_async, CODE_COPY_ASYNC, 0),
	B("cp.async.commit_group", "", build_plain, CODE_COPY_COMMIT, 0),
	B("cp.async.wait_group", "", build_copy_wait, CODE_COPY_WAIT, 0),
	B("cp.async.wait_all", "", build_copy_wait, CODE_COPY_WAIT, 1),
	B("createpolicy.fractional",
	  "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
	  "L2::evict_first|L2::evict_unchanged? b64",
	  build_constant, CODE_LANES, 0),
	B("prefetch", "global|local? L1|L2|L2::evict_last|L2::evict_normal", build_ignored,
	  CODE_NOP, 0),
	B("prefetchu", "L1", build_ignored, CODE_NOP, 0),
	B("applypriority", "global? L2::evict_normal", build_ignored, CODE_NOP, 0),
	B("discard", "global? L2", build_ignored, CODE_NOP, 0),
	B("membar", "cta|gl|sys", build_ignored, CODE_NOP, 0),
	B("fence", "sc|acq_rel? cta|cluster|gpu|sys", build_ignored, CODE_NOP, 0),
	B("nanosleep", "u32", build_ignored, CODE_NOP, 0),
	B("griddepcontrol", "launch_dependents|wait", build_ignored, CODE_NOP, 0),
	B("setmaxnreg", "inc|dec sync aligned u32", build_ignored, CODE_NOP, 0),
	B("pmevent", "mask?", build_ignored, CODE_NOP, 0),

	/* control */
	B("bra", "uni?", build_branch, CODE_BRANCH, 0),
	B("call", "uni?", build_call, CODE_CALL, 0),
	B("ret", "uni?", build_plain, CODE_RETURN, 0),
	B("exit", "", build_plain, CODE_EXIT, 0),
	B("trap", "", build_plain, CODE_TRAP, 0),
	B("brkpt", "", build_plain, CODE_TRAP, 0),

	/* across lanes and warps */
	B("bar.warp", "sync", build_warp_barrier, CODE_WARP_BARRIER, 0),
	B("bar", "cta? sync", build_barrier, CODE_BARRIER, BARRIER_SYNC),
	B("bar", "cta? arrive", build_barrier, CODE_BARRIER, BARRIER_ARRIVE),
	B("bar", "cta? red popc u32", build_barrier, CODE_BARRIER, BARRIER_POPC),
	B("bar", "cta? red and pred", build_barrier, CODE_BARRIER, BARRIER_AND),
	B("bar", "cta? red or pred", build_barrier, CODE_BARRIER, BARRIER_OR),
	B("barrier", "cta? sync aligned?", build_barrier, CODE_BARRIER, BARRIER_SYNC),
	B("barrier", "cta? arrive aligned?", build_barrier, CODE_BARRIER, BARRIER_ARRIVE),
	B("barrier", "cta? red popc aligned? u32", build_barrier, CODE_BARRIER, BARRIER_POPC),
	B("barrier", "cta? red and aligned? pred", build_barrier, CODE_BARRIER, BARRIER_AND),
	B("barrier", "cta? red or aligned? pred", build_barrier, CODE_BARRIER, BARRIER_OR),
	B("shfl", "sync up|down|bfly|idx b32", build_shuffle, CODE_SHUFFLE, 0),
	B("vote", "sync all|any|uni pred", build_vote, CODE_VOTE, 0),
	B("vote", "sync ballot b32", build_vote, CODE_VOTE, VOTE_BALLOT),
	B("match", "any|all sync b32|b64", build_match, CODE_MATCH, 0),
	B("redux", "sync add|min|max u32|s32", build_reduce, CODE_REDUCE, 0),
	B("redux", "sync and|or|xor b32", build_reduce, CODE_REDUCE, 0),
	B("elect", "sync", build_elect, CODE_ELECT, 0),
	B("ldmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16",
	  build_load_matrix, CODE_LOAD_MATRIX, 0),
	B("stmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16",
	  build_store_matrix, CODE_STORE_MATRIX, 0),
	B("mma", "sync aligned m16n8k8|m16n8k16 row col f32 f16 f16 f32", build_mma, CODE_MMA, 0),
	B("mma", "sync aligned m16n8k8|m16n8k16 row col f16 f16 f16 f16", build_mma, CODE_MMA, 0),
	B("mma", "sync aligned m16n8k8|m16n8k16 row col f32 bf16 bf16 f32", build_mma, CODE_MMA, 0),
	B("mma", "sync aligned m16n8k4|m16n8k8 row col f32 tf32 tf32 f32", build_mma, CODE_MMA, 0),
	B("activemask", "b32", build_active_mask, CODE_ACTIVE_MASK, 0),
};
const unsigned opcode_count = ARRAY_LENGTH(opcodes);

const struct opcode *opcode_find(struct slice name, struct spelling *s, bool *base_known)
{
	*base_known = false;
	for (unsigned i = 0; i < opcode_count; i++) {
		size_t n = strlen(opcodes[i].base);

		if (name.size < n || memcmp(name.text, opcodes[i].base, n) != 0 ||
		    (name.size > n && name.text[n] != '.'))
			continue;
		*base_known = true;
		if (spelling_match(name, opcodes[i].base, opcodes[i].grammar, s))
			return &opcodes[i];
	}
	return NULL;
}
