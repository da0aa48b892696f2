/* SPDX-License-Identifier: MIT */
/* Rules 4 to 9 on simulated kernels: reorderings are never suspicious, bugs always are. */
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
#include "analyze/noise.h"
#include "lib/base.h"
#include "tests/analyze/maker.h"
#include "tests/lib/scratch.h"

#define ROWS    32
#define COLUMNS 64
#define N       (ROWS * COLUMNS)
#define K_MAX   256
#define MOVED   4

enum model { MODEL_MATMUL, MODEL_SOFTMAX, MODEL_LAYERNORM, MODELS };
enum change {
	CHANGE_NONE,  /* benign: B only sums in another order */
	CHANGE_TAIL,  /* the last 16 terms of every sum are dropped */
	CHANGE_SCALE, /* 1 + 2^-10 */
	CHANGE_TRUNCATE /* narrow outputs: bits are cut off, not rounded */,
	CHANGE_TILE, /* one 16x16 tile: its sums lack the last quarter */
	CHANGES
};
static const char *const model_names[] = {"matmul", "softmax", "layernorm"};
static const char *const change_names[] = {"reordered", "tail dropped", "scaled", "truncated",
					   "wrong tile"};

static uint64_t random_state = 1;

static double uniform(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(random_state >> 11) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform() + 1e-300)) * cos(6.283185307179586 * uniform());
}

/* To the nearest f16, ties to even, or towards zero; overflow is infinity. (clang 14 has no
 * _Float16.) */
static uint16_t half_bits(float x, bool truncate)
{
	uint16_t sign = signbit(x) ? 0x8000 : 0;
	double a = fabs((double)x), step, units;
	int e;

	if (isnan(x))
		return 0x7e00;
	if (isinf(x))
		return sign | 0x7c00;
	frexp(a, &e);
	step = ldexp(1, e < -13 ? -24 : e - 11); /* one unit in the last place */
	units = truncate ? floor(a / step) : nearbyint(a / step);
	if (units * step >= 65536)
		return sign | (truncate ? 0x7bff : 0x7c00);
	/* Below 2^-14 the units are the bits; above, a carry of the fraction raises the exponent.
	 */
	return (uint16_t)(sign | (e < -13 ? (int)units : ((e + 13) << 10) + (int)units));
}

static float half_value(uint16_t b)
{
	int e = b >> 10 & 31, f = b & 1023;
	double a = e == 31 ? (f ? NAN : INFINITY) : e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);

	return (float)(b & 0x8000 ? -a : a);
}

static float round_to(enum dtype t, float x)
{
	uint32_t bits;

	if (t == DTYPE_F16)
		return half_value(half_bits(x, false));
	if (t == DTYPE_F32)
		return x;
	memcpy(&bits, &x, 4);
	bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
	memcpy(&x, &bits, 4);
	return x;
}

/* What one run computes from. */
struct setting {
	enum model model;
	enum dtype in, out;
	int k;
	int parts; /* partial sums, added at the end: the order */
	enum change change;
	float *x, *w; /* ROWS x k, k x COLUMNS (rows of the model: COLUMNS of x) */
};

/* Sum of n products in `parts` interleaved partial sums. */
static float dot(const float *x, const float *w, int stride, int n, int parts)
{
	float sum[32] = {0}, total = 0;

	for (int i = 0; i < n; i++)
		sum[i % parts] = fmaf(x[i], w ? w[(size_t)i * (size_t)stride] : 1, sum[i % parts]);
	for (int p = parts - 1; p >= 0; p--)
		total += sum[p];
	return total;
}

static int terms(const struct setting *s, int n, int row, int column)
{
	if (s->change == CHANGE_TAIL)
		return n - (n > 64 ? 16 : 4);
	if (s->change == CHANGE_TILE && row / 16 == 1 && column / 16 == 1)
		return n - n / 4;
	return n;
}

static float element(const struct setting *s, int row, int column)
{
	const float *x = s->x + (size_t)row * COLUMNS;
	float v[COLUMNS], sum, mean;
	int n = terms(s, COLUMNS, row, column);

	if (s->model == MODEL_MATMUL)
		return dot(s->x + (size_t)row * (size_t)s->k, s->w + column, COLUMNS,
			   terms(s, s->k, row, column), s->parts);
	if (s->model == MODEL_SOFTMAX) {
		for (int i = 0; i < COLUMNS; i++)
			v[i] = expf(x[i]);
		return v[column] / dot(v, NULL, 0, n, s->parts);
	}
	mean = dot(x, NULL, 0, n, s->parts) / COLUMNS;
	for (int i = 0; i < COLUMNS; i++)
		v[i] = (x[i] - mean) * (x[i] - mean);
	sum = dot(v, NULL, 0, n, s->parts) / COLUMNS;
	return (x[column] - mean) / sqrtf(sum + 1e-5f);
}

static void store(const struct setting *s, float y, unsigned char *out, int i)
{
	uint32_t bits;

	if (s->change == CHANGE_SCALE)
		y *= 1 + 0x1p-10f;
	if (s->out == DTYPE_F16) {
		uint16_t h = half_bits(y, s->change == CHANGE_TRUNCATE);

		memcpy(out + 2 * i, &h, 2);
		return;
	}
	if (s->change != CHANGE_TRUNCATE)
		y = round_to(s->out, y);
	memcpy(&bits, &y, 4);
	if (s->out == DTYPE_F32) {
		memcpy(out + 4 * i, &y, 4);
	} else {
		uint16_t b = (uint16_t)(bits >> 16);

		memcpy(out + 2 * i, &b, 2);
	}
}

