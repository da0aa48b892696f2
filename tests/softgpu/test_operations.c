/* SPDX-License-Identifier: MIT */
/* Each arithmetic operation against its reference; all builds of the arithmetic against each other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/lanes.h"
#include "tests/softgpu/machine_client.h"
#include "tests/softgpu/operation.h"

static void run_operation(const struct operation *o, uint64_t in[][3], uint64_t *out)
{
	struct job j = {.block = OPERATION_LANES,
			.buffers = {in, out},
			.sizes = {OPERATION_LANES * 24, OPERATION_LANES * 8},
			.buffer_count = 2};
	_cleanup_free_ char *text = operation_kernel(o);

	memset(out, 0, OPERATION_LANES * 8);
	job_must_run(&j, text);
}

static void references(void **state)
{
	static uint64_t in[OPERATION_LANES][3], out[OPERATION_LANES];
	unsigned wrong = 0;

	for (unsigned k = 0; k < operation_count; k++) {
		const struct operation *o = &operations[k];

		operation_inputs(o, in);
		run_operation(o, in, out);
		for (unsigned i = 0; i < OPERATION_LANES; i++) {
			uint64_t want = operation_reference(k, in[i]);

			if (operation_agrees(o, out[i], want))
				continue;
			print_error("%s: a %llx b %llx c %llx gives %llx, not %llx\n", o->text,
				    (unsigned long long)in[i][0], (unsigned long long)in[i][1],
				    (unsigned long long)in[i][2], (unsigned long long)out[i],
				    (unsigned long long)want);
			wrong++;
			break;
		}
	}
	assert_int_equal(wrong, 0);
}

/* Random bits into every lane function: what one build gives, all others must give. */
static void builds_agree(void **state)
{
	static uint64_t s[4][32] __attribute__((aligned(64)));
	static uint64_t d[2][32] __attribute__((aligned(64)));
	const void *sources[4] = {s[0], s[1], s[2], s[3]};
	const uint32_t all_flags[] = {0,         LANE_FTZ,           LANE_SAT,
				      LANE_RZ,   LANE_RM | LANE_FTZ, LANE_RP,
				      LANE_WRAP, LANE_NEG_C,         LANE_NEG_A | LANE_FTZ,
				      LANE_NAN,  LANE_XORSIGN};
	const struct lane_table *first = lanes_available(0), *t;
	uint64_t random = 12345;

	for (unsigned n = 1; (t = lanes_available(n)); n++) {
		for (unsigned f = 0; f < LANE_FUNCTION_COUNT; f++) {
			for (unsigned k = 0; k < ARRAY_LENGTH(all_flags) * 8; k++) {
				uint32_t flags = all_flags[k % ARRAY_LENGTH(all_flags)];

				if (f == LANE_cvt_any || f == LANE_cvt_pair || f == LANE_prmt)
					flags = 0;
				for (unsigned i = 0; i < 128; i++)
					s[i / 32][i % 32] = test_random(&random);
				memset(d, 0, sizeof(d));
				first->functions[f](d[0], sources, flags);
				t->functions[f](d[1], sources, flags);
				if (memcmp(d[0], d[1], sizeof(d[0])))
					fail_msg("function %u, flags %x: %s and %s differ", f,
						 flags, first->name, t->name);
			}
		}
	}
}

/* One in four a NaN, an infinity, a zero or a denormal. */
static uint64_t odd_bits(uint64_t *random)
{
	static const uint64_t odd[] = {0x7fc000007fc00000ull, 0xff800000ff800000ull,
				       0x8000000080000000ull, 0x0000000100000001ull};
	uint64_t x = test_random(random);

	return x & 3 ? x : odd[x >> 2 & 3];
}

static void builds_compare_alike(void **state)
{
	static uint64_t s[2][32] __attribute__((aligned(64)));
	static uint64_t b[2][32] __attribute__((aligned(64)));
	const struct lane_table *first = lanes_available(0), *t;
	uint64_t random = 999;

	for (unsigned n = 1; (t = lanes_available(n)); n++) {
		for (unsigned k = 0; k < COMPARE_FUNCTION_COUNT * (COMPARE_NAN + 1) * 8; k++) {
			unsigned f = k % COMPARE_FUNCTION_COUNT;
			uint32_t flags = k / COMPARE_FUNCTION_COUNT % (COMPARE_NAN + 1);

			for (unsigned i = 0; i < 64; i++)
				s[i / 32][i % 32] = odd_bits(&random);
			if (f != ID_test_f32 && f != ID_test_f64)
				flags |= k & 64 ? LANE_COMPARE_FTZ : 0;
			assert_int_equal(first->compares[f](s[0], s[1], flags),
					 t->compares[f](s[0], s[1], flags));
		}
		for (unsigned k = 0; k < 64; k++) {
			struct address_span x, y;
			uint32_t mask = (uint32_t)test_random(&random) | 1u << k % 32;

			for (unsigned i = 0; i < 32; i++)
				s[0][i] = test_random(&random);
			first->blend64(b[0], s[0], s[1], mask);
			t->blend64(b[1], s[0], s[1], mask);
			assert_memory_equal(b[0], b[1], sizeof(b[0]));
			first->blend32(b[0], s[0], s[1], mask);
			t->blend32(b[1], s[0], s[1], mask);
			assert_memory_equal(b[0], b[1], sizeof(b[0]));
			first->span(s[0], mask, &x);
			t->span(s[0], mask, &y);
			assert_true(x.low == y.low && x.high == y.high && x.bits == y.bits);
			assert_true(x.low <= x.high && (x.bits & x.low) == x.low);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references),
		cmocka_unit_test(builds_agree),
		cmocka_unit_test(builds_compare_alike),
	};

	return cmocka_run_group_tests_name("softgpu operations", tests, NULL, NULL);
}
