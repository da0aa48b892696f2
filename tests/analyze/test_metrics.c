/* SPDX-License-Identifier: MIT */
/* Metrics against a naive reference in long double on random data full of special values. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/decide.h"
#include "analyze/block.h"
#include "analyze/metrics.h"
#include "analyze/select.h"
#include "analyze/sweep.h"
#include "analyze/thresholds.h"
#include "lib/base.h"
#include "tests/analyze/splitmix.h"

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
	return splitmix64(&random_state);
}

static double random_uniform(void)
{
	return (double)(random_bits() >> 11) * 0x1p-53;
}

/* Sum of 12 uniforms: close enough to a normal. */
static double random_normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += random_uniform();
	return sum;
}

struct naive {
	uint64_t differing, class_changes, payload, zero_sign, finite, max_ulp;
	uint64_t nan_a, nan_b, inf_a, inf_b, zero_a, zero_b;
	long double max_abs, max_rel, sum_d, sum_d2, sum_a2;
};

/* Distance in steps, by walking the bits the slow way: through a common unsigned ladder. */
static uint64_t naive_ulp(enum dtype t, uint64_t x, uint64_t y)
{
	uint64_t sign = UINT64_C(1) << (8 * dtype_bytes(t) - 1);
	uint64_t mx = x & (sign - 1), my = y & (sign - 1);

	if (t == DTYPE_BOOL || t == DTYPE_UNKNOWN)
		return x > y ? x - y : y - x;
	if (!dtype_is_float(t)) { /* two's complement: shifted by half the range */
		x ^= sign;
		y ^= sign;
		return x > y ? x - y : y - x;
	}
	if ((x & sign) == (y & sign))
		return mx > my ? mx - my : my - mx;
	return mx + my;
}

static void naive_add(struct naive *n, enum dtype t, const unsigned char *a, const unsigned char *b,
		      size_t count)
{
	uint32_t bytes = dtype_bytes(t);

	for (size_t i = 0; i < count; i++) {
		double x, y;
		uint64_t bx = number_bits(t, a + i * bytes), by = number_bits(t, b + i * bytes);
		long double d;

		number_load(t, a + i * bytes, 1, &x, NULL);
		number_load(t, b + i * bytes, 1, &y, NULL);
		n->nan_a += isnan(x);
		n->nan_b += isnan(y);
		n->inf_a += isinf(x) != 0;
		n->inf_b += isinf(y) != 0;
		n->zero_a += x == 0;
		n->zero_b += y == 0;
		if (isfinite(x) && isfinite(y)) {
			n->finite++;
			d = (long double)y - x;
			n->sum_d += d;
			n->sum_d2 += d * d;
			n->sum_a2 += (long double)x * x;
			d = fabsl(d);
			n->max_abs = fmaxl(n->max_abs, d);
			if (d > 0)
				n->max_rel = fmaxl(n->max_rel, d / fmaxl(fabsl(x), fabsl(y)));
		}
		if (bx == by)
			continue;
		n->differing++;
		n->payload += isnan(x) && isnan(y);
		n->zero_sign += x == 0 && y == 0;
		n->class_changes += number_class(x) != number_class(y);
		if (!isnan(x) && !isnan(y) && naive_ulp(t, bx, by) > n->max_ulp)
			n->max_ulp = naive_ulp(t, bx, by);
	}
}

static void assert_close(double x, long double y)
{
	assert_true(fabsl(x - y) <= 1e-12L * fmaxl(fabsl(x), fabsl(y)) + LDBL_MIN);
}

/* Bits of an element: mostly moderate, sometimes anything. */
static uint64_t random_element(enum dtype t)
{
	uint64_t bits = random_bits();

	if (!dtype_is_float(t) || random_bits() % 8 == 0)
		return bits;
	if (t == DTYPE_F64) {
		double d = random_normal();

		memcpy(&bits, &d, 8);
	} else if (t == DTYPE_F32 || t == DTYPE_BF16) {
		float f = (float)random_normal();
		uint32_t word;

		memcpy(&word, &f, 4);
		bits = t == DTYPE_F32 ? word : word >> 16;
	}
	return bits;
}

static void fill_pair(enum dtype t, unsigned char *a, unsigned char *b, size_t n, unsigned one_in)
{
	uint32_t bytes = dtype_bytes(t);

	for (size_t i = 0; i < n; i++) {
		uint64_t x = random_element(t), y = x;

		if (random_bits() % one_in == 0)
			y = random_bits() % 4 ? x ^ 1 << random_bits() % 3 : random_element(t);
		memcpy(a + i * bytes, &x, bytes);
		memcpy(b + i * bytes, &y, bytes);
	}
}

