/* SPDX-License-Identifier: MIT */
/* The shadow in double precision against the same sums, chains and products in plain double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/number.h"
#include "softgpu/shadow.h"
#include "tests/softgpu/machine_client.h"

#define COUNT 4096

struct data {
	uint8_t in[COUNT * 4], in2[COUNT * 4], out[COUNT * 4];
};

static struct job job_for(struct data *d, uint32_t block)
{
	return (struct job){.block = block,
			    .shared = 32u << 10,
			    .buffers = {d->in, d->in2, d->out},
			    .sizes = {sizeof(d->in), sizeof(d->in2), sizeof(d->out)},
			    .buffer_count = 3};
}

/* Runs the body with a shadow; what it writes is what it writes without one. */
static struct shadow *run(struct data *d, uint32_t grid, uint32_t block, const char *body)
{
	_cleanup_free_ char *text = kernel_around(body);
	_cleanup_free_ struct data *plain = malloc(sizeof(*plain));
	struct job j = job_for(d, block), k = job_for(plain, block);

	memcpy(plain, d, sizeof(*plain));
	assert_int_equal(shadow_new(&j.shadow, 1u << 30), 0);
	j.grid = k.grid = grid;
	job_must_run(&j, text);
	job_must_run(&k, text);
	assert_memory_equal(d, plain, sizeof(*plain));
	return j.shadow;
}

static double f32_shadow(const struct shadow *s, const struct data *d, unsigned i)
{
	return shadow_value(s, d->out + 4ul * i, SHADOW_F32, 4, false, NULL);
}

static float f32_at(const uint8_t *p, unsigned i)
{
	float x;

	memcpy(&x, p + 4ul * i, 4);
	return x;
}

static void fill(uint8_t *p, unsigned count, uint64_t seed)
{
	for (unsigned i = 0; i < count; i++) {
		float x = test_float(&seed);

		memcpy(p + 4ul * i, &x, 4);
	}
}

static void near(double x, double want, double relative)
{
	if (!(fabs(x - want) <= relative * fabs(want)))
		fail_msg("%.17g where %.17g is right", x, want);
}

/* 32 serial values a thread, a shuffle tree in each warp, shared memory between the warps. */
static void sum(void **state)
{
	struct data d = {0};
	double want = 0.0;
	bool shadowed;
	struct shadow *s;

	fill(d.in, COUNT, 1);
	for (unsigned i = 0; i < COUNT; i++)
		want += f32_at(d.in, i);
	s = run(&d, 1, 128,
		"mad.wide.u32 %o, %t, 4, %in; mov.f32 %f0, 0f00000000; mov.b32 %r1, 32;\n"
		"loop: ld.global.f32 %f1, [%o]; add.f32 %f0, %f0, %f1; add.s64 %o, %o, 512;\n"
		"sub.s32 %r1, %r1, 1; setp.ne.s32 %p0, %r1, 0; @%p0 bra loop;\n"
		"shfl.sync.bfly.b32 %r2, %f0, 16, 31, -1; mov.b32 %f1, %r2; add.f32 %f0, %f0, "
		"%f1;\n"
		"shfl.sync.bfly.b32 %r2, %f0, 8, 31, -1; mov.b32 %f1, %r2; add.f32 %f0, %f0, %f1;\n"
		"shfl.sync.bfly.b32 %r2, %f0, 4, 31, -1; mov.b32 %f1, %r2; add.f32 %f0, %f0, %f1;\n"
		"shfl.sync.bfly.b32 %r2, %f0, 2, 31, -1; mov.b32 %f1, %r2; add.f32 %f0, %f0, %f1;\n"
		"shfl.sync.bfly.b32 %r2, %f0, 1, 31, -1; mov.b32 %f1, %r2; add.f32 %f0, %f0, %f1;\n"
		"mov.b32 %r3, dynamic; shr.u32 %r4, %t, 5; mad.lo.u32 %r5, %r4, 4, %r3;\n"
		"st.shared.f32 [%r5], %f0; bar.sync 0;\n"
		"ld.shared.v4.f32 {%f2, %f3, %f4, %f5}, [%r3];\n"
		"add.f32 %f2, %f2, %f3; add.f32 %f4, %f4, %f5; add.f32 %f2, %f2, %f4;\n"
		"st.global.f32 [%out], %f2;");
	near(shadow_value(s, d.out, SHADOW_F32, 4, false, &shadowed), want, 1e-12);
	assert_true(shadowed);
	assert_true((double)f32_at(d.out, 0) != want);
	assert_int_equal(shadow_counts(s)->lost, 0);
	shadow_free(s);
}

