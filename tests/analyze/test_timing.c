/* SPDX-License-Identifier: MIT */
/* Kernel times as evidence: medians without the first repeat, and what is said beyond the spread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/analyze.h"
#include "analyze/timing.h"
#include "tests/analyze/maker.h"
#include "tests/lib/scratch.h"

#define N       64
#define REPEATS 3

/* The times of a family of one launch whose repeats took that long. */
static struct timing judge(const double *a, const double *b)
{
	static const float plain[N];
	const struct maker_head head = {0};
	static int number;
	char name[32], *path;
	const void *contents = plain;
	struct analysis *analysis;
	struct error err = {0};
	struct timing t;
	struct maker m;

	snprintf(name, sizeof(name), "result%d.klab", number++);
	path = scratch_path(name);
	maker_begin(&m, path, &head);
	maker_case(&m, maker_config(&m, maker_family(&m, "k", DTYPE_F32), "num_warps=4"), 17,
		   DTYPE_F32, N);
	for (uint32_t i = 0; i < REPEATS; i++) {
		struct record_trial x = {.side = SIDE_A, .index = i, .time_us = a[i]};
		struct record_trial y = {.side = SIDE_B, .index = i, .time_us = b[i]};

		maker_trial_full(&m, &x, &contents);
		maker_trial_full(&m, &y, &contents);
	}
	maker_end(&m);
	assert_int_equal(analysis_run(&analysis, &path, 1, NULL, NULL, &err), 0);
	t = family_timing(&analysis->families[0]);
	analysis_free(analysis);
	free(path);
	return t;
}

static void the_first_repeat_does_not_count(void **state)
{
	struct timing t = judge((double[]){900, 10, 11}, (double[]){12, 12, 12});

	assert_true(t.us[SIDE_A] == 10 && t.most_us[SIDE_A] == 11 && t.launches == 1);
}

static void only_what_is_beyond_the_spread_is_told(void **state)
{
	struct timing slower = judge((double[]){10, 10, 11}, (double[]){14, 14, 15});
	struct timing noisy = judge((double[]){10, 10, 16}, (double[]){14, 14, 15});
	struct timing small = judge((double[]){10, 10, 10}, (double[]){10.5, 10.5, 10.5});
	struct timing faster = judge((double[]){14, 14, 15}, (double[]){10, 10, 11});

	assert_int_equal(timing_order(&slower), 1);
	assert_true(timing_ratio(&slower) == 1.4);
	assert_int_equal(timing_order(&noisy), 0);
	assert_int_equal(timing_order(&small), 0);
	assert_int_equal(timing_order(&faster), -1);
}

static void nothing_measured_is_nothing_known(void **state)
{
	struct timing t = judge((double[]){0, 0, 0}, (double[]){14, 14, 15});

	assert_int_equal(t.launches, 0);
	assert_int_equal(timing_order(&t), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_repeat_does_not_count),
		cmocka_unit_test(only_what_is_beyond_the_spread_is_told),
		cmocka_unit_test(nothing_measured_is_nothing_known),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
