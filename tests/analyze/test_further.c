/* SPDX-License-Identifier: MIT */
/* Verdicts on further trials: integer inputs, launches in a row, perturbed pairs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyze.h"
#include "analyze/remark.h"
#include "lib/base.h"
#include "tests/analyze/maker.h"
#include "tests/lib/scratch.h"

#define N 1000

static float plain[N];

static int setup(void **state)
{
	for (int i = 0; i < N; i++)
		plain[i] = sinf((float)i) + 2;
	return scratch_setup(state);
}

/* A result with one case of N elements; trials are the test's. */
struct scene {
	struct maker m;
	char *path;
	struct analysis *analysis;
};

static void scene_begin(struct scene *s)
{
	*s = (struct scene){.path = scratch_path("result.klab")};
	maker_begin(&s->m, s->path, NULL);
	maker_case(&s->m, maker_config(&s->m, maker_family(&s->m, "k", DTYPE_F32), "num_warps=4"),
		   17, DTYPE_F32, N);
}

static void expect(struct scene *s, int bucket, enum rule rule, const char *words)
{
	struct error err = {0};
	const struct outcome *o;

	maker_end(&s->m);
	if (analysis_run(&s->analysis, &s->path, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
	o = &s->analysis->families[0].outcome;
	if (o->bucket != bucket || o->rule != rule || (words && !strstr(o->evidence, words)))
		fail_msg("bucket %d, rule %s, \"%s\"; expected %d, rule %s", o->bucket,
			 rule_number(o->rule), o->evidence, bucket, rule_number(rule));
}

static void scene_end(struct scene *s)
{
	analysis_free(s->analysis);
	free(s->path);
}

static void put_pair(struct scene *s, uint32_t kind, uint32_t index, const void *a, const void *b)
{
	const void *contents[2] = {a, b};

	for (uint32_t side = 0; side < SIDE_COUNT; side++) {
		struct record_trial t = {.side = side,
					 .kind = kind,
					 .index = index,
					 .step = kind == TRIAL_PERTURBED ? 0x1p-24 : 0,
					 .scale = kind == TRIAL_SCALED ? 0x1p-10 : 0,
					 .launches = kind == TRIAL_BACK_TO_BACK ? 4 : 0};

		maker_trial_full(&s->m, &t, &contents[side]);
	}
}

/* Equal on recorded inputs, one bit apart on integer ones. */
static void test_exact_integers(void **state)
{
	float b[N];
	struct scene s;

	memcpy(b, plain, sizeof(b));
	b[3] = nextafterf(b[3], 10);
	scene_begin(&s);
	maker_trials(&s.m, plain, plain);
	put_pair(&s, TRIAL_EXACT_INTEGER, 0, plain, b);
	expect(&s, 3, RULE_EXACT, "1 of 1000 elements differ on integer");
	scene_end(&s);
	scene_begin(&s);
	maker_trials(&s.m, plain, b);
	put_pair(&s, TRIAL_EXACT_INTEGER, 0, plain, plain);
	expect(&s, 2, RULE_MAGNITUDE, NULL); /* no noise floor: provisional */
	scene_end(&s);
}

/* Launched in a row B gives something else than once, A does not. */
static void test_launches_in_a_row(void **state)
{
	float b[N];
	struct scene s;

	memcpy(b, plain, sizeof(b));
	b[3] += 1;
	scene_begin(&s);
	maker_trials(&s.m, plain, plain);
	put_pair(&s, TRIAL_BACK_TO_BACK, 0, plain, b);
	expect(&s, 3, RULE_DETERMINISM, "several times in a row");
	scene_end(&s);
	scene_begin(&s);
	maker_trials(&s.m, plain, plain);
	put_pair(&s, TRIAL_BACK_TO_BACK, 0, b, b);
	expect(&s, 1, RULE_BITS, NULL);
	scene_end(&s);
}

/* Bit-equal on recorded inputs is not bucket 1 where perturbed inputs tell the sides apart. */
static void test_perturbed_pairs_count(void **state)
{
	float moved[N], b[N];
	struct scene s;

	for (int far = 0; far < 2; far++) {
		scene_begin(&s);
		maker_trials(&s.m, plain, plain);
		for (uint32_t k = 0; k < 4; k++) {
			for (int i = 0; i < N; i++)
				moved[i] = nextafterf(plain[i], (i * 7 + (int)k) % 3 ? 10 : -10);
			memcpy(b, moved, sizeof(b));
			b[9] = far ? b[9] + 0.01f : nextafterf(b[9], 10);
			put_pair(&s, TRIAL_PERTURBED, k, moved, b);
		}
		expect(&s, far ? 3 : 2, far ? RULE_RESIDUAL : RULE_OTHERWISE, "perturbed inputs");
		assert_false(s.analysis->families[0].outcome.provisional);
		scene_end(&s);
	}
}

/* Scaled pairs are judged by the noise floor at their own point; without one provisionally. */
static void test_scaled_pairs_count(void **state)
{
	float small[N], moved[N], b[N];
	struct scene s;

	for (int i = 0; i < N; i++)
		small[i] = plain[i] / 1024;
	for (int far = 0; far < 2; far++) {
		scene_begin(&s);
		maker_trials(&s.m, plain, plain);
		memcpy(b, small, sizeof(b));
		b[9] = far ? b[9] * 1.001f : nextafterf(b[9], 10);
		put_pair(&s, TRIAL_SCALED, 0, small, b);
		for (uint32_t k = 0; k < 4; k++) {
			const void *contents = moved;
			struct record_trial t = {.side = SIDE_A,
						 .kind = TRIAL_SCALED,
						 .index = 1 + k,
						 .scale = 0x1p-10,
						 .step = 0x1p-24};

			for (int i = 0; i < N; i++)
				moved[i] = nextafterf(small[i], (i * 7 + (int)k) % 3 ? 10 : -10);
			maker_trial_full(&s.m, &t, &contents);
		}
		expect(&s, far ? 3 : 2, far ? RULE_RESIDUAL : RULE_OTHERWISE, "inputs times 2^-10");
		assert_false(s.analysis->families[0].outcome.provisional);
		scene_end(&s);
	}
	scene_begin(&s);
	maker_trials(&s.m, plain, plain);
	b[9] = INFINITY;
	put_pair(&s, TRIAL_SCALED, 0, small, b);
	expect(&s, 3, RULE_CLASSES, "+inf in B");
	scene_end(&s);
}

/* Rounds of runs with two patterns; the last `mixed` of them give the other one's result. */
static void put_again(struct scene *s, uint32_t side, uint32_t kind, const void *even,
		      const void *odd, uint32_t rounds, uint32_t mixed)
{
	for (uint32_t i = 0; i < 2 * rounds; i++)
		maker_trial(&s->m, side, kind, 2 + i,
			    (i % 2 == 0) == (i / 2 < rounds - mixed) ? &even : &odd);
}

/* What B does with the memory around: writes it, or reads it. */
static void test_guards(void **state)
{
	const void *contents = plain;
	struct record_trial t = {.kind = TRIAL_GUARD};
	float b[N];
	struct scene s;

	scene_begin(&s);
	maker_trials(&s.m, plain, plain);
	maker_trial_full(&s.m, &t, &contents);
	t.side = SIDE_B;
	t.stray_bytes = 4;
	maker_trial_full(&s.m, &t, &contents);
	expect(&s, 3, RULE_VALID, "B changes 4 bytes outside");
	scene_end(&s);
	memcpy(b, plain, sizeof(b));
	b[N - 1] = 3e38f;
	scene_begin(&s);
	maker_trials(&s.m, plain, plain);
	put_pair(&s, TRIAL_GUARD, 0, plain, b);
	put_again(&s, SIDE_B, TRIAL_GUARD, b, plain, 10, 0);
	expect(&s, 3, RULE_VALID, "a read out of bounds");
	scene_end(&s);
}

/* Another result with a pattern around is chance where the pattern does not decide which it is. */
static void test_chance_is_no_read(void **state)
{
	static const struct {
		uint32_t rounds, mixed;
	} rows[] = {{0, 0}, {10, 3}, {8, 0}};
	float b[N];
	struct scene s;

	memcpy(b, plain, sizeof(b));
	b[7] = nextafterf(b[7], 10);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		scene_begin(&s);
		maker_trials(&s.m, plain, plain);
		put_pair(&s, TRIAL_GUARD, 0, plain, b);
		put_again(&s, SIDE_B, TRIAL_GUARD, b, plain, rows[i].rounds, rows[i].mixed);
		expect(&s, 3, RULE_DETERMINISM, "pattern around what is touched");
		scene_end(&s);
	}
	/* A varies as well, though its first runs were equal: both do, and differ by an ulp. */
	scene_begin(&s);
	maker_trials(&s.m, plain, plain);
	put_pair(&s, TRIAL_GUARD, 0, plain, b);
	put_again(&s, SIDE_B, TRIAL_GUARD, b, plain, 10, 3);
	put_again(&s, SIDE_A, TRIAL_GUARD, plain, b, 10, 3);
	expect(&s, 2, RULE_MAGNITUDE, "A varies from run to run");
	assert_true(s.analysis->families[0].outcome.nondeterministic);
	scene_end(&s);
	/* The same of poisoned outputs. */
	scene_begin(&s);
	maker_trial(&s.m, SIDE_B, TRIAL_REPEAT, 0, &(const void *){plain});
	maker_trial(&s.m, SIDE_B, TRIAL_REPEAT, 1, &(const void *){plain});
	maker_trial(&s.m, SIDE_A, TRIAL_REPEAT, 0, &(const void *){plain});
	maker_trial(&s.m, SIDE_A, TRIAL_REPEAT, 1, &(const void *){plain});
	put_pair(&s, TRIAL_POISON, 0, plain, plain);
	put_pair(&s, TRIAL_POISON, 1, plain, b);
	put_again(&s, SIDE_B, TRIAL_POISON, plain, b, 10, 4);
	expect(&s, 3, RULE_DETERMINISM, "poisoned runs differ");
	scene_end(&s);
}

/* Where both sides add floats atomically, that only B was seen to vary is no race. */
static void test_both_add_atomically(void **state)
{
	static const uint32_t flags[] = {0, EXTENT_ADDED_A, EXTENT_ADDED_B,
					 EXTENT_ADDED_A | EXTENT_ADDED_B};
	const void *p = plain, *q;
	float b[N];

	memcpy(b, plain, sizeof(b));
	b[7] = nextafterf(b[7], 10);
	q = b;
	for (size_t far = 0; far < 2; far++) {
		for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
			struct record_extent e = {.address = MAKER_ADDRESS,
						  .size = sizeof(b),
						  .arg = 2,
						  .dtype = DTYPE_F32,
						  .flags = flags[i]};
			struct scene s = {.path = scratch_path("result.klab")};
			struct record_case c = {.bundle = "a.klab",
						.seq = 17,
						.fidelity = FIDELITY_FAITHFUL,
						.extents = {&e, 1}};
			bool both = flags[i] == flags[3];

			maker_begin(&s.m, s.path, NULL);
			c.config = maker_config(&s.m, maker_family(&s.m, "k", DTYPE_F32),
						"num_warps=4");
			maker_case_full(&s.m, &c);
			for (uint32_t k = 0; k < 3; k++) {
				maker_trial(&s.m, SIDE_A, TRIAL_REPEAT, k, &p);
				maker_trial(&s.m, SIDE_B, TRIAL_REPEAT, k, k == 1 ? &q : &p);
			}
			expect(&s, both && !far ? 2 : 3, !both ? RULE_DETERMINISM : RULE_MAGNITUDE,
			       NULL);
			assert_int_equal(s.analysis->families[0].outcome.nondeterministic, both);
			scene_end(&s);
		}
		b[7] = 17;
	}
}