/* Every step rounds to bf16; halves travel in pairs, by prmt, shifts, masks and mov. */
static void bf16_chain(void **state)
{
	struct data d = {0};
	struct shadow *s;

	fill(d.in, COUNT, 2);
	s = run(&d, 1, 32,
		"mad.wide.u32 %o, %t, 8, %in; ld.global.v2.f32 {%f0, %f1}, [%o];\n"
		"cvt.rn.bf16x2.f32 %r0, %f1, %f0;\n" /* f0 is the low half */
		"fma.rn.bf16x2 %r1, %r0, %r0, %r0;\n"
		"prmt.b32 %r2, %r1, %r1, 0x1032;\n" /* halves swapped */
		"shl.b32 %r3, %r2, 16; and.b32 %r4, %r2, 0xffff0000;\n"
		"mov.b32 %f2, %r3; mov.b32 %f3, %r4;\n" /* f2: of f1, f3: of f0 */
		"xor.b32 %r5, %r3, 0x80000000; mov.b32 %f4, %r5;\n"
		"mul.f32 %f5, %f4, %f3; cvt.rn.bf16.f32 %h0, %f5;\n"
		"mov.b32 %r6, {%h0, %h0}; mov.b32 {%h1, %h2}, %r6; cvt.f32.bf16 %f6, %h2;\n"
		"div.full.f32 %f6, %f6, %f2; rsqrt.approx.f32 %f7, %f3; mul.f32 %f6, %f6, %f7;\n"
		"mad.wide.u32 %o, %t, 2, %out; cvt.rn.bf16.f32 %h3, %f6; st.global.b16 [%o], %h3;");
	for (unsigned t = 0; t < 32; t++) {
		double a = f32_at(d.in, 2 * t), b = f32_at(d.in, 2 * t + 1), want;
		double x = shadow_value(s, d.out + 2ul * t, SHADOW_BF16, 2, false, NULL);

		a = a * a + a;
		b = b * b + b;
		want = -b * a / b / sqrt(a);
		if (a > 0)
			near(x, want, 1e-12);
	}
	assert_int_equal(shadow_counts(s)->lost, 0);
	shadow_free(s);
}

/* Two fp8 in 16 bits, the high one taken out by an arithmetic shift, as Triton does. */
static void fp8(void **state)
{
	struct data d = {0};
	struct shadow *s;

	fill(d.in, 64, 9);
	s = run(&d, 1, 32,
		"mad.wide.u32 %o, %t, 8, %in; ld.global.v2.f32 {%f0, %f1}, [%o];\n"
		"mul.f32 %f0, %f0, 0f44480000; mul.f32 %f1, %f1, 0f40400000;\n" /* 800, 3 */
		"cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f0; shr.s16 %h1, %h0, 8;\n"
		"mad.wide.u32 %o, %t, 2, %out; st.global.b8 [%o], %h0; st.global.b8 [%o+1], %h1;\n"
		"cvt.rn.f16x2.e4m3x2 %r0, %h0; mov.b32 {%h2, %h3}, %r0; cvt.f32.f16 %f2, %h3;\n"
		"mad.wide.u32 %o, %t, 4, %out; st.global.f32 [%o+256], %f2;");
	for (unsigned t = 0; t < 32; t++) {
		double low = 800.0 * f32_at(d.in, 2 * t), high = 3.0 * f32_at(d.in, 2 * t + 1);

		low = fabs(low) > 448.0 ? copysign(448.0, low) : low;
		near(shadow_value(s, d.out + 2ul * t, SHADOW_E4M3, 1, false, NULL), low, 1e-12);
		near(shadow_value(s, d.out + 2ul * t + 1, SHADOW_E4M3, 1, false, NULL), high,
		     1e-12);
		near(f32_shadow(s, &d, 64 + t), high, 1e-12);
	}
	assert_int_equal(shadow_counts(s)->lost, 0);
	shadow_free(s);
}

