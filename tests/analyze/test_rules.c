/* SPDX-License-Identifier: MIT */
/* Distribution, config cluster and growth on simulated outputs: what is benign stays, bugs show. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyze.h"
#include "analyze/distribution.h"
#include "analyze/growth.h"
#include "lib/base.h"
#include "tests/analyze/maker.h"
#include "tests/analyze/splitmix.h"
#include "tests/lib/scratch.h"

#define N     4096
#define RUNS  4
#define H     0x1p-24
#define SEEDS 5
#define NOISE 0x1p-10 /* sigma of rule 5 without siblings: 4 u G */

static uint64_t random_state;

static uint64_t random_bits(void)
{
	return splitmix64(&random_state);
}

static double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_bits() >> 11) * 0x1p-53;
	return sum;
}

/* ---- a result under way ---- */

struct scene {
	struct maker m;
	struct hash128 family;
	uint64_t serial; /* of the outputs */
	char *path;
	struct analysis *analysis;
};

static void begin(struct scene *s)
{
	*s = (struct scene){.path = scratch_path("rules.klab")};
	maker_begin(&s->m, s->path, NULL);
	s->family = maker_family(&s->m, "k", DTYPE_F32);
}

static void add_case(struct scene *s, uint32_t config, uint64_t seq, const char *params,
		     struct hash128 inputs)
{
	struct record_extent e = {.address = 0x10000000,
				  .size = N * sizeof(float),
				  .arg = 2,
				  .dtype = DTYPE_F32,
				  .serial = s->serial};
	struct record_case c = {.config = config,
				.bundle = "train-1.klab",
				.seq = seq,
				.grid = {N, 1, 1},
				.shape_class = {seq, N},
				.fidelity = FIDELITY_FAITHFUL,
				.fidelity_reason = "reproduces the recorded contents",
				.extents = {&e, 1},
				.params = params,
				.inputs = inputs,
				.repro = "kernelab diff a --b b --launch 17"};

	maker_case_full(&s->m, &c);
}

/* Repeats and poisons of a and b, and perturbed runs of A that give the noise floor. */
static void add_trials_of(struct scene *s, const float *a, const float *b, double noise)
{
	float moved[N];

	maker_trials(&s->m, a, b);
	for (uint32_t k = 0; k < RUNS; k++)
		for (uint32_t side = 0; side < SIDE_COUNT; side++) {
			struct record_trial t = {
				.side = side, .kind = TRIAL_PERTURBED, .index = k, .step = H};
			const void *contents = moved;

			random_state = 100 + k; /* both sides the same: only recorded inputs tell */
			for (int i = 0; i < N; i++)
				moved[i] = a[i] + (float)(noise / 4 * normal());
			maker_trial_full(&s->m, &t, &contents);
		}
}

static void add_trials(struct scene *s, const float *a, const float *b)
{
	add_trials_of(s, a, b, NOISE);
}

