/* SPDX-License-Identifier: MIT */
/* Scheduling, memory checks, exchanges between threads, calls, contraction: small PTX texts. */
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/number.h"
#include "tests/softgpu/machine_client.h"

#define THREADS 128

struct data {
	uint32_t in[THREADS * 4], in2[THREADS * 4], out[THREADS * 4];
};

static struct job job_for(struct data *d, uint32_t block)
{
	struct job j = {.block = block,
			.buffers = {d->in, d->in2, d->out},
			.sizes = {sizeof(d->in), sizeof(d->in2), sizeof(d->out)},
			.buffer_count = 3};

	memset(d, 0, sizeof(*d));
	for (unsigned i = 0; i < ARRAY_LENGTH(d->in); i++) {
		d->in[i] = i;
		d->in2[i] = 1000 + i;
	}
	return j;
}

#define STORE "mad.wide.u32 %o, %t, 4, %out; st.global.b32 [%o], %r0;"

/* Runs the body, which leaves its result in %r0, in `block` threads. */
static void run_body(struct data *d, uint32_t block, const char *body)
{
	struct job j = job_for(d, block);
	_cleanup_free_ char *with_store = text_format("%s\n%s", body, STORE);
	_cleanup_free_ char *text = kernel_around(with_store);

	j.shared = 1024;
	job_must_run(&j, text);
}

static struct machine_fault fault_of(uint32_t block, uint64_t quota, const char *body)
{
	struct data d;
	struct job j = job_for(&d, block);
	_cleanup_free_ char *text = kernel_around(body);

	j.shared = 1024;
	j.quota = quota;
	assert_int_not_equal(job_run(&j, text), MACHINE_OK);
	return j.fault;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" lacks \"%s\"", text, part);
}

/* ---- divergence ---- */

static void branches(void **state)
{
	struct data d;

	/* Each lane loops its own number of times, then all meet. */
	run_body(&d, 40,
		 "and.b32 %r1, %t, 7; mov.b32 %r0, 100;\n"
		 "loop: setp.eq.s32 %p0, %r1, 0; @%p0 bra done;\n"
		 "add.s32 %r0, %r0, %r1; sub.s32 %r1, %r1, 1; bra loop;\n"
		 "done: vote.sync.ballot.b32 %r2, 1, -1; and.b32 %r2, %r2, 0xff;\n"
		 "mad.lo.s32 %r0, %r2, 1000, %r0;");
	for (unsigned t = 0; t < 40; t++)
		assert_int_equal(d.out[t], 255 * 1000 + 100 + (t & 7) * ((t & 7) + 1) / 2);
}

static void both_sides(void **state)
{
	struct data d;

	run_body(&d, 32,
		 "setp.lt.u32 %p0, %t, 5; @!%p0 bra other;\n"
		 "activemask.b32 %r0; bra join;\n"
		 "other: activemask.b32 %r0; setp.gt.u32 %p1, %t, 30; @%p1 bra deep;\n"
		 "bra join;\n deep: mov.b32 %r0, 77;\n join:");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], t < 5 ? 0x1f : t == 31 ? 77 : 0xffffffe0);
}

static void early_exit(void **state)
{
	struct data d;

	run_body(&d, THREADS,
		 "setp.gt.u32 %p0, %t, 40; @%p0 exit;\n"
		 "mov.b32 %r0, 1; bar.sync 0; mov.b32 %r0, 2;");
	for (unsigned t = 0; t < THREADS; t++)
		assert_int_equal(d.out[t], t <= 40 ? 2 : 0);
}

static void inline_scopes(void **state)
{
	struct data d;

	/* Names and labels of inline assembly may repeat in each of its blocks. */
	run_body(&d, 32,
		 "mov.b32 %r0, 0;\n"
		 "{ .reg .pred P; .reg .b32 v; mov.b32 v, 3; again: sub.s32 v, v, 1;\n"
		 " add.s32 %r0, %r0, 1; setp.ne.s32 P, v, 0; @P bra again; }\n"
		 "{ .reg .pred P; .reg .b64 v; mov.b64 v, 2; again: sub.s64 v, v, 1;\n"
		 " add.s32 %r0, %r0, 10; setp.ne.s64 P, v, 0; @P bra again; }");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], 23);
}

/* ---- faults ---- */

