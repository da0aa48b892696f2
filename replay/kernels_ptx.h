/* SPDX-License-Identifier: MIT */
/* PTX of our own kernels; replay/kernels.h says what they do. */
#ifndef REPLAY_KERNELS_PTX_H
#define REPLAY_KERNELS_PTX_H

// clang-format off
/* What lies at `at` against %d10 to %d17: bits that differ are set in `into`. */
#define GATHER_DIFFERENCE(at, into) \
	"ld.global.v2.u64 {%d20, %d21}, [" at "];\n" \
	"ld.global.v2.u64 {%d22, %d23}, [" at "+4096];\n" \
	"ld.global.v2.u64 {%d24, %d25}, [" at "+8192];\n" \
	"ld.global.v2.u64 {%d26, %d27}, [" at "+12288];\n" \
	"xor.b64 %d20, %d20, %d10;\n" \
	"xor.b64 %d21, %d21, %d11;\n" \
	"xor.b64 %d22, %d22, %d12;\n" \
	"xor.b64 %d23, %d23, %d13;\n" \
	"xor.b64 %d24, %d24, %d14;\n" \
	"xor.b64 %d25, %d25, %d15;\n" \
	"xor.b64 %d26, %d26, %d16;\n" \
	"xor.b64 %d27, %d27, %d17;\n" \
	"or.b64 %d20, %d20, %d21;\n" \
	"or.b64 %d22, %d22, %d23;\n" \
	"or.b64 %d24, %d24, %d25;\n" \
	"or.b64 %d26, %d26, %d27;\n" \
	"or.b64 %d20, %d20, %d22;\n" \
	"or.b64 %d24, %d24, %d26;\n" \
	"or.b64 %d20, %d20, %d24;\n" \
	"or.b64 " into ", " into ", %d20;\n"

/*
 * A row (replay/change.h, its address in %d1) and its rounds of %r14 ? 16 bytes : one element. At
 * $L_word %d30 is a word of elements (and %d31 the second of two, %r16 words in all), %d11 its
 * address, %d12 the index of its first element; the text that follows takes %r17 elements from it,
 * the first %r18 bits up. %d7: the sign, %d8: the magnitude, %d9 and %d10: one and the mantissa,
 * %d34: an element.
 */
#define ROUNDS \
	"ld.global.u64 %d3, [%d1];\n" \
	"ld.global.u64 %d4, [%d1+8];\n" \
	"ld.global.u64 %d5, [%d1+16];\n" \
	"ld.global.u32 %r5, [%d1+24];\n" \
	"ld.global.u32 %r6, [%d1+28];\n" \
	"ld.global.u32 %r7, [%d1+32];\n" \
	"ld.global.u32 %r8, [%d1+36];\n" \
	"ld.global.u32 %r9, [%d1+40];\n" \
	"ld.global.u32 %r14, [%d1+44];\n" \
	"shl.b32 %r10, %r6, 3;\n" \
	"sub.u32 %r10, %r10, 1;\n" \
	"mov.u64 %d6, 1;\n" \
	"shl.b64 %d7, %d6, %r10;\n" \
	"sub.u64 %d8, %d7, 1;\n" \
	"shl.b64 %d9, %d6, %r7;\n" \
	"sub.u64 %d10, %d9, 1;\n" \
	"shl.b64 %d34, %d7, 1;\n" \
	"sub.u64 %d34, %d34, 1;\n" \
	"shl.b32 %r19, %r6, 3;\n" \
	"bfind.u32 %r21, %r6;\n" \
	"mov.u32 %r15, 1;\n" \
	"mov.u32 %r20, %r6;\n" \
	"mov.u32 %r22, %r5;\n" \
	"mov.u32 %r23, 1;\n" \
	"setp.ne.u32 %p5, %r14, 0;\n" \
	"@!%p5 bra $L_round;\n" \
	"mov.u32 %r24, 8;\n" \
	"shr.u32 %r15, %r24, %r21;\n" \
	"shl.b32 %r23, %r15, 1;\n" \
	"mov.u32 %r20, 16;\n" \
	"shl.b32 %r22, %r5, %r21;\n" \
	"shr.u32 %r22, %r22, 4;\n" \
	"$L_round:\n" \
	"setp.ge.u32 %p1, %r4, %r22;\n" \
	"@%p1 bra $L_end;\n" \
	"mul.wide.u32 %d11, %r4, %r20;\n" \
	"add.s64 %d11, %d3, %d11;\n" \
	"mul.wide.u32 %d12, %r4, %r23;\n" \
	"add.u64 %d12, %d4, %d12;\n" \
	"add.u32 %r4, %r4, 256;\n" \
	"mov.u32 %r16, 1;\n" \
	"@!%p5 bra $L_load;\n" \
	"ld.global.v2.u64 {%d30, %d31}, [%d11];\n" \
	"mov.u32 %r16, 2;\n" \
	"bra $L_word;\n" \
	"$L_load:\n" \
	"setp.eq.u32 %p1, %r6, 1;\n" \
	"@%p1 bra $L_load1;\n" \
	"setp.eq.u32 %p1, %r6, 2;\n" \
	"@%p1 bra $L_load2;\n" \
	"setp.eq.u32 %p1, %r6, 4;\n" \
	"@%p1 bra $L_load4;\n" \
	"ld.global.u64 %d30, [%d11];\n" \
	"bra $L_word;\n" \
	"$L_load4:\n" \
	"ld.global.u32 %r11, [%d11];\n" \
	"cvt.u64.u32 %d30, %r11;\n" \
	"bra $L_word;\n" \
	"$L_load2:\n" \
	"ld.global.u16 %h1, [%d11];\n" \
	"cvt.u64.u16 %d30, %h1;\n" \
	"bra $L_word;\n" \
	"$L_load1:\n" \
	"ld.global.u8 %h1, [%d11];\n" \
	"cvt.u64.u16 %d30, %h1;\n" \
	"$L_word:\n" \
	"mov.u64 %d32, 0;\n" \
	"mov.u32 %r17, %r15;\n" \
	"mov.u32 %r18, 0;\n"

