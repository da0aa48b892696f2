/* SPDX-License-Identifier: MIT */
/*
 * PTX operations with what they must give: one row an instruction. D is the destination, A, B, C
 * the sources; the expression (over d's type and a, b, c) is an independent reference in C.
 *
 * OP(text, type of D, A, B, C, units in the last place allowed, expression)
 */
#ifndef TESTS_SOFTGPU_OPERATIONS_H
#define TESTS_SOFTGPU_OPERATIONS_H

/* clang-format off */
#define OPERATIONS_INTEGER(OP) \
	OP("add.s32 D, A, B;", u32, u32, u32, u32, 0, a + b) \
	OP("add.sat.s32 D, A, B;", s32, s32, s32, u32, 0, clamp_s32((s64)a + b)) \
	OP("add.u64 D, A, B;", u64, u64, u64, u32, 0, a + b) \
	OP("add.s16 D, A, B;", u16, u16, u16, u32, 0, (u16)(a + b)) \
	OP("sub.s32 D, A, B;", u32, u32, u32, u32, 0, a - b) \
	OP("sub.sat.s32 D, A, B;", s32, s32, s32, u32, 0, clamp_s32((s64)a - b)) \
	OP("sub.s64 D, A, B;", u64, u64, u64, u32, 0, a - b) \
	OP("sub.u16 D, A, B;", u16, u16, u16, u32, 0, (u16)(a - b)) \
	OP("mul.lo.s32 D, A, B;", u32, u32, u32, u32, 0, (u32)((u64)a * b)) \
	OP("mul.lo.s64 D, A, B;", u64, u64, u64, u32, 0, a * b) \
	OP("mul.lo.u16 D, A, B;", u16, u16, u16, u32, 0, (u16)((u32)a * b)) \
	OP("mul.hi.s32 D, A, B;", s32, s32, s32, u32, 0, floor_shift((s64)a * b, 32)) \
	OP("mul.hi.u32 D, A, B;", u32, u32, u32, u32, 0, (u32)((u64)a * b / 4294967296ull)) \
	OP("mul.hi.s64 D, A, B;", s64, s64, s64, u32, 0, high_s64(a, b)) \
	OP("mul.hi.u64 D, A, B;", u64, u64, u64, u32, 0, high_u64(a, b)) \
	OP("mul.hi.s16 D, A, B;", s16, s16, s16, u32, 0, (s16)floor_shift((s64)a * b, 16)) \
	OP("mul.hi.u16 D, A, B;", u16, u16, u16, u32, 0, (u16)((u32)a * b / 65536)) \
	OP("mul.wide.s32 D, A, B;", s64, s32, s32, u32, 0, (s64)a * b) \
	OP("mul.wide.u32 D, A, B;", u64, u32, u32, u32, 0, (u64)a * b) \
	OP("mul.wide.s16 D, A, B;", s32, s16, s16, u32, 0, (s32)a * b) \
	OP("mul.wide.u16 D, A, B;", u32, u16, u16, u32, 0, (u32)a * b) \
	OP("mad.lo.s32 D, A, B, C;", u32, u32, u32, u32, 0, (u32)((u64)a * b + c)) \
	OP("mad.lo.u64 D, A, B, C;", u64, u64, u64, u64, 0, a * b + c) \
	OP("mad.lo.s16 D, A, B, C;", u16, u16, u16, u16, 0, (u16)((u32)a * b + c)) \
	OP("mad.hi.s32 D, A, B, C;", u32, s32, s32, u32, 0, (u32)floor_shift((s64)a * b, 32) + c) \
	OP("mad.hi.u32 D, A, B, C;", u32, u32, u32, u32, 0, (u32)((u64)a * b >> 32) + c) \
	OP("mad.wide.s32 D, A, B, C;", u64, s32, s32, u64, 0, (u64)((s64)a * b) + c) \
	OP("mad.wide.u32 D, A, B, C;", u64, u32, u32, u64, 0, (u64)a * b + c) \
	OP("mad.wide.u16 D, A, B, C;", u32, u16, u16, u32, 0, (u32)a * b + c) \
	OP("mul24.lo.s32 D, A, B;", u32, s32, s32, u32, 0, (u32)((u64)low24(a) * (u64)low24(b))) \
	OP("mul24.hi.u32 D, A, B;", u32, u32, u32, u32, 0, \
		(u32)((u64)(a & 0xffffff) * (b & 0xffffff) >> 16)) \
	OP("sad.s32 D, A, B, C;", u32, s32, s32, u32, 0, c + (u32)llabs((s64)a - b)) \
	OP("sad.u32 D, A, B, C;", u32, u32, u32, u32, 0, c + (u32)llabs((s64)a - (s64)b)) \
	OP("sad.u16 D, A, B, C;", u16, u16, u16, u16, 0, (u16)(c + abs(a - b))) \
	OP("div.s32 D, A, B;", s32, s32, s32, u32, 0, b ? (s32)((s64)a / b) : -1) \
	OP("div.u32 D, A, B;", u32, u32, u32, u32, 0, b ? a / b : 0xffffffffu) \
	OP("div.s64 D, A, B;", s64, s64, s64, u32, 0, b ? (s64)((__int128)a / b) : -1) \
	OP("div.u64 D, A, B;", u64, u64, u64, u32, 0, b ? a / b : UINT64_MAX) \
	OP("div.s16 D, A, B;", s16, s16, nonzero_s16, u32, 0, (s16)(a / b)) \
	OP("rem.s32 D, A, B;", s32, s32, s32, u32, 0, b ? (s32)((s64)a % b) : a) \
	OP("rem.u32 D, A, B;", u32, u32, u32, u32, 0, b ? a % b : a) \
	OP("rem.s64 D, A, B;", s64, s64, s64, u32, 0, b ? (s64)((__int128)a % b) : a) \
	OP("rem.u64 D, A, B;", u64, u64, u64, u32, 0, b ? a % b : a) \
	OP("rem.u16 D, A, B;", u16, u16, nonzero_u16, u32, 0, (u16)(a % b)) \
	OP("abs.s32 D, A;", u32, s32, u32, u32, 0, (u32)llabs((s64)a)) \
	OP("abs.s64 D, A;", u64, s64, u32, u32, 0, a < 0 ? -(u64)a : (u64)a) \
	OP("neg.s32 D, A;", u32, u32, u32, u32, 0, ~a + 1) \
	OP("neg.s16 D, A;", u16, u16, u32, u32, 0, (u16)(~a + 1)) \
	OP("neg.s64 D, A;", u64, u64, u32, u32, 0, ~a + 1) \
	OP("min.s32 D, A, B;", s32, s32, s32, u32, 0, a <= b ? a : b) \
	OP("max.s32 D, A, B;", s32, s32, s32, u32, 0, a >= b ? a : b) \
	OP("min.u32 D, A, B;", u32, u32, u32, u32, 0, a <= b ? a : b) \
	OP("max.u32 D, A, B;", u32, u32, u32, u32, 0, a >= b ? a : b) \
	OP("min.s64 D, A, B;", s64, s64, s64, u32, 0, a <= b ? a : b) \
	OP("max.u64 D, A, B;", u64, u64, u64, u32, 0, a >= b ? a : b) \
	OP("min.s16 D, A, B;", s16, s16, s16, u32, 0, a <= b ? a : b) \
	OP("max.u16 D, A, B;", u16, u16, u16, u32, 0, a >= b ? a : b) \
	OP("popc.b32 D, A;", u32, u32, u32, u32, 0, count_ones(a)) \
	OP("popc.b64 D, A;", u32, u64, u32, u32, 0, count_ones(a)) \
	OP("clz.b32 D, A;", u32, u32, u32, u32, 0, 31 - highest(a)) \
	OP("clz.b64 D, A;", u32, u64, u32, u32, 0, 63 - highest(a)) \
	OP("brev.b32 D, A;", u32, u32, u32, u32, 0, (u32)mirror(a, 32)) \
	OP("brev.b64 D, A;", u64, u64, u32, u32, 0, mirror(a, 64)) \
	OP("bfind.u32 D, A;", u32, u32, u32, u32, 0, highest(a)) \
	OP("bfind.s32 D, A;", u32, s32, u32, u32, 0, highest((u32)(a < 0 ? ~a : a))) \
	OP("bfind.u64 D, A;", u32, u64, u32, u32, 0, highest(a)) \
	OP("bfind.s64 D, A;", u32, s64, u32, u32, 0, highest((u64)(a < 0 ? ~a : a))) \
	OP("bfind.shiftamt.u32 D, A;", u32, u32, u32, u32, 0, a ? 31 - highest(a) : UINT32_MAX) \
	OP("bfe.u32 D, A, B, C;", u32, u32, u32, u32, 0, (u32)field(a, b, c, 32, 0)) \
	OP("bfe.s32 D, A, B, C;", u32, u32, u32, u32, 0, (u32)field(a, b, c, 32, 1)) \
	OP("bfe.u64 D, A, B, C;", u64, u64, u32, u32, 0, field(a, b, c, 64, 0)) \
	OP("bfe.s64 D, A, B, C;", u64, u64, u32, u32, 0, field(a, b, c, 64, 1)) \
	OP("bfi.b32 D, A, B, C, 7;", u32, u32, u32, u32, 0, (u32)place(a, b, c, 7, 32)) \
	OP("bfi.b32 D, A, B, 13, C;", u32, u32, u32, u32, 0, (u32)place(a, b, 13, c, 32)) \
	OP("bfi.b64 D, A, B, C, 21;", u64, u64, u64, u32, 0, place(a, b, c, 21, 64)) \
	OP("szext.wrap.s32 D, A, B;", u32, u32, u32, u32, 0, (u32)field(a, 0, b & 31, 32, 1)) \
	OP("szext.clamp.u32 D, A, B;", u32, u32, u32, u32, 0, b > 31 ? a : a & ((1u << b) - 1)) \
	OP("bmsk.clamp.b32 D, A, B;", u32, u32, u32, u32, 0, (u32)place(~0ull, 0, \
		a > 32 ? 32 : a, b > 32 ? 32 : b, 32)) \
	OP("dp4a.s32.s32 D, A, B, C;", u32, u32, u32, u32, 0, dot(a, b, c, 1, 1)) \
	OP("dp4a.u32.u32 D, A, B, C;", u32, u32, u32, u32, 0, dot(a, b, c, 0, 0)) \
	OP("dp4a.s32.u32 D, A, B, C;", u32, u32, u32, u32, 0, dot(a, b, c, 1, 0)) \
	OP("dp4a.u32.s32 D, A, B, C;", u32, u32, u32, u32, 0, dot(a, b, c, 0, 1)) \
	OP("prmt.b32 D, A, B, C;", u32, u32, u32, u32, 0, pick(a, b, c)) \
	OP("prmt.b32 D, A, B, 0x3340U;", u32, u32, u32, u32, 0, pick(a, b, 0x3340)) \
	OP("prmt.b32.f4e D, A, B, C;", u32, u32, u32, u32, 0, \
		(u32)(((u64)b << 32 | a) >> 8 * (c & 3))) \
	OP("prmt.b32.rc16 D, A, B, C;", u32, u32, u32, u32, 0, \
		c & 1 ? a >> 16 | (a & 0xffff0000) : a << 16 | (a & 0xffff)) \
	OP("prmt.b32.b4e D, A, B, C;", u32, u32, u32, u32, 0, pick(a, b, ((const u32[]){0x5670, \
		0x6701, 0x7012, 0x0123})[c & 3])) \
	OP("prmt.b32.ecl D, A, B, C;", u32, u32, u32, u32, 0, pick(a, b, ((const u32[]){0x3210, \
		0x3211, 0x3222, 0x3333})[c & 3])) \
	OP("prmt.b32.ecr D, A, B, C;", u32, u32, u32, u32, 0, pick(a, b, ((const u32[]){0x0000, \
		0x1110, 0x2210, 0x3210})[c & 3])) \
	OP("prmt.b32.rc8 D, A, B, C;", u32, u32, u32, u32, 0, \
		0x01010101u * (a >> 8 * (c & 3) & 255)) \
	OP("lop3.b32 D, A, B, C, 0x96;", u32, u32, u32, u32, 0, a ^ b ^ c) \
	OP("lop3.b32 D, A, B, C, 0xe8;", u32, u32, u32, u32, 0, (a & b) | (a & c) | (b & c)) \
	OP("lop3.b32 D, A, B, C, 0x1a;", u32, u32, u32, u32, 0, lut(a, b, c, 0x1a)) \
	OP("shf.l.wrap.b32 D, A, B, C;", u32, u32, u32, u32, 0, \
		(u32)(((u64)b << 32 | a) << (c & 31) >> 32)) \
	OP("shf.r.wrap.b32 D, A, B, C;", u32, u32, u32, u32, 0, \
		(u32)(((u64)b << 32 | a) >> (c & 31))) \
	OP("shf.l.clamp.b32 D, A, B, C;", u32, u32, u32, u32, 0, \
		c >= 32 ? a : (u32)(((u64)b << 32 | a) << c >> 32)) \
	OP("shf.r.clamp.b32 D, A, B, C;", u32, u32, u32, u32, 0, \
		c >= 32 ? b : (u32)(((u64)b << 32 | a) >> c)) \
	OP("and.b32 D, A, B;", u32, u32, u32, u32, 0, a & b) \
	OP("or.b64 D, A, B;", u64, u64, u64, u32, 0, a | b) \
	OP("xor.b16 D, A, B;", u16, u16, u16, u32, 0, a ^ b) \
	OP("not.b16 D, A;", u16, u16, u32, u32, 0, (u16)~a) \
	OP("not.b64 D, A;", u64, u64, u32, u32, 0, ~a) \
	OP("cnot.b32 D, A;", u32, u32, u32, u32, 0, !a) \
	OP("shl.b32 D, A, B;", u32, u32, u32, u32, 0, b > 31 ? 0 : a << b) \
	OP("shl.b64 D, A, B;", u64, u64, u32, u32, 0, b > 63 ? 0 : a << b) \
	OP("shl.b16 D, A, B;", u16, u16, u32, u32, 0, (u16)(b > 15 ? 0 : a << b)) \
	OP("shr.u32 D, A, B;", u32, u32, u32, u32, 0, b > 31 ? 0 : a >> b) \
	OP("shr.s32 D, A, B;", s32, s32, u32, u32, 0, (s32)floor_shift(a, b > 31 ? 31 : b)) \
	OP("shr.u64 D, A, B;", u64, u64, u32, u32, 0, b > 63 ? 0 : a >> b) \
	OP("shr.s64 D, A, B;", s64, s64, u32, u32, 0, a >> (b > 63 ? 63 : b)) \
	OP("shr.u16 D, A, B;", u16, u16, u32, u32, 0, (u16)(b > 15 ? 0 : a >> b)) \
	OP("shr.s16 D, A, B;", s16, s16, u32, u32, 0, (s16)(a >> (b > 15 ? 15 : b))) \
	OP("slct.u32.s32 D, A, B, C;", u32, u32, u32, s32, 0, c >= 0 ? a : b) \
	OP("slct.b64.f32 D, A, B, C;", u64, u64, u64, f32, 0, c >= 0 ? a : b) \
	OP("mov.b32 {lo, hi}, A; mov.b32 D, {hi, lo};", u32, u32, u32, u32, 0, a << 16 | a >> 16) \
	OP("mov.b64 {x, y}, A; mov.b64 D, {y, x};", u64, u64, u32, u32, 0, a << 32 | a >> 32) \
	OP("mov.b64 {_, D}, A;", u32, u64, u32, u32, 0, (u32)(a >> 32)) \
	OP("setp.lt.s32 p, A, B; selp.b32 D, 1, 2, p;", u32, s32, s32, u32, 0, a < b ? 1 : 2) \
	OP("setp.lo.u32 p, A, B; selp.b32 D, 1, 2, p;", u32, u32, u32, u32, 0, a < b ? 1 : 2) \
	OP("setp.hs.u64 p, A, B; selp.b32 D, 1, 2, p;", u32, u64, u64, u32, 0, a >= b ? 1 : 2) \
	OP("setp.ge.s16 p, A, B; selp.b32 D, 1, 2, p;", u32, s16, s16, u32, 0, a >= b ? 1 : 2) \
	OP("setp.gt.u16 p, A, B; selp.b32 D, 1, 2, p;", u32, u16, u16, u32, 0, a > b ? 1 : 2) \
	OP("setp.ne.b64 p, A, B; selp.b32 D, 1, 2, p;", u32, u64, u64, u32, 0, a != b ? 1 : 2) \
	OP("setp.eq.s32 q, C, 0; setp.lt.and.s32 p|q, A, B, !q; selp.b32 x, 1, 0, p;" "selp.b32 y, 2, 0, q; or.b32 D, x, y;", u32, s32, s32, s32, 0, (u32)((a < b && c != 0) | (!(a < b) && c != 0) << 1)) \
	OP("setp.eq.s32 q, C, 0; setp.lt.xor.s32 p|_, A, B, q; selp.b32 D, 1, 0, p;", u32, s32, \
		s32, s32, 0, (u32)((a < b) != (c == 0))) \
	OP("set.gt.u32.s32 D, A, B;", u32, s32, s32, u32, 0, a > b ? UINT32_MAX : 0) \
	OP("set.le.f32.u32 D, A, B;", f32, u32, u32, u32, 0, a <= b ? 1.0f : 0.0f)

