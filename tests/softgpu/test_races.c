/* SPDX-License-Identifier: MIT */
/* Races in shared memory: found where nothing orders two warps, and nowhere else. */
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "tests/softgpu/machine_client.h"

#define THREADS 128

/* Races of a body in blocks of 128 threads; *out (may be NULL) gets what was found. */
static uint64_t races_of(const char *body, struct machine_races *out)
{
	static uint32_t in[1024], result[1024];
	_cleanup_free_ char *text = kernel_around(body);
	struct machine_races races;
	struct job j = {.grid = 2,
			.block = THREADS,
			.shared = 4096,
			.buffers = {in, in, result},
			.sizes = {sizeof(in), sizeof(in), sizeof(result)},
			.buffer_count = 3,
			.races = &races};

	memset(in, 0, sizeof(in));
	for (uint64_t seed = 0; seed < 2; seed++) {
		j.seed = seed;
		job_must_run(&j, text);
	}
	if (out)
		*out = races;
	else
		assert_false(races.incomplete);
	return races.count;
}

#define ADDRESSES                                                                                 \
	"mov.b32 %r1, dynamic; mad.lo.s32 %r2, %t, 4, %r1;\n" /* mine, and one of another warp */ \
	"xor.b32 %r3, %t, 127; mad.lo.s32 %r4, %r3, 4, %r1;\n"

static void a_barrier_orders(void **state)
{
	struct machine_races found;

	assert_int_equal(races_of(ADDRESSES "st.shared.b32 [%r2], %t; bar.sync 0;\n"
					    "ld.shared.b32 %r0, [%r4];\n",
				  NULL),
			 0);
	assert_int_not_equal(races_of(ADDRESSES "st.shared.b32 [%r2], %t;\n"
						"ld.shared.b32 %r0, [%r4];\n",
				      &found),
			     0);
	assert_non_null(strstr(found.message, "ld.shared.b32 %r0, [%r4]"));
	assert_non_null(strstr(found.message, "st.shared.b32 [%r2], %t"));
	assert_true(found.line[0] && found.line[1]);
	assert_false(found.incomplete);
}

/* The second iteration writes what the first one's readers may not have read yet. */
static void a_loop_needs_two(void **state)
{
	const char *loop =
		ADDRESSES "mov.b32 %r5, 0;\nagain:\n"
			  "add.s32 %r6, %r5, %t; st.shared.b32 [%r2], %r6; bar.sync 0;\n"
			  "ld.shared.b32 %r0, [%r4]; %s\n"
			  "add.s32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 3; @%p0 bra again;\n";
	_cleanup_free_ char *good = NULL, *bad = NULL;
	const char *at = strstr(loop, "%s");

	good = text_format("%.*sbar.sync 0;%s", (int)(at - loop), loop, at + 2);
	bad = text_format("%.*s%s", (int)(at - loop), loop, at + 2);
	assert_int_equal(races_of(good, NULL), 0);
	assert_int_not_equal(races_of(bad, NULL), 0);
}

static void equal_values_are_no_race(void **state)
{
	const char *same = ADDRESSES "st.shared.b32 [dynamic], 7; ld.shared.b32 %r0, [dynamic];\n"
				     "bar.sync 0; ld.shared.b32 %r0, [dynamic];\n";

	assert_int_equal(races_of(same, NULL), 0);
	assert_int_not_equal(races_of("st.shared.b32 [dynamic], %t;\n", NULL), 0);
}

static void one_warp_needs_no_barrier(void **state)
{
	assert_int_equal(races_of(ADDRESSES "xor.b32 %r3, %t, 31; mad.lo.s32 %r4, %r3, 4, %r1;\n"
					    "st.shared.b32 [%r2], %t; bar.warp.sync -1;\n"
					    "ld.shared.b32 %r0, [%r4];\n",
				  NULL),
			 0);
}

