/* SPDX-License-Identifier: MIT */
/* Shards merge to the worse of both; what is damaged or does not belong together is named. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/analyze.h"
#include "lib/base.h"
#include "tests/analyze/maker.h"
#include "tests/lib/scratch.h"

#define N 500

static float plain[N], close_by[N], broken[N];

static int setup(void **state)
{
	for (int i = 0; i < N; i++)
		plain[i] = close_by[i] = broken[i] = (float)(i + 1);
	close_by[3] *= 1 + 0x1p-22f;
	broken[4] = -5;
	return scratch_setup(state);
}

/* One shard: family `name`, one config, one launch. */
static char *make_shard(const char *file, const char *name, uint64_t seq, const float *b,
			const struct maker_head *head)
{
	char *path = scratch_path(file);
	struct maker m;

	maker_begin(&m, path, head);
	maker_case(&m, maker_config(&m, maker_family(&m, name, DTYPE_F32), "num_warps=4"), seq,
		   DTYPE_F32, N);
	maker_trials(&m, plain, b);
	maker_end(&m);
	return path;
}

static struct analysis *run2(char *x, char *y)
{
	char *paths[] = {x, y};
	struct analysis *a;
	struct error err;

	if (analysis_run(&a, paths, 2, NULL, NULL, &err))
		fail_msg("%s", err.message);
	return a;
}

static void test_worst_of_both(void **state)
{
	_cleanup_free_ char *x = make_shard("x.klab", "k", 1, close_by, NULL);
	_cleanup_free_ char *y = make_shard("y.klab", "k", 2, broken, NULL);

	for (int swap = 0; swap < 2; swap++) {
		struct analysis *a = run2(swap ? y : x, swap ? x : y);

		assert_int_equal(a->family_count, 1);
		assert_int_equal(a->families[0].outcome.bucket, 3);
		assert_int_equal(a->families[0].coverage.configs, 1);
		assert_int_equal(a->families[0].coverage.cases, 2);
		assert_int_equal(family_worst_case(&a->families[0])->record->seq, 2);
		analysis_free(a);
	}
}

/* The same launch in two shards counts once, with the worse outcome, whichever that is in. */
static void test_same_launch_twice(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		_cleanup_free_ char *x = make_shard("x.klab", "k", 1, swap ? plain : broken, NULL);
		_cleanup_free_ char *y = make_shard("y.klab", "k", 1, swap ? broken : plain, NULL);
		struct analysis *a = run2(x, y);

		assert_int_equal(a->families[0].outcome.bucket, 3);
		assert_int_equal(a->families[0].coverage.cases, 1);
		analysis_free(a);
	}
}

static void test_other_families_join(void **state)
{
	_cleanup_free_ char *x = make_shard("x.klab", "k", 1, plain, NULL);
	_cleanup_free_ char *y = make_shard("y.klab", "l", 2, close_by, NULL);
	struct analysis *a = run2(x, y);

	assert_int_equal(a->family_count, 2);
	assert_int_equal(a->buckets[1], 1);
	assert_int_equal(a->buckets[2], 1);
	analysis_free(a);
}

static void expect_error(char *const *paths, size_t n, int code, const char *words)
{
	struct analysis *a;
	struct error err = {0};
	int e = analysis_run(&a, paths, n, NULL, NULL, &err);

	assert_null(a);
	if (e >= 0 || (code && e != -code) || !strstr(err.message, words))
		fail_msg("%d, \"%s\"; expected -%d, \"%s\"", e, err.message, code, words);
}

/* Devices and differences of the environment of every result, each once. */
static void test_heads_join(void **state)
{
	static const struct maker_head other = {.version_a = "triton 3.6.0, ptxas 12.8.93",
						.device = "NVIDIA H100",
						.torch_b = "A: 2.11.0; B: 2.13.0"};
	_cleanup_free_ char *x = make_shard("x.klab", "k", 1, plain, NULL);
	_cleanup_free_ char *y = make_shard("y.klab", "k", 2, plain, &other);
	_cleanup_free_ char *z = make_shard("z.klab", "k", 3, plain, NULL);
	char *paths[] = {x, y, z};
	struct analysis *a;
	struct error err;

	if (analysis_run(&a, paths, 3, NULL, NULL, &err))
		fail_msg("%s", err.message);
	assert_string_equal(a->device, "NVIDIA H200, NVIDIA H100");
	assert_int_equal(a->environment_count, 2);
	assert_string_equal(a->environment[0].name, "torch.version");
	assert_string_equal(a->environment[1].text, "A: 2.11.0; B: 2.13.0");
	analysis_free(a);
}