/* f32 to bf16 in shared memory, ldmatrix, four steps of k: the product of the f32 matrices. */
static void product(void **state)
{
	struct data d = {0};
	unsigned rounded = 0;
	struct shadow *s;

	fill(d.in, 16 * 64, 3);
	fill(d.in2, 8 * 64, 4); /* b, its columns one after the other */
	s = run(&d, 1, 32,
		"mov.b32 %r0, 0; mov.b32 %r20, dynamic;\n"
		"mov.f32 %f4, 0f00000000; mov.f32 %f5, %f4; mov.f32 %f6, %f4; mov.f32 %f7, %f4;\n"
		"step:\n"
		/* a: 16 x 16: lane takes row t / 2, eight columns; b: 8 x 16, four columns */
		"shr.u32 %r1, %t, 1; and.b32 %r2, %t, 1; mad.lo.u32 %r3, %r1, 64, %r0;\n"
		"mad.lo.u32 %r3, %r2, 8, %r3; mad.wide.u32 %o, %r3, 4, %in;\n"
		"ld.global.v4.f32 {%f8, %f9, %f10, %f11}, [%o];\n"
		"ld.global.v4.f32 {%f12, %f13, %f14, %f15}, [%o+16];\n"
		"cvt.rn.bf16x2.f32 %r4, %f9, %f8; cvt.rn.bf16x2.f32 %r5, %f11, %f10;\n"
		"cvt.rn.bf16x2.f32 %r6, %f13, %f12; cvt.rn.bf16x2.f32 %r7, %f15, %f14;\n"
		"mad.lo.u32 %r8, %t, 16, %r20; st.shared.v4.b32 [%r8], {%r4, %r5, %r6, %r7};\n"
		"shr.u32 %r1, %t, 2; and.b32 %r2, %t, 3; mad.lo.u32 %r3, %r1, 64, %r0;\n"
		"mad.lo.u32 %r3, %r2, 4, %r3; mad.wide.u32 %o, %r3, 4, %in2;\n"
		"ld.global.v4.f32 {%f8, %f9, %f10, %f11}, [%o];\n"
		"cvt.rn.bf16x2.f32 %r4, %f9, %f8; cvt.rn.bf16x2.f32 %r5, %f11, %f10;\n"
		"mad.lo.u32 %r8, %t, 8, %r20; st.shared.v2.b32 [%r8+512], {%r4, %r5};\n"
		"bar.warp.sync -1;\n"
		/* matrices: rows 0-7 and 8-15 of k 0-7, then of k 8-15 */
		"and.b32 %r1, %t, 15; shr.u32 %r2, %t, 4; mad.lo.u32 %r3, %r1, 32, %r20;\n"
		"mad.lo.u32 %r3, %r2, 16, %r3;\n"
		"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];\n"
		"and.b32 %r1, %t, 7; shr.u32 %r2, %t, 3; and.b32 %r2, %r2, 1;\n"
		"mad.lo.u32 %r3, %r1, 32, %r20; mad.lo.u32 %r3, %r2, 16, %r3;\n"
		"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r8, %r9}, [%r3+512];\n"
		"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f4, %f5, %f6, %f7},\n"
		" {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%f4, %f5, %f6, %f7};\n"
		"bar.warp.sync -1;\n"
		"add.s32 %r0, %r0, 16; setp.ne.s32 %p0, %r0, 64; @%p0 bra step;\n"
		"mad.wide.u32 %o, %t, 16, %out; st.global.v4.f32 [%o], {%f4, %f5, %f6, %f7};");
	for (unsigned t = 0; t < 32; t++)
		for (unsigned n = 0; n < 4; n++) {
			unsigned row = t / 4 + 8 * (n >> 1), column = t % 4 * 2 + (n & 1);
			double want = 0.0, size = 0.0, x = f32_shadow(s, &d, 4 * t + n);

			for (unsigned k = 0; k < 64; k++) {
				double p = (double)f32_at(d.in, row * 64 + k) *
					   f32_at(d.in2, column * 64 + k);

				want += p;
				size += fabs(p);
			}
			assert_true(fabs(x - want) < 1e-12 * size);
			rounded += fabs(f32_at(d.out, 4 * t + n) - want) > 1e-5 * size;
		}
	assert_true(rounded > 100);
	assert_int_equal(shadow_counts(s)->lost, 0);
	shadow_free(s);
}

