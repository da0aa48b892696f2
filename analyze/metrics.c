/* SPDX-License-Identifier: MIT */
/* Metrics of one output, tile by tile; equal tiles are passed over once. */
#include "analyze/metrics.h"

#include <math.h>
#include <string.h>

#include "analyze/block.h"
#include "analyze/select.h"
#include "analyze/sweep.h"
#include "analyze/thresholds.h"
#include "lib/base.h"

/* A last tile of less than half a tile joins the one before, so that its scale is no accident. */
#define TILE_MAX (TILE_ELEMENTS + TILE_ELEMENTS / 2)
#define BLOCKS   (TILE_MAX / BLOCK_ELEMENTS)

/* A new maximum of a quotient is greater than the old by more than this: ties are no maxima. */
#define CLEARLY (1 + 0x1p-50)

_Static_assert(TILE_MAX % BLOCK_ELEMENTS == 0, "a tile is whole blocks");

/* A tile under way. */
struct tile {
	const unsigned char *a, *b;
	size_t n;
	uint64_t index;
	const struct metric_hull *hull; /* of the tile; NULL: A is deterministic */
	struct block_side sides[BLOCKS];
	bool differs[BLOCKS];  /* in some bits */
	double scale[BLOCKS];  /* local scale of A */
	double spread[BLOCKS]; /* rms of the hull's width */
	struct pair_sums sums;
	uint64_t special; /* of those that differ: not finite on both sides */
};

/* One block of a tile, element by element. */
struct careful {
	size_t first, n;
	double a[BLOCK_ELEMENTS], b[BLOCK_ELEMENTS], ratio[BLOCK_ELEMENTS];
	int64_t order_a[BLOCK_ELEMENTS], order_b[BLOCK_ELEMENTS];
	bool differs[BLOCK_ELEMENTS];
};

void metrics_begin(struct metrics *m, enum dtype t)
{
	*m = (struct metrics){.dtype = t, .constant = true, .sweep = sweep_level(0)};
}

/* Neumaier's compensated sum: *lost collects what the additions to *sum round away. */
static void sum_add(double *sum, double *lost, double x)
{
	double t = *sum + x;

	if (isfinite(t))
		*lost += fabs(*sum) >= fabs(x) ? (*sum - t) + x : (x - t) + *sum;
	*sum = t;
}

static void profile_constant(struct metrics *m, const struct tile *t)
{
	uint32_t bytes = dtype_bytes(m->dtype);

	if (!t->index)
		m->first_bits = number_bits(m->dtype, t->a);
	if (!m->constant)
		return;
	m->constant = number_bits(m->dtype, t->a) == m->first_bits &&
		      !memcmp(t->a, t->a + bytes, (t->n - 1) * bytes);
}

static size_t block_length(const struct tile *t, size_t block)
{
	size_t left = t->n - block * BLOCK_ELEMENTS;

	return left < BLOCK_ELEMENTS ? left : BLOCK_ELEMENTS;
}

static void profile_block(const struct metrics *m, const unsigned char *x, size_t n,
			  struct block_side *out)
{
	double value[BLOCK_ELEMENTS];

	if (m->sweep->side(m->dtype, x, n, out))
		return;
	m->sweep->load(m->dtype, x, n, value, NULL);
	block_side_careful(value, n, out);
}

/* What A holds, block by block, and which blocks differ. */
static void profile_tile(struct metrics *m, struct tile *t)
{
	uint32_t bytes = dtype_bytes(m->dtype);

	for (size_t k = 0; k * BLOCK_ELEMENTS < t->n; k++) {
		size_t at = k * BLOCK_ELEMENTS * bytes, n = block_length(t, k);

		t->differs[k] = memcmp(t->a + at, t->b + at, n * bytes) != 0;
		profile_block(m, t->a + at, n, &t->sides[k]);
		m->nan_a += t->sides[k].nan;
		m->inf_a += t->sides[k].inf;
		m->zero_a += t->sides[k].zero;
	}
}

/*
 * Local scale of each block: the block's own rms, at least the lesser of the tile's rms and the
 * median rms of its blocks that are not zero. The median keeps one huge element (a mask of -1e9)
 * from lending its scale to the whole tile; the block's own rms serves rows of different magnitude.
 */