static void test_do_not_belong_together(void **state)
{
	static const struct maker_head other = {.version_a = "triton 3.7.1"};
	static const struct maker_head soft = {.version_a = "triton 3.6.0, ptxas 12.8.93",
					       .software = true};
	_cleanup_free_ char *x = make_shard("x.klab", "k", 1, plain, NULL);
	_cleanup_free_ char *y = make_shard("y.klab", "k", 2, plain, &other);
	_cleanup_free_ char *z = make_shard("z.klab", "k", 2, plain, &soft);
	char *xy[] = {x, y}, *xz[] = {x, z};

	expect_error(xy, 2, EINVAL, "y.klab do not belong together: side A");
	expect_error(xz, 2, EINVAL, "software device");
}

static void test_bad_files(void **state)
{
	_cleanup_free_ char *none = scratch_path("none.klab"), *text = scratch_path("text.klab");
	_cleanup_free_ char *empty = scratch_path("empty.klab"), *hollow = scratch_path("h.klab");
	_cleanup_free_ char *capture = scratch_path("capture.klab");
	struct bundle_writer *w;
	struct maker m;

	expect_error(NULL, 0, EINVAL, "no result given");
	expect_error(&none, 1, ENOENT, "none.klab");
	scratch_write(text, "hello, this is no bundle at all", 31);
	expect_error(&text, 1, 0, "text.klab");
	scratch_write(empty, "", 0);
	expect_error(&empty, 1, 0, "empty.klab");
	assert_int_equal(bundle_writer_open(&w, capture, BUNDLE_CAPTURE), 0);
	assert_int_equal(bundle_writer_close(w), 0);
	expect_error(&capture, 1, EINVAL, "is a capture, not a result");
	maker_begin(&m, hollow, NULL);
	maker_end(&m);
	expect_error(&hollow, 1, EINVAL, "holds no kernel family");
}

/* References into nothing, and records that are there twice. */
static void test_bad_references(void **state)
{
	_cleanup_free_ char *path = scratch_path("bad.klab");
	struct record_case c = {.config = 9, .seq = 1};
	struct record_config g = {.number = 0, .options = "w4", .family = {1, 2}};
	struct record_side side = {.side = SIDE_A};
	struct record_trial t = {.test_case = 55, .status = TRIAL_STATUS_VOID};
	struct maker m;

	maker_begin(&m, path, NULL);
	maker_family(&m, "k", DTYPE_F32);
	maker_case_full(&m, &c);
	maker_end(&m);
	expect_error(&path, 1, EBADMSG, "case 0 belongs to config 9, which is not there");

	maker_begin(&m, path, NULL);
	maker_family(&m, "k", DTYPE_F32);
	maker_config_full(&m, &g);
	maker_end(&m);
	expect_error(&path, 1, EBADMSG, "config 0 belongs to a family that is not there");

	maker_begin(&m, path, NULL);
	maker_family(&m, "k", DTYPE_F32);
	assert_int_equal(bundle_put_trial(m.writer, &t), 0);
	maker_end(&m);
	expect_error(&path, 1, EBADMSG, "belongs to case 55, which is not there");

	maker_begin(&m, path, NULL);
	maker_family(&m, "k", DTYPE_F32);
	maker_family(&m, "k", DTYPE_F32);
	maker_end(&m);
	expect_error(&path, 1, EBADMSG, "family k is there twice");

	maker_begin(&m, path, NULL);
	maker_family(&m, "k", DTYPE_F32);
	assert_int_equal(bundle_put_side(m.writer, &side), 0);
	maker_end(&m);
	expect_error(&path, 1, EBADMSG, "side 0 is described twice");
}

static void test_trial_twice(void **state)
{
	_cleanup_free_ char *path = scratch_path("bad.klab");
	const void *p = plain;
	struct maker m;

	maker_begin(&m, path, NULL);
	maker_case(&m, maker_config(&m, maker_family(&m, "k", DTYPE_F32), "w4"), 1, DTYPE_F32, N);
	maker_trials(&m, plain, plain);
	maker_trial(&m, SIDE_B, TRIAL_REPEAT, 2, &p);
	maker_end(&m);
	expect_error(&path, 1, EBADMSG, "case 0, trial B repeat 2 is there twice");
}