static const struct outcome *judge(struct scene *s)
{
	struct error err = {0};

	maker_end(&s->m);
	if (analysis_run(&s->analysis, &s->path, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
	return &s->analysis->families[0].outcome;
}

static void end(struct scene *s)
{
	analysis_free(s->analysis);
	free(s->path);
}

static void expect_no_alarm(struct scene *s)
{
	const struct outcome *o = judge(s);

	if (o->bucket > 2)
		fail_msg("bucket %d, rule %s, \"%s\"", o->bucket, rule_number(o->rule),
			 o->evidence);
	end(s);
}

static void expect(struct scene *s, int bucket, enum rule rule)
{
	const struct outcome *o = judge(s);

	if (o->bucket != bucket || o->rule != rule)
		fail_msg("bucket %d, rule %s, \"%s\"; expected %d, rule %s", o->bucket,
			 rule_number(o->rule), o->evidence, bucket, rule_number(rule));
	end(s);
}

/* ---- distribution ---- */

static struct distribution_figures figures(enum dtype t, const void *a, const void *b, size_t n)
{
	struct distribution *d = distribution_new(t);
	struct distribution_figures f;

	assert_non_null(d);
	distribution_add(d, a, b, n);
	distribution_figures(d, &f);
	distribution_free(d);
	return f;
}

static void test_distances(void **state)
{
	uint8_t small_a[N], small_b[N];
	float a[N], b[N];

	random_state = 1;
	for (int i = 0; i < N; i++) { /* many equal values, all to the neighbouring number */
		small_a[i] = 0x38;
		small_b[i] = 0x39;
	}
	assert_true(figures(DTYPE_F8E4M3, small_a, small_b, N).distance == 0);
	memset(small_b, 0x3a, N / 2); /* half of them further */
	assert_true(figures(DTYPE_F8E4M3, small_a, small_b, N).distance == 0.5);
	for (int i = 0; i < N; i++) {
		a[i] = i % 2 ? 0.0f : -0.0f;
		b[i] = i % 2 ? -0.0f : 0.0f;
	}
	assert_true(figures(DTYPE_F32, a, b, N).distance == 0);
	memset(small_a, 0x00, N);
	memset(small_b, 0x80, N); /* -0 */
	assert_true(figures(DTYPE_F8E4M3, small_a, small_b, N).distance == 0);
	for (int i = 0; i < N; i++) {
		a[i] = (float)normal();
		b[i] = a[i] + 0.5f;
	}
	/* of two normals half a sigma apart: 2 Phi(1/4) - 1 */
	assert_true(fabs(figures(DTYPE_F32, a, b, N).distance - 0.197) < 0.02);
	assert_true(fabs(figures(DTYPE_F32, a, b, N).quantiles[1][2] - 0.5) < 0.06);
	assert_true(fabs(figures(DTYPE_F32, a, b, N).quantiles[0][1] + 0.674) < 0.06);
	b[7] = NAN;
	assert_int_equal(figures(DTYPE_F32, a, b, N).elements, N - 1);
}

/* A and B: two values, B's spread to either side. */
static void spread_values(float *a, float *b, double size)
{
	for (int i = 0; i < N; i++) {
		a[i] = random_bits() % 2 ? 0x1p-6f : -0x1p-6f;
		b[i] = a[i] + (float)(random_bits() % 2 ? size : -size);
	}
}

static void test_distribution(void **state)
{
	float a[N], b[N];
	struct scene s;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		random_state = seed;
		spread_values(a, b, 5 * NOISE);
		begin(&s);
		add_case(&s, maker_config(&s.m, s.family, "num_warps=4"), 17, "n=1000",
			 (struct hash128){1, 1});
		add_trials(&s, a, b);
		expect(&s, 3, RULE_SHIFT);
		random_state = seed;
		spread_values(a, b, 0x1p-15);
		begin(&s);
		add_case(&s, maker_config(&s.m, s.family, "num_warps=4"), 17, "n=1000",
			 (struct hash128){1, 1});
		add_trials(&s, a, b);
		expect(&s, 2, RULE_OTHERWISE);
	}
}

/* ---- updates in place ---- */

/* w + update, B's update times scale; chain: A after four launches. */
static void add_update(struct scene *s, double scale, bool in_place)
{
	float a[N], b[N], chain[N];
	const void *contents[2] = {chain, in_place ? chain : b};

	for (int i = 0; i < N; i++) {
		double w = normal(), update = 0x1p-10 * normal();

		a[i] = (float)(w + update);
		b[i] = (float)(w + scale * update);
		chain[i] = in_place ? (float)(w + 3.7 * update) : a[i];
	}
	add_case(s, maker_config(&s->m, s->family, "num_warps=4"), 17, "n=1000",
		 (struct hash128){1, 1});
	add_trials_of(s, a, b, 0x1p-21);
	for (uint32_t side = 0; side < SIDE_COUNT; side++) {
		struct record_trial t = {.side = side, .kind = TRIAL_BACK_TO_BACK, .launches = 4};

		maker_trial_full(&s->m, &t, &contents[side]);
	}
}

static void test_updates(void **state)
{
	struct scene s;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		random_state = seed;
		begin(&s);
		add_update(&s, 1.001, true);
		assert_non_null(strstr(judge(&s)->evidence, "its scale"));
		assert_int_equal(s.analysis->families[0].outcome.rule, RULE_BIAS);
		assert_int_equal(s.analysis->families[0].outcome.bucket, 3);
		end(&s);
		random_state = seed;
		begin(&s);
		add_update(&s, 1 + 0x1p-15, true); /* a coefficient that is rounded otherwise */
		expect_no_alarm(&s);
		random_state = seed;
		begin(&s);
		add_update(&s, 1.001, false); /* nothing is known of an update */
		expect_no_alarm(&s);
	}
}