/* A race in B's PTX is one whatever the results; in A's as well it tells nothing about B. */
static void test_races_in_ptx(void **state)
{
	for (uint64_t a = 0; a < 2; a++)
		for (uint64_t b = 0; b < 2; b++) {
			struct record_trial t = {.kind = TRIAL_RACE, .races = a};
			struct scene s;

			scene_begin(&s);
			maker_trials(&s.m, plain, plain);
			maker_trial_full(&s.m, &t, NULL);
			t.side = SIDE_B;
			t.races = b;
			t.race = b ? "warp 1 reads byte 4" : NULL;
			maker_trial_full(&s.m, &t, NULL);
			if (b && !a)
				expect(&s, 3, RULE_DETERMINISM, "A's has not: warp 1 reads byte 4");
			else
				expect(&s, 1, RULE_BITS, NULL);
			scene_end(&s);
		}
}

/* Keeps the line of the head that speaks of derived launches. */
static void find_derived(void *data, int level, const char *text)
{
	if (strstr(text, "Derived"))
		snprintf(data, 128, "%s", text);
}

/* Disturbed runs: another result of B alone is a race; that it finds no room is nothing. */
static void test_disturbed_runs(void **state)
{
	const void *p = plain, *q;
	float b[N];
	struct scene s;

	memcpy(b, plain, sizeof(b));
	b[7] = nextafterf(b[7], 10);
	q = b;
	for (int a = 0; a < 2; a++) {
		scene_begin(&s);
		maker_trials(&s.m, plain, plain);
		for (uint32_t i = 0; i < 16; i++) {
			maker_trial(&s.m, SIDE_A, TRIAL_DISTURBED, i, a && i == 9 ? &q : &p);
			maker_trial(&s.m, SIDE_B, TRIAL_DISTURBED, i, i == 5 ? &q : &p);
		}
		if (a)
			expect(&s, 2, RULE_MAGNITUDE, "A varies from run to run");
		else
			expect(&s, 3, RULE_DETERMINISM, "1 of 16 runs with disturbed timing");
		scene_end(&s);
	}
	for (uint32_t status = TRIAL_STATUS_LAUNCH_ERROR; status <= TRIAL_STATUS_CRASH; status++) {
		struct record_trial t = {
			.side = SIDE_B, .kind = TRIAL_DISTURBED, .status = status, .reason = "so"};

		scene_begin(&s);
		maker_trials(&s.m, plain, plain);
		maker_trial(&s.m, SIDE_A, TRIAL_DISTURBED, 0, &p);
		maker_trial_full(&s.m, &t, NULL);
		if (status == TRIAL_STATUS_FAULT || status == TRIAL_STATUS_CRASH)
			expect(&s, 3, RULE_VALID, "disturbed trial 0");
		else
			expect(&s, 1, RULE_BITS, NULL);
		scene_end(&s);
	}
}