static void out_of_bounds(void **state)
{
	struct machine_fault f = fault_of(
		64, 0, "mad.wide.u32 %d0, %t, 64, %in;\nld.global.v2.b32 {%r0, %r1}, [%d0+16];");

	/* 128 x 4 words of 4 bytes: thread 32 is the first beyond them. */
	assert_int_equal(f.kind, MACHINE_ILLEGAL_ADDRESS);
	assert_int_equal(f.thread, 32);
	assert_true(f.address == BUFFER_ADDRESS(0) + 32 * 64 + 16);
	has(f.message, "k: ");
	has(f.message, "ld.global.v2.b32 {%r0, %r1}, [%d0+16];");
	has(f.message, "thread 32");
	has(f.message, "block (0, 0, 0)");
	assert_int_equal(f.line, 13);
	f = fault_of(32, 0, "mov.b64 %d0, 0; st.global.b32 [%d0], 1;");
	assert_int_equal(f.kind, MACHINE_ILLEGAL_ADDRESS);
	f = fault_of(32, 0, "mov.b32 %r1, 1024; st.shared.b32 [%r1], 1;");
	has(f.message, "shared memory");
	f = fault_of(32, 0, "mov.b32 %r0, dynamic; ld.shared.b32 %r1, [%r0+-4];");
	assert_int_equal(f.kind, MACHINE_ILLEGAL_ADDRESS);
	f = fault_of(32, 0, "ld.param.b64 %d0, [p2+8];");
	has(f.message, "parameters");
	/* The last bytes of a buffer, half outside. */
	f = fault_of(1, 0, "ld.global.b64 %d0, [%in+2048];");
	assert_int_equal(f.kind, MACHINE_ILLEGAL_ADDRESS);
}

static void misaligned(void **state)
{
	struct machine_fault f = fault_of(32, 0, "ld.global.b32 %r0, [%in+2];");

	assert_int_equal(f.kind, MACHINE_MISALIGNED);
	f = fault_of(32, 0, "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%in+8];");
	assert_int_equal(f.kind, MACHINE_MISALIGNED);
	f = fault_of(32, 0, "atom.global.add.u64 %d0, [%in+4], 1;");
	assert_int_equal(f.kind, MACHINE_MISALIGNED);
}

static void deadlock(void **state)
{
	struct machine_fault f =
		fault_of(64, 0, "setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1;\n@!%p0 bar.sync 2;");

	assert_int_equal(f.kind, MACHINE_DEADLOCK);
	has(f.message, "warp 0");
	has(f.message, "bar.sync 1");
	has(f.message, "warp 1");
	has(f.message, "bar.sync 2");
	/* Lanes that a shuffle names but that never come. */
	f = fault_of(32, 0,
		     "setp.lt.u32 %p0, %t, 16; @%p0 bra low; bar.sync 0; bra join;\n"
		     "low: shfl.sync.idx.b32 %r0, %t, 0, 31, -1; join:");
	assert_int_equal(f.kind, MACHINE_DEADLOCK);
}

static void quota_and_trap(void **state)
{
	struct machine_fault f = fault_of(32, 5000, "again: bra again;");

	assert_int_equal(f.kind, MACHINE_TIMEOUT);
	f = fault_of(32, 0, "setp.eq.u32 %p0, %t, 7; @%p0 trap;");
	assert_int_equal(f.kind, MACHINE_TRAP);
	assert_int_equal(f.thread, 7);
}

static void stopped(void **state)
{
	struct ptx_module *m = job_module(".version 8.0\n.target sm_80\n.address_size 64\n"
					  ".entry k() { again: bra again; }");
	volatile bool stop = true;
	struct machine_fault fault;
	struct machine_launch l = {.module = m,
				   .entry = m->entries,
				   .grid = {1, 1, 1},
				   .block = {1, 1, 1},
				   .stop = &stop};

	assert_int_equal(machine_run(&l, &fault, NULL), MACHINE_TIMEOUT);
	ptx_module_free(m);
}

/* Sizes that no GPU has end the launch before anything is allocated. */
static void too_much_memory(void **state)
{
	static const char *const texts[] = {
		".entry k() { .shared .b8 s[2147483647]; ret; }",
		".entry k() { .local .b8 s[2147483647]; ret; }",
	};

	for (unsigned i = 0; i < ARRAY_LENGTH(texts); i++) {
		_cleanup_free_ char *text =
			text_format(".version 8.0\n.target sm_80\n.address_size 64\n%s", texts[i]);
		struct job j = {0};

		assert_int_equal(job_run(&j, text), MACHINE_UNSUPPORTED);
		has(j.fault.message, "are the most");
	}
}

/* One warp waits for what the other writes: nobody starves. */
static void spinning(void **state)
{
	struct data d;

	run_body(&d, 64,
		 "setp.ge.u32 %p0, %t, 32; @%p0 bra writer;\n"
		 "wait: ld.volatile.global.b32 %r0, [%out+2044];\n"
		 "setp.eq.s32 %p1, %r0, 0; @%p1 bra wait; bra join;\n"
		 "writer: mov.b32 %r0, 5; st.volatile.global.b32 [%out+2044], %r0; join:");
	assert_int_equal(d.out[0], 5);
}