static void check_against_naive(enum dtype t, size_t n, unsigned one_in)
{
	uint32_t bytes = dtype_bytes(t);
	_cleanup_free_ unsigned char *a = malloc(n * bytes + 1), *b = malloc(n * bytes + 1);
	struct naive r = {0};
	struct metrics m;
	size_t cut = n / 3;

	fill_pair(t, a + 1, b + 1, n, one_in);
	naive_add(&r, t, a + 1, b + 1, n);
	metrics_begin(&m, t);
	metrics_add(&m, a + 1, b + 1, cut, 0, NULL);
	metrics_add(&m, a + 1 + cut * bytes, b + 1 + cut * bytes, n - cut, cut, NULL);
	assert_int_equal(m.elements, n);
	assert_int_equal(m.differing, r.differing);
	assert_int_equal(m.equal, n - r.differing);
	assert_int_equal(m.max_ulp, r.max_ulp);
	assert_int_equal(m.finite, r.finite);
	assert_int_equal(m.nan_a, r.nan_a);
	assert_int_equal(m.nan_b, r.nan_b);
	assert_int_equal(m.inf_a, r.inf_a);
	assert_int_equal(m.inf_b, r.inf_b);
	assert_int_equal(m.zero_a, r.zero_a);
	assert_int_equal(m.zero_b, r.zero_b);
	if (dtype_is_float(t)) {
		assert_int_equal(m.class_changes, r.class_changes);
		assert_int_equal(m.payload, r.payload);
		assert_int_equal(m.zero_sign, r.zero_sign);
	}
	if (t == DTYPE_F64)
		return; /* its random bits overflow every sum, in both ways differently */
	assert_close(m.max_abs, r.max_abs);
	assert_close(m.max_rel, r.max_rel);
	assert_close(metrics_rms(&m), r.finite ? sqrtl(r.sum_d2 / r.finite) : 0);
	assert_close(metrics_rms_a(&m), r.finite ? sqrtl(r.sum_a2 / r.finite) : 0);
	if (r.finite)
		assert_true(fabsl(metrics_mean(&m) - r.sum_d / r.finite) <=
			    1e-13L * sqrtl(r.sum_d2 / r.finite) + LDBL_MIN);
}

static void test_random_data(void **state)
{
	static const size_t sizes[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, 6143, 6144, 20000};

	for (int t = DTYPE_F64; t < DTYPE_COUNT; t++)
		for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
			check_against_naive((enum dtype)t, sizes[i], 1);
			check_against_naive((enum dtype)t, sizes[i], 50);
			check_against_naive((enum dtype)t, sizes[i], 1000000);
		}
	check_against_naive(DTYPE_UNKNOWN, 10000, 3);
}

/* Any bits, and all the edges of a type: zeros, denormals, infinities, NaN, greatest and least. */
static uint64_t edge_element(enum dtype t)
{
	unsigned bits = 8 * dtype_bytes(t);
	uint64_t sign = UINT64_C(1) << (bits - 1), low = random_bits() & 3;
	const struct number_format *f = number_format(t);
	uint64_t exponent = sign - (UINT64_C(1) << f->mantissa_bits); /* all ones */
	uint64_t magnitudes[] = {0,
				 low,
				 exponent + low,
				 exponent - 1 - low,
				 (UINT64_C(1) << f->mantissa_bits) + low - 2,
				 sign - 1 - low};

	return (magnitudes[random_bits() % ARRAY_LENGTH(magnitudes)] & (sign - 1)) |
	       (random_bits() % 2 ? sign : 0);
}

/* rate: one in so many elements is an edge; each third differs by a step, or altogether. */
static void fill_edges(enum dtype t, unsigned char *a, unsigned char *b, size_t n, unsigned rate)
{
	uint32_t bytes = dtype_bytes(t);

	for (size_t i = 0; i < n; i++) {
		bool edge = rate && random_bits() % rate == 0;
		uint64_t x = edge ? edge_element(t) : random_element(t), y = x;

		if (!edge && dtype_is_float(t)) /* no exponent of all ones: finite */
			y = x &= ~(UINT64_C(1) << (8 * bytes - 2));
		if (random_bits() % 3 == 0)
			y = x ^ 1;
		if (random_bits() % 50 == 0)
			y = edge ? edge_element(t) : x ^ UINT64_C(1) << (8 * bytes - 1);
		memcpy(a + i * bytes, &x, bytes);
		memcpy(b + i * bytes, &y, bytes);
	}
}

