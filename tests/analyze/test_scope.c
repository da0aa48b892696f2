/* SPDX-License-Identifier: MIT */
/* The search for what separates failing launches from others, and its sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyze.h"
#include "analyze/words.h"
#include "lib/base.h"
#include "tests/analyze/maker.h"
#include "tests/lib/scratch.h"

#define N 512

static float plain[N], close_by[N], broken[N];

static int setup(void **state)
{
	for (int i = 0; i < N; i++)
		plain[i] = close_by[i] = broken[i] = (float)(i + 1);
	close_by[3] *= 1 + 0x1p-22f;
	for (int i = 500; i < N; i++)
		broken[i] = -5;
	return scratch_setup(state);
}

static struct maker maker;
static struct hash128 family;
static uint64_t seq;

static void begin(void)
{
	_cleanup_free_ char *path = scratch_path("scope.klab");

	seq = 0;
	maker_begin(&maker, path, NULL);
	family = maker_family(&maker, "k", DTYPE_F32);
}

static void launch(uint32_t config, const char *params, const float *b)
{
	struct record_extent e = {
		.address = MAKER_ADDRESS, .size = sizeof(plain), .arg = 2, .dtype = DTYPE_F32};
	struct record_case c = {.config = config,
				.bundle = "a.klab",
				.seq = seq + 1,
				.grid = {8, 1, 1},
				.fidelity = FIDELITY_FAITHFUL,
				.extents = {&e, 1},
				.params = params};

	c.shape_class.high = ++seq;
	maker_case_full(&maker, &c);
	maker_trials(&maker, plain, b);
}

static struct analysis *judge(void)
{
	char *path = scratch_path("scope.klab");
	struct analysis *a;
	struct error err;

	maker_end(&maker);
	if (analysis_run(&a, &path, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
	free(path);
	return a;
}

/* The one family's scope is of that kind and says each of the words. Ends the analysis. */
static void check(struct analysis *a, enum scope_kind kind, const char *words, const char *more)
{
	const struct scope *s = &a->families[0].scope;

	if (s->kind != kind || (words && !s->text) || (words && !strstr(s->text, words)) ||
	    (more && !strstr(s->text, more)))
		fail_msg("%s: %s", scope_kind_name(s->kind), s->text ? s->text : "(none)");
	analysis_free(a);
}

static void test_threshold(void **state)
{
	static const char *const params[] = {"n=10", "n=100", "n=200", "n=300"};
	uint32_t c;

	(void)state;
	begin();
	c = maker_config(&maker, family, "num_warps=4 64");
	for (int i = 3; i >= 0; i--) /* not in the order of the run */
		launch(c, params[i], i > 1 ? broken : plain);
	check(judge(), SCOPE_EXACT, "both launches with n ≥ 200 fail, none of the 2 others",
	      "only in 1 of 8 tiles (1x64), all in the last row of tiles");
}

static void test_alignment(void **state)
{
	static const char *const params[] = {"x_ptr=0x7f0000001004 n=5", "x_ptr=0x7f0000002000 n=6",
					     "x_ptr=0x7f000000300c n=7",
					     "x_ptr=0x7f0000004010 n=8"};
	uint32_t c;

	(void)state;
	begin();
	c = maker_config(&maker, family, "num_warps=4");
	for (int i = 0; i < 4; i++)
		launch(c, params[i], i % 2 ? plain : broken);
	check(judge(), SCOPE_EXACT, "with x_ptr not aligned to 16 bytes fail", NULL);
}

/* A block size with a name is another one in each config. */
static void test_named_block(void **state)
{
	uint32_t c;

	(void)state;
	begin();
	c = maker_config(&maker, family, "num_warps=4 BLOCK_K=32");
	launch(c, "K=96", plain);
	launch(c, "K=80", broken);
	c = maker_config(&maker, family, "num_warps=4 BLOCK_K=16");
	launch(c, "K=80", plain);
	launch(c, "K=72", broken);
	check(judge(), SCOPE_EXACT, "both launches with K % BLOCK_K ≠ 0 fail, none of the 2 others",
	      NULL);
}