/* ---- between threads ---- */

static void shuffles(void **state)
{
	struct data d;

	run_body(&d, 32, "shfl.sync.up.b32 %r0|%p0, %t, 3, 0, -1; @!%p0 add.s32 %r0, %r0, 100;");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], t < 3 ? t + 100 : t - 3);
	run_body(&d, 32, "shfl.sync.down.b32 %r0|%p0, %t, 5, 31, -1; @!%p0 add.s32 %r0, %r0, 100;");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], t > 26 ? t + 100 : t + 5);
	/* Segments of 8: c = (32 - 8) << 8 | 31. */
	run_body(&d, 32, "shfl.sync.idx.b32 %r0, %t, 2, 0x181f, -1;");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], (t & ~7u) + 2);
	run_body(&d, 32, "shfl.sync.bfly.b32 %r0, %t, 16, 31, -1;");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], t ^ 16);
	run_body(&d, 32,
		 "shfl.sync.down.b32 %r0|%p0, %t, 4, 0x1807, -1; @!%p0 add.s32 %r0, %r0, 100;");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], (t & 7) > 3 ? t + 100 : t + 4);
}

static void votes(void **state)
{
	struct data d;

	run_body(&d, 32,
		 "setp.lt.u32 %p0, %t, 9; vote.sync.any.pred %p1, %p0, -1;\n"
		 "vote.sync.all.pred %p2, %p0, -1; vote.sync.uni.pred %p3, !%p0, 0xff;\n"
		 "selp.b32 %r0, 1, 0, %p1; @%p2 or.b32 %r0, %r0, 2; @%p3 or.b32 %r0, %r0, 4;\n"
		 "vote.sync.ballot.b32 %r1, %p0, -1; shl.b32 %r1, %r1, 4;\n"
		 "or.b32 %r0, %r0, %r1;");
	assert_int_equal(d.out[3], 0x1ff0 | 1);
	run_body(&d, 32, "and.b32 %r1, %t, 3; match.any.sync.b32 %r0, %r1, -1;");
	assert_int_equal(d.out[6], 0x44444444);
	run_body(&d, 32, "match.all.sync.b32 %r0|%p0, 5, -1; @!%p0 mov.b32 %r0, 0;");
	assert_int_equal(d.out[6], 0xffffffff);
	run_body(&d, 32, "redux.sync.add.u32 %r0, %t, -1;");
	assert_int_equal(d.out[31], 496);
	run_body(&d, 32, "sub.s32 %r1, %t, 9; redux.sync.min.s32 %r0, %r1, 0xffffffff;");
	assert_int_equal((int32_t)d.out[0], -9);
	run_body(&d, 32, "mov.b32 %r0, 0; elect.sync %r1|%p0, -1; @%p0 mov.b32 %r0, 1;");
	assert_int_equal(d.out[0] + d.out[1] + d.out[31], 1);
}

static void barriers(void **state)
{
	struct data d;

	run_body(&d, THREADS,
		 "mov.b32 %r1, dynamic; mad.lo.s32 %r2, %t, 4, %r1;\n"
		 "st.shared.b32 [%r2], %t; bar.sync 0;\n"
		 "xor.b32 %r3, %t, 127; mad.lo.s32 %r2, %r3, 4, %r1;\n"
		 "ld.shared.b32 %r0, [%r2];");
	for (unsigned t = 0; t < THREADS; t++)
		assert_int_equal(d.out[t], 127 - t);
	run_body(&d, THREADS,
		 "setp.lt.u32 %p0, %t, 50; bar.red.popc.u32 %r0, 3, %p0;\n"
		 "barrier.sync.aligned 0; bar.red.or.pred %p1, 0, %p0;\n"
		 "bar.red.and.pred %p2, 0, %p0; @%p1 add.s32 %r0, %r0, 100;\n"
		 "@%p2 add.s32 %r0, %r0, 1000;");
	assert_int_equal(d.out[127], 150);
	/* Named: warp 0 produces, warp 1 consumes, the others do not care. */
	run_body(&d, THREADS,
		 "mov.b32 %r0, 0; setp.ge.u32 %p0, %t, 64; @%p0 bra join;\n"
		 "setp.ge.u32 %p1, %t, 32; @%p1 bra consumer;\n"
		 "st.shared.b32 [dynamic], 42; bar.arrive 5, 64; bra join;\n"
		 "consumer: bar.sync 5, 64; ld.shared.b32 %r0, [dynamic];\njoin:");
	assert_int_equal(d.out[40], 42);
	/* bar.warp.sync from two places. */
	run_body(&d, 32,
		 "setp.lt.u32 %p0, %t, 7; @%p0 bra one; bar.warp.sync -1; bra join;\n"
		 "one: bar.warp.sync -1;\njoin: mov.b32 %r0, 9;");
	assert_int_equal(d.out[0] + d.out[31], 18);
}