static const char kernels_ptx[] =
	".version 7.0\n"
	".target sm_75\n"
	".address_size 64\n"
	".visible .entry kernelab_restore(\n"
	".param .u64 plive,\n"
	".param .u64 ppristine,\n"
	".param .u64 pflags\n"
	")\n"
	"{\n"
	".reg .pred %p<3>;\n"
	".reg .b32 %r<8>;\n"
	".reg .b64 %d<32>;\n"
	"ld.param.u64 %d1, [plive];\n"
	"ld.param.u64 %d2, [ppristine];\n"
	"ld.param.u64 %d3, [pflags];\n"
	"mov.u32 %r1, %ctaid.x;\n"
	"mov.u32 %r2, %tid.x;\n"
	"cvt.u64.u32 %d4, %r1;\n"
	"add.s64 %d3, %d3, %d4;\n"
	"ld.global.u8 %r3, [%d3];\n"
	"and.b32 %r3, %r3, 1;\n"
	"setp.eq.u32 %p1, %r3, 0;\n"
	"@%p1 bra $L_end;\n"
	"shr.u32 %r4, %r1, 3;\n"
	"mul.wide.u32 %d4, %r4, 8;\n"
	"add.s64 %d1, %d1, %d4;\n"
	"add.s64 %d2, %d2, %d4;\n"
	"ld.global.u64 %d1, [%d1];\n"
	"ld.global.u64 %d2, [%d2];\n"
	"setp.eq.u64 %p2, %d2, 0;\n"
	"@%p2 bra $L_end;\n"
	"and.b32 %r5, %r1, 7;\n"
	"mul.wide.u32 %d4, %r5, 32768;\n"
	"mul.wide.u32 %d5, %r2, 16;\n"
	"add.s64 %d4, %d4, %d5;\n"
	"add.s64 %d1, %d1, %d4;\n"
	"add.s64 %d2, %d2, %d4;\n"
	"ld.global.v2.u64 {%d10, %d11}, [%d2];\n"
	"ld.global.v2.u64 {%d12, %d13}, [%d2+4096];\n"
	"ld.global.v2.u64 {%d14, %d15}, [%d2+8192];\n"
	"ld.global.v2.u64 {%d16, %d17}, [%d2+12288];\n"
	"ld.global.v2.u64 {%d18, %d19}, [%d2+16384];\n"
	"ld.global.v2.u64 {%d20, %d21}, [%d2+20480];\n"
	"ld.global.v2.u64 {%d22, %d23}, [%d2+24576];\n"
	"ld.global.v2.u64 {%d24, %d25}, [%d2+28672];\n"
	"st.global.v2.u64 [%d1], {%d10, %d11};\n"
	"st.global.v2.u64 [%d1+4096], {%d12, %d13};\n"
	"st.global.v2.u64 [%d1+8192], {%d14, %d15};\n"
	"st.global.v2.u64 [%d1+12288], {%d16, %d17};\n"
	"st.global.v2.u64 [%d1+16384], {%d18, %d19};\n"
	"st.global.v2.u64 [%d1+20480], {%d20, %d21};\n"
	"st.global.v2.u64 [%d1+24576], {%d22, %d23};\n"
	"st.global.v2.u64 [%d1+28672], {%d24, %d25};\n"
	"$L_end:\n"
	"ret;\n"
	"}\n"
	".visible .entry kernelab_compare(\n"
	".param .u64 plive,\n"
	".param .u64 ppristine,\n"
	".param .u64 preference,\n"
	".param .u64 pflags\n"
	")\n"
	"{\n"
	".reg .pred %p<8>;\n"
	".reg .b32 %r<10>;\n"
	".reg .b64 %d<40>;\n"
	"ld.param.u64 %d1, [plive];\n"
	"ld.param.u64 %d2, [ppristine];\n"
	"ld.param.u64 %d3, [preference];\n"
	"ld.param.u64 %d4, [pflags];\n"
	"mov.u32 %r1, %ctaid.x;\n"
	"mov.u32 %r2, %tid.x;\n"
	"cvt.u64.u32 %d5, %r1;\n"
	"add.s64 %d4, %d4, %d5;\n"
	"shr.u32 %r3, %r1, 3;\n"
	"mul.wide.u32 %d5, %r3, 8;\n"
	"add.s64 %d1, %d1, %d5;\n"
	"add.s64 %d2, %d2, %d5;\n"
	"add.s64 %d3, %d3, %d5;\n"
	"ld.global.u64 %d1, [%d1];\n"
	"ld.global.u64 %d2, [%d2];\n"
	"ld.global.u64 %d3, [%d3];\n"
	"mov.u32 %r6, 3;\n"
	"setp.eq.u64 %p1, %d2, 0;\n"
	"@%p1 bra $L_store;\n"
	"setp.eq.u64 %p2, %d3, 0;\n"
	"setp.eq.u64 %p3, %d3, %d2;\n"
	"selp.b64 %d3, %d2, %d3, %p2;\n"
	"and.b32 %r4, %r1, 7;\n"
	"mul.wide.u32 %d5, %r4, 32768;\n"
	"mul.wide.u32 %d6, %r2, 16;\n"
	"add.s64 %d5, %d5, %d6;\n"
	"add.s64 %d1, %d1, %d5;\n"
	"add.s64 %d2, %d2, %d5;\n"
	"add.s64 %d3, %d3, %d5;\n"
	"mov.u64 %d7, 0;\n"
	"mov.u64 %d8, 0;\n"
	"mov.u32 %r5, 0;\n"
	"$L_round:\n"
	"ld.global.v2.u64 {%d10, %d11}, [%d1];\n"
	"ld.global.v2.u64 {%d12, %d13}, [%d1+4096];\n"
	"ld.global.v2.u64 {%d14, %d15}, [%d1+8192];\n"
	"ld.global.v2.u64 {%d16, %d17}, [%d1+12288];\n"
	GATHER_DIFFERENCE("%d2", "%d7")
	"@%p3 bra $L_next;\n"
	GATHER_DIFFERENCE("%d3", "%d8")
	"$L_next:\n"
	"add.s64 %d1, %d1, 16384;\n"
	"add.s64 %d2, %d2, 16384;\n"
	"add.s64 %d3, %d3, 16384;\n"
	"add.s32 %r5, %r5, 1;\n"
	"setp.lt.u32 %p4, %r5, 2;\n"
	"@%p4 bra $L_round;\n"
	"@%p3 mov.u64 %d8, %d7;\n"
	"@%p2 mov.u64 %d8, 1;\n"
	"setp.ne.u64 %p5, %d7, 0;\n"
	"bar.red.or.pred %p5, 0, %p5;\n"
	"setp.ne.u64 %p6, %d8, 0;\n"
	"bar.red.or.pred %p6, 0, %p6;\n"
	"selp.b32 %r6, 1, 0, %p5;\n"
	"selp.b32 %r7, 2, 0, %p6;\n"
	"or.b32 %r6, %r6, %r7;\n"
	"$L_store:\n"
	"setp.ne.u32 %p7, %r2, 0;\n"
	"@%p7 bra $L_end;\n"
	"st.global.u8 [%d4], %r6;\n"
	"$L_end:\n"
	"ret;\n"
	"}\n"
	".visible .entry kernelab_fill(\n"
	".param .u64 pruns,\n"
	".param .u32 pbyte\n"
	")\n"
	"{\n"
	".reg .pred %p<3>;\n"
	".reg .b32 %r<6>;\n"
	".reg .b64 %d<12>;\n"
	"ld.param.u64 %d1, [pruns];\n"
	"ld.param.u32 %r1, [pbyte];\n"
	"mov.u32 %r2, %ctaid.x;\n"
	"mov.u32 %r3, %tid.x;\n"
	"mul.wide.u32 %d2, %r2, 16;\n"
	"add.s64 %d1, %d1, %d2;\n"
	"ld.global.v2.u64 {%d3, %d4}, [%d1];\n"
	"cvt.u64.u32 %d5, %r3;\n"
	"mul.lo.u32 %r4, %r1, 0x01010101;\n"
	"mov.b64 %d7, {%r4, %r4};\n"
	"add.s64 %d8, %d3, %d4;\n"
	"add.s64 %d9, %d3, 15;\n"
	"and.b64 %d9, %d9, -16;\n"
	"min.u64 %d9, %d9, %d8;\n"
	"and.b64 %d10, %d8, -16;\n"
	"max.u64 %d10, %d10, %d9;\n"
	"add.s64 %d6, %d3, %d5;\n"
	"setp.lt.u64 %p1, %d6, %d9;\n"
	"@%p1 st.global.u8 [%d6], %r1;\n"
	"add.s64 %d6, %d10, %d5;\n"
	"setp.lt.u64 %p1, %d6, %d8;\n"
	"@%p1 st.global.u8 [%d6], %r1;\n"
	"shl.b64 %d5, %d5, 4;\n"
	"add.s64 %d6, %d9, %d5;\n"
	"$L_round:\n"
	"setp.ge.u64 %p1, %d6, %d10;\n"
	"@%p1 bra $L_end;\n"
	"st.global.v2.u64 [%d6], {%d7, %d7};\n"
	"add.s64 %d6, %d6, 4096;\n"
	"bra $L_round;\n"
	"$L_end:\n"
	"ret;\n"
	"}\n"
	".visible .entry kernelab_look(\n"
	".param .u64 prows,\n"
	".param .u32 pkind,\n"
	".param .u64 pflags\n"
	")\n"
	"{\n"
	".reg .pred %p<8>;\n"
	".reg .b16 %h<3>;\n"
	".reg .b32 %r<32>;\n"
	".reg .b64 %d<40>;\n"
	"ld.param.u64 %d1, [prows];\n"
	"ld.param.u32 %r1, [pkind];\n"
	"ld.param.u64 %d2, [pflags];\n"
	"mov.u32 %r3, %ctaid.x;\n"
	"mov.u32 %r4, %tid.x;\n"
	"mul.wide.u32 %d3, %r3, 48;\n"
	"add.s64 %d1, %d1, %d3;\n"
	"mov.u32 %r25, 0;\n"
	ROUNDS
	"$L_element:\n"
	"shr.u64 %d13, %d30, %r18;\n"
	"and.b64 %d13, %d13, %d34;\n"
	"and.b64 %d14, %d13, %d8;\n"
	"setp.gt.u64 %p1, %d14, %d5;\n"
	"@%p1 mov.u32 %r25, 1;\n"
	/* The negative zero of some formats is their NaN. */
	"setp.ne.u32 %p1, %r9, 0;\n"
	"setp.eq.and.u64 %p1, %d13, %d7, %p1;\n"
	"@%p1 mov.u32 %r25, 1;\n"
	"setp.ne.u32 %p1, %r1, 2;\n"
	"@%p1 bra $L_next;\n"
	"setp.eq.u64 %p1, %d14, 0;\n"
	"@%p1 bra $L_next;\n"
	/* 2^0 to 2^23 and no bit below 1 */
	"shr.u64 %d15, %d14, %r7;\n"
	"cvt.u32.u64 %r10, %d15;\n"
	"sub.s32 %r10, %r10, %r8;\n"
	"setp.gt.u32 %p1, %r10, 23;\n"
	"@%p1 mov.u32 %r25, 1;\n"
	"@%p1 bra $L_next;\n"
	"sub.s32 %r11, %r7, %r10;\n"
	"max.s32 %r11, %r11, 0;\n"
	"mov.u64 %d15, 1;\n"
	"shl.b64 %d15, %d15, %r11;\n"
	"sub.u64 %d15, %d15, 1;\n"
	"and.b64 %d15, %d15, %d14;\n"
	"setp.ne.u64 %p1, %d15, 0;\n"
	"@%p1 mov.u32 %r25, 1;\n"
	"$L_next:\n"
	"add.u32 %r18, %r18, %r19;\n"
	"sub.u32 %r17, %r17, 1;\n"
	"setp.ne.u32 %p1, %r17, 0;\n"
	"@%p1 bra $L_element;\n"
	"sub.u32 %r16, %r16, 1;\n"
	"setp.eq.u32 %p1, %r16, 0;\n"
	"@%p1 bra $L_round;\n"
	"mov.u64 %d30, %d31;\n"
	"bra $L_word;\n"
	"$L_end:\n"
	"setp.eq.u32 %p1, %r25, 0;\n"
	"@%p1 bra $L_none;\n"
	"add.s64 %d2, %d2, %d4;\n"
	"mov.u32 %r25, 1;\n"
	"st.global.u8 [%d2], %r25;\n"
	"$L_none:\n"
	"ret;\n"
	"}\n"
	".visible .entry kernelab_change(\n"
	".param .u64 prows,\n"
	".param .u32 pkind,\n"
	".param .u32 pexponent,\n"
	".param .u64 pseed,\n"
	".param .f64 pstep\n"
	")\n"
	"{\n"
	".reg .pred %p<12>;\n"
	".reg .b16 %h<3>;\n"
	".reg .b32 %r<32>;\n"
	".reg .b64 %d<40>;\n"
	".reg .f64 %f<8>;\n"
	"ld.param.u64 %d1, [prows];\n"
	"ld.param.u32 %r1, [pkind];\n"
	"ld.param.u32 %r2, [pexponent];\n"
	"ld.param.u64 %d2, [pseed];\n"
	"ld.param.f64 %f1, [pstep];\n"
	"mov.u32 %r3, %ctaid.x;\n"
	"mov.u32 %r4, %tid.x;\n"
	"mul.wide.u32 %d3, %r3, 48;\n"
	"add.s64 %d1, %d1, %d3;\n"
	ROUNDS
	"$L_element:\n"
	"setp.ne.u32 %p1, %r9, 0;\n"
	"@%p1 bra $L_zero;\n"
	"shr.u64 %d13, %d30, %r18;\n"
	"and.b64 %d13, %d13, %d34;\n"
	"setp.eq.u32 %p1, %r1, 1;\n"
	"@%p1 bra $L_integer;\n"
	"setp.ne.u32 %p1, %r1, 2;\n"
	"@%p1 bra $L_move;\n"
	"and.b64 %d14, %d13, %d8;\n"
	"and.b64 %d15, %d13, %d7;\n"
	"setp.eq.u64 %p1, %d14, 0;\n"
	"setp.ge.u64 %p2, %d14, %d5;\n"
	"or.pred %p1, %p1, %p2;\n"
	"setp.eq.u32 %p2, %r6, 1;\n"
	"or.pred %p1, %p1, %p2;\n"
	"@%p1 bra $L_scaled;\n"
	"and.b64 %d16, %d14, %d10;\n"
	"shr.u64 %d17, %d14, %r7;\n"
	"setp.ne.u64 %p1, %d17, 0;\n"
	"@%p1 or.b64 %d16, %d16, %d9;\n"
	"@!%p1 mov.u64 %d17, 1;\n"
	"bfind.u64 %r12, %d16;\n"
	"sub.u32 %r12, %r7, %r12;\n"
	"shl.b64 %d16, %d16, %r12;\n"
	"cvt.s64.s32 %d18, %r12;\n"
	"sub.s64 %d17, %d17, %d18;\n"
	"cvt.s64.s32 %d18, %r2;\n"
	"add.s64 %d17, %d17, %d18;\n"
	"shr.u64 %d18, %d5, %r7;\n"
	"setp.gt.s64 %p1, %d17, %d18;\n"
	"@%p1 or.b64 %d13, %d15, %d5;\n"
	"@%p1 bra $L_scaled;\n"
	"setp.lt.s64 %p1, %d17, 1;\n"
	"@%p1 bra $L_denormal;\n"
	"shl.b64 %d17, %d17, %r7;\n"
	"and.b64 %d16, %d16, %d10;\n"
	"or.b64 %d13, %d15, %d17;\n"
	"or.b64 %d13, %d13, %d16;\n"
	"bra $L_scaled;\n"
	"$L_denormal:\n"
	"sub.s64 %d18, 1, %d17;\n"
	"cvt.u32.u64 %r12, %d18;\n"
	"add.u32 %r13, %r7, 1;\n"
	"setp.gt.s64 %p1, %d18, 4096;\n"
	"@%p1 mov.u32 %r12, 4096;\n"
	"setp.gt.u32 %p1, %r12, %r13;\n"
	"@%p1 mov.u64 %d13, %d15;\n"
	"@%p1 bra $L_scaled;\n"
	"sub.u32 %r13, %r12, 1;\n"
	"shl.b64 %d18, %d6, %r13;\n"
	"shr.u64 %d19, %d16, %r12;\n"
	"shl.b64 %d20, %d18, 1;\n"
	"sub.u64 %d20, %d20, 1;\n"
	"and.b64 %d16, %d16, %d20;\n"
	"and.b64 %d20, %d19, 1;\n"
	"setp.eq.u64 %p1, %d16, %d18;\n"
	"setp.ne.and.u64 %p1, %d20, 0, %p1;\n"
	"setp.gt.u64 %p2, %d16, %d18;\n"
	"or.pred %p1, %p1, %p2;\n"
	"selp.u64 %d20, 1, 0, %p1;\n"
	"add.u64 %d19, %d19, %d20;\n"
	"or.b64 %d13, %d15, %d19;\n"
	"$L_scaled:\n"
	"setp.gt.f64 %p1, %f1, 0d0000000000000000;\n"
	"@!%p1 bra $L_store;\n"
	"$L_move:\n"
	"and.b64 %d14, %d13, %d8;\n"
	"and.b64 %d15, %d13, %d7;\n"
	"setp.eq.u64 %p1, %d14, 0;\n"
	"setp.ge.u64 %p2, %d14, %d5;\n"
	"or.pred %p1, %p1, %p2;\n"
	"@%p1 bra $L_store;\n"
	"xor.b64 %d16, %d13, %d2;\n"
	"add.u64 %d16, %d16, 0x9e3779b97f4a7c15;\n"
	"shr.u64 %d17, %d16, 30;\n"
	"xor.b64 %d16, %d16, %d17;\n"
	"mul.lo.u64 %d16, %d16, 0xbf58476d1ce4e5b9;\n"
	"shr.u64 %d17, %d16, 27;\n"
	"xor.b64 %d16, %d16, %d17;\n"
	"mul.lo.u64 %d16, %d16, 0x94d049bb133111eb;\n"
	"shr.u64 %d17, %d16, 31;\n"
	"xor.b64 %d16, %d16, %d17;\n"
	"and.b64 %d18, %d14, %d10;\n"
	"setp.ge.u64 %p1, %d14, %d9;\n"
	"@%p1 or.b64 %d18, %d18, %d9;\n"
	"cvt.rn.f64.u64 %f2, %d18;\n"
	"mul.rn.f64 %f2, %f1, %f2;\n"
	"cvt.rzi.u64.f64 %d19, %f2;\n"
	"cvt.rn.f64.u64 %f3, %d19;\n"
	"sub.rn.f64 %f2, %f2, %f3;\n"
	"shr.u64 %d20, %d16, 12;\n"
	"cvt.rn.f64.u64 %f4, %d20;\n"
	"mul.rn.f64 %f4, %f4, 0d3CB0000000000000;\n"
	"setp.lt.f64 %p1, %f4, %f2;\n"
	"selp.u64 %d20, 1, 0, %p1;\n"
	"add.u64 %d19, %d19, %d20;\n"
	"and.b64 %d20, %d16, 1;\n"
	"setp.ne.u64 %p1, %d20, 0;\n"
	"@%p1 bra $L_up;\n"
	"setp.lt.u64 %p2, %d19, %d14;\n"
	"@%p2 sub.u64 %d14, %d14, %d19;\n"
	"bra $L_moved;\n"
	"$L_up:\n"
	"sub.u64 %d20, %d5, %d14;\n"
	"setp.gt.u64 %p2, %d20, %d19;\n"
	"@%p2 add.u64 %d14, %d14, %d19;\n"
	"$L_moved:\n"
	"or.b64 %d13, %d15, %d14;\n"
	"bra $L_store;\n"
	"$L_integer:\n"
	"xor.b64 %d16, %d12, %d2;\n"
	"add.u64 %d16, %d16, 0x9e3779b97f4a7c15;\n"
	"shr.u64 %d17, %d16, 30;\n"
	"xor.b64 %d16, %d16, %d17;\n"
	"mul.lo.u64 %d16, %d16, 0xbf58476d1ce4e5b9;\n"
	"shr.u64 %d17, %d16, 27;\n"
	"xor.b64 %d16, %d16, %d17;\n"
	"mul.lo.u64 %d16, %d16, 0x94d049bb133111eb;\n"
	"shr.u64 %d17, %d16, 31;\n"
	"xor.b64 %d16, %d16, %d17;\n"
	"and.b64 %d16, %d16, 7;\n"
	"setp.eq.u64 %p1, %d16, 0;\n"
	"@%p1 bra $L_zero;\n"
	"bfind.u64 %r12, %d16;\n"
	"add.u32 %r13, %r12, %r8;\n"
	"cvt.u64.u32 %d17, %r13;\n"
	"shl.b64 %d17, %d17, %r7;\n"
	"shl.b64 %d18, %d6, %r12;\n"
	"xor.b64 %d16, %d16, %d18;\n"
	"shl.b64 %d16, %d16, %r7;\n"
	"shr.u64 %d16, %d16, %r12;\n"
	"or.b64 %d13, %d17, %d16;\n"
	"bra $L_store;\n"
	"$L_zero:\n"
	"mov.u64 %d13, 0;\n"
	"$L_store:\n"
	"shl.b64 %d14, %d13, %r18;\n"
	"or.b64 %d32, %d32, %d14;\n"
	"add.u64 %d12, %d12, 1;\n"
	"add.u32 %r18, %r18, %r19;\n"
	"sub.u32 %r17, %r17, 1;\n"
	"setp.ne.u32 %p1, %r17, 0;\n"
	"@%p1 bra $L_element;\n"
	"@!%p5 bra $L_store_one;\n"
	"sub.u32 %r16, %r16, 1;\n"
	"setp.eq.u32 %p1, %r16, 0;\n"
	"@%p1 bra $L_store_words;\n"
	"mov.u64 %d33, %d32;\n"
	"mov.u64 %d30, %d31;\n"
	"bra $L_word;\n"
	"$L_store_words:\n"
	"st.global.v2.u64 [%d11], {%d33, %d32};\n"
	"bra $L_round;\n"
	"$L_store_one:\n"
	"setp.eq.u32 %p1, %r6, 1;\n"
	"@%p1 bra $L_store1;\n"
	"setp.eq.u32 %p1, %r6, 2;\n"
	"@%p1 bra $L_store2;\n"
	"setp.eq.u32 %p1, %r6, 4;\n"
	"@%p1 bra $L_store4;\n"
	"st.global.u64 [%d11], %d13;\n"
	"bra $L_round;\n"
	"$L_store4:\n"
	"cvt.u32.u64 %r11, %d13;\n"
	"st.global.u32 [%d11], %r11;\n"
	"bra $L_round;\n"
	"$L_store2:\n"
	"cvt.u16.u64 %h1, %d13;\n"
	"st.global.u16 [%d11], %h1;\n"
	"bra $L_round;\n"
	"$L_store1:\n"
	"cvt.u16.u64 %h1, %d13;\n"
	"st.global.u8 [%d11], %h1;\n"
	"bra $L_round;\n"
	"$L_end:\n"
	"ret;\n"
	"}\n";
// clang-format on

#endif