static void local_scales(struct tile *t)
{
	double sorted[BLOCKS], tile = 0;
	size_t blocks = (t->n + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS, used = 0;

	for (size_t k = 0; k < blocks; k++) {
		t->scale[k] = sqrt(t->sides[k].a2 / (double)block_length(t, k));
		if (!is_finite(t->scale[k])) /* f64 beyond 1e154: its own size must do */
			t->scale[k] = 0;
		tile += t->sides[k].a2;
		if (t->scale[k] > 0)
			sorted[used++] = t->scale[k];
	}
	if (!used)
		return;
	/* inf: the median */
	tile = fmin(sqrt(tile / (double)t->n), select_value(sorted, used, used / 2));
	for (size_t k = 0; k < blocks; k++)
		t->scale[k] = fmax(t->scale[k], tile);
}

static double hull_width(const struct metric_hull *h, size_t i)
{
	return h->low[i] <= h->high[i] ? h->high[i] - h->low[i] : 0;
}

/* rms width of A's hull, one a block, and the number of elements that vary. */
static uint64_t local_spreads(struct tile *t)
{
	uint64_t varying = 0;

	for (size_t first = 0; first < t->n; first += BLOCK_ELEMENTS) {
		size_t n = block_length(t, first / BLOCK_ELEMENTS);
		double sum = 0;

		for (size_t i = first; i < first + n; i++) {
			double w = hull_width(t->hull, i);

			sum += w * w;
			varying += w > 0;
		}
		t->spread[first / BLOCK_ELEMENTS] = sqrt(sum / (double)n);
	}
	return varying;
}

/* Element i of a block that was loaded. */
static struct metric_element element_at(const struct metrics *m, const struct tile *t,
					const struct careful *c, size_t i)
{
	uint32_t bytes = dtype_bytes(m->dtype);
	size_t at = (c->first + i) * bytes;
	bool nan = c->a[i] != c->a[i] || c->b[i] != c->b[i];

	return (struct metric_element){
		.index = t->index + c->first + i,
		.a = c->a[i],
		.b = c->b[i],
		.bits_a = number_bits(m->dtype, t->a + at),
		.bits_b = number_bits(m->dtype, t->b + at),
		.ulp = nan ? UINT64_MAX : order_distance(c->order_a[i], c->order_b[i]),
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
static void element_add(struct metrics *m, struct metric_element *e, double ratio, size_t i,
			const struct metric_hull *h)
{
	double size = fabs(e->b - e->a), big = GREATER(fabs(e->a), fabs(e->b));
	bool change = class_changed(e, i, h);

	e->severity = change ? INFINITY : ratio;
	if (!m->top_count) /* until the list is full every element that differs comes here */
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
	if (is_finite(size) && big > 0 && size / big > m->max_rel * CLEARLY) {
		m->max_rel = size / big;
		m->max_rel_index = e->index;
	}
	m->max_ratio = GREATER(ratio, m->max_ratio);
	if (m->top_count < METRICS_TOP || e->severity > m->top[METRICS_TOP - 1].severity)
		top_add(m, e);
}

static void careful_load(const struct metrics *m, const struct tile *t, size_t block,
			 struct careful *c)
{
	uint32_t bytes = dtype_bytes(m->dtype);
	const unsigned char *a, *b;

	c->first = block * BLOCK_ELEMENTS;
	c->n = block_length(t, block);
	a = t->a + c->first * bytes;
	b = t->b + c->first * bytes;
	m->sweep->load(m->dtype, a, c->n, c->a, c->order_a);
	m->sweep->load(m->dtype, b, c->n, c->b, c->order_b);
	for (size_t i = 0; i < c->n; i++)
		c->differs[i] = memcmp(a + i * bytes, b + i * bytes, bytes) != 0;
}

/* Looks at each element of a block that differs. */
static void careful_elements(struct metrics *m, const struct tile *t, struct careful *c,
			     const struct allowance *w, size_t block)
{
	for (size_t i = 0; i < c->n; i++)
		c->ratio[i] = t->hull ? element_ratio_hull(c->a[i], c->b[i], w, t->scale[block],
							   t->spread[block], t->hull, c->first + i)
				      : element_ratio(c->a[i], c->b[i], w, t->scale[block]);
	for (size_t i = 0; i < c->n; i++) {
		struct metric_element e;

		if (!c->differs[i])
			continue;
		e = element_at(m, t, c, i);
		element_add(m, &e, c->ratio[i], c->first + i, t->hull);
	}
}

/* A block that holds NaN or infinity, or of which A varies. */
static void block_careful(struct metrics *m, struct tile *t, const struct allowance *w,
			  size_t block)
{
	struct careful c;
	struct block_kinds kinds;
	struct block_side side;

	careful_load(m, t, block, &c);
	careful_elements(m, t, &c, w, block);
	block_pair_careful(c.a, c.b, c.ratio, c.differs, w->ftz, c.n, &t->sums, &kinds);
	block_side_careful(c.b, c.n, &side);
	m->nan_b += side.nan;
	m->inf_b += side.inf;
	m->payload += kinds.payload;
	t->special += kinds.special;
	m->finite += kinds.finite;
	t->sides[block].a2 = kinds.a2;
}

static void block_add(struct metrics *m, struct tile *t, const struct allowance *w, size_t block)
{
	size_t at = block * BLOCK_ELEMENTS * dtype_bytes(m->dtype), n = block_length(t, block);
	bool full = m->top_count == METRICS_TOP;
	struct pair_limits limits = {
		.size = m->max_abs,
		.relative = m->max_rel * CLEARLY,
		.ratio = full ? fmin(m->max_ratio, m->top[METRICS_TOP - 1].severity) * CLEARLY : 0,
		.ulp = m->max_ulp};
	enum pair_look look = PAIR_SPECIAL;
	struct careful c;

	if (!t->hull)
		look = m->sweep->pair(m->dtype, t->a + at, t->b + at, n, w, t->scale[block],
				      &limits, &t->sums);
	if (look == PAIR_SPECIAL) {
		block_careful(m, t, w, block);
		return;
	}
	m->finite += n;
	if (look == PAIR_PLAIN && full)
		return;
	careful_load(m, t, block, &c);
	careful_elements(m, t, &c, w, block);
}

/* B holds what A does there. */
static void side_equal(struct metrics *m, const struct block_side *s, size_t n)
{
	m->nan_b += s->nan;
	m->inf_b += s->inf;
	m->zero_b += s->zero;
	m->zero_both += s->zero;
	m->finite += n - s->nan - s->inf;
}

static void float_tile(struct metrics *m, struct tile *t)
{
	struct allowance w = allowance_of(m->dtype);
	double a2 = 0;

	local_scales(t);
	for (size_t k = 0; k * BLOCK_ELEMENTS < t->n; k++) {
		if (t->differs[k])
			block_add(m, t, &w, k);
		else
			side_equal(m, &t->sides[k], block_length(t, k));
		a2 += t->sides[k].a2;
	}
	m->differing += lanes_count(t->sums.differing);
	m->zero_sign += lanes_count(t->sums.differing) - lanes_count(t->sums.numbers) - t->special;
	m->zero_b += lanes_count(t->sums.zero_b);
	m->zero_both += lanes_count(t->sums.zero_both);
	m->steps += lanes_count(t->sums.steps);
	m->ftz += lanes_count(t->sums.numbers) - lanes_count(t->sums.steps);
	m->beyond += lanes_count(t->sums.beyond);
	sum_add(&m->sum_d, &m->sum_d_lost, lanes_sum(t->sums.d));
	sum_add(&m->sum_d2, &m->sum_d2_lost, lanes_sum(t->sums.d2));
	sum_add(&m->sum_a2, &m->sum_a2_lost, a2);
}

/* One element of an integer output that holds something worth its place. */
static void integer_add(struct metrics *m, struct metric_element *e, double size, double relative)
{
	e->severity = size;
	if (!m->top_count)
		m->first_difference = *e;
	if (e->ulp > m->max_ulp) {
		m->max_ulp = e->ulp;
		m->max_ulp_index = e->index;
	}
	if (!m->top_count || size > m->max_abs) {
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

/* A block of integers, bool or unknown bytes: every difference counts. */
static void integer_block(struct metrics *m, struct tile *t, size_t block)
{
	struct careful c;

	careful_load(m, t, block, &c);
	for (size_t i = 0; i < c.n; i++) {
		double d = c.b[i] - c.a[i], size = fabs(d), relative;
		uint64_t ulp = order_distance(c.order_a[i], c.order_b[i]);
		const struct metric_hull *h = t->hull;
		size_t at = c.first + i;

		m->zero_b += !c.order_b[i];
		m->zero_both += !c.order_a[i] && !c.order_b[i];
		if (!ulp)
			continue;
		t->sums.differing[0]++;
		m->beyond += !h || c.b[i] < h->low[at] || c.b[i] > h->high[at];
		t->sums.d[i % LANES] += d;
		t->sums.d2[i % LANES] += d * d;
		relative = size / GREATER(fabs(c.a[i]), fabs(c.b[i]));
		if (m->top_count < METRICS_TOP || ulp > m->max_ulp || size > m->max_abs ||
		    relative > m->max_rel || size > m->top[METRICS_TOP - 1].severity) {
			struct metric_element e = element_at(m, t, &c, i);

			integer_add(m, &e, size, relative);
		}
	}
}

static void integer_tile(struct metrics *m, struct tile *t)
{
	double a2 = 0;

	for (size_t k = 0; k * BLOCK_ELEMENTS < t->n; k++) {
		if (t->differs[k]) {
			integer_block(m, t, k);
		} else {
			m->zero_b += t->sides[k].zero;
			m->zero_both += t->sides[k].zero;
		}
		a2 += t->sides[k].a2;
	}
	m->differing += lanes_count(t->sums.differing);
	m->finite += t->n;
	sum_add(&m->sum_d, &m->sum_d_lost, lanes_sum(t->sums.d));
	sum_add(&m->sum_d2, &m->sum_d2_lost, lanes_sum(t->sums.d2));
	sum_add(&m->sum_a2, &m->sum_a2_lost, a2);
}

/* Most tiles, in one pass: the same bits on both sides. False, and nothing done: they differ. */
static bool alike_tile(struct metrics *m, const struct tile *t)
{
	struct block_side side;

	if (!m->sweep->alike(m->dtype, t->a, t->b, t->n, &side))
		return false;
	m->nan_a += side.nan;
	m->inf_a += side.inf;
	m->zero_a += side.zero;
	side_equal(m, &side, t->n);
	sum_add(&m->sum_a2, &m->sum_a2_lost, side.a2);
	return true;
}

static void tile_add(struct metrics *m, struct tile *t)
{
	uint64_t differing = m->differing;

	profile_constant(m, t);
	if (t->hull)
		m->varying += local_spreads(t);
	if (!alike_tile(m, t)) {
		profile_tile(m, t);
		if (dtype_is_float(m->dtype))
			float_tile(m, t);
		else
			integer_tile(m, t);
	}
	m->elements += t->n;
	m->equal += t->n - (m->differing - differing);
	if (!dtype_is_float(m->dtype))
		m->steps = m->differing;
}

void metrics_add(struct metrics *m, const void *a, const void *b, size_t n, uint64_t index,
		 const struct metric_hull *hull)
{
	const unsigned char *pa = a, *pb = b;
	uint32_t bytes = dtype_bytes(m->dtype);
	struct tile t;

	for (size_t at = 0; at < n; at += t.n) {
		struct metric_hull part;

		t.a = pa + at * bytes;
		t.b = pb + at * bytes;
		t.n = n - at <= TILE_MAX ? n - at : TILE_ELEMENTS;
		t.index = index + at;
		t.hull = NULL;
		if (hull) {
			part = (struct metric_hull){hull->low + at, hull->high + at,
						    hull->classes + at};
			t.hull = &part;
		}
		memset(&t.sums, 0, sizeof(t.sums));
		t.special = 0;
		tile_add(m, &t);
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