/* ---- memory ---- */

static void atomics(void **state)
{
	struct data d;
	float f;

	run_body(&d, THREADS, "atom.global.add.u32 %r0, [%in], 2;");
	assert_int_equal(d.in[0], 2 * THREADS);
	assert_int_equal(d.out[5], 10); /* ascending order */
	run_body(&d, THREADS, "red.global.max.s32 [%in], %t; atom.global.inc.u32 %r0, [%in+4], 9;");
	assert_int_equal(d.in[0], 127);
	assert_int_equal(d.out[11], 2); /* 1 2 .. 9 0 1 2 .. */
	run_body(&d, 32, "atom.global.dec.u32 %r0, [%in+16], 7;");
	assert_int_equal(d.out[4], 0); /* 4 3 2 1 0 7 .. */
	assert_int_equal(d.out[5], 7);
	run_body(&d, 32, "atom.global.cas.b32 %r0, [%in+8], %t, 77;");
	assert_int_equal(d.in[2], 77);
	run_body(&d, 32, "atom.global.exch.b64 %d0, [%in+8], 77; cvt.u32.u64 %r0, %d0;");
	assert_int_equal(d.out[1], 77);
	run_body(&d, 32,
		 "atom.shared.add.f32 %r0, [dynamic], 0f3FC00000;\n"
		 "bar.warp.sync -1; ld.shared.b32 %r0, [dynamic];");
	memcpy(&f, &d.out[0], 4);
	assert_true(f == 48.0f);
	run_body(&d, 4,
		 "mov.b32 %r1, 0x3c003c00; st.global.b32 [%in], 0; bar.warp.sync 15;\n"
		 "atom.global.gpu.relaxed.add.noftz.f16x2 %r0, [%in], %r1;");
	assert_int_equal(d.in[0], 0x44004400); /* 4.0 twice */
	run_body(&d, 1,
		 "mov.b32 %r1, 0f3F800000; mov.b32 %r2, 0f40000000;\n"
		 "st.global.v4.b32 [%in], {%r1, %r1, %r1, %r1};\n"
		 "atom.global.gpu.relaxed.add.v4.f32 {%r0, _, %r3, %r4}, [%in], "
		 "{%r1, %r2, %r1, %r2};");
	assert_int_equal(d.in[1], 0x40400000);
	run_body(&d, 32,
		 "atom.and.b32 %r0, [%in+124], 0xf0; red.global.or.b64 [%in+128], 1;\n"
		 "red.global.xor.b32 [%in+136], 1; red.global.min.u64 [%in+144], 3;");
	assert_int_equal(d.in[31], 31 & 0xf0);
	assert_int_equal(d.in[34], 34);
	assert_int_equal(d.in[36], 3);
}

static void spaces(void **state)
{
	struct data d;
	struct job j = job_for(&d, 64);

	job_must_run(&j,
		     ".version 8.0\n.target sm_80\n.address_size 64\n"
		     ".global .align 8 .b32 table[4] = {10, 20, 0x1e, 40};\n"
		     ".const .align 4 .f32 factor = 0f40000000;\n"
		     ".shared .align 4 .b8 small[64];\n"
		     ".extern .shared .align 16 .b8 rest[];\n"
		     ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n"
		     ".local .align 8 .b8 depot[16]; .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
		     ".reg .pred %p<9>;\n"
		     "ld.param.u64 %d0, [p2]; cvta.to.global.u64 %d0, %d0; mov.u32 %r0, %tid.x;\n"
		     "mov.u64 %d1, depot; cvta.local.u64 %d2, %d1; st.u32 [%d2+4], %r0;\n"
		     "ld.local.u32 %r1, [%d1+4]; mov.u64 %d3, table; ld.global.u32 %r2, [%d3+8];\n"
		     "ld.global.u32 %r3, [table+12]; ld.const.f32 %r4, [factor];\n"
		     "cvt.rzi.s32.f32 %r4, %r4; add.s32 %r1, %r1, %r2; add.s32 %r1, %r1, %r3;\n"
		     "mad.lo.s32 %r1, %r1, %r4, 0; mov.u32 %r5, rest; add.s32 %r1, %r1, %r5;\n"
		     "mov.u64 %d4, small; cvta.shared.u64 %d5, %d4; isspacep.shared %p0, %d5;\n"
		     "isspacep.global %p1, %d5; @%p0 add.s32 %r1, %r1, 1000;\n"
		     "@%p1 add.s32 %r1, %r1, 5000; mad.wide.u32 %d0, %r0, 4, %d0;\n"
		     "st.global.u32 [%d0], %r1; ret; }");
	for (uint32_t t = 0; t < 64; t++)
		assert_int_equal(d.out[t], (t + 30 + 40) * 2 + 64 + 1000);
}