static struct metrics metrics_at(const struct sweep *level, enum dtype t, const unsigned char *a,
				 const unsigned char *b, size_t n)
{
	struct metrics m;

	memset(&m, 0, sizeof(m)); /* padding is compared too */
	metrics_begin(&m, t);
	m.sweep = level;
	metrics_add(&m, a, b, n, 0, NULL);
	m.sweep = NULL;
	return m;
}

/* The careful way for every block gives what the fast one does. */
static enum pair_look no_pair(enum dtype t, const unsigned char *a, const unsigned char *b,
			      size_t n, const struct allowance *w, double scale,
			      const struct pair_limits *limits, struct pair_sums *total)
{
	return PAIR_SPECIAL;
}

static bool no_side(enum dtype t, const unsigned char *a, size_t n, struct block_side *out)
{
	return false;
}

static void assert_same(const struct metrics *x, const struct metrics *y)
{
	const struct metric_element *ex[] = {&x->max_abs_at, &x->first_change,
					     &x->first_difference};
	const struct metric_element *ey[] = {&y->max_abs_at, &y->first_change,
					     &y->first_difference};

	/* field by field where a NaN may stand in a or b */
	assert_memory_equal(x, y, offsetof(struct metrics, max_abs_at));
	for (size_t i = 0; i < ARRAY_LENGTH(ex); i++) {
		assert_int_equal(ex[i]->index, ey[i]->index);
		assert_int_equal(ex[i]->bits_a, ey[i]->bits_a);
		assert_int_equal(ex[i]->bits_b, ey[i]->bits_b);
		assert_int_equal(ex[i]->ulp, ey[i]->ulp);
		assert_true(ex[i]->severity == ey[i]->severity);
	}
	assert_memory_equal(&x->sum_d, &y->sum_d,
			    offsetof(struct metrics, top) - offsetof(struct metrics, sum_d));
	assert_int_equal(x->top_count, y->top_count);
	for (uint32_t i = 0; i < x->top_count; i++) {
		assert_int_equal(x->top[i].index, y->top[i].index);
		assert_true(x->top[i].severity == y->top[i].severity);
	}
}

static void check_levels(enum dtype t, size_t n, unsigned rate)
{
	uint32_t bytes = dtype_bytes(t);
	size_t shift = random_bits() % 64; /* unaligned heads */
	_cleanup_free_ unsigned char *a = malloc(n * bytes + 64), *b = malloc(n * bytes + 64);
	struct sweep slow = *sweep_level(0);
	struct metrics first, careful;

	assert_true(a && b);
	fill_edges(t, a + shift, b + shift, n, rate);
	first = metrics_at(sweep_level(0), t, a + shift, b + shift, n);
	for (size_t i = 1; sweep_level(i); i++) {
		struct metrics other = metrics_at(sweep_level(i), t, a + shift, b + shift, n);

		assert_same(&first, &other);
	}
	slow.pair = no_pair;
	slow.side = no_side;
	careful = metrics_at(&slow, t, a + shift, b + shift, n);
	if (t == DTYPE_F64 && rate) /* squares overflow */
		return;
	assert_same(&first, &careful);
}

static void test_levels_agree(void **state)
{
	static const size_t sizes[] = {1, 7, 63, 64, 65, 127, 4095, 4097, 6144, 9001};
	static const unsigned rates[] = {0, 1, 7, 500};

	assert_non_null(sweep_level(0));
	for (int t = DTYPE_UNKNOWN; t < DTYPE_COUNT; t++)
		for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
			for (size_t r = 0; r < ARRAY_LENGTH(rates); r++)
				if (dtype_is_float((enum dtype)t) || !rates[r])
					check_levels((enum dtype)t, sizes[i], rates[r]);
}

