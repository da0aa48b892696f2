/* SPDX-License-Identifier: MIT */
/* Every rule of the decision procedure on a result made for it, from the bundle to the bucket. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analyze.h"
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

/* A result with one family, config and case of N elements; trials are the test's. */
struct scene {
	struct maker m;
	char *path;
	struct hash128 family;
	uint32_t config;
	struct analysis *analysis;
};

static void scene_begin(struct scene *s, const struct maker_head *head, enum dtype t)
{
	*s = (struct scene){.path = scratch_path("result.klab")};
	maker_begin(&s->m, s->path, head);
	s->family = maker_family(&s->m, "softmax_k", t);
	s->config = maker_config(&s->m, s->family, "num_warps=4 64x32");
	maker_case(&s->m, s->config, 17, t, N);
}

static const struct family_verdict *scene_judge(struct scene *s)
{
	struct error err = {0};
	int e;

	maker_end(&s->m);
	e = analysis_run(&s->analysis, &s->path, 1, NULL, NULL, &err);
	if (e)
		fail_msg("%s", err.message);
	assert_int_equal(s->analysis->family_count, 1);
	return &s->analysis->families[0];
}

static void scene_end(struct scene *s)
{
	analysis_free(s->analysis);
	free(s->path);
}

static void expect(const struct family_verdict *f, int bucket, bool unproven, enum rule rule,
		   const char *words)
{
	if (f->outcome.bucket != bucket || f->outcome.unproven != unproven ||
	    f->outcome.rule != rule || (words && !strstr(f->outcome.evidence, words)))
		fail_msg("bucket %d%s, rule %s, \"%s\"; expected %d, rule %s, \"%s\"",
			 f->outcome.bucket, f->outcome.unproven ? " unproven" : "",
			 rule_number(f->outcome.rule), f->outcome.evidence, bucket,
			 rule_number(rule), words ? words : "");
}

/* Judges plain trials with contents a and b. */
static void expect_pair(enum dtype t, const void *a, const void *b, int bucket, bool unproven,
			enum rule rule, const char *words)
{
	struct scene s;

	scene_begin(&s, NULL, t);
	maker_trials(&s.m, a, b);
	expect(scene_judge(&s), bucket, unproven, rule, words);
	scene_end(&s);
}

/* ---- rule 1 ---- */

static void test_equal(void **state)
{
	struct scene s;
	const struct family_verdict *f;

	scene_begin(&s, NULL, DTYPE_F32);
	maker_trials(&s.m, plain, plain);
	f = scene_judge(&s);
	expect(f, 1, false, RULE_BITS, "3 repeats of A, 3 of B, 2 poisoned pairs");
	assert_int_equal(f->note_count, 0);
	assert_int_equal(f->coverage.configs_tested, 1);
	assert_int_equal(f->coverage.classes_tested, 1);
	assert_null(s.analysis->mark);
	assert_int_equal(s.analysis->buckets[1], 1);
	assert_true(s.analysis->question_count > 0); /* only context.model is answered */
	for (size_t i = 0; i < s.analysis->question_count; i++)
		assert_string_not_equal(s.analysis->questions[i].name, "context.model");
	scene_end(&s);
}

static void test_payload_and_zero_sign(void **state)
{
	float a[N], b[N];
	uint32_t nan = 0x7fc00001;

	memcpy(a, plain, sizeof(a));
	a[0] = NAN;
	a[1] = 0;
	memcpy(b, a, sizeof(b));
	memcpy(&b[0], &nan, 4);
	expect_pair(DTYPE_F32, a, b, 2, false, RULE_BITS, "payload of NaNs");
	b[1] = -0.0f;
	expect_pair(DTYPE_F32, a, b, 2, false, RULE_BITS, "payload of NaNs and the sign of zero");
	b[0] = a[0];
	expect_pair(DTYPE_F32, a, b, 2, false, RULE_BITS, "only the sign of zero");
}