static void compute(const struct setting *s, unsigned char *out)
{
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			store(s, element(s, row, column), out, row * COLUMNS + column);
}

static double roundoff(enum dtype t)
{
	return t == DTYPE_BF16 ? 0x1p-8 : t == DTYPE_F16 ? 0x1p-11 : 0x1p-24;
}

static void move(const struct setting *s, float *to, const float *from, int n, double h)
{
	for (int i = 0; i < n; i++)
		to[i] = round_to(s->in,
				 (float)((double)from[i] * (1 + (uniform() < 0.5 ? h : -h))));
}

static int judge(const struct setting *a, const struct setting *b, char *evidence, size_t size)
{
	static unsigned char outputs[2][4 * N];
	static float x[ROWS * K_MAX], w[K_MAX * COLUMNS];
	char *path = scratch_path("noise.klab");
	struct record_extent e = {.address = MAKER_ADDRESS,
				  .size = (uint64_t)N * dtype_bytes(a->out),
				  .arg = 2,
				  .dtype = a->out,
				  .roundoff = 0x1p-24};
	struct record_case c = {
		.seq = 1, .fidelity = FIDELITY_FAITHFUL, .extents = {&e, 1}, .params = "M=32 N=64"};
	double h = fmax(roundoff(a->in), roundoff(a->out));
	struct maker m;
	struct analysis *analysis;
	struct error err;
	int bucket;

	maker_begin(&m, path, NULL);
	maker_config(&m, maker_family(&m, "k", a->out), "w4");
	maker_case_full(&m, &c);
	compute(a, outputs[0]);
	compute(b, outputs[1]);
	maker_trials(&m, outputs[0], outputs[1]);
	for (uint32_t k = 0; k < MOVED; k++) {
		struct setting moved[2] = {*a, *b};

		move(a, x, a->x, ROWS * K_MAX, h);
		move(a, w, a->w, K_MAX * COLUMNS, h);
		for (uint32_t side = 0; side < 2; side++) {
			struct record_trial t = {
				.side = side, .kind = TRIAL_PERTURBED, .index = k, .step = h};
			const void *contents[] = {outputs[side]};

			moved[side].x = x;
			moved[side].w = w;
			compute(&moved[side], outputs[side]);
			maker_trial_full(&m, &t, contents);
		}
	}
	maker_end(&m);
	if (analysis_run(&analysis, &path, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
	bucket = analysis->families[0].outcome.bucket;
	snprintf(evidence, size, "rule %s: %s", rule_number(analysis->families[0].outcome.rule),
		 analysis->families[0].outcome.evidence);
	assert_false(analysis->families[0].outcome.provisional);
	analysis_free(analysis);
	free(path);
	return bucket;
}

/* Every model, type and sum length, each with the reordering alone and with every bug. */
static void simulated_kernels(void **state)
{
	static const struct {
		enum dtype in, out;
	} types[] = {{DTYPE_F32, DTYPE_F32},
		     {DTYPE_BF16, DTYPE_BF16},
		     {DTYPE_F16, DTYPE_F16},
		     {DTYPE_BF16, DTYPE_F32},
		     {DTYPE_F32, DTYPE_BF16}};
	static float x[ROWS * K_MAX], w[K_MAX * COLUMNS];
	unsigned counts[CHANGES][4] = {0}, wrong = 0;

	for (int model = 0; model < MODELS; model++)
		for (size_t t = 0; t < ARRAY_LENGTH(types); t++)
			for (int change = 0; change < CHANGES; change++) {
				struct setting a = {.model = model,
						    .in = types[t].in,
						    .out = types[t].out,
						    .k = 64 + (int)(uniform() * (K_MAX - 64)),
						    .parts = 1,
						    .x = x,
						    .w = w};
				struct setting b = a;
				char evidence[400];
				int bucket;

				if (change == CHANGE_TRUNCATE && a.out == DTYPE_F32)
					continue;
				for (int i = 0; i < ROWS * K_MAX; i++)
					x[i] = round_to(a.in, (float)normal());
				for (int i = 0; i < K_MAX * COLUMNS; i++)
					w[i] = round_to(a.in, (float)normal());
				b.parts = 2 + (int)(uniform() * 30);
				b.change = change;
				bucket = judge(&a, &b, evidence, sizeof(evidence));
				counts[change][bucket]++;
				if ((bucket == 3) == (change != CHANGE_NONE))
					continue;
				wrong++;
				print_message("%s %s -> %s, K %d, %d parts, %s: bucket %d, %s\n",
					      model_names[model], dtype_name(a.in),
					      dtype_name(a.out), a.k, b.parts, change_names[change],
					      bucket, evidence);
			}
	for (int change = 0; change < CHANGES; change++)
		print_message("%-13s bucket 1: %u, 2: %u, 3: %u\n", change_names[change],
			      counts[change][1], counts[change][2], counts[change][3]);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simulated_kernels),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