/* Nor need it have a name, where the shapes are those of a product. */
static void test_product(void **state)
{
	int64_t b[3];
	uint32_t c;

	(void)state;
	assert_true(words_product("num_warps=2 16x32 32x32 64", b));
	assert_true(b[0] == 16 && b[1] == 32 && b[2] == 32);
	assert_true(words_product("16x32 32x16 32x32", b));
	assert_true(b[0] == 32 && b[1] == 32 && b[2] == 16);
	assert_true(words_product("64x64", b) && b[2] == 64);
	assert_false(words_product("num_warps=2 16x32", b));
	assert_false(words_product("16x32 32x64 16x64 8x8", b));
	assert_false(words_product("16x16x16 16x16", b));
	assert_false(words_product(NULL, b));
	begin();
	c = maker_config(&maker, family, "num_warps=4 16x32 32x32");
	launch(c, "K=96", plain);
	launch(c, "K=80", broken);
	c = maker_config(&maker, family, "num_warps=4 16x32 32x16 32x32");
	launch(c, "K=80", plain);
	launch(c, "K=72", broken);
	launch(c, "K=96", plain);
	check(judge(), SCOPE_EXACT,
	      "both launches with K % (inner size of the product's block) ≠ 0 fail, none of the 3",
	      NULL);
}

/* Which launches of a config fail is told by nothing, which configs do is. */
static void test_config_alone(void **state)
{
	uint32_t c;

	(void)state;
	begin();
	for (int i = 0; i < 3; i++) {
		c = maker_config(&maker, family,
				 (const char *[]){"num_warps=2", "num_warps=4", "num_warps=8"}[i]);
		launch(c, "n=5", plain);
		launch(c, "n=5", i == 1 ? broken : plain);
		launch(c, "n=5", plain);
	}
	check(judge(), SCOPE_PARTLY, "the one config with num_warps=4 fails, none of the 2 others",
	      "which of their launches (1 in all) is not told by any feature");
}

static void test_partly(void **state)
{
	static const int values[] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint32_t c;

	(void)state;
	begin();
	c = maker_config(&maker, family, "num_warps=4");
	for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
		_cleanup_free_ char *params = text_format("n=%d eps=1e-05", 10 * values[i % 8]);

		launch(c, params, i < 4 || i == 6 ? plain : broken);
	}
	launch(c, "n=70 eps=1e-05", broken);
	check(judge(), SCOPE_PARTLY, "with n ≥ 50", "no feature separates without exception");
}

static void test_open(void **state)
{
	uint32_t c;

	(void)state;
	begin();
	c = maker_config(&maker, family, "num_warps=4");
	for (int i = 0; i < 8; i++)
		launch(c, "n=5", i % 2 ? plain : broken);
	check(judge(), SCOPE_OPEN, "fails in 1 of 1 configs, 4 of 8 launches: no feature known",
	      NULL);
}

/* Bucket 2: where it differs at all. */
static void test_small(void **state)
{
	(void)state;
	begin();
	launch(maker_config(&maker, family, "num_warps=4 num_stages=1"), "n=5", plain);
	launch(maker_config(&maker, family, "num_warps=4 num_stages=2"), "n=5", close_by);
	check(judge(), SCOPE_EXACT, "the one config with num_stages=2 differs, not the other one",
	      NULL);
}

static void test_nothing_to_tell(void **state)
{
	(void)state;
	begin();
	launch(maker_config(&maker, family, "num_warps=4"), "n=5", plain);
	check(judge(), SCOPE_NONE, NULL, NULL);
	begin();
	launch(maker_config(&maker, family, "num_warps=4"), "n=5", broken);
	check(judge(), SCOPE_ALL, "fails in the one config and the one launch tested: nothing",
	      NULL);
}

