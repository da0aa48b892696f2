/* SPDX-License-Identifier: MIT */
/* Changed inputs: how far and which way elements of every type move, what stays, exact integers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "tests/replay/change_host.h"

#define BASE 0x1000000ull

static const enum dtype floats[] = {DTYPE_F64,    DTYPE_F32,    DTYPE_F16,        DTYPE_BF16,
				    DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ};

static uint8_t *changed(enum change_kind kind, enum dtype t, double step, uint64_t seed,
			const uint8_t *before)
{
	struct float_input input = {BASE, CHUNK_BYTES, t, BASE};
	struct float_inputs inputs = {&input, 1, 1};
	struct change c = {.kind = kind, .inputs = &inputs, .step = step, .seed = seed};
	uint8_t *data = malloc(CHUNK_BYTES);

	memcpy(data, before, CHUNK_BYTES);
	assert_true(change_chunk(&c, 0, BASE, data));
	return data;
}

/* Every bit pattern of the narrow types, random ones of the others: the mean step is h. */
static void steps_are_relative(void **state)
{
	_cleanup_free_ uint8_t *before = malloc(CHUNK_BYTES);

	for (size_t i = 0; i < CHUNK_BYTES; i++)
		before[i] = (uint8_t)(i * 2654435761u >> 13 ^ i);
	for (size_t k = 0; k < ARRAY_LENGTH(floats); k++) {
		enum dtype t = floats[k];
		uint32_t bytes = dtype_bytes(t);
		double h = dtype_roundoff(t), sum = 0, up = 0;
		_cleanup_free_ uint8_t *after = changed(CHANGE_PERTURB, t, h, 1, before);
		double least = bytes == 1 ? 0x1p-5 : t == DTYPE_F16 ? 0x1p-14 : 1e-37;
		size_t n = 0;

		for (size_t at = 0; at < CHUNK_BYTES; at += bytes) {
			double x, y;

			if (float_class(t, before + at) != FLOAT_FINITE) {
				assert_memory_equal(before + at, after + at, bytes);
				continue;
			}
			assert_int_equal(float_class(t, after + at), FLOAT_FINITE);
			x = float_value(t, before + at);
			y = float_value(t, after + at);
			if (x == 0)
				assert_true(y == 0);
			if (fabs(x) < least || (bytes == 1 && fabs(x) > 100))
				continue; /* denormals, ends of the range of fp8 */
			assert_true(fabs((y - x) / x) <= 2 * h);
			sum += fabs((y - x) / x);
			up += fabs(y) > fabs(x);
			n++;
		}
		assert_true(n > 500);
		if (bytes > 1) /* 256 patterns repeat: no statistics */
			assert_true(fabs(sum / (double)n / h - 1) < 0.1);
		assert_true(up > 0 && up < (double)n);
	}
}

static void equal_values_move_together(void **state)
{
	_cleanup_free_ float *before = malloc(CHUNK_BYTES);
	size_t n = CHUNK_BYTES / 4;

	for (size_t i = 0; i < n; i++)
		before[i] = (float)(i % 7) - 3;
	before[n - 1] = -INFINITY;
	before[n - 2] = -3.4028234663852886e38f; /* a mask */
	_cleanup_free_ float *after =
		(float *)changed(CHANGE_PERTURB, DTYPE_F32, 0x1p-8, 5, (uint8_t *)before);
	for (size_t i = 7; i + 2 < n; i++)
		assert_true(after[i] == after[i - 7]);
	assert_true(after[3] == 0);
	assert_true(after[0] != -3);
	assert_true(after[n - 1] == before[n - 1] && after[n - 2] == before[n - 2]);
}

static void integers_are_small_and_differ(void **state)
{
	_cleanup_free_ uint8_t *before = calloc(1, CHUNK_BYTES);

	for (size_t k = 0; k < ARRAY_LENGTH(floats); k++) {
		enum dtype t = floats[k];
		_cleanup_free_ uint8_t *after = changed(CHANGE_INTEGERS, t, 0, 1, before);
		size_t counts[CHANGE_INTEGER_MAX + 1] = {0};

		for (size_t at = 0; at < CHUNK_BYTES; at += dtype_bytes(t)) {
			double v = float_value(t, after + at);

			assert_true(v >= 0 && v <= CHANGE_INTEGER_MAX && v == nearbyint(v));
			counts[(int)v]++;
		}
		for (size_t i = 0; i <= CHANGE_INTEGER_MAX; i++)
			assert_true(counts[i] > CHUNK_BYTES / dtype_bytes(t) / 10);
	}
}