static void narrow_loads(void **state)
{
	struct data d;

	/* in[1] holds bytes 1 0 0 0; make them 0x80 0xff. */
	run_body(&d, 1,
		 "st.global.b32 [%in], 0xff80; ld.global.s8 %r0, [%in]; ld.global.u8 %r1, [%in];\n"
		 "ld.global.s16 %r2, [%in]; ld.global.s8 %h0, [%in]; cvt.u32.u16 %r3, %h0;\n"
		 "ld.global.v2.u8 {%h1, %h2}, [%in]; cvt.u32.u16 %r4, %h2;\n"
		 "ld.global.s32 %d3, [%in]; ld.global.s16 %d4, [%in]; shr.s64 %d4, %d4, 20;\n"
		 "cvt.u32.u64 %r5, %d4;\n"
		 "st.global.v4.b32 [%out+16], {%r0, %r1, %r2, %r3};\n"
		 "st.global.v2.b32 [%out+32], {%r4, %r5};");
	assert_int_equal(d.out[4], 0xffffff80);
	assert_int_equal(d.out[5], 0x80);
	assert_int_equal(d.out[6], 0xffffff80);
	assert_int_equal(d.out[7], 0xff80);
	assert_int_equal(d.out[8], 0xff);
	assert_int_equal(d.out[9], 0xffffffff);
}

/* Lanes of one instruction in two allocations, and in two state spaces. */
static void scattered(void **state)
{
	struct data d;

	run_body(&d, 40,
		 "and.b32 %r1, %t, 1; setp.eq.s32 %p0, %r1, 0; selp.b64 %d0, %in, %in2, %p0;\n"
		 "mad.wide.u32 %d0, %t, 4, %d0; ld.global.b32 %r0, [%d0];");
	for (unsigned t = 0; t < 40; t++)
		assert_int_equal(d.out[t], t & 1 ? 1000 + t : t);
	run_body(&d, 32,
		 "mov.u64 %d1, dynamic; cvta.shared.u64 %d1, %d1; st.b32 [%d1+64], 7;\n"
		 "bar.warp.sync -1; setp.lt.u32 %p0, %t, 5; selp.b64 %d0, %d1, %in, %p0;\n"
		 "ld.b32 %r0, [%d0+64];");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], t < 5 ? 7 : 16);
}

static void async_copies(void **state)
{
	struct data d;

	run_body(&d, 32,
		 "mov.b32 %r1, dynamic; mad.lo.s32 %r1, %t, 16, %r1;\n"
		 "mad.wide.u32 %d0, %t, 16, %in; mov.b32 %r2, 16;\n"
		 "setp.ge.u32 %p0, %t, 16; @%p0 mov.b32 %r2, 8;\n"
		 "cp.async.cg.shared.global [%r1+0], [%d0+0], 0x10, %r2;\n"
		 "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
		 "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r1];\n"
		 "add.s32 %r0, %r5, %r7;");
	for (unsigned t = 0; t < 32; t++)
		assert_int_equal(d.out[t], t < 16 ? 4 * t + 1 + 4 * t + 3 : 4 * t + 1);
}

/* ---- matrices ---- */

/* A (16 x 16, by rows) and B (16 x 8, by columns) through ldmatrix into an mma, D from its
 * fragments. */
