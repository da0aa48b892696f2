/* SPDX-License-Identifier: MIT */
/* Metrics of one output, tile by tile; equal tiles cost a memcmp and a count of their zeros. */
#include "analyze/metrics.h"

#include <math.h>
#include <string.h>

#include "analyze/block.h"
#include "analyze/thresholds.h"
#include "analyze/vectorised.h"
#include "lib/base.h"

/* A last tile of less than half a tile joins the one before, so that its scale is no accident. */
#define TILE_MAX (TILE_ELEMENTS + TILE_ELEMENTS / 2)
#define BLOCKS   (TILE_MAX / BLOCK_ELEMENTS)

_Static_assert(TILE_MAX % BLOCK_ELEMENTS == 0, "a tile is whole blocks");

struct metric_scratch {
	double a[TILE_MAX], b[TILE_MAX];
	int64_t order_a[TILE_MAX], order_b[TILE_MAX];
	double ratio[BLOCK_ELEMENTS]; /* |d| / allowance */
	uint8_t differs[BLOCK_ELEMENTS];
	double scale[BLOCKS];  /* local scale of A, one a block */
	double spread[BLOCKS]; /* rms of the hull's width */
	double sorted[BLOCKS];
};

struct metric_scratch *metric_scratch_new(void)
{
	return malloc(sizeof(struct metric_scratch));
}

void metric_scratch_free(struct metric_scratch *s)
{
	free(s);
}

void metrics_begin(struct metrics *m, enum dtype t)
{
	*m = (struct metrics){.dtype = t, .constant = true};
}

/* Neumaier's compensated sum: *lost collects what the additions to *sum round away. */
static void sum_add(double *sum, double *lost, double x)
{
	double t = *sum + x;

	if (isfinite(t))
		*lost += fabs(*sum) >= fabs(x) ? (*sum - t) + x : (x - t) + *sum;
	*sum = t;
}

/* NaN, inf, zeros and constancy of one side; out: {nan, inf, zero}. */
VECTORISED static void profile(const double *x, size_t n, uint64_t out[3])
{
	uint64_t nan = 0, inf = 0, zero = 0;

#pragma omp simd reduction(+ : nan, inf, zero)
	for (size_t i = 0; i < n; i++) {
		nan += x[i] != x[i];
		inf += fabs(x[i]) > DBL_MAX;
		zero += x[i] == 0;
	}
	out[0] += nan;
	out[1] += inf;
	out[2] += zero;
}

static void profile_constant(struct metrics *m, const unsigned char *a, size_t n, uint64_t index)
{
	uint32_t bytes = dtype_bytes(m->dtype);

	if (!index)
		m->first_bits = number_bits(m->dtype, a);
	if (!m->constant)
		return;
	m->constant =
		number_bits(m->dtype, a) == m->first_bits && !memcmp(a, a + bytes, (n - 1) * bytes);
}

