/* SPDX-License-Identifier: MIT */
/* Rows, columns and tiles as real launches of a training run give them. */
#include "analyze/shape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

#include "lib/base.h"

static const struct {
	const char *what, *params, *options;
	uint32_t grid[3];
	uint64_t elements, rows, columns, tile_rows, tile_columns;
} cases[] = {
	{"matmul",
	 "A=0x7fc253ecd200 M=256 N=1024 K=512 sam=512 sbk=1024 scm=1024",
	 "num_warps=4 num_stages=3 32x64 128x32 128x64",
	 {2, 16, 1},
	 262144,
	 256,
	 1024,
	 128,
	 64},
	{"matmul with tails",
	 "M=500 N=300 K=200 sam=200 sbk=300 scm=300",
	 "num_warps=8 num_stages=3 64x128 128x64 128x128",
	 {4, 3, 1},
	 150000,
	 500,
	 300,
	 128,
	 128},
	{"a row a program",
	 "X=0x7fc253f8d200 Y=0x7fc253e00000 n=1000 eps=9.99999975e-06",
	 "num_warps=4 num_stages=3 1024",
	 {128, 1, 1},
	 128000,
	 128,
	 1000,
	 1,
	 1000},
	{"xnumel rows",
	 "in_ptr0=0x7f84 xnumel=1024",
	 "num_warps=1 num_stages=1 4x256",
	 {256, 1, 1},
	 262144,
	 1024,
	 256,
	 4,
	 256},
	{"pointwise",
	 "in_ptr0=0x7f84 xnumel=1048576",
	 "num_warps=4 1024",
	 {1024, 1, 1},
	 1048576,
	 1024,
	 1024,
	 1,
	 1024},
	{"one element", "xnumel=1024", "num_warps=4 1024", {1, 1, 1}, 1, 1, 1, 0, 0},
	{"nothing known", NULL, NULL, {1, 1, 1}, 1000, 32, 32, 0, 0},
	{"numbers that are none",
	 "n=0x10 m=12abc k=-5 f=1.5 =3 zero=0 99999999999999999999=1",
	 "x 0x0 4x x4 99999999999999999999999x2",
	 {3, 1, 1},
	 1000,
	 32,
	 32,
	 0,
	 0},
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct record_case c = {.params = cases[i].params,
					.grid = {cases[i].grid[0], cases[i].grid[1],
						 cases[i].grid[2]}};
		struct shape s;

		shape_infer(&c, cases[i].options, cases[i].elements, &s);
		if (s.rows != cases[i].rows || s.columns != cases[i].columns ||
		    s.tile_rows != cases[i].tile_rows || s.tile_columns != cases[i].tile_columns)
			fail_msg("%s: %" PRIu64 " x %" PRIu64 ", tile %" PRIu64 " x %" PRIu64
				 " (%s)",
				 cases[i].what, s.rows, s.columns, s.tile_rows, s.tile_columns,
				 s.how);
		assert_true(s.how[0]);
	}
}

/* Whatever a bundle claims, the plane holds every element. */
static void test_holds(void **state)
{
	for (uint64_t n = 0; n < 3000; n++) {
		struct record_case c = {.params = "a=7 b=64 c=1000",
					.grid = {(uint32_t)(n % 9), 1, (uint32_t)(n % 4)}};
		struct shape s;

		shape_infer(&c, "num_warps=4 64 8x8", n, &s);
		assert_true(s.rows >= 1 && s.columns >= 1 && s.rows * s.columns >= n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases),
					   cmocka_unit_test(test_holds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
