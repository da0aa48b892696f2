/* SPDX-License-Identifier: MIT */
/* What the options of a capture leave out, and that the bundle says so. */
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/selection.h"
#include "tests/shim/cmocka_all.h"
#include "tests/shim/run_client.h"

static struct client_run run;

static int clean(void **state)
{
	client_clean(&run);
	return 0;
}

/* mode "many": 100 launches of grid 1 and 100 of grid 2 in turns, numbered from 1. */
static struct bundle *record(const char *setting_text, const char *more)
{
	const char *environment[] = {setting_text, more, NULL};

	client_run(&run, "many", "softmax_k", environment);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 1);
	assert_true(run.bundles[0]->complete);
	return run.bundles[0];
}

/* Launches that were only counted for a reason that holds `word`; all must be accounted for. */
static uint64_t left_out_of(const struct bundle *b, const char *word, uint64_t launches)
{
	uint64_t seen = 0, recorded = 0, left = 0;

	for (size_t i = 0; i < b->classes.count; i++) {
		const struct record_class *c = &b->classes.items[i];

		seen += c->seen;
		recorded += c->recorded;
		if (c->reason && strstr(c->reason, word))
			left += c->seen - c->recorded;
	}
	assert_int_equal(seen, launches);
	assert_int_equal(recorded, b->launches.count);
	return left;
}

static uint64_t left_out(const struct bundle *b, const char *word)
{
	return left_out_of(b, word, 200);
}

static void expect_seqs(const struct bundle *b, const uint64_t *seqs, size_t count)
{
	assert_int_equal(b->launches.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(b->launches.items[i].seq, seqs[i]);
}

static void skip_launches(void **state)
{
	static const uint64_t seqs[] = {21, 22};
	const struct bundle *b = record("KERNELAB_SKIP_LAUNCHES=10", NULL);

	expect_seqs(b, seqs, 2);
	assert_int_equal(left_out(b, "SKIP_LAUNCHES"), 20);
	assert_int_equal(left_out(b, "--per-class"), 178);
}

static void between_launches(void **state)
{
	static const uint64_t seqs[] = {51, 52, 53, 54, 55};
	const struct bundle *b = record("KERNELAB_START_AFTER=50", "KERNELAB_PER_CLASS=90");

	assert_int_equal(b->launches.items[0].seq, 51);
	assert_int_equal(left_out(b, "START_AFTER"), 50);
	client_clean(&run);
	b = record("KERNELAB_STOP_AFTER=50", "KERNELAB_PER_CLASS=90");
	assert_int_equal(b->launches.items[b->launches.count - 1].seq, 50);
	assert_int_equal(left_out(b, "STOP_AFTER"), 150);
	client_clean(&run);
	setenv("KERNELAB_MAX_LAUNCHES", "5", 1);
	b = record("KERNELAB_START_AFTER=50", "KERNELAB_PER_CLASS=90");
	unsetenv("KERNELAB_MAX_LAUNCHES");
	expect_seqs(b, seqs, 5);
	assert_int_equal(left_out(b, "MAX_LAUNCHES"), 145);
}

static void between_seconds(void **state)
{
	const struct bundle *b = record("KERNELAB_START_AFTER=1000s", NULL);

	expect_seqs(b, NULL, 0);
	assert_int_equal(left_out(b, "START_AFTER"), 200);
	client_clean(&run);
	b = record("KERNELAB_STOP_AFTER=0.000000001s", NULL);
	expect_seqs(b, NULL, 0);
	assert_int_equal(left_out(b, "STOP_AFTER"), 200);
}

/* The start comes while the class has long had nothing to record: it is seen all the same. */
static void start_in_mid_run(void **state)
{
	static const char *const start[] = {"KERNELAB_START_AFTER=0.2s", NULL};
	const struct bundle *b;

	client_run(&run, "paced", "softmax_k", start);
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 1);
	b = run.bundles[0];
	assert_int_equal(b->launches.count, 1);
	assert_int_equal(left_out_of(b, "START_AFTER", b->ends.items[0].launches) + 1,
			 b->launches.items[0].seq);
}