static int compare_doubles(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/*
 * Local scale of each block: the block's own rms, at least the lesser of the tile's rms and the
 * median rms of its blocks that are not zero. The median keeps one huge element (a mask of -1e9)
 * from lending its scale to the whole tile; the block's own rms serves rows of different magnitude.
 */
VECTORISED static void local_scales(struct metric_scratch *s, size_t n)
{
	size_t blocks = (n + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS, used = 0;
	double tile = 0;

	for (size_t k = 0; k < blocks; k++) {
		size_t first = k * BLOCK_ELEMENTS, end = first + BLOCK_ELEMENTS;
		double sum = 0;

		if (end > n)
			end = n;
#pragma omp simd reduction(+ : sum)
		for (size_t i = first; i < end; i++)
			sum += is_finite(s->a[i]) ? s->a[i] * s->a[i] : 0;
		s->scale[k] = sqrt(sum / (double)(end - first));
		if (!is_finite(s->scale[k])) /* f64 beyond 1e154: its own size must do */
			s->scale[k] = 0;
		tile += sum;
		if (s->scale[k] > 0)
			s->sorted[used++] = s->scale[k];
	}
	if (!used)
		return;
	qsort(s->sorted, used, sizeof(*s->sorted), compare_doubles);
	tile = fmin(sqrt(tile / (double)n), s->sorted[used / 2]); /* inf: the median */
	for (size_t k = 0; k < blocks; k++)
		s->scale[k] = fmax(s->scale[k], tile);
}

static double hull_width(const struct metric_hull *h, size_t i)
{
	return h->low[i] <= h->high[i] ? h->high[i] - h->low[i] : 0;
}

/* rms width of A's hull, one a block, and the number of elements that vary. */
static uint64_t local_spreads(struct metric_scratch *s, const struct metric_hull *h, size_t n)
{
	uint64_t varying = 0;

	for (size_t first = 0; first < n; first += BLOCK_ELEMENTS) {
		size_t end = first + BLOCK_ELEMENTS < n ? first + BLOCK_ELEMENTS : n;
		double sum = 0;

		for (size_t i = first; i < end; i++) {
			double w = hull_width(h, i);

			sum += w * w;
			varying += w > 0;
		}
		s->spread[first / BLOCK_ELEMENTS] = sqrt(sum / (double)(end - first));
	}
	return varying;
}

static struct metric_element element_at(const struct metrics *m, const struct metric_scratch *s,
					const unsigned char *a, const unsigned char *b, size_t i,
					uint64_t index)
{
	uint32_t bytes = dtype_bytes(m->dtype);
	bool nan = s->a[i] != s->a[i] || s->b[i] != s->b[i];

	return (struct metric_element){
		.index = index + i,
		.a = s->a[i],
		.b = s->b[i],
		.bits_a = number_bits(m->dtype, a + i * bytes),
		.bits_b = number_bits(m->dtype, b + i * bytes),
		.ulp = nan ? UINT64_MAX : order_distance(s->order_a[i], s->order_b[i]),
	};
}

static void top_add(struct metrics *m, const struct metric_element *e)
{
	uint32_t at = m->top_count;

	while (at && m->top[at - 1].severity < e->severity)
		at--;
	if (at == METRICS_TOP)
		return;
	if (m->top_count < METRICS_TOP)
		m->top_count++;
	memmove(&m->top[at + 1], &m->top[at], (m->top_count - 1 - at) * sizeof(*e));
	m->top[at] = *e;
}

/* A class that A's repeats showed at that position is no change. */
static bool class_changed(const struct metric_element *e, size_t i, const struct metric_hull *h)
{
	enum number_class b = number_class(e->b);

	return number_class(e->a) != b && !(h && h->classes[i] & 1u << b);
}

/* One element of a block that holds something worth its place: greatest, first or among the top. */
static void element_add(struct metrics *m, const struct metric_scratch *s, struct metric_element *e,
			size_t i, const struct metric_hull *h)
{
	double size = fabs(e->b - e->a), big = GREATER(fabs(e->a), fabs(e->b));
	bool change = class_changed(e, i, h);

	e->severity = change ? INFINITY : s->ratio[i];
	if (!m->differing++)
		m->first_difference = *e;
	if (change) {
		if (!m->class_changes++)
			m->first_change = *e;
		m->classes[number_class(e->a)][number_class(e->b)]++;
	}
	if (e->ulp != UINT64_MAX && e->ulp > m->max_ulp) {
		m->max_ulp = e->ulp;
		m->max_ulp_index = e->index;
	}
	if (is_finite(size) && size > m->max_abs) {
		m->max_abs = size;
		m->max_abs_at = *e;
	}
	if (is_finite(size) && big > 0 && size / big > m->max_rel) {
		m->max_rel = size / big;
		m->max_rel_index = e->index;
	}
	if (m->top_count < METRICS_TOP || e->severity > m->top[METRICS_TOP - 1].severity)
		top_add(m, e);
}

/* True if some element of the block has to be looked at by itself. */
static bool block_remarkable(const struct metrics *m, const struct sums *t)
{
	return m->top_count < METRICS_TOP || t->changes || t->max_ulp > m->max_ulp ||
	       t->max_abs > m->max_abs || t->max_rel > m->max_rel ||
	       t->max_ratio > m->top[METRICS_TOP - 1].severity;
}

static void block_add(struct metrics *m, struct metric_scratch *s, const unsigned char *a,
		      const unsigned char *b, size_t first, size_t n, uint64_t index,
		      const struct allowance *w, const struct metric_hull *hull, struct sums *t)
{
	struct metric_hull part = {0};
	const struct metric_hull *h = NULL;
	uint32_t bytes = dtype_bytes(m->dtype);
	double scale = s->scale[first / BLOCK_ELEMENTS];

	block_magnitudes(s->a + first, s->b + first, n, scale, w, s->ratio, t);
	if (hull) {
		part = (struct metric_hull){hull->low + first, hull->high + first,
					    hull->classes + first};
		h = &part;
		block_hull(s->a + first, s->b + first, n, scale, s->spread[first / BLOCK_ELEMENTS],
			   w, h, s->ratio);
	}
	block_ratios(s->ratio, n, t);
	block_differs(a + first * bytes, b + first * bytes, n, bytes, s->differs);
	block_kinds(s->a + first, s->b + first, s->order_a + first, s->order_b + first, s->differs,
		    n, w->ftz, t);
	m->payload += t->payload;
	m->zero_sign += t->zero_sign;
	m->ftz += t->ftz;
	if (!block_remarkable(m, t)) {
		m->differing += t->differing;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct metric_element e;

		if (!s->differs[i])
			continue;
		e = element_at(m, s, a, b, first + i, index);
		element_add(m, s, &e, i, h);
	}
}

static void float_tile(struct metrics *m, struct metric_scratch *s, const unsigned char *a,
		       const unsigned char *b, size_t n, uint64_t index,
		       const struct metric_hull *h)
{
	struct allowance w = allowance_of(m->dtype);
	uint32_t bytes = dtype_bytes(m->dtype);
	double d = 0, d2 = 0, a2 = 0;

	local_scales(s, n);
	if (h)
		m->varying += local_spreads(s, h, n);
	for (size_t first = 0; first < n; first += BLOCK_ELEMENTS) {
		size_t count = n - first < BLOCK_ELEMENTS ? n - first : BLOCK_ELEMENTS;
		struct sums t = {0};

		if (memcmp(a + first * bytes, b + first * bytes, count * bytes))
			block_add(m, s, a, b, first, count, index, &w, h, &t);
		else
			block_equal(s->a + first, count, &t);
		m->finite += t.finite;
		m->steps += t.steps;
		m->beyond += t.beyond;
		m->max_ratio = GREATER(t.max_ratio, m->max_ratio);
		d += t.d;
		d2 += t.d2;
		a2 += t.a2;
	}
	sum_add(&m->sum_d, &m->sum_d_lost, d);
	sum_add(&m->sum_d2, &m->sum_d2_lost, d2);
	sum_add(&m->sum_a2, &m->sum_a2_lost, a2);
}

/* One element of an integer output that holds something worth its place. */
static void integer_add(struct metrics *m, struct metric_element *e, double size, double relative)
{
	e->severity = size;
	if (m->differing == 1)
		m->first_difference = *e;
	if (e->ulp > m->max_ulp) {
		m->max_ulp = e->ulp;
		m->max_ulp_index = e->index;
	}
	if (m->differing == 1 || size > m->max_abs) {
		m->max_abs = size;
		m->max_abs_at = *e;
	}
	if (relative > m->max_rel) {
		m->max_rel = relative;
		m->max_rel_index = e->index;
	}
	if (m->top_count < METRICS_TOP || size > m->top[METRICS_TOP - 1].severity)
		top_add(m, e);
}

/* Integers, bool and unknown bytes: every difference counts. */
static void integer_tile(struct metrics *m, struct metric_scratch *s, const unsigned char *a,
			 const unsigned char *b, size_t n, uint64_t index,
			 const struct metric_hull *h)
{
	double d_sum = 0, d2_sum = 0, a2_sum = 0;

	for (size_t i = 0; i < n; i++) {
		double d = s->b[i] - s->a[i], size = fabs(d), relative;
		uint64_t ulp = order_distance(s->order_a[i], s->order_b[i]);

		a2_sum += s->a[i] * s->a[i];
		if (h && h->low[i] < h->high[i])
			m->varying++;
		if (!ulp)
			continue;
		m->differing++;
		m->beyond += !h || s->b[i] < h->low[i] || s->b[i] > h->high[i];
		d_sum += d;
		d2_sum += d * d;
		relative = size / GREATER(fabs(s->a[i]), fabs(s->b[i]));
		if (m->top_count < METRICS_TOP || ulp > m->max_ulp || size > m->max_abs ||
		    relative > m->max_rel || size > m->top[METRICS_TOP - 1].severity) {
			struct metric_element e = element_at(m, s, a, b, i, index);

			integer_add(m, &e, size, relative);
		}
	}
	m->finite += n;
	sum_add(&m->sum_d, &m->sum_d_lost, d_sum);
	sum_add(&m->sum_d2, &m->sum_d2_lost, d2_sum);
	sum_add(&m->sum_a2, &m->sum_a2_lost, a2_sum);
}

/* Both sides have the same bits: only what A holds is of interest. */
static void equal_tile(struct metrics *m, struct metric_scratch *s, size_t n,
		       const struct metric_hull *h)
{
	struct sums t = {0};

	block_equal(s->a, n, &t);
	m->finite += t.finite;
	sum_add(&m->sum_a2, &m->sum_a2_lost, t.a2);
	if (h)
		m->varying += local_spreads(s, h, n);
}

static void tile_add(struct metrics *m, struct metric_scratch *s, const unsigned char *a,
		     const unsigned char *b, size_t n, uint64_t index, const struct metric_hull *h)
{
	uint64_t differing = m->differing, before[3] = {0}, other[3] = {0}, both = 0;
	bool same = a == b || !memcmp(a, b, n * dtype_bytes(m->dtype));

	profile_constant(m, a, n, index);
	number_load(m->dtype, a, n, s->a, same ? NULL : s->order_a);
	profile(s->a, n, before);
	m->nan_a += before[0];
	m->inf_a += before[1];
	m->zero_a += before[2];
	if (same) {
		m->nan_b += before[0];
		m->inf_b += before[1];
		m->zero_b += before[2];
		m->zero_both += before[2];
		equal_tile(m, s, n, h);
	} else {
		number_load(m->dtype, b, n, s->b, s->order_b);
		profile(s->b, n, other);
		m->nan_b += other[0];
		m->inf_b += other[1];
		m->zero_b += other[2];
		for (size_t i = 0; i < n; i++)
			both += s->a[i] == 0 && s->b[i] == 0;
		m->zero_both += both;
		if (dtype_is_float(m->dtype))
			float_tile(m, s, a, b, n, index, h);
		else
			integer_tile(m, s, a, b, n, index, h);
	}
	m->elements += n;
	m->equal += n - (m->differing - differing);
	if (!dtype_is_float(m->dtype))
		m->steps = m->differing;
}

void metrics_add(struct metrics *m, struct metric_scratch *s, const void *a, const void *b,
		 size_t n, uint64_t index, const struct metric_hull *hull)
{
	const unsigned char *pa = a, *pb = b;
	struct metric_hull part, *h = NULL;
	uint32_t bytes = dtype_bytes(m->dtype);

	for (size_t at = 0; at < n;) {
		size_t count = n - at <= TILE_MAX ? n - at : TILE_ELEMENTS;

		if (hull) {
			part = (struct metric_hull){hull->low + at, hull->high + at,
						    hull->classes + at};
			h = &part;
		}
		tile_add(m, s, pa + at * bytes, pb + at * bytes, count, index + at, h);
		at += count;
	}
}

void metric_hull_begin(struct metric_hull *h, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		h->low[i] = INFINITY;
		h->high[i] = -INFINITY;
		h->classes[i] = 0;
	}
}

void metric_hull_add(struct metric_hull *h, enum dtype t, const void *a, size_t n, double *value)
{
	number_load(t, a, n, value, NULL);
	for (size_t i = 0; i < n; i++) {
		h->classes[i] |= (uint8_t)(1u << number_class(value[i]));
		if (!is_finite(value[i]))
			continue;
		h->low[i] = fmin(h->low[i], value[i]);
		h->high[i] = fmax(h->high[i], value[i]);
	}
}

double metrics_mean(const struct metrics *m)
{
	return m->finite ? (m->sum_d + m->sum_d_lost) / (double)m->finite : 0;
}

double metrics_rms(const struct metrics *m)
{
	return m->finite ? sqrt((m->sum_d2 + m->sum_d2_lost) / (double)m->finite) : 0;
}

double metrics_rms_a(const struct metrics *m)
{
	return m->finite ? sqrt((m->sum_a2 + m->sum_a2_lost) / (double)m->finite) : 0;
}

double share_lower_bound(uint64_t count, uint64_t n, double z)
{
	double p, centre, half;

	if (!n)
		return 0;
	p = (double)count / (double)n;
	centre = p + z * z / (2 * (double)n);
	half = z * sqrt(p * (1 - p) / (double)n + z * z / (4 * (double)n * (double)n));
	return fmax(0, (centre - half) / (1 + z * z / (double)n));
}