#define OPERATIONS_FLOAT(OP) \
	OP("add.f32 D, A, B;", f32, f32, f32, u32, 0, a + b) \
	OP("add.rz.f32 D, A, B;", f32, f32, f32, u32, 0, directed(FE_TOWARDZERO, a + b)) \
	OP("add.rm.f32 D, A, B;", f32, f32, f32, u32, 0, directed(FE_DOWNWARD, a + b)) \
	OP("add.rp.ftz.f32 D, A, B;", f32, f32, f32, u32, 0, flush(directed(FE_UPWARD, \
		flush(a) + flush(b)))) \
	OP("add.sat.f32 D, A, B;", f32, f32, f32, u32, 0, unit(a + b)) \
	OP("add.ftz.f32 D, A, B;", f32, f32, f32, u32, 0, flush(flush(a) + flush(b))) \
	OP("sub.f32 D, A, B;", f32, f32, f32, u32, 0, a - b) \
	OP("sub.rm.f32 D, A, B;", f32, f32, f32, u32, 0, directed(FE_DOWNWARD, a - b)) \
	OP("sub.rn.ftz.sat.f32 D, A, B;", f32, f32, f32, u32, 0, unit(flush(flush(a) - flush(b)))) \
	OP("mul.f32 D, A, B;", f32, f32, f32, u32, 0, a * b) \
	OP("mul.rz.f32 D, A, B;", f32, f32, f32, u32, 0, directed(FE_TOWARDZERO, a * b)) \
	OP("mul.rp.f32 D, A, B;", f32, f32, f32, u32, 0, directed(FE_UPWARD, a * b)) \
	OP("mul.rm.f32 D, A, B;", f32, f32, f32, u32, 0, directed(FE_DOWNWARD, a * b)) \
	OP("mul.ftz.f32 D, A, B;", f32, f32, f32, u32, 0, flush(flush(a) * flush(b))) \
	OP("fma.rn.f32 D, A, B, C;", f32, f32, f32, f32, 0, fmaf(a, b, c)) \
	OP("fma.rz.f32 D, A, B, C;", f32, f32, f32, f32, 0, directed(FE_TOWARDZERO, fmaf(a, b, c))) \
	OP("fma.rm.f32 D, A, B, C;", f32, f32, f32, f32, 0, directed(FE_DOWNWARD, fmaf(a, b, c))) \
	OP("fma.rp.f32 D, A, B, C;", f32, f32, f32, f32, 0, directed(FE_UPWARD, fmaf(a, b, c))) \
	OP("fma.rm.ftz.f32 D, A, B, C;", f32, f32, f32, f32, 0, flush(directed(FE_DOWNWARD, \
		fmaf(flush(a), flush(b), flush(c))))) \
	OP("mad.rn.sat.f32 D, A, B, C;", f32, f32, f32, f32, 0, unit(fmaf(a, b, c))) \
	OP("div.rn.f32 D, A, B;", f32, f32, f32, u32, 0, a / b) \
	OP("div.rz.f32 D, A, B;", f32, f32, f32, u32, 0, directed(FE_TOWARDZERO, a / b)) \
	OP("div.rm.f32 D, A, B;", f32, f32, f32, u32, 0, directed(FE_DOWNWARD, a / b)) \
	OP("div.full.f32 D, A, B;", f32, f32, normal_f32, u32, 2, a / b) \
	OP("rcp.rn.f32 D, A;", f32, f32, u32, u32, 0, 1.0f / a) \
	OP("rcp.rp.f32 D, A;", f32, f32, u32, u32, 0, directed(FE_UPWARD, 1.0f / a)) \
	OP("rcp.approx.ftz.f32 D, A;", f32, f32, u32, u32, 1, flush(1.0f / flush(a))) \
	OP("sqrt.rn.f32 D, A;", f32, f32, u32, u32, 0, sqrtf(a)) \
	OP("sqrt.rz.f32 D, A;", f32, f32, u32, u32, 0, directed(FE_TOWARDZERO, sqrtf(a))) \
	OP("sqrt.rp.f32 D, A;", f32, f32, u32, u32, 0, directed(FE_UPWARD, sqrtf(a))) \
	OP("sqrt.approx.ftz.f32 D, A;", f32, f32, u32, u32, 2, sqrtf(flush(a))) \
	OP("rsqrt.approx.f32 D, A;", f32, f32, u32, u32, 3, (f32)(1.0L / sqrtl(a))) \
	OP("rsqrt.approx.ftz.f32 D, A;", f32, f32, u32, u32, 3, (f32)(1.0L / sqrtl(flush(a)))) \
	OP("ex2.approx.f32 D, A;", f32, f32, u32, u32, 2, exp2_wide(a)) \
	OP("ex2.approx.ftz.f32 D, A;", f32, f32, u32, u32, 2, flush(exp2_wide(flush(a)))) \
	OP("lg2.approx.f32 D, A;", f32, f32, u32, u32, 2, (f32)log2l(a)) \
	OP("sin.approx.f32 D, A;", f32, small_f32, u32, u32, 2, (f32)sinl(a)) \
	OP("cos.approx.f32 D, A;", f32, small_f32, u32, u32, 2, (f32)cosl(a)) \
	OP("tanh.approx.f32 D, A;", f32, f32, u32, u32, 2, (f32)tanhl(a)) \
	OP("min.f32 D, A, B;", f32, f32, f32, u32, 0, smaller(a, b)) \
	OP("max.f32 D, A, B;", f32, f32, f32, u32, 0, -smaller(-a, -b)) \
	OP("min.NaN.f32 D, A, B;", f32, f32, f32, u32, 0, isnan(a) || isnan(b) ? NAN : smaller(a, \
		b)) \
	OP("max.ftz.f32 D, A, B;", f32, f32, f32, u32, 0, -smaller(-flush(a), -flush(b))) \
	OP("abs.f32 D, A;", f32, f32, u32, u32, 0, fabsf(a)) \
	OP("abs.ftz.f32 D, A;", f32, finite_f32, u32, u32, 0, fabsf(flush(a))) \
	OP("neg.f32 D, A;", f32, f32, u32, u32, 0, -a) \
	OP("copysign.f32 D, A, B;", u32, u32, u32, u32, 0, (b & 0x7fffffff) | (a & 0x80000000)) \
	OP("add.f64 D, A, B;", f64, f64, f64, u32, 0, a + b) \
	OP("add.rm.f64 D, A, B;", f64, f64, f64, u32, 0, directed(FE_DOWNWARD, a + b)) \
	OP("sub.f64 D, A, B;", f64, f64, f64, u32, 0, a - b) \
	OP("mul.rz.f64 D, A, B;", f64, f64, f64, u32, 0, directed(FE_TOWARDZERO, a * b)) \
	OP("fma.rn.f64 D, A, B, C;", f64, f64, f64, f64, 0, fma(a, b, c)) \
	OP("fma.rp.f64 D, A, B, C;", f64, f64, f64, f64, 0, directed(FE_UPWARD, fma(a, b, c))) \
	OP("div.rn.f64 D, A, B;", f64, f64, f64, u32, 0, a / b) \
	OP("sqrt.rn.f64 D, A;", f64, f64, u32, u32, 0, sqrt(a)) \
	OP("min.f64 D, A, B;", f64, f64, f64, u32, 0, smaller(a, b)) \
	OP("max.f64 D, A, B;", f64, f64, f64, u32, 0, -smaller(-a, -b)) \
	OP("setp.lt.f32 p, A, B; selp.b32 D, 1, 2, p;", u32, f32, f32, u32, 0, isless(a, b) ? 1 : 2) \
	OP("setp.ltu.f32 p, A, B; selp.b32 D, 1, 2, p;", u32, f32, f32, u32, 0, isless(a, \
		b) || isunordered(a, b) ? 1 : 2) \
	OP("setp.ne.f32 p, A, B; selp.b32 D, 1, 2, p;", u32, f32, f32, u32, 0, islessgreater(a, \
		b) ? 1 : 2) \
	OP("setp.neu.f32 p, A, B; selp.b32 D, 1, 2, p;", u32, f32, f32, u32, 0, a != b ? 1 : 2) \
	OP("setp.equ.f32 p, A, B; selp.b32 D, 1, 2, p;", u32, f32, f32, u32, 0, \
		a == b || isunordered(a, b) ? 1 : 2) \
	OP("setp.geu.f32 p, A, B; selp.b32 D, 1, 2, p;", u32, f32, f32, u32, 0, isless(a, \
		b) ? 2 : 1) \
	OP("setp.num.f32 p, A, B; selp.b32 D, 1, 2, p;", u32, f32, f32, u32, 0, isunordered(a, \
		b) ? 2 : 1) \
	OP("setp.nan.f64 p, A, B; selp.b32 D, 1, 2, p;", u32, f64, f64, u32, 0, isunordered(a, \
		b) ? 1 : 2) \
	OP("setp.gt.ftz.f32 p, A, B; selp.b32 D, 1, 2, p;", u32, f32, f32, u32, 0, \
		isgreater(flush(a), flush(b)) ? 1 : 2) \
	OP("testp.subnormal.f32 p, A; selp.b32 D, 1, 2, p;", u32, f32, u32, u32, 0, \
		fpclassify(a) == FP_SUBNORMAL ? 1 : 2) \
	OP("testp.finite.f64 p, A; selp.b32 D, 1, 2, p;", u32, f64, u32, u32, 0, \
		isfinite(a) ? 1 : 2)