/* Four threads share the turns; nothing is lost between those who decide and those who pass. */
static void threads_share_turns(void **state)
{
	static const char *const settings[][5] = {
		{"KERNELAB_SKIP_LAUNCHES=3", "KERNELAB_SAMPLE=2,2,2", NULL},
		{"KERNELAB_START_AFTER=300", "KERNELAB_STOP_AFTER=500", "KERNELAB_PER_CLASS=2",
		 NULL},
		{"KERNELAB_MAX_LAUNCHES=9", "KERNELAB_PER_CLASS=30", NULL},
		{"KERNELAB_MAX_BYTES=1", "KERNELAB_PER_CLASS=30", NULL},
	};
	static const char *const words[] = {"SKIP_LAUNCHES", "START_AFTER", "MAX_LAUNCHES",
					    "MAX_BYTES"};
	static const uint64_t left[] = {32 * 3, 300, 800 - 9, 800};

	for (size_t i = 0; i < ARRAY_LENGTH(settings); i++) {
		client_run(&run, "threads", "softmax_k", settings[i]);
		assert_int_equal(run.status, 0);
		assert_int_equal(run.count, 1);
		assert_int_equal(run.bundles[0]->ends.items[0].launches, 800);
		/* Launches that other threads make at the same time may get the neighbour's reason.
		 */
		if (!strcmp(words[i], "START_AFTER"))
			assert_in_range(left_out_of(run.bundles[0], words[i], 800), left[i] - 3,
					left[i] + 3);
		else
			assert_int_equal(left_out_of(run.bundles[0], words[i], 800), left[i]);
		client_clean(&run);
	}
}

static void bytes(void **state)
{
	const struct bundle *b = record("KERNELAB_MAX_BYTES=1", "KERNELAB_PER_CLASS=3");

	expect_seqs(b, NULL, 0);
	assert_int_equal(b->images.count, 1);
	assert_int_equal(left_out(b, "MAX_BYTES"), 200);
}

static void samples(void **state)
{
	const struct bundle *b = record("KERNELAB_SAMPLE=2,8,4", NULL);
	struct selection s = {.samples = 2, .sample_first = 8, .sample_factor = 4};
	size_t first[2] = {0};

	assert_int_equal(b->launches.count, 2 * 3);
	for (size_t i = 0; i < b->launches.count; i++) {
		const struct record_launch *l = &b->launches.items[i];
		size_t n = first[l->grid[0] - 1]++;

		assert_int_equal((l->seq + 1) / 2,
				 n ? selection_sample(&s, l->shape_class, (unsigned)n - 1) : 1);
	}
	assert_int_equal(left_out(b, "--per-class"), 194);
}

static void names(void **state)
{
	const struct bundle *b = record("KERNELAB_KERNELS=^soft.*_k$", "KERNELAB_EXCLUDE=^k$");

	assert_int_equal(b->launches.count, 2);
	client_clean(&run);
	/* Nothing is worth a bundle: the process leaves none, and the program ends well. */
	client_run(&run, "many", "softmax_k",
		   (const char *const[]){"KERNELAB_KERNELS=matmul|^tma", NULL});
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 0);
	client_clean(&run);
	client_run(&run, "two", "softmax_k", (const char *const[]){"KERNELAB_EXCLUDE=soft", NULL});
	assert_int_equal(run.status, 0);
	assert_int_equal(run.count, 1);
	b = run.bundles[0];
	assert_int_equal(b->images.count, 1);
	assert_int_equal(b->launches.count, 1);
	assert_int_equal(b->unrecordeds.count, 1);
	assert_string_equal(b->unrecordeds.items[0].name, "softmax_k");
	assert_int_equal(b->unrecordeds.items[0].launches, 6);
	assert_non_null(strstr(b->unrecordeds.items[0].reason, "KERNELAB_EXCLUDE"));
}