/* exp as libdevice has it: the integer part by adding 1.5 * 2^23, then by a shift into bits. */
static void exponential(void **state)
{
	struct data d = {0};
	struct shadow *s;

	fill(d.in, 32, 5);
	s = run(&d, 1, 32,
		"mad.wide.u32 %o, %t, 4, %in; ld.global.f32 %f0, [%o]; mul.f32 %f0, %f0, "
		"0f41200000;\n"
		"mov.f32 %f1, 0f3F000000; mov.f32 %f2, 0f3BBB989D; fma.rn.sat.f32 %f3, %f0, %f2, "
		"%f1;\n"
		"mov.f32 %f4, 0f4B400001; mov.f32 %f5, 0f437C0000; fma.rm.f32 %f6, %f3, %f5, %f4;\n"
		"add.f32 %f7, %f6, 0fCB40007F; neg.f32 %f8, %f7;\n"
		"fma.rn.f32 %f9, %f0, 0f3FB8AA3B, %f8; fma.rn.f32 %f10, %f0, 0f32A57060, %f9;\n"
		"mov.b32 %r0, %f6; shl.b32 %r1, %r0, 23; mov.b32 %f11, %r1;\n"
		"ex2.approx.ftz.f32 %f12, %f10; mul.f32 %f13, %f12, %f11;\n"
		"mad.wide.u32 %o, %t, 4, %out; st.global.f32 [%o], %f13;");
	for (unsigned t = 0; t < 32; t++)
		near(f32_shadow(s, &d, t), exp(10.0 * f32_at(d.in, t)), 1e-12);
	shadow_free(s);
}

/* What is stored as an integer keeps the quotient that it was rounded from. */
static void quantiser(void **state)
{
	struct data d = {0};
	struct shadow *s;
	float scale = 0.01f;

	fill(d.in, 64, 6);
	s = run(&d, 1, 32,
		"mad.wide.u32 %o, %t, 4, %in; ld.global.f32 %f0, [%o];\n"
		"div.full.f32 %f1, %f0, 0f3C23D70A; cvt.rni.f32.f32 %f2, %f1;\n"
		"max.f32 %f2, %f2, 0fC2A00000; min.f32 %f2, %f2, 0f42A00000;\n" /* +-80 */
		"cvt.rzi.s32.f32 %r0, %f2; cvt.u16.u32 %h0, %r0;\n"
		"cvt.u64.u32 %d0, %t; add.s64 %o, %out, %d0; st.global.b8 [%o], %h0;\n"
		/* and to nearest at once, with a zero point */
		"cvt.rni.s32.f32 %r1, %f1; add.s32 %r1, %r1, 3; max.s32 %r1, %r1, -80;\n"
		"min.s32 %r1, %r1, 80; mad.wide.u32 %o, %t, 4, %out; st.global.b32 [%o+64], %r1;\n"
		/* used as a number again, it is the integer */
		"cvt.rn.f32.s32 %f3, %r1; mul.f32 %f3, %f3, 0f3C23D70A;\n"
		"st.global.f32 [%o+192], %f3;");
	for (unsigned t = 0; t < 32; t++) {
		double x = (double)f32_at(d.in, t) / scale;
		double q = shadow_value(s, d.out + t, SHADOW_INTEGER, 1, true, NULL);
		double z = shadow_value(s, d.out + 64 + 4ul * t, SHADOW_INTEGER, 4, true, NULL);
		int32_t zero_point;

		memcpy(&zero_point, d.out + 64 + 4ul * t, 4);
		near(q, fabs(x) < 80.5 ? x : copysign(80.0, x), 1e-12);
		near(z, x + 3 > 80.5 ? 80.0 : x + 3 < -80.5 ? -80.0 : x + 3, 1e-12);
		near(f32_shadow(s, &d, 48 + t), zero_point * (double)scale, 1e-15);
	}
	shadow_free(s);
}