/* A derived launch finds what the recorded one does not show, if that one was reproduced. */
static void test_derived_launches(void **state)
{
	float b[N];
	struct record_extent e = {
		.address = MAKER_ADDRESS, .size = sizeof(b), .arg = 2, .dtype = DTYPE_F32};

	memcpy(b, plain, sizeof(b));
	b[3] = NAN;
	for (int good = 0; good < 2; good++) {
		struct scene s = {.path = scratch_path("result.klab")};
		struct record_case origin = {.bundle = "a.klab", .seq = 17}, derived = {0};
		const struct family_coverage *c;
		char line[128] = "";
		uint32_t config;

		maker_begin(&s.m, s.path, NULL);
		config = maker_config(&s.m, maker_family(&s.m, "k", DTYPE_F32), "num_warps=4");
		origin.config = config;
		origin.fidelity = good ? FIDELITY_FAITHFUL : FIDELITY_UNFAITHFUL;
		origin.extents.items = &e;
		origin.extents.count = 1;
		derived = origin;
		maker_case_full(&s.m, &origin);
		maker_trials(&s.m, plain, plain);
		derived.fidelity = FIDELITY_DERIVED;
		derived.derived = "n: 999 in place of 1000";
		maker_case_full(&s.m, &derived);
		maker_trials(&s.m, plain, b);
		expect(&s, 3, good ? RULE_CLASSES : RULE_UNPROVEN, NULL);
		c = &s.analysis->families[0].coverage;
		assert_int_equal(c->cases, 1);
		assert_int_equal(c->tested, good);
		assert_int_equal(c->classes, 1);
		assert_int_equal(c->derived, 1);
		assert_int_equal(c->derived_tested, good);
		assert_int_equal(remarks(s.analysis, find_derived, line), 0);
		assert_string_equal(line, good ? "Derived boundary launches: 1 of 1 tested; the "
						 "verdict rests on one in 1 family"
					       : "Derived boundary launches: 0 of 1 tested; the "
						 "verdict rests on one in 0 families");
		scene_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_integers),
		cmocka_unit_test(test_launches_in_a_row),
		cmocka_unit_test(test_perturbed_pairs_count),
		cmocka_unit_test(test_scaled_pairs_count),
		cmocka_unit_test(test_guards),
		cmocka_unit_test(test_chance_is_no_read),
		cmocka_unit_test(test_both_add_atomically),
		cmocka_unit_test(test_races_in_ptx),
		cmocka_unit_test(test_disturbed_runs),
		cmocka_unit_test(test_derived_launches),
	};

	return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