static void ranks(void **state)
{
	const struct bundle *b = record("KERNELAB_RANKS=0,2-3", "RANK=1");

	assert_int_equal(b->launches.count, 2);
	assert_true(b->runs.items[0].no_data);
	assert_true(b->launches.items[0].flags & LAUNCH_NO_DATA);
	assert_string_equal(bundle_fact(b, "capture.rank"), "without contents");
	client_clean(&run);
	b = record("KERNELAB_RANKS=0,2-3", "RANK=3");
	assert_false(b->launches.items[0].flags & LAUNCH_NO_DATA);
	assert_null(bundle_fact(b, "capture.rank"));
}

static void named_by_variables(void **state)
{
	const struct bundle *b = record("KERNELAB_COMMIT=abc123", "KERNELAB_LABEL=night");

	assert_string_equal(bundle_fact(b, "compiler.commit"), "abc123");
	assert_string_equal(bundle_fact(b, "run.label"), "night");
}

static void sweeps_are_marked(void **state)
{
	static const char *const all[] = {"KERNELAB_ORIGIN=all", "KERNELAB_CACHE_ROOTS=", NULL};
	const struct record_launch *l;

	client_run(&run, "sweep", "softmax_k", all);
	assert_int_equal(run.count, 1);
	l = run.bundles[0]->launches.items;
	expect_seqs(run.bundles[0], (const uint64_t[]){1, 6, 11, 12}, 4);
	assert_int_equal(l[0].sweep, 0); /* not known yet; the next one names it */
	assert_int_equal(l[1].sweep, 1);
	assert_true(l[1].flags & LAUNCH_SWEEP);
	assert_int_not_equal(l[0].kernel, l[1].kernel);
	assert_true(hash_equal(l[0].inputs, l[1].inputs));
	assert_false(hash_equal(l[0].inputs, l[2].inputs));
	assert_true(hash_equal(l[2].inputs, l[3].inputs));
	for (int i = 2; i < 4; i++) {
		assert_int_equal(l[i].sweep, 0);
		assert_false(l[i].flags & LAUNCH_SWEEP);
	}
}

static void wrong_values_record_nothing(void **state)
{
	static const char *const wrong[] = {
		"KERNELAB_KERNELS=(",    "KERNELAB_MAX_BYTES=x", "KERNELAB_SAMPLE=1,2,1",
		"KERNELAB_START_AFTER=", "KERNELAB_RANKS=3-1",   "KERNELAB_STOP_AFTER=-1s",
		"KERNELAB_ORIGIN=tritn", "KERNELAB_PER_CLASS=0", "KERNELAB_SAMPLE=1,2,3,4"};

	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		const char *environment[] = {wrong[i], NULL};
		bool empty = wrong[i][strlen(wrong[i]) - 1] == '='; /* as if not set */

		client_run(&run, "many", "softmax_k", environment);
		assert_int_equal(run.status, 0);
		assert_int_equal(run.count, empty);
		client_clean(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(skip_launches, clean),
		cmocka_unit_test_teardown(between_launches, clean),
		cmocka_unit_test_teardown(between_seconds, clean),
		cmocka_unit_test_teardown(start_in_mid_run, clean),
		cmocka_unit_test(threads_share_turns),
		cmocka_unit_test_teardown(bytes, clean),
		cmocka_unit_test_teardown(samples, clean),
		cmocka_unit_test_teardown(names, clean),
		cmocka_unit_test_teardown(ranks, clean),
		cmocka_unit_test_teardown(named_by_variables, clean),
		cmocka_unit_test_teardown(sweeps_are_marked, clean),
		cmocka_unit_test_teardown(wrong_values_record_nothing, clean),
	};

	return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
