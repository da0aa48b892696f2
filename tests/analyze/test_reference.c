/* SPDX-License-Identifier: MIT */
/* References in double precision: which side is nearer, and which ties they settle. */
#include <math.h>
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

#define COUNT 100000u /* more than one chunk of f32 */

/* A case of one output: A's and B's bytes, and the reference of the elements that differ. */
struct given {
	enum dtype dtype;
	size_t count;
	const void *a, *b;
	double (*value)(size_t i);
	double function; /* documented error of approximate functions */
	size_t without;  /* so many of the last differing elements have no value */
	bool unordered, no_reference;
};

static void put_reference(struct maker *m, const struct given *g)
{
	size_t bytes = dtype_bytes(g->dtype), n = 0;
	_cleanup_free_ uint64_t *elements = calloc(g->count + 1, sizeof(*elements));
	_cleanup_free_ double *values = calloc(g->count + 1, sizeof(*values));
	struct record_reference r = {.lost_places = 2, .lost = "line 7: add.s32 %r1, %r1, 1;"};

	assert_true(elements && values);
	for (size_t i = 0; i < g->count; i++) {
		if (!memcmp((const char *)g->a + i * bytes, (const char *)g->b + i * bytes, bytes))
			continue;
		elements[n] = i;
		values[n++] = g->value(i);
	}
	r.differing = n;
	r.elements = (struct u64s){elements, n - g->without};
	r.values = (struct bytes){values, r.elements.count * sizeof(*values)};
	if (g->unordered && n > 1)
		elements[1] = elements[0];
	assert_int_equal(bundle_put_reference(m->writer, &r), 0);
}

static struct analysis *judge(const struct given *g)
{
	_cleanup_free_ char *path = scratch_path("reference.klab");
	struct record_extent e = {.address = MAKER_ADDRESS,
				  .size = g->count * dtype_bytes(g->dtype),
				  .arg = 2,
				  .dtype = (uint32_t)g->dtype,
				  .roundoff = 0x1p-24,
				  .function = g->function};
	struct record_case c = {.seq = 17,
				.bundle = "a.klab",
				.fidelity = FIDELITY_FAITHFUL,
				.grid = {1, 1, 1},
				.extents = {&e, 1}};
	struct analysis *analysis;
	struct error err = {0};
	struct maker m;

	maker_begin(&m, path, NULL);
	c.config = maker_config(&m, maker_family(&m, "k", g->dtype), "num_warps=4");
	maker_case_full(&m, &c);
	maker_trials(&m, g->a, g->b);
	if (!g->no_reference)
		put_reference(&m, g);
	maker_end(&m);
	if (analysis_run(&analysis, &path, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
	return analysis;
}

static float a32[COUNT], b32[COUNT];

static double third(size_t i)
{
	return (double)(i + 1) / 3.0;
}

/* A is the reference rounded; B is off by three ulp in every seventh element. */
static void nearer(void **state)
{
	struct given g = {.dtype = DTYPE_F32, .count = COUNT, .a = a32, .b = b32, .value = third};
	const struct reference_figures *f;
	struct analysis *analysis;
	char text[512];

	for (size_t i = 0; i < COUNT; i++) {
		uint32_t bits;

		a32[i] = b32[i] = (float)third(i);
		memcpy(&bits, &a32[i], 4);
		bits += 3;
		if (i % 7 == 3)
			memcpy(&b32[i], &bits, 4);
	}
	analysis = judge(&g);
	f = &family_worst_output(&analysis->families[0])->reference;
	assert_int_equal(f->compared, (COUNT + 3) / 7);
	assert_int_equal(reference_nearer(f), SIDE_A);
	assert_true(f->max_ulp[SIDE_A] <= 0.5);
	assert_true(f->max_ulp[SIDE_B] >= 2.5 && f->max_ulp[SIDE_B] <= 3.5);
	assert_true(f->rms_ulp[SIDE_B] > 2.9 && f->rms_ulp[SIDE_B] < 3.1);
	assert_true(f->rms_relative[SIDE_B] > 3 * 0x1p-24 && f->rms_relative[SIDE_B] < 3 * 0x1p-23);
	assert_int_equal(f->ties, 0);
	reference_text(f, text, sizeof(text));
	assert_non_null(strstr(text, "A is nearer: rms error A 0.2"));
	assert_non_null(strstr(text, "2 instructions without a value in double, the first line 7"));
	analysis_free(analysis);
	g.a = b32;
	g.b = a32;
	analysis = judge(&g);
	assert_int_equal(reference_nearer(&family_worst_output(&analysis->families[0])->reference),
			 SIDE_B);
	analysis_free(analysis);
}

static int8_t a8[400], b8[400];

static double middle(size_t i)
{
	return (double)(i % 60) - 29.5 + (i % 3 ? 1e-8 : 0);
}
static double off_middle(size_t i)
{
	return middle(i) + (i == 15 ? 0.01 : 0);
}

/* A and B take neighbours of middle(i) in each fifth element: B above A, or in turn. */
static void quantise(bool one_way)
{
	for (size_t i = 0; i < sizeof(a8); i++) {
		bool up = one_way || i / 5 % 2;

		a8[i] = b8[i] = (int8_t)floor(middle(i));
		if (i % 5 == 0)
			*(up ? &b8[i] : &a8[i]) = (int8_t)(a8[i] + 1);
	}
}

static void expect(const struct given *g, int bucket)
{
	struct analysis *analysis = judge(g);
	const struct outcome *o = &analysis->families[0].outcome;

	if (o->bucket != bucket || (bucket == 2 && (!o->tag || strcmp(o->tag, "ties"))))
		fail_msg("bucket %d where %d is right: %s", o->bucket, bucket, o->evidence);
	analysis_free(analysis);
}

static void ties(void **state)
{
	const struct given good = {.dtype = DTYPE_I8,
				   .count = sizeof(a8),
				   .a = a8,
				   .b = b8,
				   .value = middle,
				   .function = 0x1p-22};
	struct given g = good;

	quantise(false);
	expect(&g, 2);
	g.no_reference = true;
	expect(&g, 3);
	g = good;
	g.without = 1; /* one is not known */
	expect(&g, 3);
	g = good;
	g.function = 0; /* nothing on the way is approximate */
	expect(&g, 3);
	g = good;
	g.value = off_middle; /* one is no tie */
	expect(&g, 3);
	quantise(true); /* a rounding that is wrong on ties */
	expect(&good, 3);
	quantise(false);
	b8[0] = (int8_t)(a8[0] + 2);
	expect(&good, 3);
}

static void damaged(void **state)
{
	struct given g = {.dtype = DTYPE_I8,
			  .count = sizeof(a8),
			  .a = a8,
			  .b = b8,
			  .value = middle,
			  .function = 0x1p-22,
			  .unordered = true};
	struct analysis *analysis;

	quantise(false);
	analysis = judge(&g);
	assert_int_equal(analysis->families[0].outcome.bucket, 3);
	assert_non_null(strstr(analysis->families[0].outcome.evidence, "damaged"));
	analysis_free(analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearer),
		cmocka_unit_test(ties),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