/* Warp 0 produces, warp 1 consumes; with and without the barrier that they share. */
static void named_barriers_order_who_meets(void **state)
{
	const char *text = "mov.b32 %%r0, 0; setp.ge.u32 %%p0, %%t, 64; @%%p0 bra join;\n"
			   "setp.ge.u32 %%p1, %%t, 32; @%%p1 bra consumer;\n"
			   "%s st.shared.b32 [dynamic], 42; %s bra join;\n"
			   "consumer: bar.sync 5, 64; ld.shared.b32 %%r0, [dynamic];\njoin:";
	_cleanup_free_ char *before = text_format(text, "", "bar.arrive 5, 64;");
	_cleanup_free_ char *after = text_format(text, "bar.arrive 5, 64;", "");

	assert_int_equal(races_of(before, NULL), 0);
	assert_int_not_equal(races_of(after, NULL), 0);
}

/* A counter in shared memory: the warp that comes last reads what the others wrote. */
static void atomics_order(void **state)
{
	const char *head = "setp.ne.u32 %p3, %t, 0;\n"
			   "@!%p3 st.shared.b32 [dynamic+1024], 0; bar.sync 0;\n" ADDRESSES
			   "st.shared.b32 [%r2], %t; bar.warp.sync -1;\n"
			   "and.b32 %r5, %t, 31; setp.ne.u32 %p0, %r5, 0; mov.b32 %r6, 0;\n";
	const char *tail = "setp.ne.u32 %p1, %r6, 3; @%p1 bra out;\n"
			   "ld.shared.b32 %r0, [dynamic]; ld.shared.b32 %r7, [dynamic+128];\n"
			   "ld.shared.b32 %r7, [dynamic+256];\n"
			   "ld.shared.b32 %r7, [dynamic+384];\nout:";
	_cleanup_free_ char *good = text_format(
		"%s@!%%p0 atom.shared.add.u32 %%r6, [dynamic+1024], 1;\n%s", head, tail);
	_cleanup_free_ char *bad =
		text_format("%s@!%%p0 ld.shared.b32 %%r6, [dynamic+1024]; add.u32 %%r8, %%r6, 1;\n"
			    "@!%%p0 st.shared.b32 [dynamic+1024], %%r8;\n%s",
			    head, tail);

	assert_int_equal(races_of(good, NULL), 0);
	assert_int_not_equal(races_of(bad, NULL), 0);
}

/* A flag in shared memory: volatile, or plain. */
static void flags_order_if_volatile(void **state)
{
	const char *text =
		"setp.ge.u32 %%p0, %%t, 64; @%%p0 bra join;\n"
		"setp.ge.u32 %%p1, %%t, 32; @%%p1 bra consumer;\n"
		"st.shared.b32 [dynamic], 42; st%s.shared.b32 [dynamic+64], 1; bra join;\n"
		"consumer: ld%s.shared.b32 %%r1, [dynamic+64];\n"
		"setp.eq.u32 %%p2, %%r1, 0; @%%p2 bra consumer;\n"
		"ld.shared.b32 %%r0, [dynamic];\njoin:";
	_cleanup_free_ char *strong = text_format(text, ".volatile", ".volatile");
	_cleanup_free_ char *released = text_format(text, ".release.cta", ".acquire.cta");
	_cleanup_free_ char *plain = text_format(text, "", "");

	assert_int_equal(races_of(strong, NULL), 0);
	assert_int_equal(races_of(released, NULL), 0);
	assert_int_not_equal(races_of(plain, NULL), 0);
}