static void multiply(const char *type, const uint16_t a[16][16], const uint16_t b[8][16],
		     float out[16][8])
{
	struct data d;
	struct job j = job_for(&d, 32);
	_cleanup_free_ char *body = text_format(
		"mov.b32 %%r1, dynamic; mad.lo.s32 %%r2, %%t, 16, %%r1; mad.wide.u32 %%d0, %%t, "
		"16, %%in;\n"
		"ld.global.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%d0];\n"
		"st.shared.v4.b32 [%%r2], {%%r4, %%r5, %%r6, %%r7};\n"
		"mad.wide.u32 %%d0, %%t, 8, %%in2; ld.global.v2.b32 {%%r4, %%r5}, [%%d0];\n"
		"mad.lo.s32 %%r2, %%t, 8, %%r1; st.shared.v2.b32 [%%r2+512], {%%r4, %%r5};\n"
		"bar.sync 0;\n"
		/* lane l: row l %% 16, half l / 16 of A */
		"and.b32 %%r3, %%t, 15; shl.b32 %%r3, %%r3, 5; shr.u32 %%r4, %%t, 4;\n"
		"shl.b32 %%r4, %%r4, 4; add.s32 %%r3, %%r3, %%r4; add.s32 %%r3, %%r3, %%r1;\n"
		"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%r10, %%r11, %%r12, %%r13}, [%%r3];\n"
		/* lane l: column l %% 8, half l / 8 of B */
		"and.b32 %%r3, %%t, 7; shl.b32 %%r3, %%r3, 5; shr.u32 %%r4, %%t, 3;\n"
		"and.b32 %%r4, %%r4, 1; shl.b32 %%r4, %%r4, 4; add.s32 %%r3, %%r3, %%r4;\n"
		"add.s32 %%r3, %%r3, %%r1;\n"
		"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%%r14, %%r15}, [%%r3+512];\n"
		"mov.b32 %%f0, 0f00000000;\n"
		"mma.sync.aligned.m16n8k16.row.col.f32.%s.%s.f32 {%%f1, %%f2, %%f3, %%f4},\n"
		"{%%r10, %%r11, %%r12, %%r13}, {%%r14, %%r15}, {%%f0, %%f0, %%f0, %%f0};\n"
		"mad.wide.u32 %%o, %%t, 8, %%out; st.global.v2.f32 [%%o], {%%f1, %%f2};\n"
		"st.global.v2.f32 [%%o+256], {%%f3, %%f4};",
		type, type);
	_cleanup_free_ char *text = kernel_around(body);

	memcpy(d.in, a, 512);
	memcpy(d.in2, b, 256);
	j.shared = 1024;
	job_must_run(&j, text);
	memcpy(out, d.out, 512);
}

static void matrices(void **state)
{
	uint16_t a[16][16], b[8][16];
	float x[16][16], y[8][16], out[16][8];
	uint64_t random = 42;

	for (unsigned i = 0; i < 16; i++)
		for (unsigned k = 0; k < 16; k++) {
			x[i][k] = (float)((int)(test_random(&random) % 17) - 8);
			a[i][k] = (uint16_t)bf16_nearest(x[i][k]);
			y[i % 8][k] = (float)((int)(test_random(&random) % 17) - 8);
			b[i % 8][k] = (uint16_t)bf16_nearest(y[i % 8][k]);
		}
	multiply("bf16", a, b, out);
	for (unsigned i = 0; i < 16; i++)
		for (unsigned n = 0; n < 8; n++) {
			float want = 0;

			for (unsigned k = 0; k < 16; k++)
				want += x[i][k] * y[n][k];
			assert_true(out[i][n] == want);
		}
	/* Beside 1: 2^-26 is cut off, two of 2^-24 add up, one is lost when the sum is cut. */
	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	for (unsigned k = 0; k < 16; k++)
		b[0][k] = (uint16_t)f16_nearest(0x1p-13f);
	b[0][0] = (uint16_t)f16_nearest(1.0f);
	for (unsigned i = 0; i < 16; i++)
		a[i][0] = (uint16_t)f16_nearest(1.0f);
	for (unsigned k = 1; k < 16; k++)
		a[0][k] = (uint16_t)f16_nearest(0x1p-13f);
	a[1][1] = a[2][1] = a[2][2] = (uint16_t)f16_nearest(0x1p-11f);
	multiply("f16", a, b, out);
	assert_true(out[0][0] == 1.0f);
	assert_true(out[1][0] == 1.0f);
	assert_true(out[2][0] == 1.0f + 0x1p-23f);
}

/* What stmatrix writes, ldmatrix reads; transposed twice is the same again. */
static void matrix_copies(void **state)
{
	struct data d;

	run_body(&d, 32,
		 "mov.b32 %r1, dynamic; mad.lo.s32 %r2, %t, 16, %r1;\n"
		 "mul.lo.s32 %r3, %t, 0x10203; not.b32 %r4, %r3;\n"
		 "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r2], {%r3, %r4};\n"
		 "bar.sync 0; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r5, %r6}, [%r2];\n"
		 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r2];\n"
		 "not.b32 %r6, %r6; sub.s32 %r8, %r5, %r3; sub.s32 %r9, %r6, %r3;\n"
		 "or.b32 %r0, %r8, %r9; shl.b32 %r7, %r7, 1; or.b32 %r0, %r0, %r7;");
	for (unsigned t = 0; t < 32; t++) {
		/* Transposed: row t / 4, columns 2 (t % 4) and the next. */
		uint32_t row = t / 4, column = t % 4 * 2, parts[2];

		for (unsigned k = 0; k < 2; k++) {
			uint32_t lane = (column + k) * 4 + row / 2;

			parts[k] = lane * 0x10203 >> 16 * (row & 1) & 0xffff;
		}
		assert_int_equal(d.out[t], (parts[0] | parts[1] << 16) << 1);
	}
}

