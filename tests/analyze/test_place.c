/* SPDX-License-Identifier: MIT */
/* The worst cell of random maps against one that counts every cell from a bitmap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/metrics.h"
#include "analyze/place.h"
#include "lib/base.h"
#include "tests/analyze/splitmix.h"

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
	return splitmix64(&random_state);
}

static void naive_cell(const uint8_t *map, uint64_t columns, uint64_t row, uint64_t column,
		       uint64_t height, uint64_t width, double *worst)
{
	uint64_t count = 0;

	for (uint64_t r = row; r < row + height; r++)
		for (uint64_t c = column; c < column + width; c++)
			count += map[r * columns + c];
	if (height * width < 64 || !count)
		return;
	if (share_lower_bound(count, height * width, 5) > *worst)
		*worst = share_lower_bound(count, height * width, 5);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static double naive_worst(const uint8_t *map, uint64_t n, uint64_t columns)
{
	uint64_t rows =
		columns && n % columns == 0 && n / columns > 1 && columns > 1 ? n / columns : 0;
	double worst = 0;

	for (uint64_t length = 64; length <= 1024; length *= 4)
		for (uint64_t at = 0; at < n; at += length)
			naive_cell(map, n, 0, at, 1, least(length, n - at), &worst);
	if (!rows)
		return worst;
	for (uint64_t r = 0; r < rows; r++)
		naive_cell(map, columns, r, 0, 1, columns, &worst);
	for (uint64_t c = 0; c < columns; c++)
		naive_cell(map, columns, 0, c, rows, 1, &worst);
	for (uint64_t side = 8; side <= 64; side *= 2)
		for (uint64_t r = 0; r < rows; r += side)
			for (uint64_t c = 0; c < columns; c += side)
				naive_cell(map, columns, r, c, least(side, rows - r),
					   least(side, columns - c), &worst);
	return worst;
}

static void test_random_maps(void **state)
{
	static const uint64_t shapes[][2] = {{1, 1},    {1, 5000}, {70, 70},   {64, 100},
					     {300, 17}, {17, 300}, {128, 129}, {2, 4000},
					     {1000, 2}, {1, 64},   {9, 7}};
	static uint8_t map[20000];

	for (size_t i = 0; i < 40 * ARRAY_LENGTH(shapes); i++) {
		const uint64_t *shape = shapes[i % ARRAY_LENGTH(shapes)];
		uint64_t n = shape[0] * shape[1], rate = 1 + random_bits() % 60;
		uint64_t columns = random_bits() % 4 ? shape[1] : 0;
		uint64_t row = random_bits() % shape[0], column = random_bits() % shape[1];
		struct place_cell worst;
		struct place p;

		for (uint64_t k = 0; k < n; k++) {
			bool hot = k / shape[1] / 8 == row / 8 && k % shape[1] / 8 == column / 8;

			map[k] = random_bits() % (hot ? 2 : rate) == 0;
		}
		assert_int_equal(place_init(&p, n, columns), 0);
		for (int round = 0; round < 2; round++) {
			for (uint64_t k = 0; k < n; k++)
				if (map[k])
					place_add(&p, k);
			worst = place_worst(&p);
			assert_true(worst.bound == naive_worst(map, n, columns));
			assert_int_equal(!!worst.what, worst.bound > 0);
			place_clear(&p);
		}
		place_free(&p);
	}
}

static void test_one_tile(void **state)
{
	struct place_cell worst;
	struct place p;

	assert_int_equal(place_init(&p, 256 * 512, 512), 0);
	for (uint64_t r = 32; r < 48; r++)
		for (uint64_t c = 64; c < 80; c++)
			place_add(&p, r * 512 + c);
	worst = place_worst(&p);
	assert_string_equal(worst.what, "tile of 16x16");
	assert_int_equal(worst.first, 32 * 512 + 64);
	place_free(&p);
	/* rows too long to count columns: runs still tell */
	assert_int_equal(place_init(&p, UINT64_C(1) << 32, UINT64_C(1) << 30), 0);
	assert_null(p.column_counts);
	for (uint64_t i = 0; i < 256; i++)
		place_add(&p, (UINT64_C(1) << 31) + 256 + i);
	worst = place_worst(&p);
	assert_string_equal(worst.what, "run of 256 elements");
	assert_int_equal(worst.first, (UINT64_C(1) << 31) + 256);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_maps),
		cmocka_unit_test(test_one_tile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
