/* SPDX-License-Identifier: MIT */
/* One pair of blocks the careful way: NaN, infinities, and a nondeterministic A. */
#include "analyze/block.h"

#include <string.h>

#include "analyze/thresholds.h"

/* 2^(exponent of x), x >= 0 and finite, at least `least`; exact. */
static double power_of_two_below(double x, double least)
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

static double allowed(double big, const struct allowance *w, double scale)
{
	return w->noise * big + w->noise * scale + w->step * power_of_two_below(big, w->least);
}

double element_ratio(double a, double b, const struct allowance *w, double scale)
{
	double big = GREATER(fabs(a), fabs(b));

	if (!is_finite(a) || !is_finite(b) || a == b || big < w->ftz)
		return 0;
	return fabs(b - a) / allowed(big, w, scale);
}

double element_ratio_hull(double a, double b, const struct allowance *w, double scale, double width,
			  const struct metric_hull *h, size_t i)
{
	double big = GREATER(fabs(a), fabs(b));

	if (element_ratio(a, b, w, scale) == 0 || (b >= h->low[i] && b <= h->high[i]))
		return 0;
	return fabs(b - a) / (allowed(big, w, scale) + threshold(THRESHOLD_SPREAD) * width);
}

void block_side_careful(const double *a, size_t n, struct block_side *out)
{
	double squares[LANES] = {0};

	*out = (struct block_side){0};
	for (size_t i = 0; i < n; i++) {
		out->nan += a[i] != a[i];
		out->inf += fabs(a[i]) > DBL_MAX;
		out->zero += a[i] == 0;
		squares[i % LANES] += is_finite(a[i]) ? a[i] * a[i] : 0;
	}
	out->a2 = lanes_sum(squares);
}

void block_pair_careful(const double *a, const double *b, const double *ratio, const bool *differs,
			double ftz, size_t n, struct pair_sums *t, struct block_kinds *kinds)
{
	double squares[LANES] = {0}, d_sum[LANES] = {0}, d2[LANES] = {0};

	*kinds = (struct block_kinds){0};
	for (size_t i = 0; i < n; i++) {
		size_t lane = i % LANES;
		bool finite = is_finite(a[i]) && is_finite(b[i]);
		double d = finite ? b[i] - a[i] : 0;

		kinds->finite += finite;
		kinds->payload += differs[i] && a[i] != a[i] && b[i] != b[i];
		kinds->special += differs[i] && !finite;
		squares[lane] += finite ? a[i] * a[i] : 0;
		d_sum[lane] += d;
		d2[lane] += d * d;
		t->differing[lane] += differs[i];
		t->numbers[lane] += finite && a[i] != b[i];
		t->steps[lane] += finite && a[i] != b[i] && GREATER(fabs(a[i]), fabs(b[i])) >= ftz;
		t->beyond[lane] += ratio[i] > 1;
		t->zero_b[lane] += b[i] == 0;
		t->zero_both[lane] += a[i] == 0 && b[i] == 0;
	}
	for (size_t i = 0; i < LANES; i++) {
		t->d[i] += d_sum[i];
		t->d2[i] += d2[i];
	}
	kinds->a2 = lanes_sum(squares);
}
