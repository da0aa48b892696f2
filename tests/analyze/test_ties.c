/* SPDX-License-Identifier: MIT */
/* Integer outputs of simulated kernels: quantisers, indices of maxima, masks; benign and with bugs.
 */
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
#include "tests/analyze/splitmix.h"
#include "tests/lib/scratch.h"

#define SEEDS   3
#define RUNS    4
#define ROWS    2048
#define COLUMNS 48
#define COUNT   (ROWS * COLUMNS)

static uint64_t random_state;

static uint64_t random_bits(void)
{
	return splitmix64(&random_state);
}

static double uniform(void)
{
	return (double)(random_bits() >> 11) * 0x1p-53;
}

enum change { BENIGN, TRUNCATES, SCALED, OFF_BY_TWO, LAST_TIE, LAST_COLUMN };

/* What B computes otherwise: up to `noise` of the value, the same for equal values. */
static double changed(float x, double noise, uint64_t salt)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	random_state = bits * UINT64_C(0xbf58476d1ce4e5b9) + salt;
	return (double)x * (1 + noise * (2 * uniform() - 1));
}

/* The kernels: COUNT inputs to `out`; change and noise (relative, of each element) are B's. */
typedef void kernel(const float *x, void *out, enum change c, double noise);

static void quantise(const float *x, void *out, enum change c, double noise)
{
	int8_t *q = out;

	for (size_t i = 0; i < COUNT; i++) {
		double v = 40 * changed(x[i], noise, 7);

		if (c == SCALED)
			v *= 1 + 0x1p-10;
		v = c == TRUNCATES ? trunc(v) : rint(v);
		q[i] = (int8_t)fmax(-127, fmin(127, v));
	}
	if (c == OFF_BY_TWO)
		q[77] = (int8_t)(q[77] > 0 ? q[77] - 2 : q[77] + 2);
}

/* First of a row's largest elements; values lie close together, ties are frequent. */
static void index_of_max(const float *x, void *out, enum change c, double noise)
{
	int32_t *index = out;

	for (size_t r = 0; r < ROWS; r++) {
		size_t end = c == LAST_COLUMN ? COLUMNS - 1 : COLUMNS;
		double top = -INFINITY;

		for (size_t k = 0; k < end; k++) {
			double v = changed(x[r * COLUMNS + k], noise, 9);

			if (v > top || (c == LAST_TIE && v == top)) {
				top = v;
				index[r] = (int32_t)k;
			}
		}
	}
}

struct setting {
	kernel *kernel;
	enum dtype dtype;
	size_t elements;
	double h;
	void (*fill)(float *x);
};

static void fill_wide(float *x)
{
	for (size_t i = 0; i < COUNT; i++)
		x[i] = (float)(6 * (uniform() - 0.5));
}

/* In each row about 256 neighbouring values of f32. */
static void fill_close(float *x)
{
	double base = 1;

	for (size_t i = 0; i < COUNT; i++) {
		if (i % COLUMNS == 0)
			base = 1 + 0.99 * uniform();
		x[i] = (float)(base + (double)(random_bits() % 256) * 0x1p-23);
	}
}

/* As replay does: equal values move together. */
static void move(const float *x, float *y, double h, uint64_t seed)
{
	for (size_t i = 0; i < COUNT; i++) {
		uint32_t bits;
		uint64_t z;

		memcpy(&bits, &x[i], sizeof(bits));
		random_state = bits * UINT64_C(0x9e3779b97f4a7c15) + seed;
		z = random_bits();
		y[i] = (float)((double)x[i] * (z & 1 ? 1 + 2 * h : 1 - 2 * h));
	}
}

/* What B does. */
struct variant {
	enum change change;
	double noise;
};

static void trial(struct maker *m, uint32_t side, uint32_t kind, uint32_t index, double h,
		  const void *data)
{
	struct record_trial t = {.side = side,
				 .kind = kind,
				 .index = index,
				 .step = h,
				 .scale = kind == TRIAL_SCALED ? 0.5 : 0,
				 .launches = kind == TRIAL_BACK_TO_BACK ? 4 : 0};

	maker_trial_full(m, &t, &data);
}

