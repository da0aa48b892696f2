/* SPDX-License-Identifier: MIT */
/* Which stage failing configs point at where nothing was crossed, alike or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyze.h"
#include "lib/base.h"
#include "tests/analyze/maker.h"
#include "tests/lib/scratch.h"

#define N 256

/* Of a config that fails: what differs between A and B. */
enum difference { NOTHING, CODE, PTX, PTX_BY_ONE_PTXAS };

static float plain[N], broken[N];

static int setup(void **state)
{
	for (int i = 0; i < N; i++)
		plain[i] = broken[i] = (float)(i + 1);
	for (int i = 200; i < N; i++)
		broken[i] = -5;
	return scratch_setup(state);
}

static void add_config(struct maker *m, struct hash128 family, int index, enum difference d)
{
	char options[32];
	struct record_config c = {.family = family,
				  .options = options,
				  .a_image = {1, 1},
				  .b_image = {2, 2},
				  .tested = true,
				  .same_code = d == NOTHING,
				  .same_ptx = d <= CODE,
				  .a_ptxas = "12.8.93",
				  .b_ptxas = d == PTX ? "13.0.88" : "12.8.93"};

	snprintf(options, sizeof(options), "num_warps=4 %d", 16 << index);
	maker_case(m, maker_config_full(m, &c), (uint64_t)index + 1, DTYPE_F32, N);
	maker_trials(m, plain, broken);
}

static void check(bool software, const enum difference *d, int count, enum stage_kind kind,
		  const char *text)
{
	_cleanup_free_ char *path = scratch_path("stage.klab");
	struct maker_head head = {.version_a = "1", .version_b = "2", .software = software};
	struct hash128 family;
	struct analysis *a;
	struct error err;
	struct maker m;

	maker_begin(&m, path, &head);
	family = maker_family(&m, "k", DTYPE_F32);
	for (int i = 0; i < count; i++)
		add_config(&m, family, i, d[i]);
	maker_end(&m);
	if (analysis_run(&a, &path, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
	if (a->families[0].stage.kind != kind || !a->families[0].stage.text ||
	    strcmp(a->families[0].stage.text, text) != 0)
		fail_msg("%s: %s", stage_kind_name(a->families[0].stage.kind),
			 a->families[0].stage.text ? a->families[0].stage.text : "(none)");
	analysis_free(a);
}

#define CHECK(software, kind, text, ...)                                    \
	do {                                                                \
		const enum difference list[] = {__VA_ARGS__};               \
		check(software, list, (int)ARRAY_LENGTH(list), kind, text); \
	} while (0)

static void test_alike(void **state)
{
	CHECK(false, STAGE_NEITHER, "neither: the machine code of A and B is equal", NOTHING,
	      NOTHING);
	CHECK(false, STAGE_PTXAS,
	      "ptxas: the canonical PTX of A and B is equal, the machine code is not", CODE, CODE);
	CHECK(false, STAGE_BEFORE,
	      "before ptxas: the PTX of A and B differs, and both were assembled by ptxas 12.8.93",
	      PTX_BY_ONE_PTXAS, PTX_BY_ONE_PTXAS);
	CHECK(false, STAGE_OPEN,
	      "not told: the PTX of A and B differs, and perhaps ptxas (A 12.8.93, B 13.0.88); "
	      "diff --a-ptxas and --b-ptxas cross them",
	      PTX, PTX);
	CHECK(true, STAGE_BEFORE,
	      "before ptxas: the software device executes the PTX, ptxas takes no part", PTX);
}

/* Where only one stage can be meant it is named, whatever other configs say. */
static void test_one_stage(void **state)
{
	CHECK(false, STAGE_PTXAS,
	      "of 3 failing configs: ptxas in 2 (the canonical PTX of A and B is equal, the "
	      "machine code is not), neither in 1 (the machine code of A and B is equal)",
	      CODE, NOTHING, CODE);
	CHECK(false, STAGE_BEFORE,
	      "of 2 failing configs: before ptxas in 1 (the PTX of A and B differs, and both were "
	      "assembled by ptxas 12.8.93), neither in 1 (the machine code of A and B is equal)",
	      PTX_BY_ONE_PTXAS, NOTHING);
	CHECK(false, STAGE_OPEN,
	      "of 2 failing configs: not told in 1 (the PTX of A and B differs, and perhaps ptxas "
	      "(A 12.8.93, B 13.0.88); diff --a-ptxas and --b-ptxas cross them), neither in 1 (the "
	      "machine code of A and B is equal)",
	      NOTHING, PTX);
}

static void test_several_stages(void **state)
{
	CHECK(false, STAGE_OPEN,
	      "of 3 failing configs: ptxas in 1 (the canonical PTX of A and B is equal, the "
	      "machine code is not), before ptxas in 2 (the PTX of A and B differs, and both were "
	      "assembled by ptxas 12.8.93)",
	      PTX_BY_ONE_PTXAS, CODE, PTX_BY_ONE_PTXAS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_one_stage),
		cmocka_unit_test(test_several_stages),
	};

	return cmocka_run_group_tests_name("analyze-stage", tests, setup, scratch_teardown);
}