/* Equal repeats do not excuse a difference that only the poisoned pair shows. */
static void test_poisoned_pair_differs(void **state)
{
	struct scene s;
	const void *a = plain, *bad;
	float b[N];

	memcpy(b, plain, sizeof(b));
	b[3] = 50;
	bad = b;
	scene_begin(&s, NULL, DTYPE_F32);
	for (uint32_t i = 0; i < 3; i++) {
		maker_trial(&s.m, SIDE_A, TRIAL_REPEAT, i, &a);
		maker_trial(&s.m, SIDE_B, TRIAL_REPEAT, i, &a);
	}
	for (uint32_t i = 0; i < 2; i++) {
		maker_trial(&s.m, SIDE_A, TRIAL_POISON, i, &a);
		maker_trial(&s.m, SIDE_B, TRIAL_POISON, i, &bad);
	}
	expect(scene_judge(&s), 3, false, RULE_MAGNITUDE, "element 3");
	scene_end(&s);
}

static void test_weak_evidence(void **state)
{
	static float zeros[N];
	struct scene s;
	const struct family_verdict *f;

	scene_begin(&s, NULL, DTYPE_F32);
	maker_trials(&s.m, zeros, zeros);
	f = scene_judge(&s);
	expect(f, 1, false, RULE_BITS, NULL);
	assert_int_equal(f->note_count, 1);
	assert_non_null(strstr(f->notes[0], "constant"));
	scene_end(&s);
	memcpy(zeros, plain, sizeof(zeros) / 2);
	scene_begin(&s, NULL, DTYPE_F32);
	maker_trials(&s.m, zeros, zeros);
	f = scene_judge(&s);
	assert_int_equal(f->note_count, 1);
	assert_non_null(strstr(f->notes[0], "zeros"));
	scene_end(&s);
}

/* ---- rule 0 ---- */

static void put_ok(struct scene *s, uint32_t side, const void *data)
{
	for (uint32_t i = 0; i < 3; i++)
		maker_trial(&s->m, side, TRIAL_REPEAT, i, &data);
	for (uint32_t i = 0; i < 2; i++)
		maker_trial(&s->m, side, TRIAL_POISON, i, &data);
}

/* One trial of B goes wrong as t says, the others are equal to A's. */
static void expect_b_trial(struct record_trial t, const void *a, const void *content, int bucket,
			   enum rule rule, const char *words)
{
	struct scene s;
	bool bad = t.status != TRIAL_STATUS_OK;

	scene_begin(&s, NULL, DTYPE_F32);
	put_ok(&s, SIDE_A, a);
	for (uint32_t kind = 0; kind < 2; kind++)
		for (uint32_t i = 0; i < 3 - kind; i++)
			if (kind != t.kind || i != t.index)
				maker_trial(&s.m, SIDE_B, kind, i, &a);
	t.side = SIDE_B;
	maker_trial_full(&s.m, &t, bad ? NULL : &content);
	expect(scene_judge(&s), bucket, false, rule, words);
	scene_end(&s);
}

static void test_b_fails(void **state)
{
	for (uint32_t status = TRIAL_STATUS_LAUNCH_ERROR; status <= TRIAL_STATUS_CRASH; status++)
		for (uint32_t kind = TRIAL_REPEAT; kind <= TRIAL_POISON; kind++)
			expect_b_trial((struct record_trial){.kind = kind,
							     .index = 1,
							     .status = status,
							     .reason = "address 0x10"},
				       plain, NULL, 3, RULE_VALID, trial_status_name(status));
}

static void test_b_unwritten(void **state)
{
	struct record_trial t = {.kind = TRIAL_POISON,
				 .unwritten_bytes = 64,
				 .unwritten_address = MAKER_ADDRESS + 128};

	expect_b_trial(
		t, plain, plain, 3, RULE_VALID,
		"64 bytes unwritten that A writes, first at 0x7f0000000080 (output out_ptr)");
}

static void test_b_stray(void **state)
{
	struct record_trial t = {.stray_bytes = 8, .stray_address = MAKER_ADDRESS - 8};

	expect_b_trial(t, plain, plain, 3, RULE_VALID, "8 bytes outside A's outputs");
}

static void test_a_strays_too(void **state)
{
	struct scene s;
	const void *p = plain;

	scene_begin(&s, NULL, DTYPE_F32);
	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t i = 0; i < 3; i++) {
			struct record_trial t = {.side = side, .index = i, .stray_bytes = 8};

			maker_trial_full(&s.m, &t, &p);
		}
	expect(scene_judge(&s), 1, false, RULE_BITS, NULL);
	scene_end(&s);
}

