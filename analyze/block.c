/* SPDX-License-Identifier: MIT */
/* The loops of the metrics over one block of elements. */
#include "analyze/block.h"

#include <string.h>

#include "analyze/thresholds.h"
#include "analyze/vectorised.h"

/* 2^(exponent of x), x >= 0 and finite, at least `least`; exact. */
static inline double power_of_two_below(double x, double least)
{
	uint64_t bits;
	double p;

	memcpy(&bits, &x, sizeof(bits));
	bits &= UINT64_C(0x7ff0000000000000);
	memcpy(&p, &bits, sizeof(p));
	return p > least ? p : least;
}

struct allowance allowance_of(enum dtype t)
{
	const struct number_format *f = number_format(t);
	bool narrow = dtype_bytes(t) < 4;

	return (struct allowance){
		.noise = threshold(t == DTYPE_F64 ? THRESHOLD_NOISE_F64 : THRESHOLD_NOISE_F32),
		.step = narrow ? ldexp(threshold(THRESHOLD_STEPS_NARROW), -f->mantissa_bits) : 0,
		.least = ldexp(1, f->min_exponent),
		.ftz = t == DTYPE_F32 || t == DTYPE_BF16 ? threshold(THRESHOLD_FTZ) : 0,
	};
}

VECTORISED void block_equal(const double *a, size_t n, struct sums *t)
{
	double a2 = 0;
	uint64_t finite = 0;

#pragma omp simd reduction(+ : a2, finite)
	for (size_t i = 0; i < n; i++) {
		bool f = is_finite(a[i]);

		finite += f;
		a2 += f ? a[i] * a[i] : 0;
	}
	t->finite += finite;
	t->a2 += a2;
}

VECTORISED void block_magnitudes(const double *a, const double *b, size_t n, double scale,
				 const struct allowance *allowance, double *ratio, struct sums *t)
{
	const struct allowance w = *allowance;
	double sum = 0, d2 = 0, a2 = 0, max_abs = 0, max_rel = 0;
	uint64_t count = 0, steps = 0;

#pragma omp simd reduction(+ : sum, d2, a2, count, steps) reduction(max : max_abs, max_rel)
	for (size_t i = 0; i < n; i++) {
		bool finite = is_finite(a[i]) && is_finite(b[i]);
		double x = finite ? a[i] : 0, y = finite ? b[i] : 0;
		double d = y - x, size = fabs(d), big = GREATER(fabs(x), fabs(y));
		double allowed =
			w.noise * big + w.noise * scale + w.step * power_of_two_below(big, w.least);
		double relative = size / (big > 0 ? big : 1);
		bool counts = d != 0 && big >= w.ftz;

		count += finite;
		steps += counts;
		sum += d;
		d2 += d * d;
		a2 += x * x;
		max_abs = GREATER(size, max_abs);
		max_rel = GREATER(relative, max_rel);
		ratio[i] = counts ? size / allowed : 0;
	}
	*t = (struct sums){.d = sum,
			   .d2 = d2,
			   .a2 = a2,
			   .max_abs = max_abs,
			   .max_rel = max_rel,
			   .finite = count,
			   .steps = steps};
}

VECTORISED void block_hull(const double *a, const double *b, size_t n, double scale, double width,
			   const struct allowance *w, const struct metric_hull *h, double *ratio)
{
	double spread = threshold(THRESHOLD_SPREAD) * width;

	for (size_t i = 0; i < n; i++) {
		double size = fabs(b[i] - a[i]), big = GREATER(fabs(a[i]), fabs(b[i]));

		if (ratio[i] == 0)
			continue;
		ratio[i] = size / (w->noise * big + w->noise * scale +
				   w->step * power_of_two_below(big, w->least) + spread);
		if (b[i] >= h->low[i] && b[i] <= h->high[i])
			ratio[i] = 0;
	}
}

VECTORISED void block_ratios(const double *ratio, size_t n, struct sums *t)
{
	double max = 0;
	uint64_t beyond = 0;

#pragma omp simd reduction(+ : beyond) reduction(max : max)
	for (size_t i = 0; i < n; i++) {
		beyond += ratio[i] > 1;
		max = GREATER(ratio[i], max);
	}
	t->beyond = beyond;
	t->max_ratio = max;
}

VECTORISED void block_differs(const unsigned char *a, const unsigned char *b, size_t n,
			      uint32_t bytes, uint8_t *differs)
{
#define DIFFERS(word)                                     \
	for (size_t i = 0; i < n; i++) {                  \
		word x, y;                                \
                                                          \
		memcpy(&x, a + i * sizeof(x), sizeof(x)); \
		memcpy(&y, b + i * sizeof(y), sizeof(y)); \
		differs[i] = x != y;                      \
	}
	if (bytes == 1)
		DIFFERS(uint8_t)
	else if (bytes == 2)
		DIFFERS(uint16_t)
	else if (bytes == 4)
		DIFFERS(uint32_t)
	else
		DIFFERS(uint64_t)
#undef DIFFERS
}

/* enum number_class without a branch. */
static inline unsigned class_code(double x)
{
	return (x != x) * NUMBER_NAN + (x > DBL_MAX) * NUMBER_PLUS_INF +
	       (x < -DBL_MAX) * NUMBER_MINUS_INF;
}

VECTORISED void block_kinds(const double *a, const double *b, const int64_t *order_a,
			    const int64_t *order_b, const uint8_t *differs, size_t n, double ftz,
			    struct sums *t)
{
	uint64_t differing = 0, payload = 0, zero_sign = 0, flushed = 0, changes = 0, max_ulp = 0;

#pragma omp simd reduction(+ : differing, payload, zero_sign, flushed, changes)                    \
	reduction(max : max_ulp)
	for (size_t i = 0; i < n; i++) {
		uint64_t d = differs[i], nan_a = a[i] != a[i], nan_b = b[i] != b[i];
		uint64_t zero = a[i] == 0 && b[i] == 0;
		uint64_t small = fabs(a[i]) < ftz && fabs(b[i]) < ftz;
		uint64_t ulp = order_distance(order_a[i], order_b[i]);

		differing += d;
		payload += d & nan_a & nan_b;
		zero_sign += d & zero;
		flushed += d & small & !zero;
		changes += class_code(a[i]) != class_code(b[i]);
		ulp = nan_a | nan_b ? 0 : ulp;
		max_ulp = GREATER(ulp, max_ulp);
	}
	t->differing = differing;
	t->payload = payload;
	t->zero_sign = zero_sign;
	t->ftz = flushed;
	t->changes = changes;
	t->max_ulp = max_ulp;
}