/* A kernel may have many outputs: one of them fails. */
static void test_outputs(void **state)
{
	static char names[MAKER_EXTENTS][8];
	struct record_arg args[MAKER_EXTENTS];
	struct record_extent extents[MAKER_EXTENTS];
	const void *a[MAKER_EXTENTS], *b[MAKER_EXTENTS];
	struct record_family f = {.key = {7, 7}, .name = "many", .args = {args, MAKER_EXTENTS}};
	struct record_case c = {.bundle = "a.klab",
				.seq = 1,
				.grid = {8, 1, 1},
				.fidelity = FIDELITY_FAITHFUL,
				.extents = {extents, MAKER_EXTENTS}};

	(void)state;
	begin();
	for (uint32_t i = 0; i < MAKER_EXTENTS; i++) {
		snprintf(names[i], sizeof(names[i]), "out%02u", i);
		args[i] = (struct record_arg){.name = names[i],
					      .type = "!tt.ptr<f32>",
					      .dtype = DTYPE_F32,
					      .pointer = true};
		extents[i] = (struct record_extent){.address = MAKER_ADDRESS + ((uint64_t)i << 20),
						    .size = sizeof(plain),
						    .arg = i + 1,
						    .dtype = DTYPE_F32};
		a[i] = plain;
		b[i] = i == 17 ? broken : plain;
	}
	assert_int_equal(bundle_put_family(maker.writer, &f), 0);
	c.config = maker_config(&maker, f.key, "num_warps=4");
	maker_case_full(&maker, &c);
	for (uint32_t i = 0; i < 2; i++) {
		maker_trial(&maker, SIDE_A, TRIAL_REPEAT, i, a);
		maker_trial(&maker, SIDE_B, TRIAL_REPEAT, i, b);
	}
	check(judge(), SCOPE_ALL, "; only output out17 (f32), not out00 (f32), ", "out39 (f32)");
}

/* Nor are 256 arguments too many: the last of 300 tells. */
static void test_many_arguments(void **state)
{
	static char params[2][16384];
	uint32_t c;

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		size_t n = 0;

		for (int i = 0; i < 300; i++)
			n += (size_t)snprintf(params[k] + n, sizeof(params[k]) - n,
					      "in_ptr%d=0x7f0000%06x ", i, i << 8);
		snprintf(params[k] + n, sizeof(params[k]) - n, "n=%d", k ? 48 : 50);
	}
	begin();
	c = maker_config(&maker, family, "num_warps=4 16");
	launch(c, params[0], broken);
	launch(c, params[1], plain);
	check(judge(), SCOPE_EXACT, "with n % 16 ≠ 0 fails, not the other one", NULL);
}

/* Options and parameters come from a file: no count, length or number in them is trusted. */
static void test_hostile(void **state)
{
	static char many[8192];
	uint32_t c;

	(void)state;
	for (size_t i = 0; i + 8 < sizeof(many); i += 8)
		snprintf(many + i, 9, "a%04zu=%zu ", i / 8, i % 10);
	begin();
	c = maker_config(&maker, family, many);
	launch(c, many, broken);
	launch(c, NULL, plain);
	launch(c, "= n= =5 n=99999999999999999999 x=0xzz y=-", plain);
	c = maker_config(&maker, family, "0x0 x 1x 64xx32 99999999999999999999 -5 \x1b[31m=\xff 0");
	launch(c, "n=-7 \x1b=3", broken);
	launch(c, "n=-8", plain);
	check(judge(), SCOPE_OPEN, "fails in 2 of 2 configs, 2 of 5 launches", NULL);
}

/* Two scalars separate launches of the failing config alike: both are told. */
static void test_alike_within(void **state)
{
	static const char *const params[] = {"N=96 K=64 stride=128", "N=112 K=80 stride=128",
					     "N=37 K=50 stride=128", "N=80 K=112 stride=128"};
	uint32_t c;

	begin();
	for (int warps = 1; warps <= 4; warps *= 2) {
		char options[32];

		snprintf(options, sizeof(options), "num_warps=%d 32", warps);
		c = maker_config(&maker, family, options);
		for (int i = 0; i < 4; i++)
			launch(c, params[i], warps == 2 && i ? broken : plain);
	}
	check(judge(), SCOPE_EXACT,
	      "the one config with num_warps=2 fails, none of the 2 others; in it only launches "
	      "with "
	      "N % 32 ≠ 0 (3 of 3, not the other one; the same: K % 32 ≠ 0",
	      NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_named_block),
		cmocka_unit_test(test_product),
		cmocka_unit_test(test_config_alone),
		cmocka_unit_test(test_partly),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_nothing_to_tell),
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_many_arguments),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_alike_within),
	};

	return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