/* Equal data: every level proves it, counts as the naive way does, and sums to the same bits. */
static void check_alike(enum dtype t, size_t n, unsigned rate)
{
	uint32_t bytes = dtype_bytes(t);
	size_t size = n * bytes, shift = random_bits() % 64, bit = random_bits() % (8 * size);
	_cleanup_free_ unsigned char *x = malloc(size + 64), *y = malloc(size + 64);
	unsigned char *a = x + shift, *b = y + 63 - shift;
	struct block_side first;
	struct naive r = {0};

	assert_true(x && y);
	fill_edges(t, a, b, n, rate);
	memcpy(b, a, size);
	naive_add(&r, t, a, b, n);
	for (size_t i = 0; sweep_level(i); i++) {
		const struct sweep *level = sweep_level(i);
		struct block_side side = {0};

		assert_true(level->alike(t, a, b, n, &side));
		assert_int_equal(side.zero, r.zero_a);
		assert_int_equal(side.nan, r.nan_a);
		assert_int_equal(side.inf, r.inf_a);
		if (t != DTYPE_F64 || !rate) /* squares overflow */
			assert_close(side.a2, r.sum_a2);
		if (!i)
			first = side;
		assert_memory_equal(&side, &first, sizeof(side));
		assert_true(level->alike(t, a, a, n, &side));
		assert_memory_equal(&side, &first, sizeof(side));
		b[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_false(level->alike(t, a, b, n, &side));
		b[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
}

static void test_alike(void **state)
{
	static const size_t sizes[] = {1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 4096, 4097, 6144};
	static const unsigned rates[] = {0, 1, 7, 500};

	for (int t = DTYPE_UNKNOWN; t < DTYPE_COUNT; t++)
		for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
			for (size_t r = 0; r < ARRAY_LENGTH(rates); r++)
				if (dtype_is_float((enum dtype)t) || !rates[r])
					check_alike((enum dtype)t, sizes[i], rates[r]);
}

/* Of an equal output no more than of one that differs is left out: NaN, infinities, zeros, size. */
static void test_equal_output(void **state)
{
	float a[10000], b[10000];
	struct metrics m;

	for (size_t i = 0; i < ARRAY_LENGTH(a); i++)
		a[i] = i % 10 ? (float)(i % 7) : -INFINITY;
	a[5000] = NAN;
	memcpy(b, a, sizeof(b));
	metrics_begin(&m, DTYPE_F32);
	metrics_add(&m, a, b, ARRAY_LENGTH(a), 0, NULL);
	assert_int_equal(m.equal, 10000);
	assert_int_equal(m.differing, 0);
	assert_int_equal(m.nan_a, 1);
	assert_int_equal(m.nan_b, 1);
	assert_int_equal(m.inf_a, 999); /* one of them is NaN */
	assert_int_equal(m.inf_b, 999);
	assert_int_equal(m.finite, 9000);
	assert_int_equal(m.zero_both, m.zero_a);
	assert_true(metrics_rms_a(&m) > 3.60 && metrics_rms_a(&m) < 3.61); /* √13 */
	assert_false(m.constant);
}

/* Runs metrics on float arrays and judges them. */
static int judge_floats(const float *a, const float *b, size_t n, struct metrics *m,
			struct outcome *o)
{
	metrics_begin(m, DTYPE_F32);
	metrics_add(m, a, b, n, 0, NULL);
	metrics_judge(m, NULL, false, &(struct chain){0}, o);
	return o->bucket;
}

static void test_first_and_top(void **state)
{
	float a[300], b[300];
	struct metrics m;
	struct outcome o;

	for (int i = 0; i < 300; i++)
		a[i] = b[i] = 1;
	for (int i = 0; i < 7; i++)
		b[10 + 20 * i] += (float)(i + 1);
	b[250] = NAN;
	judge_floats(a, b, 300, &m, &o);
	assert_int_equal(m.first_difference.index, 10);
	assert_int_equal(m.top_count, METRICS_TOP);
	assert_int_equal(m.top[0].index, 250);
	assert_int_equal(m.top[0].bits_a, 0x3f800000);
	assert_int_equal(m.top[1].index, 130);
	assert_int_equal(m.top[4].index, 70);
	assert_int_equal(m.max_abs_at.index, 130);
	assert_true(m.max_abs == 7 && m.max_abs_at.b == 8);
	assert_int_equal(m.classes[NUMBER_FINITE][NUMBER_NAN], 1);
	assert_int_equal(m.first_change.index, 250);
	assert_int_equal(o.rule, RULE_CLASSES);
}

/* Ten thousand tops of equal severity keep the first five. */
static void test_top_prefers_early(void **state)
{
	uint8_t a[10000] = {0}, b[10000];
	struct metrics m;

	memset(b, 1, sizeof(b));
	metrics_begin(&m, DTYPE_I8);
	metrics_add(&m, a, b, sizeof(a), 0, NULL);
	for (uint64_t i = 0; i < METRICS_TOP; i++)
		assert_int_equal(m.top[i].index, i);
}

#define ROWS  4096
#define DEPTH 2048

/* Sum of a row in another order: pairwise blocks against one after the other. */
static void sums(float *serial, float *blocked, int drop, bool positive)
{
	for (int r = 0; r < ROWS; r++) {
		float x = 0, part[32] = {0}, y = 0;

		for (int k = 0; k < DEPTH; k++) {
			float v = (float)random_normal();

			v = positive ? fabsf(v) : v;
			x += v;
			part[k % 32] += k < DEPTH - drop ? v : 0;
		}
		for (int i = 0; i < 32; i++)
			y += part[i];
		serial[r] = x;
		blocked[r] = y;
	}
}

static void test_reordered_sums_are_small(void **state)
{
	static float a[ROWS], b[ROWS];
	struct metrics m;
	struct outcome o;

	for (int positive = 0; positive < 2; positive++) {
		sums(a, b, 0, positive);
		assert_int_equal(judge_floats(a, b, ROWS, &m, &o), 2);
		assert_int_equal(o.rule, RULE_MAGNITUDE);
		assert_true(o.provisional);
		assert_true(m.differing > ROWS / 2); /* a case that shows something */
		assert_true(m.max_ratio < 0.5);
	}
}

static void test_dropped_tails_are_large(void **state)
{
	static float a[ROWS], b[ROWS];
	struct metrics m;
	struct outcome o;

	for (int positive = 0; positive < 2; positive++)
		for (int drop = 1; drop <= 16; drop *= 16) {
			sums(a, b, drop, positive);
			assert_int_equal(judge_floats(a, b, ROWS, &m, &o), 3);
			assert_int_equal(o.rule, RULE_MAGNITUDE);
		}
}

static uint16_t bf16_nearest(float f)
{
	uint32_t x;

	memcpy(&x, &f, 4);
	return (uint16_t)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

static uint16_t bf16_truncated(float f)
{
	uint32_t x;

	memcpy(&x, &f, 4);
	return (uint16_t)(x >> 16);
}

static void judge_bf16(const uint16_t *a, const uint16_t *b, size_t n, struct outcome *o)
{
	struct metrics m;

	metrics_begin(&m, DTYPE_BF16);
	metrics_add(&m, a, b, n, 0, NULL);
	metrics_judge(&m, NULL, false, &(struct chain){0}, o);
}

/* The same f32 sums rounded to bf16: few flips are noise, many are a wrong rounding. */
static void test_bf16_frequency(void **state)
{
	static float a[ROWS], b[ROWS];
	static uint16_t x[ROWS], y[ROWS], z[ROWS], scaled[ROWS];
	struct outcome o;

	sums(a, b, 0, false);
	for (int i = 0; i < ROWS; i++) {
		x[i] = bf16_nearest(a[i]);
		y[i] = bf16_nearest(b[i]);
		z[i] = bf16_truncated(b[i]);
		scaled[i] = bf16_nearest(b[i] * (1 + 0x1p-10f));
	}
	y[5] = x[5] ^ 1; /* one flip at least */
	judge_bf16(x, y, ROWS, &o);
	assert_int_equal(o.bucket, 2);
	judge_bf16(x, z, ROWS, &o);
	assert_int_equal(o.bucket, 3);
	assert_int_equal(o.rule, RULE_FREQUENCY);
	judge_bf16(x, scaled, ROWS, &o);
	assert_int_equal(o.bucket, 3);
}

/* One huge element must not lend its scale to a tile (masks of -1e9). */
static void test_outlier_does_not_hide(void **state)
{
	static float a[ROWS], b[ROWS];
	struct metrics m;
	struct outcome o;

	for (int i = 0; i < ROWS; i++)
		a[i] = b[i] = (float)random_normal();
	a[0] = b[0] = -1e9f;
	b[2000] += 0.5f;
	assert_int_equal(judge_floats(a, b, ROWS, &m, &o), 3);
	assert_int_equal(m.top[0].index, 2000);
}

/* Squares overflow beyond 1e154: that must not open the allowance. */
static void test_huge_doubles(void **state)
{
	static double a[ROWS], b[ROWS];
	struct metrics m;
	struct outcome o;

	for (int i = 0; i < ROWS; i++)
		a[i] = b[i] = (i + 1) * 1e300;
	b[9] *= 1 + 1e-6;
	metrics_begin(&m, DTYPE_F64);
	metrics_add(&m, a, b, ROWS, 0, NULL);
	metrics_judge(&m, NULL, false, &(struct chain){0}, &o);
	assert_int_equal(o.bucket, 3);
	b[9] = a[9] * (1 + 0x1p-50);
	metrics_begin(&m, DTYPE_F64);
	metrics_add(&m, a, b, ROWS, 0, NULL);
	metrics_judge(&m, NULL, false, &(struct chain){0}, &o);
	assert_int_equal(o.bucket, 2);
}

static void test_denormals_are_forgiven(void **state)
{
	float a[64] = {0}, b[64] = {0};
	struct metrics m;
	struct outcome o;

	a[3] = 0x1p-130f; /* flushed in B */
	assert_int_equal(judge_floats(a, b, 64, &m, &o), 2);
	assert_int_equal(m.ftz, 1);
	b[3] = 0x1p-100f;
	assert_int_equal(judge_floats(a, b, 64, &m, &o), 3);
}

/* Within the hull of A's repeats is no difference, far outside it is. */
static void test_hull(void **state)
{
	enum { N = 1000 };
	static float runs[3][N], b[N];
	static double low[N], high[N], value[N];
	static uint8_t classes[N];
	struct metric_hull h = {low, high, classes};
	struct metrics m;
	struct outcome o;

	for (int i = 0; i < N; i++) {
		for (int k = 0; k < 3; k++)
			runs[k][i] = 100 + 0.1f * (float)random_normal();
		b[i] = 100 + 0.1f * (float)random_normal();
	}
	runs[1][7] = NAN;
	b[7] = NAN;
	metric_hull_begin(&h, N);
	for (int k = 0; k < 3; k++)
		metric_hull_add(&h, DTYPE_F32, runs[k], N, value);
	metrics_begin(&m, DTYPE_F32);
	metrics_add(&m, runs[0], b, N, 0, &h);
	metrics_judge(&m, NULL, true, &(struct chain){0}, &o);
	assert_int_equal(o.bucket, 2);
	assert_int_equal(m.class_changes, 0);
	assert_true(m.varying > N / 2);
	b[9] = 110;
	metrics_begin(&m, DTYPE_F32);
	metrics_add(&m, runs[0], b, N, 0, &h);
	metrics_judge(&m, NULL, true, &(struct chain){0}, &o);
	assert_int_equal(o.bucket, 3);
	b[8] = INFINITY;
	metrics_begin(&m, DTYPE_F32);
	metrics_add(&m, runs[0], b, N, 0, &h);
	metrics_judge(&m, NULL, true, &(struct chain){0}, &o);
	assert_int_equal(o.rule, RULE_CLASSES);
}

static int compare_doubles(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static void test_select(void **state)
{
	for (int round = 0; round < 3000; round++) {
		size_t n = 1 + random_bits() % 100, k = random_bits() % n;
		uint64_t different = 1 + random_bits() % 120; /* few: many are equal */
		double x[100], sorted[100];

		for (size_t i = 0; i < n; i++)
			x[i] = sorted[i] = (double)(random_bits() % different);
		qsort(sorted, n, sizeof(*sorted), compare_doubles);
		assert_true(select_value(x, n, k) == sorted[k]);
	}
}

static void test_share_lower_bound(void **state)
{
	assert_true(share_lower_bound(0, 0, 3) == 0);
	assert_true(share_lower_bound(0, 100, 3) < 1e-12);
	assert_true(share_lower_bound(2, 64, 3.09) < 0.02);
	assert_true(share_lower_bound(60, 1000, 3.09) > 0.02);
	assert_true(share_lower_bound(1000, 1000, 3.09) < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_data),
		cmocka_unit_test(test_levels_agree),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_equal_output),
		cmocka_unit_test(test_first_and_top),
		cmocka_unit_test(test_top_prefers_early),
		cmocka_unit_test(test_reordered_sums_are_small),
		cmocka_unit_test(test_dropped_tails_are_large),
		cmocka_unit_test(test_bf16_frequency),
		cmocka_unit_test(test_outlier_does_not_hide),
		cmocka_unit_test(test_huge_doubles),
		cmocka_unit_test(test_denormals_are_forgiven),
		cmocka_unit_test(test_hull),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_share_lower_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