/* B's two poisoned results differ from each other, A's do not. */
static void test_b_depends_on_poison(void **state)
{
	float b[N];
	struct scene s;
	const void *a = plain, *bad = b;

	memcpy(b, plain, sizeof(b));
	b[9] = NAN;
	scene_begin(&s, NULL, DTYPE_F32);
	put_ok(&s, SIDE_A, a);
	for (uint32_t i = 0; i < 3; i++)
		maker_trial(&s.m, SIDE_B, TRIAL_REPEAT, i, &a);
	for (uint32_t i = 0; i < 22; i++) /* the first two, and ten of each pattern more */
		maker_trial(&s.m, SIDE_B, TRIAL_POISON, i, i % 2 ? &bad : &a);
	expect(scene_judge(&s), 3, false, RULE_VALID, "depends on what the output held before");
	scene_end(&s);
	/* A single pair tells that B has two results, not what decides between them. */
	expect_b_trial((struct record_trial){.kind = TRIAL_POISON, .index = 1}, plain, b, 3,
		       RULE_DETERMINISM, "1 of 2 poisoned runs differ");
}

/* Where A reads the memory too, its poison trials are void, and B's say nothing. */
static void test_void_poison(void **state)
{
	struct scene s;
	const void *p = plain, *q;
	float b[N] = {0};

	q = b;
	scene_begin(&s, NULL, DTYPE_F32);
	for (uint32_t i = 0; i < 3; i++) {
		maker_trial(&s.m, SIDE_A, TRIAL_REPEAT, i, &p);
		maker_trial(&s.m, SIDE_B, TRIAL_REPEAT, i, &p);
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct record_trial t = {.side = SIDE_A,
					 .kind = TRIAL_POISON,
					 .index = i,
					 .status = TRIAL_STATUS_VOID};
		struct record_trial u = {
			.side = SIDE_B, .kind = TRIAL_POISON, .index = i, .unwritten_bytes = 4};

		maker_trial_full(&s.m, &t, NULL);
		maker_trial_full(&s.m, &u, &q);
	}
	expect(scene_judge(&s), 1, false, RULE_BITS, "and no other pair");
	scene_end(&s);
}

/* A's poisoned results differ from each other although the replay did not call them void. */
static void test_a_depends_on_poison(void **state)
{
	struct scene s;
	float x[N], y[N];
	const void *p = plain, *px = x, *py = y;

	memcpy(x, plain, sizeof(x));
	memcpy(y, plain, sizeof(y));
	x[1] = 7;
	y[1] = 8;
	scene_begin(&s, NULL, DTYPE_F32);
	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t i = 0; i < 3; i++)
			maker_trial(&s.m, side, TRIAL_REPEAT, i, &p);
		maker_trial(&s.m, side, TRIAL_POISON, 0, side ? &py : &px);
		maker_trial(&s.m, side, TRIAL_POISON, 1, side ? &px : &py);
	}
	expect(scene_judge(&s), 1, false, RULE_BITS, NULL);
	scene_end(&s);
}

/* ---- rule 2 ---- */

static void test_race_in_b(void **state)
{
	float b[N];

	memcpy(b, plain, sizeof(b));
	b[500] = nextafterf(b[500], 10);
	expect_b_trial((struct record_trial){.kind = TRIAL_REPEAT, .index = 2}, plain, b, 3,
		       RULE_DETERMINISM, "1 of 3 repeats differ from the first");
}

/* Both vary by the last bits: compared with the range of A's repeats, and never bucket 1. */
static void run_nondeterministic(float b_error, int same, struct scene *s)
{
	float a[3][N], b[N];
	const void *p;

	scene_begin(s, NULL, DTYPE_F32);
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < N; i++)
			a[k][i] = plain[i] * (1 + 0x1p-20f * (float)((i * 7 + k * 3) % 5));
		p = a[k];
		maker_trial(&s->m, SIDE_A, TRIAL_REPEAT, (uint32_t)k, &p);
	}
	for (int k = 0; k < 3; k++) {
		memcpy(b, a[same < 0 ? k : same], sizeof(b));
		b[11] *= 1 + b_error;
		p = b;
		maker_trial(&s->m, SIDE_B, TRIAL_REPEAT, (uint32_t)k, &p);
	}
}