static void copies_are_waited_for(void **state)
{
	const char *text = ADDRESSES "mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %in;\n"
				     "cp.async.ca.shared.global [%r2], [%d1], 4;\n"
				     "cp.async.commit_group;\n"
				     "cp.async.ca.shared.global [%r2+512], [%d1], 4;\n"
				     "cp.async.commit_group;\n";
	static const struct {
		const char *then;
		bool races;
	} rows[] = {
		{"cp.async.wait_group 0; bar.sync 0; ld.shared.b32 %r0, [%r4+512];", false},
		{"cp.async.wait_all; bar.sync 0; ld.shared.b32 %r0, [%r4+512];", false},
		{"cp.async.wait_group 1; bar.sync 0; ld.shared.b32 %r0, [%r4];", false},
		{"cp.async.wait_group 1; bar.sync 0; ld.shared.b32 %r0, [%r4+512];", true},
		{"bar.sync 0; ld.shared.b32 %r0, [%r2];", true},
		{"bar.sync 0; cp.async.wait_group 0; ld.shared.b32 %r0, [%r4];", true},
		{"cp.async.wait_group 0; ld.shared.b32 %r0, [%r2];", false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		_cleanup_free_ char *body = text_format("%s%s", text, rows[i].then);

		if ((races_of(body, NULL) != 0) != rows[i].races)
			fail_msg("%s", rows[i].then);
	}
}

/* Behind the last group that is followed a copy is a plain store, and that is told. */
static void too_many_groups(void **state)
{
	struct machine_races found;

	assert_int_equal(races_of(ADDRESSES "mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %in;\n"
					    "setp.ge.u32 %p1, %t, 32; @%p1 bra join;\n"
					    "mov.b32 %r5, 1048576;\n"
					    "loop: cp.async.commit_group; sub.u32 %r5, %r5, 1;\n"
					    "setp.ne.u32 %p0, %r5, 0; @%p0 bra loop;\n"
					    "cp.async.ca.shared.global [%r2], [%d1], 4;\n"
					    "cp.async.wait_all; ld.shared.b32 %r0, [%r2];\njoin:",
				  &found),
			 0);
	assert_true(found.incomplete);
}

/* A flag that is already looked at when it is written, and one that two write. */
static void flags_are_no_race(void **state)
{
	static const char *const bodies[] = {
		"setp.ge.u32 %p0, %t, 64; @%p0 bra join;\n"
		"setp.lt.u32 %p1, %t, 32; @%p1 bra consumer;\n"
		"st.shared.b32 [dynamic], 42; st.release.cta.shared.b32 [dynamic+64], 1; bra "
		"join;\n"
		"consumer: ld.acquire.cta.shared.b32 %r1, [dynamic+64];\n"
		"setp.eq.u32 %p2, %r1, 0; @%p2 bra consumer;\n"
		"ld.shared.b32 %r0, [dynamic];\njoin:",
		"shr.u32 %r1, %t, 5; st.relaxed.cta.shared.b32 [dynamic], %r1;\n",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++)
		assert_int_equal(races_of(bodies[i], NULL), 0);
}

/* What has ended is before every barrier that waited for it. */
static void ended_warps_are_ordered(void **state)
{
	assert_int_equal(races_of("setp.ge.u32 %p0, %t, 32; @%p0 bra rest;\n"
				  "st.shared.b32 [dynamic], 42; ret;\n"
				  "rest: bar.sync 0; ld.shared.b32 %r0, [dynamic];",
				  NULL),
			 0);
}

static void chosen_blocks_run_alone(void **state)
{
	static uint32_t result[64];
	_cleanup_free_ char *text =
		kernel_around("mov.u32 %r1, %ctaid.x; mad.wide.u32 %o, %r1, 4, %out;\n"
			      "add.u32 %r1, %r1, 1; st.global.b32 [%o], %r1;");
	const uint64_t blocks[] = {63, 5};
	struct job j = {.grid = 64,
			.block = 32,
			.buffers = {result, result, result},
			.sizes = {sizeof(result), sizeof(result), sizeof(result)},
			.buffer_count = 3,
			.blocks = blocks,
			.block_count = 2};

	job_must_run(&j, text);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(result[i], i == 63 || i == 5 ? i + 1 : 0);
	j.grid = 60;
	assert_int_equal(job_run(&j, text), MACHINE_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_barrier_orders),
		cmocka_unit_test(a_loop_needs_two),
		cmocka_unit_test(equal_values_are_no_race),
		cmocka_unit_test(one_warp_needs_no_barrier),
		cmocka_unit_test(named_barriers_order_who_meets),
		cmocka_unit_test(atomics_order),
		cmocka_unit_test(flags_order_if_volatile),
		cmocka_unit_test(too_many_groups),
		cmocka_unit_test(flags_are_no_race),
		cmocka_unit_test(copies_are_waited_for),
		cmocka_unit_test(ended_warps_are_ordered),
		cmocka_unit_test(chosen_blocks_run_alone),
	};

	return cmocka_run_group_tests_name("softgpu races", tests, NULL, NULL);
}