/* The kernel on x, by A and B as they are, then on neighbours of x. */
static void trials_around(struct maker *m, const struct setting *s, const struct variant *b,
			  uint32_t kind, const float *x)
{
	_cleanup_free_ float *y = malloc(COUNT * sizeof(*y));
	_cleanup_free_ char *out = malloc(4 * COUNT);
	uint32_t index = 0;

	assert_true(y && out);
	for (uint32_t k = kind == TRIAL_PERTURBED; k <= RUNS; k++, index++) {
		if (k)
			move(x, y, s->h, k + 9);
		s->kernel(k ? y : x, out, BENIGN, 0);
		trial(m, SIDE_A, kind, index, k ? s->h : 0, out);
		if (k && kind == TRIAL_SCALED)
			continue;
		s->kernel(k ? y : x, out, b->change, b->noise);
		trial(m, SIDE_B, kind, index, k ? s->h : 0, out);
	}
}

static struct outcome judge(const struct setting *s, enum change c, double noise, uint64_t seed)
{
	const struct variant variant = {c, noise};
	_cleanup_free_ float *x = malloc(COUNT * sizeof(*x));
	_cleanup_free_ char *a = malloc(4 * COUNT), *b = malloc(4 * COUNT);
	_cleanup_free_ char *path = scratch_path("ties.klab");
	struct analysis *analysis;
	struct error err = {0};
	struct outcome o;
	struct maker m;

	assert_true(x && a && b);
	random_state = seed;
	s->fill(x);
	s->kernel(x, a, BENIGN, 0);
	s->kernel(x, b, c, noise);
	maker_begin(&m, path, NULL);
	maker_case(&m, maker_config(&m, maker_family(&m, "k", s->dtype), "num_warps=4"), 17,
		   s->dtype, s->elements);
	maker_trials(&m, a, b);
	trial(&m, SIDE_A, TRIAL_BACK_TO_BACK, 0, 0, a);
	trial(&m, SIDE_B, TRIAL_BACK_TO_BACK, 0, 0, b);
	trials_around(&m, s, &variant, TRIAL_PERTURBED, x);
	if (s->kernel == quantise) {
		for (size_t i = 0; i < COUNT; i++)
			x[i] /= 2;
		trials_around(&m, s, &variant, TRIAL_SCALED, x);
	}
	maker_end(&m);
	if (analysis_run(&analysis, &path, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
	o = analysis->families[0].outcome;
	analysis_free(analysis);
	return o;
}

static void expect(const struct setting *s, enum change c, double noise, int bucket)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct outcome o = judge(s, c, noise, 1000 * seed);

		if (bucket == 3 ? o.bucket != 3 : o.bucket > bucket)
			fail_msg("change %d, seed %d: bucket %d, %s", (int)c, (int)seed, o.bucket,
				 o.evidence);
	}
}

static void test_quantiser(void **state)
{
	static const struct setting s = {quantise, DTYPE_I8, COUNT, 0x1p-24, fill_wide};
	static const struct setting coarse = {quantise, DTYPE_I8, COUNT, 0x1p-9, fill_wide};

	expect(&coarse, BENIGN, 0x1p-23, 2);
	expect(&s, BENIGN, 0, 1);
	expect(&s, TRUNCATES, 0, 3);
	expect(&s, SCALED, 0, 3);
	expect(&coarse, TRUNCATES, 0, 3);
	expect(&coarse, SCALED, 0, 3);
	expect(&coarse, OFF_BY_TWO, 0, 3);
}

static void test_index(void **state)
{
	static const struct setting s = {index_of_max, DTYPE_I32, ROWS, 0x1p-24, fill_close};
	struct outcome o;

	expect(&s, BENIGN, 0x1p-23, 2);
	o = judge(&s, BENIGN, 0x1p-23, 5);
	assert_int_equal(o.bucket, 2); /* it does differ */
	assert_string_equal(o.tag, "ties");
	expect(&s, LAST_TIE, 0, 3);
	expect(&s, LAST_COLUMN, 0, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiser),
		cmocka_unit_test(test_index),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