static void test_both_nondeterministic(void **state)
{
	struct scene s;
	const struct family_verdict *f;

	run_nondeterministic(0x1p-20f, -1, &s);
	f = scene_judge(&s);
	expect(f, 2, false, RULE_MAGNITUDE, NULL);
	assert_true(f->outcome.nondeterministic && f->outcome.provisional);
	assert_non_null(strstr(f->notes[0], "nondeterministic"));
	scene_end(&s);
	run_nondeterministic(0.25f, -1, &s);
	expect(scene_judge(&s), 3, false, RULE_MAGNITUDE, "element 11");
	scene_end(&s);
	for (int same = 0; same < 2; same++) {
		run_nondeterministic(0, same, &s);
		f = scene_judge(&s);
		expect(f, 2, false, RULE_MAGNITUDE, NULL);
		assert_true(f->outcome.nondeterministic);
		scene_end(&s);
	}
}

/* ---- rules 3, int, 9 ---- */

static void test_classes(void **state)
{
	float a[N], b[N];

	memcpy(a, plain, sizeof(a));
	memcpy(b, plain, sizeof(b));
	for (int i = 100; i < 228; i++)
		b[i] = NAN;
	expect_pair(DTYPE_F32, a, b, 3, false, RULE_CLASSES,
		    "128 of 1000 positions are NaN in B and finite in A; first element 100");
	b[300] = INFINITY;
	expect_pair(DTYPE_F32, a, b, 3, false, RULE_CLASSES,
		    "129 of 1000 positions are of another class, 128 of them NaN in B");
	a[300] = -INFINITY;
	memcpy(b, a, sizeof(b));
	b[300] = INFINITY;
	expect_pair(DTYPE_F32, a, b, 3, false, RULE_CLASSES, "+inf in B and -inf in A");
}

/* fp8 448 is finite, its neighbour is NaN. */
static void test_fp8_classes(void **state)
{
	uint8_t a[N], b[N];

	memset(a, 0x7e, N);
	memset(b, 0x7e, N);
	b[4] = 0x7f;
	expect_pair(DTYPE_F8E4M3, a, b, 3, false, RULE_CLASSES, "A 448 (0x7e), B NaN (0x7f)");
	b[4] = 0x7d;
	expect_pair(DTYPE_F8E4M3, a, b, 2, false, RULE_MAGNITUDE, NULL);
}

static void test_integers(void **state)
{
	int32_t a[N], b[N];
	int64_t wide[N], other[N];
	uint8_t mask[N] = {0}, flipped[N] = {0};

	for (int i = 0; i < N; i++)
		a[i] = b[i] = i * 3, wide[i] = other[i] = (INT64_C(1) << 60) + i;
	b[999]++;
	other[0]++; /* below a double's resolution there */
	flipped[3] = 1;
	expect_pair(DTYPE_I32, a, b, 3, false, RULE_INTEGER, "element 999: A 2997, B 2998");
	expect_pair(DTYPE_I64, wide, other, 3, false, RULE_INTEGER,
		    "A 1152921504606846976, B 1152921504606846977");
	expect_pair(DTYPE_BOOL, mask, flipped, 3, false, RULE_INTEGER, "1 of 1000");
}

static void test_unknown_type(void **state)
{
	uint8_t a[N] = {0}, b[N] = {0};

	b[3] = 1;
	expect_pair(DTYPE_UNKNOWN, a, b, 3, true, RULE_UNPROVEN, "unknown element type");
	expect_pair(DTYPE_UNKNOWN, a, a, 1, false, RULE_BITS, NULL);
}

static void test_magnitude(void **state)
{
	float b[N];

	for (int i = 0; i < N; i++)
		b[i] = plain[i] * (1 + 0x1p-22f * (float)(i % 3));
	expect_pair(DTYPE_F32, plain, b, 2, false, RULE_MAGNITUDE, "provisional");
	b[77] += 0.01f;
	expect_pair(DTYPE_F32, plain, b, 3, false, RULE_MAGNITUDE, "element 77");
}

/* ---- extents ---- */