/* Every pattern of the narrow types against ldexp: rounded to nearest, masks and 8 bits stay. */
static void scaling_is_exact(void **state)
{
	static const enum dtype wide[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64};
	static const double greatest[] = {65504, 0x1.fep127, 0x1.fffffep127,
					  0x1.fffffffffffffp1023};
	_cleanup_free_ uint8_t *before = malloc(CHUNK_BYTES), *zero = malloc(CHUNK_BYTES);
	struct float_input input = {BASE, CHUNK_BYTES, 0, BASE};
	struct float_inputs inputs = {&input, 1, 1};
	uint64_t set[BYTESET_WORDS] = {0}, *words = set;
	struct byteset some = {.chunks = 1, .words = &words};

	for (size_t i = 0; i < CHUNK_BYTES / 2; i++)
		((uint16_t *)before)[i] = (uint16_t)(i ^ (i >> 16 ? i * 40503 : 0));
	memset(set, 0xff, 8 * 100); /* the first 6400 bytes */
	for (size_t k = 0; k < ARRAY_LENGTH(wide); k++) {
		uint32_t bytes = dtype_bytes(wide[k]);

		for (int e = -10; e <= 6; e += 16) {
			struct change c = {.kind = CHANGE_SCALE, .inputs = &inputs, .exponent = e};

			input.dtype = wide[k];
			memcpy(zero, before, CHUNK_BYTES);
			c.zero = e < 0 ? &some : NULL;
			assert_true(change_chunk(&c, 0, BASE, zero));
			for (size_t at = 0; at < CHUNK_BYTES; at += bytes) {
				double x = float_value(wide[k], before + at), y;

				if (e < 0 && at < 6400) {
					assert_true(float_value(wide[k], zero + at) == 0);
					continue;
				}
				if (float_class(wide[k], before + at) != FLOAT_FINITE ||
				    fabs(x) >= greatest[k]) {
					assert_memory_equal(before + at, zero + at, bytes);
					continue;
				}
				y = ldexp(x, e);
				if (wide[k] == DTYPE_F32)
					y = (float)y;
				else if (wide[k] == DTYPE_F16) /* 2^-24 is its last place */
					y = fabs(y) < 0x1p-14 ? nearbyint(y * 0x1p24) * 0x1p-24 : y;
				else if (wide[k] == DTYPE_BF16)
					y = fabs(y) < 0x1p-126 ? nearbyint(y * 0x1p133) * 0x1p-133
							       : y;
				if (fabs(y) > greatest[k])
					y = copysign(greatest[k], y);
				assert_true(float_value(wide[k], zero + at) == y);
			}
		}
	}
	input.dtype = DTYPE_F8E4M3;
	_cleanup_free_ uint8_t *same = changed(CHANGE_SCALE, DTYPE_F8E4M3, 0, 1, before);
	assert_memory_equal(same, before, CHUNK_BYTES);
}

/* Only float pointers, each up to the next pointer, whole elements. */
static void inputs_end_at_the_next_pointer(void **state)
{
	struct pointer p[] = {{BASE, BASE + 0x1000, 1, DTYPE_BF16, false},
			      {BASE + 0x101, BASE + 0x1000, 2, DTYPE_I32, false},
			      {BASE + 0x200, BASE + 0x1000, 3, DTYPE_F32, true}};
	struct record_launch launch = {0};
	struct float_inputs inputs;

	assert_int_equal(float_inputs_find(&inputs, p, 3, &launch), 0);
	assert_int_equal(inputs.count, 2);
	assert_int_equal(inputs.items[0].size, 0x100);
	assert_int_equal(inputs.items[1].base, BASE + 0x200);
	assert_int_equal(inputs.items[1].size, 0xe00);
	assert_true(float_step(p, 3) == 0x1p-8);
	free(inputs.items);
}

/* Of a measured launch only what it reads, whole elements. */
static void only_what_is_read_changes(void **state)
{
	struct pointer p[] = {{BASE, BASE + 0x1000, 1, DTYPE_F32, false},
			      {BASE + 0x100, BASE + 0x1000, 2, DTYPE_F32, true}};
	uint64_t reads[] = {0x10, 0x20, 0x42, 0x6, 0xf0, 0x20};
	struct record_region region = {
		.base = BASE, .size = 0x1000, .reads = {reads, ARRAY_LENGTH(reads)}};
	struct record_launch launch = {.measured = true, .regions = {&region, 1}};
	struct float_inputs inputs;

	assert_int_equal(float_inputs_find(&inputs, p, 2, &launch), 0);
	assert_int_equal(inputs.count, 4);
	assert_int_equal(inputs.items[0].base, BASE + 0x10);
	assert_int_equal(inputs.items[0].size, 0x20);
	assert_int_equal(inputs.items[1].base, BASE + 0x44);
	assert_int_equal(inputs.items[1].size, 4);
	assert_int_equal(inputs.items[2].size, 0x10);
	assert_int_equal(inputs.items[3].base, BASE + 0x100);
	assert_int_equal(inputs.items[3].size, 0x10);
	free(inputs.items);

	region.reads.count = 0; /* it reads nothing */
	assert_int_equal(float_inputs_find(&inputs, p, 2, &launch), 0);
	assert_int_equal(inputs.count, 0);
	free(inputs.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_relative),
		cmocka_unit_test(equal_values_move_together),
		cmocka_unit_test(integers_are_small_and_differ),
		cmocka_unit_test(scaling_is_exact),
		cmocka_unit_test(inputs_end_at_the_next_pointer),
		cmocka_unit_test(only_what_is_read_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