/* ---- cluster ---- */

/* Configs on the same inputs: each side adds noise of its own; B of the last is `apart` sigmas off.
 */
static void add_configs(struct scene *s, size_t count, double apart)
{
	static const char *const options[] = {"num_warps=1", "num_warps=2", "num_warps=4",
					      "num_warps=8"};
	float truth[N], a[N], b[N];

	for (int i = 0; i < N; i++)
		truth[i] = (float)(4 * normal());
	for (size_t k = 0; k < count; k++) {
		double size = k + 1 == count ? apart : 0;

		for (int i = 0; i < N; i++) {
			a[i] = truth[i] + (float)(NOISE / 8 * normal());
			b[i] = truth[i] + (float)(NOISE / 8 * normal()) +
			       (float)(random_bits() % 2 ? size * NOISE : -size * NOISE);
		}
		add_case(s, maker_config(&s->m, s->family, options[k]), 17 + k, "n=1000",
			 (struct hash128){1, 1});
		add_trials(s, a, b);
	}
}

static void test_cluster(void **state)
{
	struct scene s;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		random_state = seed;
		begin(&s);
		add_configs(&s, 4, 15);
		expect(&s, 3, RULE_CLUSTER);
		random_state = seed;
		begin(&s);
		add_configs(&s, 4, 0);
		expect(&s, 2, RULE_OTHERWISE);
	}
	random_state = 1;
	begin(&s);
	add_configs(&s, 1, 15); /* nothing to compare with */
	expect(&s, 2, RULE_OTHERWISE);
}

/* ---- growth ---- */

/* Launches with K = 256 … 16384, the residual grows by an exponent. */
static void add_sizes(struct scene *s, double exponent, size_t sizes)
{
	uint32_t config = maker_config(&s->m, s->family, "num_warps=4");
	float a[N], b[N];

	for (size_t k = 0; k < sizes; k++) {
		double size = 0.05 * pow(4, exponent * (double)k);
		char params[64];

		for (int i = 0; i < N; i++) {
			a[i] = (float)(4 * normal());
			b[i] = a[i] + (float)(size * NOISE * normal());
		}
		snprintf(params, sizeof(params), "x=0x7f0000000000 M=64 K=%d", 256 << 2 * k);
		add_case(s, config, 17 + k, params, (struct hash128){k, 1});
		add_trials(s, a, b);
	}
}

static void test_growth(void **state)
{
	struct scene s;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		random_state = seed;
		begin(&s);
		add_sizes(&s, 1, 4);
		assert_non_null(
			strstr(judge(&s)->evidence, "grows with K (256 to 16384, 4 values)"));
		assert_int_equal(s.analysis->families[0].outcome.rule, RULE_GROWTH);
		assert_int_equal(s.analysis->families[0].outcome.bucket, 3);
		end(&s);
		random_state = seed;
		begin(&s);
		add_sizes(&s, 0.5, 4); /* as rounding errors add up */
		expect(&s, 2, RULE_OTHERWISE);
		begin(&s);
		add_sizes(&s, 1, 2); /* two sizes show no trend */
		expect(&s, 2, RULE_OTHERWISE);
	}
}

/* ---- long serial sums ---- */