static void judge_extent(struct record_extent e, const void *a, const void *b, struct scene *s)
{
	struct record_case c = {
		.config = 0, .seq = 1, .fidelity = FIDELITY_FAITHFUL, .extents = {&e, 1}};

	*s = (struct scene){.path = scratch_path("result.klab")};
	maker_begin(&s->m, s->path, NULL);
	s->family = maker_family(&s->m, "k", DTYPE_F32);
	maker_config(&s->m, s->family, "w4");
	maker_case_full(&s->m, &c);
	maker_trials(&s->m, a, b);
}

/* Starts within an element, or has a type of a later version: bytes, with a note. */
static void test_odd_extents(void **state)
{
	struct record_extent odd = {
		.address = MAKER_ADDRESS + 2, .size = 4 * N - 4, .arg = 2, .dtype = DTYPE_F32};
	struct record_extent later = {
		.address = MAKER_ADDRESS, .size = 4 * N, .arg = 2, .dtype = 777};
	float b[N];
	struct scene s;

	memcpy(b, plain, sizeof(b));
	b[5] += 1;
	judge_extent(odd, plain, b, &s);
	expect(scene_judge(&s), 3, true, RULE_UNPROVEN, "within an element");
	scene_end(&s);
	judge_extent(later, plain, b, &s);
	expect(scene_judge(&s), 3, true, RULE_UNPROVEN, "element type unknown");
	scene_end(&s);
	judge_extent(odd, plain, plain, &s);
	expect(scene_judge(&s), 1, false, RULE_BITS, NULL);
	scene_end(&s);
}

/* Several chunks with an unaligned start: indices go on over their borders. */
static void test_many_chunks(void **state)
{
	enum { COUNT = 200001 };
	float *a = calloc(COUNT, sizeof(*a)), *b = calloc(COUNT, sizeof(*b));
	struct record_extent e = {.address = MAKER_ADDRESS + 12,
				  .size = COUNT * sizeof(*a),
				  .arg = 2,
				  .dtype = DTYPE_F32};
	const struct output_verdict *o;
	struct scene s;

	for (int i = 0; i < COUNT; i++)
		a[i] = b[i] = (float)i;
	b[150000] = -1;
	judge_extent(e, a, b, &s);
	o = family_worst_output(scene_judge(&s));
	expect(&s.analysis->families[0], 3, false, RULE_MAGNITUDE,
	       "element 150000: A 150000 (0x48127c00), B -1 (0xbf800000)");
	assert_int_equal(o->metrics.elements, COUNT);
	assert_int_equal(o->metrics.differing, 1);
	assert_string_equal(o->name, "out_ptr");
	scene_end(&s);
	free(a);
	free(b);
}

/* Two outputs: the worse one decides and is named. */
static void test_worst_output(void **state)
{
	struct record_extent e[2] = {
		{.address = MAKER_ADDRESS, .size = 4 * N, .arg = 2, .dtype = DTYPE_F32},
		{.address = MAKER_ADDRESS + (1 << 20),
		 .size = 4 * N,
		 .arg = 3,
		 .dtype = DTYPE_I32}};
	struct record_case c = {.seq = 1, .fidelity = FIDELITY_FAITHFUL, .extents = {e, 2}};
	int32_t ints[N] = {0}, other[N] = {0};
	float b[N];
	const void *ca[2] = {plain, ints}, *cb[2] = {b, other};
	struct scene s = {.path = scratch_path("result.klab")};

	memcpy(b, plain, sizeof(b));
	b[0] = nextafterf(b[0], 10);
	other[1] = 1;
	maker_begin(&s.m, s.path, NULL);
	s.family = maker_family(&s.m, "k", DTYPE_F32);
	maker_config(&s.m, s.family, "w4");
	maker_case_full(&s.m, &c);
	for (uint32_t i = 0; i < 3; i++) {
		maker_trial(&s.m, SIDE_A, TRIAL_REPEAT, i, ca);
		maker_trial(&s.m, SIDE_B, TRIAL_REPEAT, i, cb);
	}
	expect(scene_judge(&s), 3, false, RULE_INTEGER, NULL);
	assert_string_equal(family_worst_output(&s.analysis->families[0])->name, "aux_ptr");
	assert_int_equal(family_worst_case(&s.analysis->families[0])->outputs[0].outcome.bucket, 2);
	scene_end(&s);
}

/* ---- unproven and untested ---- */