/* A chunk that is not in the file: that family is unproven, the others stand, and it is said. */
static void test_missing_chunk(void **state)
{
	_cleanup_free_ char *path = scratch_path("gap.klab");
	struct record_trial t = {.side = SIDE_B, .kind = TRIAL_REPEAT};
	struct hash128 nowhere = {12, 34};
	struct record_content content = {.chunks = {&nowhere, 1}};
	const void *p = plain;
	struct analysis *a;
	struct maker m;

	maker_begin(&m, path, NULL);
	maker_case(&m, maker_config(&m, maker_family(&m, "k", DTYPE_F32), "w4"), 1, DTYPE_F32, N);
	maker_trial(&m, SIDE_A, TRIAL_REPEAT, 0, &p);
	t.test_case = 0;
	t.contents.items = &content;
	t.contents.count = 1;
	assert_int_equal(bundle_put_trial(m.writer, &t), 0);
	maker_case(&m, maker_config(&m, maker_family(&m, "l", DTYPE_F32), "w4"), 2, DTYPE_F32, N);
	maker_trials(&m, plain, plain);
	maker_end(&m);
	assert_int_equal(analysis_run(&a, &path, 1, NULL, NULL, NULL), 0);
	assert_int_equal(a->family_count, 2);
	assert_string_equal(a->families[0].record->name, "k");
	assert_true(a->families[0].outcome.unproven);
	assert_int_equal(a->families[1].outcome.bucket, 1);
	assert_int_equal(a->incomplete_count, 1);
	assert_non_null(strstr(a->incomplete[0], "gap.klab"));
	analysis_free(a);
}

/* A replay that was killed: what is there is judged, and the report says that it is not all. */
static void test_cut_off(void **state)
{
	_cleanup_free_ char *path = make_shard("cut.klab", "k", 1, plain, NULL);
	struct analysis *a;

	assert_int_equal(truncate(path, (off_t)scratch_size(path) - 10), 0);
	assert_int_equal(analysis_run(&a, &path, 1, NULL, NULL, NULL), 0);
	assert_int_equal(a->incomplete_count, 1);
	assert_int_equal(a->buckets[1], 1);
	analysis_free(a);
}

/* A part of a replay; whole: its fact, NULL: of a version without it. */
static char *make_part(const char *file, const char *part, const char *whole)
{
	struct record_fact shard = {.name = "replay.shard", .value = part};
	struct record_fact of = {.name = "replay.whole", .value = whole};
	char *path = scratch_path(file);
	struct maker m;

	maker_begin(&m, path, NULL);
	assert_int_equal(bundle_put_fact(m.writer, &shard), 0);
	if (whole)
		assert_int_equal(bundle_put_fact(m.writer, &of), 0);
	maker_case(&m, maker_config(&m, maker_family(&m, "k", DTYPE_F32), "num_warps=4"), 1,
		   DTYPE_F32, N);
	maker_trials(&m, plain, plain);
	maker_end(&m);
	return path;
}

/* Two results are parts 0/2 and 1/2; a part of another replay is not the missing one. */
static void test_parts_of_two_replays(void **state)
{
	static const struct {
		const char *x, *y;
		size_t missing;
	} rows[] = {{"a", "a", 0}, {"a", "b", 2}, {"a", NULL, 0}, {NULL, "b", 0}, {NULL, NULL, 0}};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		_cleanup_free_ char *x = make_part("x.klab", "0/2", rows[i].x);
		_cleanup_free_ char *y = make_part("y.klab", "1/2", rows[i].y);
		struct analysis *a = run2(x, y);

		assert_int_equal(a->incomplete_count, rows[i].missing);
		if (rows[i].missing) {
			assert_non_null(strstr(a->incomplete[0], "shard 1/2 is missing of the "
								 "replay of "));
			assert_non_null(strstr(a->incomplete[0], "x.klab"));
			assert_non_null(strstr(a->incomplete[1], "shard 0/2 is missing"));
			assert_non_null(strstr(a->incomplete[1], "y.klab"));
		}
		analysis_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worst_of_both),
		cmocka_unit_test(test_same_launch_twice),
		cmocka_unit_test(test_other_families_join),
		cmocka_unit_test(test_heads_join),
		cmocka_unit_test(test_do_not_belong_together),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_bad_references),
		cmocka_unit_test(test_trial_twice),
		cmocka_unit_test(test_missing_chunk),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_parts_of_two_replays),
	};

	return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