#define OPERATIONS_CONVERT(OP) \
	OP("cvt.u64.u32 D, A;", u64, u32, u32, u32, 0, a) \
	OP("cvt.s64.s32 D, A;", s64, s32, u32, u32, 0, a) \
	OP("cvt.u32.u64 D, A;", u32, u64, u32, u32, 0, (u32)a) \
	OP("cvt.s32.s16 D, A;", s32, s16, u32, u32, 0, a) \
	OP("cvt.u32.u16 D, A;", u32, u16, u32, u32, 0, a) \
	OP("cvt.u16.u32 D, A;", u16, u32, u32, u32, 0, (u16)a) \
	OP("cvt.s32.s8 D, A;", s32, s16, u32, u32, 0, (signed char)a) \
	OP("cvt.s16.s8 D, A;", s16, s16, u32, u32, 0, (signed char)a) \
	OP("cvt.s8.s32 D, A;", s32, s32, u32, u32, 0, (signed char)a) \
	OP("cvt.u8.u32 D, A;", u32, u32, u32, u32, 0, a & 255) \
	OP("cvt.u64.s16 D, A;", u64, s16, u32, u32, 0, (u64)(s64)a) \
	OP("cvt.sat.s16.s32 D, A;", s16, s32, u32, u32, 0, \
		a > 32767 ? 32767 : a < -32768 ? -32768 : a) \
	OP("cvt.sat.u8.s32 D, A;", u32, s32, u32, u32, 0, a > 255 ? 255 : a < 0 ? 0 : (u32)a) \
	OP("cvt.sat.u32.s64 D, A;", u32, s64, u32, u32, 0, \
		a > 0xffffffffll ? UINT32_MAX : a < 0 ? 0 : (u32)a) \
	OP("cvt.rn.f32.s32 D, A;", f32, s32, u32, u32, 0, (f32)a) \
	OP("cvt.rn.f32.u32 D, A;", f32, u32, u32, u32, 0, (f32)a) \
	OP("cvt.rz.f32.s32 D, A;", f32, s32, u32, u32, 0, directed(FE_TOWARDZERO, a)) \
	OP("cvt.rp.f32.u32 D, A;", f32, u32, u32, u32, 0, directed(FE_UPWARD, a)) \
	OP("cvt.rn.f32.s64 D, A;", f32, s64, u32, u32, 0, (f32)a) \
	OP("cvt.rn.f32.u64 D, A;", f32, u64, u32, u32, 0, (f32)a) \
	OP("cvt.rm.f32.s64 D, A;", f32, s64, u32, u32, 0, directed(FE_DOWNWARD, a)) \
	OP("cvt.rn.f64.s32 D, A;", f64, s32, u32, u32, 0, a) \
	OP("cvt.rn.f64.u64 D, A;", f64, u64, u32, u32, 0, (f64)a) \
	OP("cvt.rz.f64.s64 D, A;", f64, s64, u32, u32, 0, directed(FE_TOWARDZERO, a)) \
	OP("cvt.rzi.s32.f32 D, A;", s32, f32, u32, u32, 0, (s32)to_integer(truncf(a), -0x1p31, \
		0x1p31 - 1)) \
	OP("cvt.rni.s32.f32 D, A;", s32, f32, u32, u32, 0, (s32)to_integer(rintf(a), -0x1p31, \
		0x1p31 - 1)) \
	OP("cvt.rmi.u32.f32 D, A;", u32, f32, u32, u32, 0, (u32)to_integer(floorf(a), 0, \
		0x1p32 - 1)) \
	OP("cvt.rpi.ftz.s32.f32 D, A;", s32, f32, u32, u32, 0, (s32)to_integer(ceilf(flush(a)), \
		-0x1p31, 0x1p31 - 1)) \
	OP("cvt.rzi.u16.f32 D, A;", u16, f32, u32, u32, 0, (u16)to_integer(truncf(a), 0, 65535)) \
	OP("cvt.rzi.s32.f64 D, A;", s32, number_f64, u32, u32, 0, (s32)to_integer(trunc(a), \
		-0x1p31, 0x1p31 - 1)) \
	OP("cvt.rzi.s64.f32 D, A;", s64, number_f32, u32, u32, 0, to_s64(truncf(a))) \
	OP("cvt.rni.s64.f64 D, A;", s64, number_f64, u32, u32, 0, to_s64(rint(a))) \
	OP("cvt.rzi.f32.f32 D, A;", f32, f32, u32, u32, 0, truncf(a)) \
	OP("cvt.rni.f32.f32 D, A;", f32, f32, u32, u32, 0, rintf(a)) \
	OP("cvt.rmi.f64.f64 D, A;", f64, number_f64, u32, u32, 0, floor(a)) \
	OP("cvt.ftz.sat.f32.f32 D, A;", f32, f32, u32, u32, 0, unit(flush(a))) \
	OP("cvt.rn.f32.f64 D, A;", f32, f64, u32, u32, 0, (f32)a) \
	OP("cvt.rz.f32.f64 D, A;", f32, f64, u32, u32, 0, directed(FE_TOWARDZERO, a)) \
	OP("cvt.rp.ftz.f32.f64 D, A;", f32, f64, u32, u32, 0, flush(directed(FE_UPWARD, a))) \
	OP("cvt.f64.f32 D, A;", f64, number_f32, u32, u32, 0, a) \
	OP("cvt.rn.f16.f32 D, A;", u16, f32, u32, u32, 0, narrow(a, 5, 10)) \
	OP("cvt.rn.bf16.f32 D, A;", u16, f32, u32, u32, 0, narrow(a, 8, 7)) \
	OP("cvt.rz.f16.f32 D, A;", u16, f32, u32, u32, 0, narrow_down(a, 5, 10)) \
	OP("cvt.rn.f16.f64 D, A;", u16, f64, u32, u32, 0, narrow(a, 5, 10)) \
	OP("cvt.rn.f16.s32 D, A;", u16, s32, u32, u32, 0, narrow(a, 5, 10)) \
	OP("cvt.rn.f16x2.f32 D, A, B;", u32, f32, f32, u32, 0, (u32)narrow(a, 5, \
		10) << 16 | narrow(b, 5, 10)) \
	OP("cvt.rn.bf16x2.f32 D, A, B;", u32, f32, f32, u32, 0, (u32)narrow(a, 8, \
		7) << 16 | narrow(b, 8, 7)) \
	OP("cvt.rz.bf16x2.f32 D, A, B;", u32, f32, f32, u32, 0, (u32)narrow_down(a, 8, \
		7) << 16 | narrow_down(b, 8, 7)) \
	OP("cvt.rn.relu.bf16x2.f32 D, A, B;", u32, f32, f32, u32, 0, (u32)narrow(a < 0 ? 0 : a, \
		8, 7) << 16 | narrow(b < 0 ? 0 : b, 8, 7)) \
	OP("cvt.f32.f16 D, A;", f32, u16, u32, u32, 0, (f32)wide(a, 5, 10)) \
	OP("cvt.f32.bf16 D, A;", u32, u16, u32, u32, 0, (u32)a << 16) \
	OP("cvt.rzi.s32.f16 D, A;", s32, u16, u32, u32, 0, (s32)to_integer((f32)trunc(wide(a, 5, \
		10)), -0x1p31, 0x1p31 - 1)) \
	OP("cvt.rna.tf32.f32 D, A;", u32, number_f32, u32, u32, 0, tf32_away(a)) \
	OP("cvt.rn.satfinite.e5m2x2.f32 D, A, B;", u16, f32, f32, u32, 0, \
		(u16)(e5m2(a) << 8 | e5m2(b))) \
	OP("cvt.rn.satfinite.e4m3x2.f32 D, A, B;", u16, f32, f32, u32, 0, \
		(u16)(e4m3(a) << 8 | e4m3(b))) \
	OP("cvt.rn.f16x2.e5m2x2 D, A;", u32, u16, u32, u32, 0, \
		(u32)canonical_half((u32)(a >> 8) << 8) << 16 | canonical_half((u32)(a & 255) << 8)) \
	OP("add.f16 D, A, B;", u16, u16, u16, u32, 0, narrow(wide(a, 5, 10) + wide(b, 5, 10), 5, \
		10)) \
	OP("add.f16x2 D, A, B;", u32, u32, u32, u32, 0, pairwise(a, b, '+', 5, 10)) \
	OP("mul.bf16x2 D, A, B;", u32, u32, u32, u32, 0, pairwise(a, b, '*', 8, 7)) \
	OP("sub.bf16 D, A, B;", u16, u16, u16, u32, 0, narrow(wide(a, 8, 7) - wide(b, 8, 7), 8, 7)) \
	OP("mul.f16 D, A, B;", u16, u16, u16, u32, 0, narrow(wide(a, 5, 10) * wide(b, 5, 10), 5, \
		10)) \
	OP("max.bf16x2 D, A, B;", u32, u32, u32, u32, 0, pairwise(a, b, '>', 8, 7)) \
	OP("fma.rn.f16 D, A, B, C;", u16, u16, u16, u16, 0, narrow((double)((long double)wide(a, \
		5, 10) * wide(b, 5, 10) + wide(c, 5, 10)), 5, 10)) \
	OP("min.f16x2 D, A, B;", u32, u32, u32, u32, 0, pairwise(a, b, '<', 5, 10)) \
	OP("setp.lt.f16 p, A, B; selp.b32 D, 1, 2, p;", u32, u16, u16, u32, 0, isless(wide(a, 5, \
		10), wide(b, 5, 10)) ? 1 : 2)

#define OPERATIONS(OP) \
	OPERATIONS_INTEGER(OP) \
	OPERATIONS_FLOAT(OP) \
	OPERATIONS_CONVERT(OP)
/* clang-format on */

#endif