static void atomics(void **state)
{
	struct data d = {0};
	double want = 0.0;
	struct shadow *s;

	fill(d.in, COUNT, 7);
	for (unsigned i = 0; i < 1024; i++)
		want += 1.0 / f32_at(d.in, i);
	/* Four blocks: each begins with fresh registers, memory goes on. */
	s = run(&d, 4, 256,
		"mov.u32 %r0, %ctaid.x; mad.lo.u32 %r0, %r0, 256, %t;\n"
		"mad.wide.u32 %o, %r0, 4, %in; ld.global.f32 %f0, [%o]; rcp.rn.f32 %f1, %f0;\n"
		"red.global.add.f32 [%out], %f1;");
	near(f32_shadow(s, &d, 0), want, 1e-12);
	shadow_free(s);
}

/* Which elements the chosen blocks write, whether their value is rounded or not. */
static void watched(void **state)
{
	struct data d = {0};
	struct job j = job_for(&d, 32);
	const uint64_t blocks[] = {1, 3};
	const uint8_t *places[4 * 32];
	bool seen[4 * 32];
	_cleanup_free_ char *text = kernel_around(
		"mov.u32 %r0, %ctaid.x; mad.lo.u32 %r0, %r0, 32, %t;\n"
		"mad.wide.u32 %o, %r0, 4, %out; mov.f32 %f0, 0f3F800000; st.global.f32 [%o], %f0;");

	for (unsigned i = 0; i < ARRAY_LENGTH(places); i++)
		places[i] = d.out + 4ul * i;
	assert_int_equal(shadow_new(&j.shadow, 1u << 30), 0);
	shadow_watch(j.shadow, places, ARRAY_LENGTH(places), seen);
	j.grid = 4;
	j.blocks = blocks;
	j.block_count = 2;
	job_must_run(&j, text);
	assert_int_equal(shadow_unseen(j.shadow), 64);
	for (unsigned i = 0; i < ARRAY_LENGTH(places); i++)
		assert_int_equal(seen[i], i / 32 % 2);
	shadow_free(j.shadow);
}

static void lost(void **state)
{
	struct data d = {0};
	struct shadow *s;
	bool shadowed;

	fill(d.in, 64, 8);
	s = run(&d, 1, 32,
		"mad.wide.u32 %o, %t, 4, %in; ld.global.f32 %f0, [%o]; mul.f32 %f0, %f0, %f0;\n"
		"mov.b32 %r0, %f0;\n"
		"add.s32 %r0, %r0, 1;\n"
		"mad.wide.u32 %o, %t, 4, %out; st.global.b32 [%o], %r0;");
	shadow_value(s, d.out, SHADOW_F32, 4, false, &shadowed);
	assert_false(shadowed);
	assert_int_equal(shadow_counts(s)->lost_places, 1);
	assert_int_equal(shadow_counts(s)->lost_line, 14);
	assert_true(shadow_counts(s)->lost > 16);
	shadow_free(s);
}

static void no_room(void **state)
{
	struct data d = {0};
	struct job j = job_for(&d, 32);
	_cleanup_free_ char *text =
		kernel_around("mad.wide.u32 %o, %t, 4, %out; mov.f32 %f0, 0f3F800000;\n"
			      "div.rn.f32 %f0, %f0, 0f40400000; st.global.f32 [%o], %f0;");

	assert_int_equal(shadow_new(&j.shadow, 1000), 0);
	assert_int_equal(job_run(&j, text), MACHINE_NO_MEMORY);
	assert_non_null(strstr(j.fault.message, "no room for the shadow"));
	shadow_free(j.shadow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sum),         cmocka_unit_test(fp8),
		cmocka_unit_test(bf16_chain),  cmocka_unit_test(product),
		cmocka_unit_test(exponential), cmocka_unit_test(quantiser),
		cmocka_unit_test(atomics),     cmocka_unit_test(watched),
		cmocka_unit_test(lost),        cmocka_unit_test(no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