/* ---- calls ---- */

static void calls(void **state)
{
	struct data d;
	struct job j = job_for(&d, 32);

	job_must_run(&j, ".version 8.0\n.target sm_80\n.address_size 64\n"
			 ".func (.param .b32 result) twice(.param .b32 x);\n"
			 ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n"
			 ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n"
			 "ld.param.u64 %d0, [p2]; mov.u32 %r0, %tid.x; mov.b32 %r2, 0;\n"
			 "setp.lt.u32 %p0, %r0, 10; @%p0 bra skip;\n"
			 "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r0;\n"
			 "call.uni (r), twice, (a); ld.param.b32 %r2, [r]; }\n"
			 "skip: { .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r2;\n"
			 "call (r), twice, (a); ld.param.b32 %r3, [r+0]; }\n"
			 "mad.wide.u32 %d0, %r0, 4, %d0; st.global.b32 [%d0], %r3; ret; }\n"
			 ".func (.param .b32 result) twice(.param .b32 x) {\n"
			 ".reg .b32 %r<4>; .reg .pred %p<2>; ld.param.b32 %r1, [x];\n"
			 "setp.eq.u32 %p1, %r1, 62; @%p1 bra odd; add.s32 %r2, %r1, %r1;\n"
			 "st.param.b32 [result], %r2; ret;\n"
			 "odd: mov.b32 %r2, 5; st.param.b32 [result], %r2; ret; }");
	for (uint32_t t = 0; t < 32; t++)
		assert_int_equal(d.out[t], t < 10 ? 0 : t == 31 ? 5 : 4 * t);
}

static void assertion(void **state)
{
	static const char text[] =
		".version 8.0\n.target sm_80\n.address_size 64\n"
		".global .align 1 .b8 message[6] = {120, 32, 62, 32, 48};\n"
		".global .align 1 .b8 file[5] = {97, 46, 112, 121};\n"
		".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c,\n"
		".param .b64 d, .param .b64 e) .noreturn;\n"
		".visible .entry k() { .reg .b64 %d<4>;\n"
		".param .b64 param0; .param .b64 param1; .param .b32 param2;\n"
		".param .b64 param3; .param .b64 param4;\n"
		"mov.b64 %d0, message; cvta.global.u64 %d1, %d0; st.param.b64 [param0], %d1;\n"
		"mov.b64 %d2, file; st.param.b64 [param1], %d2; st.param.b32 [param2], 69;\n"
		"call.uni __assertfail, (param0, param1, param2, param3, param4); trap; }";
	struct job j = {0};

	assert_int_equal(job_run(&j, text), MACHINE_TRAP);
	has(j.fault.message, "assertion failed: x > 0 (a.py:69)");
}

/* ---- contraction ---- */

static uint32_t contracted(enum machine_contract contract, const char *body)
{
	struct data d;
	struct job j = job_for(&d, 1);
	_cleanup_free_ char *with_store = text_format(
		"mov.b32 %%f0, 0f3F800001; mov.b32 %%f1, 0f3F800001; mov.b32 %%f2, 0fBF800002;\n"
		"%s\nmov.b32 %%r0, %%f3; %s",
		body, STORE);
	_cleanup_free_ char *text = kernel_around(with_store);

	j.contract = contract;
	job_must_run(&j, text);
	return d.out[0];
}