static void expect_untested(struct record_case c, bool a_runs, bool b_runs, const char *words)
{
	struct record_extent e = {
		.address = MAKER_ADDRESS, .size = 4 * N, .arg = 2, .dtype = DTYPE_F32};
	struct scene s = {.path = scratch_path("result.klab")};
	const struct family_verdict *f;

	c.extents.items = &e;
	c.extents.count = 1;
	maker_begin(&s.m, s.path, NULL);
	s.family = maker_family(&s.m, "k", DTYPE_F32);
	maker_config(&s.m, s.family, "w4");
	maker_case_full(&s.m, &c);
	if (a_runs)
		put_ok(&s, SIDE_A, plain);
	if (b_runs)
		put_ok(&s, SIDE_B, plain);
	f = scene_judge(&s);
	expect(f, 3, true, RULE_UNPROVEN, words);
	assert_int_equal(f->coverage.configs_tested, 0);
	assert_int_equal(s.analysis->unproven, 1);
	scene_end(&s);
}

static void test_untested_cases(void **state)
{
	struct record_case c = {.seq = 1, .fidelity = FIDELITY_FAITHFUL};

	expect_untested(c, false, true, "A was not run");
	expect_untested(c, true, false, "B was not run");
	c.fidelity = FIDELITY_UNFAITHFUL;
	c.fidelity_reason = "a region was not recorded";
	expect_untested(c, true, true, "unfaithful: a region was not recorded");
	c.fidelity = FIDELITY_UNTESTED;
	expect_untested(c, true, true, "untested");
}

static void test_a_fails(void **state)
{
	struct record_trial bad = {.side = SIDE_A, .index = 3, .status = TRIAL_STATUS_HANG};
	struct record_trial worse = {.side = SIDE_B, .index = 3, .status = TRIAL_STATUS_FAULT};
	struct scene s;

	scene_begin(&s, NULL, DTYPE_F32);
	maker_trials(&s.m, plain, plain);
	maker_trial_full(&s.m, &bad, NULL);
	maker_trial_full(&s.m, &worse, NULL);
	expect(scene_judge(&s), 3, true, RULE_UNPROVEN, "A fails itself: hang");
	scene_end(&s);
}

/* A config without a launch beside a tested one is named and changes nothing. */
static void test_untested_config(void **state)
{
	struct scene s;
	struct record_config c = {.options = "num_warps=8",
				  .pairing = PAIRING_A_ONLY,
				  .reason = "B does not have it"};
	const struct family_verdict *f;

	scene_begin(&s, NULL, DTYPE_F32);
	maker_trials(&s.m, plain, plain);
	c.family = s.family;
	maker_config_full(&s.m, &c);
	f = scene_judge(&s);
	expect(f, 1, false, RULE_BITS, NULL);
	assert_int_equal(f->coverage.configs, 2);
	assert_int_equal(f->coverage.configs_tested, 1);
	assert_string_equal(f->notes[0], "config num_warps=8 is untested: B does not have it");
	scene_end(&s);
}

static void test_family_without_config(void **state)
{
	struct scene s = {.path = scratch_path("result.klab")};

	maker_begin(&s.m, s.path, NULL);
	maker_family(&s.m, "k", DTYPE_F32);
	expect(scene_judge(&s), 3, true, RULE_UNPROVEN, "no config is known");
	scene_end(&s);
}

/* ---- the software device ---- */

static void test_software_device(void **state)
{
	static const struct maker_head soft = {
		.version_a = "triton 3.6.0", .version_b = "triton 3.7.1", .software = true};
	struct record_config c = {.options = "w8", .same_ptx = true, .tested = true};
	struct scene s;

	scene_begin(&s, &soft, DTYPE_F32);
	maker_trials(&s.m, plain, plain);
	expect(scene_judge(&s), 1, false, RULE_BITS, NULL);
	assert_string_equal(s.analysis->mark, "PTX level: ptxas not executed");
	scene_end(&s);

	scene_begin(&s, &soft, DTYPE_F32);
	maker_trials(&s.m, plain, plain);
	c.family = s.family;
	maker_case(&s.m, maker_config_full(&s.m, &c), 18, DTYPE_F32, N);
	maker_trials(&s.m, plain, plain);
	expect(scene_judge(&s), 3, true, RULE_UNPROVEN, "PTX is equal and machine code differs");
	scene_end(&s);

	scene_begin(&s, &soft, DTYPE_F32);
	maker_trials(&s.m, plain, plain);
	c.same_code = true;
	maker_case(&s.m, maker_config_full(&s.m, &c), 18, DTYPE_F32, N);
	maker_trials(&s.m, plain, plain);
	expect(scene_judge(&s), 1, false, RULE_BITS, NULL);
	scene_end(&s);
}