/* r = 40 of a sum of `serial` terms. */
static void add_sum(struct scene *s, uint64_t serial)
{
	float a[N], b[N];

	for (int i = 0; i < N; i++) {
		a[i] = (float)(4 * normal());
		b[i] = a[i] + (float)((i % 2 ? 40 : -40) * NOISE);
	}
	s->serial = serial;
	add_case(s, maker_config(&s->m, s->family, "num_warps=4"), 17, "n=1000",
		 (struct hash128){1, 1});
	add_trials(s, a, b);
}

static void test_serial_sums(void **state)
{
	struct scene s;

	random_state = 1;
	begin(&s);
	add_sum(&s, 0);
	expect(&s, 3, RULE_RESIDUAL);
	begin(&s);
	add_sum(&s, 4096);
	expect(&s, 3, RULE_RESIDUAL);
	begin(&s);
	add_sum(&s, 16384); /* four times as wide */
	expect_no_alarm(&s);
}

/* ---- synthetic siblings ---- */

/* B is `apart` sigmas off A, and A's siblings `size` to either side. */
static void add_siblings(struct scene *s, uint32_t count, double size, double apart)
{
	float a[N], b[N], sibling[N];
	const void *contents = sibling;

	for (int i = 0; i < N; i++) {
		a[i] = (float)(4 * normal());
		b[i] = a[i] + (float)((i % 2 ? apart : -apart) * NOISE);
	}
	add_case(s, maker_config(&s->m, s->family, "num_warps=4"), 17, "n=1000",
		 (struct hash128){1, 1});
	add_trials(s, a, b);
	for (uint32_t k = 0; k < count; k++) {
		struct record_trial t = {.side = SIDE_A,
					 .kind = TRIAL_SIBLING,
					 .index = k,
					 .how = "num_warps=8 in place of 4"};

		for (int i = 0; i < N; i++)
			sibling[i] = a[i] + (float)((i % 2 == (int)k ? size : -size) * NOISE);
		maker_trial_full(&s->m, &t, &contents);
	}
}

static void expect_words(struct scene *s, int bucket, const char *words, uint32_t used)
{
	const struct outcome *o = judge(s);
	const struct output_verdict *v = family_worst_output(&s->analysis->families[0]);

	if (o->bucket != bucket || !strstr(o->evidence, words))
		fail_msg("bucket %d, \"%s\"; expected %d, %s", o->bucket, o->evidence, bucket,
			 words);
	assert_int_equal(v->synthetic, used);
	end(s);
}

static void test_synthetic(void **state)
{
	struct scene s;

	random_state = 1;
	begin(&s);
	add_siblings(&s, 0, 0, 40);
	expect(&s, 3, RULE_RESIDUAL);
	begin(&s);
	add_siblings(&s, 2, 5, 40); /* A's other orders are as far apart */
	expect_words(&s, 2, "2 synthetic siblings of A in the noise", 2);
	begin(&s);
	add_siblings(&s, 1, 5, 40);
	expect_words(&s, 2, "1 synthetic sibling of A in the noise", 1);
	begin(&s);
	add_siblings(&s, 2, 25, 200); /* s of 25 sigma would let this pass */
	expect_words(&s, 3, "2 synthetic siblings of A in the noise", 2);
	begin(&s);
	add_siblings(&s, 2, 60, 40); /* suspicious themselves */
	expect_words(&s, 3,
		     "2 synthetic siblings left out, suspicious beside A (num_warps=8 in place of "
		     "4, rule 5)",
		     0);
}

/* Three other results on the same inputs, but none of a config of the model: no cluster. */
static void test_synthetic_cluster(void **state)
{
	struct scene s;

	random_state = 1;
	begin(&s);
	add_siblings(&s, 2, 0.01, 15);
	expect(&s, 2, RULE_OTHERWISE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distances), cmocka_unit_test(test_distribution),
		cmocka_unit_test(test_updates),   cmocka_unit_test(test_cluster),
		cmocka_unit_test(test_growth),    cmocka_unit_test(test_serial_sums),
		cmocka_unit_test(test_synthetic), cmocka_unit_test(test_synthetic_cluster),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