static void contraction(void **state)
{
	const uint32_t fused = 0x28800000; /* 2^-46 */

	/* (1 + e)^2 - (1 + 2e): 0 if the product is rounded, e^2 if not. */
	assert_int_equal(contracted(CONTRACT_MAY, "mul.f32 %f4, %f0, %f1; add.f32 %f3, %f4, %f2;"),
			 fused);
	assert_int_equal(contracted(CONTRACT_OFF, "mul.f32 %f4, %f0, %f1; add.f32 %f3, %f4, %f2;"),
			 0);
	assert_int_equal(
		contracted(CONTRACT_MAY, "mul.rn.f32 %f4, %f0, %f1; add.f32 %f3, %f4, %f2;"), 0);
	assert_int_equal(
		contracted(CONTRACT_MAY, "mul.f32 %f4, %f0, %f1; add.rn.f32 %f3, %f4, %f2;"), 0);
	assert_int_equal(contracted(CONTRACT_MAY, "neg.f32 %f2, %f2; mul.f32 %f4, %f0, %f1;"
						  "sub.f32 %f3, %f2, %f4;"),
			 fused | 0x80000000);
	assert_int_equal(contracted(CONTRACT_MAY, "neg.f32 %f2, %f2; mul.f32 %f4, %f0, %f1;"
						  "sub.f32 %f3, %f4, %f2;"),
			 fused);
	/* Used by two additions: both are fused; a guarded one, too. */
	assert_int_equal(contracted(CONTRACT_MAY,
				    "mul.f32 %f4, %f0, %f1; add.f32 %f3, %f4, %f2;"
				    "add.f32 %f5, %f4, %f0; st.global.b32 [%in], %f5;"),
			 fused);
	assert_int_equal(contracted(CONTRACT_MAY, "setp.eq.s32 %p0, %t, 0; mul.f32 %f4, %f0, %f1;"
						  "@%p0 add.f32 %f3, %f4, %f2;"),
			 fused);
	/* Of two products the first operand's is fused. */
	assert_int_equal(contracted(CONTRACT_MAY,
				    "mul.f32 %f4, %f0, %f1; mul.f32 %f5, %f2, 0f3F800000;"
				    "add.f32 %f3, %f4, %f5;"),
			 fused);
	assert_int_equal(contracted(CONTRACT_MAY,
				    "mul.f32 %f4, %f0, %f1; mul.f32 %f5, %f2, 0f3F800000;"
				    "add.f32 %f3, %f5, %f4;"),
			 0);
	/* The product is needed elsewhere, or a factor changes in between: not fused. */
	assert_int_equal(contracted(CONTRACT_MAY, "mul.f32 %f4, %f0, %f1; add.f32 %f3, %f4, %f2;"
						  "st.global.b32 [%in], %f4;"),
			 0);
	assert_int_equal(contracted(CONTRACT_MAY, "mul.f32 %f4, %f0, %f1; mov.b32 %f1, 0f40000000;"
						  "add.f32 %f3, %f4, %f2;"),
			 0);
	assert_int_equal(contracted(CONTRACT_MAY, "mul.f32 %f4, %f0, %f1; bra next; next:\n"
						  "add.f32 %f3, %f4, %f2;"),
			 0);
}

/* ---- order ---- */

static void seeds(void **state)
{
	struct data d;
	_cleanup_free_ char *text =
		kernel_around("mov.u32 %r1, %ctaid.x; mad.lo.s32 %r1, %r1, 32, %t;\n"
			      "atom.global.add.u32 %r0, [%in], 1;\n"
			      "mad.wide.u32 %o, %r1, 4, %out; st.global.b32 [%o], %r0;");
	bool changed = false;

	for (uint64_t seed = 0; seed < 8; seed++) {
		struct job j = job_for(&d, 32);
		uint64_t seen[2] = {0, 0};

		j.grid = 4;
		j.seed = seed;
		job_must_run(&j, text);
		/* Every block ran once, whatever the order. */
		for (unsigned i = 0; i < 128; i++)
			seen[d.out[i] / 64] |= 1ull << d.out[i] % 64;
		assert_true(seen[0] == UINT64_MAX && seen[1] == UINT64_MAX);
		if (!seed)
			assert_int_equal(d.out[127], 127);
		else
			changed |= d.out[127] != 127;
	}
	assert_true(changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches),      cmocka_unit_test(both_sides),
		cmocka_unit_test(early_exit),    cmocka_unit_test(inline_scopes),
		cmocka_unit_test(out_of_bounds), cmocka_unit_test(misaligned),
		cmocka_unit_test(deadlock),      cmocka_unit_test(quota_and_trap),
		cmocka_unit_test(stopped),       cmocka_unit_test(too_much_memory),
		cmocka_unit_test(spinning),      cmocka_unit_test(shuffles),
		cmocka_unit_test(votes),         cmocka_unit_test(barriers),
		cmocka_unit_test(atomics),       cmocka_unit_test(spaces),
		cmocka_unit_test(narrow_loads),  cmocka_unit_test(scattered),
		cmocka_unit_test(async_copies),  cmocka_unit_test(calls),
		cmocka_unit_test(matrices),      cmocka_unit_test(matrix_copies),
		cmocka_unit_test(assertion),     cmocka_unit_test(contraction),
		cmocka_unit_test(seeds),
	};

	return cmocka_run_group_tests_name("softgpu machine", tests, NULL, NULL);
}
