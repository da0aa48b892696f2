/* SPDX-License-Identifier: MIT */
/* Real Triton kernels on the machine, against references in double precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/number.h"
#include "tests/softgpu/machine_client.h"

#define ROWS    8
#define COLUMNS 1000

struct row_params {
	uint64_t pointers[2];
	uint32_t n, pad;
	uint64_t scratch[2];
};

static void fill_bf16(uint16_t *x, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (uint16_t)bf16_nearest(4.0f * test_float(&seed));
}

static void softmax(void **state)
{
	uint16_t x[ROWS * COLUMNS], y[ROWS * COLUMNS];
	struct row_params params = {{BUFFER_ADDRESS(0), BUFFER_ADDRESS(1)}, COLUMNS, 0, {0, 0}};
	struct job j = {.grid = ROWS,
			.block = 128,
			.shared = 16,
			.buffers = {x, y},
			.sizes = {sizeof(x), sizeof(y)},
			.buffer_count = 2,
			.params = &params};
	_cleanup_free_ char *text = test_data("kernels/softmax_k.a.ptx");

	fill_bf16(x, ARRAY_LENGTH(x), 1);
	memset(y, 0xff, sizeof(y));
	job_must_run(&j, text);
	for (unsigned r = 0; r < ROWS; r++) {
		double max = -INFINITY, sum = 0;

		for (unsigned c = 0; c < COLUMNS; c++)
			max = fmax(max, bf16_value(x[r * COLUMNS + c]));
		for (unsigned c = 0; c < COLUMNS; c++)
			sum += exp(bf16_value(x[r * COLUMNS + c]) - max);
		for (unsigned c = 0; c < COLUMNS; c++) {
			double want = exp(bf16_value(x[r * COLUMNS + c]) - max) / sum;
			double got = bf16_value(y[r * COLUMNS + c]);

			assert_true(fabs(got - want) <= want * 0.0042); /* half a unit of bf16 */
		}
	}
	assert_true(j.counts.warp_instructions > ROWS * 4 * 100);
}

static void layernorm(void **state)
{
	uint16_t x[ROWS * COLUMNS], y[ROWS * COLUMNS];
	float w[COLUMNS], b[COLUMNS];
	struct {
		uint64_t x, w, b, y;
		uint32_t n;
		float eps;
		uint64_t scratch[2];
	} params = {BUFFER_ADDRESS(0),
		    BUFFER_ADDRESS(1),
		    BUFFER_ADDRESS(2),
		    BUFFER_ADDRESS(3),
		    COLUMNS,
		    1e-5f,
		    {0, 0}};
	struct job j = {.grid = ROWS,
			.block = 128,
			.shared = 2048,
			.buffers = {x, w, b, y},
			.sizes = {sizeof(x), sizeof(w), sizeof(b), sizeof(y)},
			.buffer_count = 4,
			.params = &params};
	_cleanup_free_ char *text = test_data("kernels/layernorm_k.a.ptx");
	uint64_t seed = 77;

	fill_bf16(x, ARRAY_LENGTH(x), 2);
	for (unsigned c = 0; c < COLUMNS; c++) {
		w[c] = test_float(&seed);
		b[c] = test_float(&seed);
	}
	job_must_run(&j, text);
	for (unsigned r = 0; r < ROWS; r++) {
		double mean = 0, variance = 0;

		for (unsigned c = 0; c < COLUMNS; c++)
			mean += bf16_value(x[r * COLUMNS + c]) / (double)COLUMNS;
		for (unsigned c = 0; c < COLUMNS; c++)
			variance += pow(bf16_value(x[r * COLUMNS + c]) - mean, 2) / COLUMNS;
		for (unsigned c = 0; c < COLUMNS; c++) {
			double z = (bf16_value(x[r * COLUMNS + c]) - mean) / sqrt(variance + 1e-5);
			double want = z * w[c] + b[c], got = bf16_value(y[r * COLUMNS + c]);

			assert_true(fabs(got - want) <= fabs(want) * 0.0042 + 1e-5);
		}
	}
}

static void atomic_sum(void **state)
{
	enum { N = 10000 };
	float x[N], sum = 0, first;
	struct row_params params = {{BUFFER_ADDRESS(0), BUFFER_ADDRESS(1)}, N, 0, {0, 0}};
	struct job j = {.grid = (N + 1023) / 1024,
			.block = 128,
			.shared = 16,
			.buffers = {x, &sum},
			.sizes = {sizeof(x), sizeof(sum)},
			.buffer_count = 2,
			.params = &params};
	_cleanup_free_ char *text = test_data("kernels/atomic_k.a.ptx");
	uint64_t seed = 3;
	double want = 0;

	for (unsigned i = 0; i < N; i++) {
		x[i] = test_float(&seed);
		want += x[i];
	}
	job_must_run(&j, text);
	assert_true(fabs(sum - want) < 1e-2);
	first = sum;
	sum = 0;
	job_must_run(&j, text);
	assert_memory_equal(&first, &sum, 4); /* the default order repeats */
	/* Another order of blocks: the same terms, not always the same rounding. */
	for (j.seed = 1; j.seed < 20; j.seed++) {
		sum = 0;
		job_must_run(&j, text);
		assert_true(fabs(sum - want) < 1e-2);
		if (sum != first)
			break;
	}
	assert_true(j.seed < 20);
}

/* The same kernel as another ptxas' build got it: equal PTX, equal bits. */
static void sides_agree(void **state)
{
	uint16_t x[ROWS * COLUMNS], y[2][ROWS * COLUMNS];

	fill_bf16(x, ARRAY_LENGTH(x), 5);
	for (unsigned side = 0; side < 2; side++) {
		struct row_params params = {
			{BUFFER_ADDRESS(0), BUFFER_ADDRESS(1)}, COLUMNS, 0, {0, 0}};
		struct job j = {.grid = ROWS,
				.block = 128,
				.shared = 16,
				.buffers = {x, y[side]},
				.sizes = {sizeof(x), sizeof(y[side])},
				.buffer_count = 2,
				.params = &params};
		_cleanup_free_ char *text =
			test_data(side ? "kernels/softmax_k.b.ptx" : "kernels/softmax_k.a.ptx");

		job_must_run(&j, text);
	}
	assert_memory_equal(y[0], y[1], sizeof(y[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softmax),
		cmocka_unit_test(layernorm),
		cmocka_unit_test(atomic_sum),
		cmocka_unit_test(sides_agree),
	};

	return cmocka_run_group_tests_name("softgpu kernels", tests, NULL, NULL);
}