/* ---- several configs and families ---- */

static void test_worst_config_and_order(void **state)
{
	struct scene s;
	struct hash128 other;
	float b[N], c[N];

	memcpy(b, plain, sizeof(b));
	memcpy(c, plain, sizeof(c));
	b[1] = nextafterf(b[1], 10);
	c[2] = NAN;
	scene_begin(&s, NULL, DTYPE_F32);
	maker_trials(&s.m, plain, b);
	maker_case(&s.m, maker_config(&s.m, s.family, "num_warps=8"), 21, DTYPE_F32, N);
	maker_trials(&s.m, plain, c);
	maker_case(&s.m, maker_config(&s.m, s.family, "num_warps=16"), 22, DTYPE_F32, N);
	maker_trials(&s.m, plain, plain);
	other = maker_family(&s.m, "aaa", DTYPE_F32);
	maker_case(&s.m, maker_config(&s.m, other, "w1"), 23, DTYPE_F32, N);
	maker_trials(&s.m, plain, plain);
	maker_end(&s.m);
	assert_int_equal(analysis_run(&s.analysis, &s.path, 1, NULL, NULL, NULL), 0);
	assert_int_equal(s.analysis->family_count, 2);
	assert_string_equal(s.analysis->families[0].record->name, "softmax_k");
	expect(&s.analysis->families[0], 3, false, RULE_CLASSES, NULL);
	assert_int_equal(family_worst_case(&s.analysis->families[0])->record->seq, 21);
	assert_int_equal(analysis_at_least(s.analysis, 1), 2);
	assert_int_equal(analysis_at_least(s.analysis, 3), 1);
	scene_end(&s);
}

/* Of two findings the earlier rule is the stronger, whatever the order of configs. */
static void test_earlier_rule_is_worse(void **state)
{
	struct record_trial hang = {.side = SIDE_B, .status = TRIAL_STATUS_HANG};
	float nan[N];

	memcpy(nan, plain, sizeof(nan));
	nan[2] = NAN;
	for (int swap = 0; swap < 2; swap++) {
		struct scene s;

		scene_begin(&s, NULL, DTYPE_F32);
		for (int k = 0; k < 2; k++) {
			if (k)
				maker_case(&s.m, s.config, 18, DTYPE_F32, N);
			if (k == swap) {
				maker_trials(&s.m, plain, nan);
			} else {
				put_ok(&s, SIDE_A, plain);
				maker_trial_full(&s.m, &hang, NULL);
			}
		}
		expect(scene_judge(&s), 3, false, RULE_VALID, "hang");
		scene_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_payload_and_zero_sign),
		cmocka_unit_test(test_poisoned_pair_differs),
		cmocka_unit_test(test_weak_evidence),
		cmocka_unit_test(test_b_fails),
		cmocka_unit_test(test_b_unwritten),
		cmocka_unit_test(test_b_stray),
		cmocka_unit_test(test_a_strays_too),
		cmocka_unit_test(test_b_depends_on_poison),
		cmocka_unit_test(test_void_poison),
		cmocka_unit_test(test_a_depends_on_poison),
		cmocka_unit_test(test_race_in_b),
		cmocka_unit_test(test_both_nondeterministic),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_fp8_classes),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_unknown_type),
		cmocka_unit_test(test_magnitude),
		cmocka_unit_test(test_odd_extents),
		cmocka_unit_test(test_many_chunks),
		cmocka_unit_test(test_worst_output),
		cmocka_unit_test(test_untested_cases),
		cmocka_unit_test(test_a_fails),
		cmocka_unit_test(test_untested_config),
		cmocka_unit_test(test_family_without_config),
		cmocka_unit_test(test_software_device),
		cmocka_unit_test(test_worst_config_and_order),
		cmocka_unit_test(test_earlier_rule_is_worse),
	};

	return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
