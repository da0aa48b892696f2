/* SPDX-License-Identifier: MIT */
/* The measured noise floor of one output, and what rules 5 to 8 find beyond it. */
#include "analyze/noise.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/number.h"
#include "analyze/place.h"
#include "analyze/select.h"
#include "analyze/thresholds.h"
#include "lib/base.h"

#define ROW_MIN     64u /* shorter rows are pooled */
#define SERIAL_MIN  4096u
#define CLUSTERS    36u /* fewer rows than this: clusters of at most 64 elements */
#define CLUSTER_MIN 3u  /* configs of which one can be outside */
#define SHRINK      16.0
#define JUMP        8.0 /* row medians of g that an element must move to count as jumping */

/* Sums of one clustered mean: z = Σ S / √(Σ S²) over the clusters' sums S. */
struct clustered {
	double sum, squares, cluster;
};

static void cluster_end(struct clustered *c)
{
	c->sum += c->cluster;
	c->squares += c->cluster * c->cluster;
	c->cluster = 0;
}

static double cluster_z(const struct clustered *c)
{
	return c->squares > 0 ? c->sum / sqrt(c->squares) : 0;
}

/* What a pair collects while chunks go by. */
struct collector {
	struct clustered bias, sign, slope, update, update_slope;
	double a2, update2;
	uint64_t in_cluster, elements;
};

struct window {
	size_t capacity, n;
	unsigned char *raw, *raw_b;
	double *plain, *a, *b;
	double *moved; /* NOISE_MOVED windows */
	double *g2, *s2, *work;
	double *update; /* of A in place; zeros where the output is not updated */
};

struct measure {
	const struct noise_input *in;
	struct noise_pair *pairs;
	size_t pair_count;
	struct noise *out;
	struct window w;
	struct collector *collectors;
	struct distribution *distribution; /* of the first pair */
	double apart2, floor2;             /* sums for rule 8c */
	double member2[1 + 2 * NOISE_OTHERS];
	uint64_t member_elements;
	struct place map; /* of the first pair, then of one of the others */
	struct number_format format;
	double type_roundoff, ftz;
	double unit2; /* (4 u)², 4 being more for long serial sums */
	double least_normal, least_spacing, epsilon; /* of the output's type */
	bool narrow;                                 /* the output is coarser than u */
	uint64_t cluster;                            /* elements */
	double predicted;                            /* sum */
	uint64_t predicted_count;
	uint64_t sibling_flips[NOISE_OTHERS], sibling_count[NOISE_OTHERS];
	double jumps;
};

static void window_free(struct window *w)
{
	free(w->raw);
	free(w->raw_b);
	free(w->plain);
	free(w->a);
	free(w->b);
	free(w->moved);
	free(w->g2);
	free(w->s2);
	free(w->work);
	free(w->update);
}

static int window_allocate(struct window *w, size_t n)
{
	w->capacity = n;
	w->raw = malloc(CHUNK_BYTES);
	w->raw_b = malloc(CHUNK_BYTES);
	w->plain = malloc(n * sizeof(double));
	w->a = malloc(n * sizeof(double));
	w->b = malloc(n * sizeof(double));
	w->moved = malloc(NOISE_MOVED * n * sizeof(double));
	w->g2 = malloc(n * sizeof(double));
	w->s2 = malloc(n * sizeof(double));
	w->work = malloc(n * sizeof(double));
	w->update = calloc(n, sizeof(double));
	return w->raw && w->raw_b && w->plain && w->a && w->b && w->moved && w->g2 && w->s2 &&
			       w->work && w->update
		       ? 0
		       : -ENOMEM;
}

static int load(const struct measure *m, const struct record_content *c, size_t chunk,
		uint32_t size, unsigned char *raw, double *value, struct error *err)
{
	int e = bundle_read_chunk(m->in->bundle, c->chunks.items[chunk], raw, size, err);

	if (!e)
		number_load(m->in->dtype, raw, m->w.n, value, NULL);
	return e;
}

/* Spacing of the output type at x: its exponent, bit by bit; frexp is what this loop costs. */
static double ulp_at(const struct measure *m, double x)
{
	uint64_t bits;
	double power;

	if (!(x > m->least_normal) || !isfinite(x))
		return m->least_spacing;
	memcpy(&bits, &x, sizeof(bits));
	bits &= UINT64_C(0x7ff0000000000000);
	memcpy(&power, &bits, sizeof(power));
	return power * m->epsilon;
}

/* Squared standard deviations of each element over the rows of `values` (count windows). */
static void deviations(const struct measure *m, const double *values, size_t count, double *out)
{
	size_t n = m->w.n, stride = m->w.capacity;

	for (size_t i = 0; i < n; i++) {
		double mean = 0, sum = 0;

		for (size_t k = 0; k < count; k++)
			mean += values[k * stride + i];
		mean /= (double)count;
		for (size_t k = 0; k < count; k++) {
			double d = values[k * stride + i] - mean;

			sum += d * d;
		}
		out[i] = isfinite(sum) ? sum / (double)(count - 1) : 0;
	}
}

static double square(double x)
{
	return x * x;
}

static bool differs(const struct measure *m, double a, double b)
{
	return a != b && isfinite(a) && isfinite(b) && !(fabs(a) < m->ftz && fabs(b) < m->ftz);
}

/* s² over A and its others, and how often they give another number. */
static int load_others(struct measure *m, size_t chunk, uint32_t size, struct error *err)
{
	struct window *w = &m->w;

	memset(w->s2, 0, w->n * sizeof(*w->s2));
	if (!m->in->other_count)
		return 0;
	/* a: mean of differences to A, b: sum of their squares: shifted by A, so no cancellation */
	memset(w->a, 0, w->n * sizeof(*w->a));
	memset(w->b, 0, w->n * sizeof(*w->b));
	for (size_t k = 0; k < m->in->other_count; k++) {
		int e = load(m, m->in->others[k], chunk, size, w->raw_b, w->work, err);

		if (e)
			return e;
		for (size_t i = 0; i < w->n; i++) {
			double d = w->work[i] - w->plain[i];

			m->sibling_count[k] += w->work[i] != 0 || w->plain[i] != 0;
			if (!differs(m, w->plain[i], w->work[i]))
				continue;
			m->sibling_flips[k]++;
			w->a[i] += d;
			w->b[i] += d * d;
		}
	}
	for (size_t i = 0; i < w->n; i++) {
		double count = (double)m->in->other_count + 1;

		w->s2[i] = fmax(0, w->b[i] - w->a[i] * w->a[i] / count) / (count - 1);
	}
	return 0;
}

static double median_g(const struct measure *m, size_t first, size_t n)
{
	memcpy(m->w.work, m->w.g2 + first, n * sizeof(double));
	return sqrt(select_value(m->w.work, n, n / 2));
}

/* Elements of the row that jump in some perturbed run of A. */
static void count_jumps(struct measure *m, size_t first, size_t n, double median)
{
	for (size_t k = 0; k < m->in->moved_count; k++)
		for (size_t i = first; i < first + n; i++)
			m->jumps += fabs(m->w.moved[k * m->w.capacity + i] - m->w.plain[i]) >
				    JUMP * median;
}

/* Does A itself, on inputs a rounding apart, jump to where B is? */
static bool jumps_to(const struct measure *m, size_t i, double a, double b, double median)
{
	for (size_t k = 0; k < m->in->moved_count; k++) {
		double x = m->w.moved[k * m->w.capacity + i];

		if (fabs(x - a) > JUMP * median && fabs(x - b) <= fabs(b - a) / 8)
			return true;
	}
	return false;
}

/* A step of u, or of what an approximate function may err by, moves an element to its neighbour. */
static void count_predicted(struct measure *m, size_t first, size_t n)
{
	double step = fmax(m->in->u, m->in->function);

	for (size_t i = first; m->narrow && i < first + n; i++) {
		double a = fabs(m->w.plain[i]);

		if (a == 0 || !isfinite(a))
			continue;
		m->predicted += fmin(1, step * (sqrt(m->w.g2[i]) / m->in->h + a) / ulp_at(m, a));
		m->predicted_count++;
	}
}

/* One element of a pair for rules 6 and 7. d is 0 where nothing counts as different. */
static void collect(struct measure *m, struct noise_pair *p, struct collector *c, double a,
		    double d, double base, double update)
{
	double t;

	if (a != 0 || d != 0) {
		p->compared++;
		p->flips += d != 0;
	}
	t = d == 0      ? 0
	    : m->narrow ? fmax(-1, fmin(1, d / ulp_at(m, fmax(fabs(a), fabs(a + d)))))
	    : base > 0  ? d / base
			: 0;
	c->bias.cluster += t;
	c->sign.cluster += a < 0 ? -t : t;
	c->slope.cluster += d * a;
	c->update.cluster += update < 0 ? -t : update > 0 ? t : 0;
	c->update_slope.cluster += d * update;
	c->update2 += update * update;
	c->a2 += a * a;
	c->elements++;
	if (++c->in_cluster < m->cluster)
		return;
	cluster_end(&c->bias);
	cluster_end(&c->sign);
	cluster_end(&c->slope);
	cluster_end(&c->update);
	cluster_end(&c->update_slope);
	c->in_cluster = 0;
}

/* A row of a pair: residuals, flips, bias. */
static void judge_row(struct measure *m, struct noise_pair *p, struct collector *c, bool mapped,
		      size_t first, size_t n, uint64_t index)
{
	const struct window *w = &m->w;
	double mean_g2 = 0, s2 = 0, count = (double)m->in->moved_count, median = -1;
	double most = m->in->synthetic ? square(threshold(THRESHOLD_SYNTHETIC)) : INFINITY;

	for (size_t i = first; i < first + n; i++) {
		mean_g2 += w->g2[i] / (double)n;
		s2 += w->s2[i] / (double)n;
	}
	for (size_t i = first; i < first + n; i++) {
		double a = w->a[i], b = w->b[i], d = b - a, g2, base2, sigma, excess, r;

		if (!isfinite(a) || !isfinite(b))
			continue;
		if (!differs(m, a, b))
			d = 0;
		g2 = (SHRINK * mean_g2 + count * w->g2[i]) / (SHRINK + count) /
		     (m->in->h * m->in->h);
		base2 = m->unit2 * (g2 + a * a);
		collect(m, p, c, a, d, sqrt(base2), w->update[i]);
		if (p == m->pairs)
			m->floor2 += base2;
		if (d == 0)
			continue;
		if (mapped)
			place_add(&m->map, index + i);
		excess = fabs(d) - (m->narrow ? ulp_at(m, fmax(fabs(a), fabs(b))) : 0);
		if (excess <= 0)
			continue;
		sigma = sqrt(fmin(s2, most * base2) + base2) * p->launches;
		r = sigma > 0 ? excess / sigma : INFINITY;
		if (r > p->max_residual) {
			p->max_residual = r;
			p->worst = (struct metric_element){
				.index = index + i, .a = a, .b = b, .severity = r};
		}
		if (r <= m->out->limit)
			continue;
		if (median < 0)
			median = median_g(m, first, n);
		p->beyond++;
		p->excused += jumps_to(m, i, a, b, median);
	}
}

/* What |d| is beyond the final rounding. */
static double beyond_rounding(const struct measure *m, double x, double y)
{
	double excess = fabs(y - x);

	if (!isfinite(x) || !isfinite(y))
		return 0;
	if (m->narrow)
		excess -= ulp_at(m, fmax(fabs(x), fabs(y)));
	return excess > 0 ? excess : 0;
}

static size_t own_others(const struct measure *m)
{
	return m->in->other_count - m->in->synthetic;
}

static const struct record_content *member(const struct measure *m, size_t k)
{
	size_t others = own_others(m);

	if (!k)
		return m->in->plain;
	k--;
	return k < others ? m->in->others[k] : m->in->fellows[k - others];
}

/* Rule 8c on one chunk: B of the first pair, in w->b, and each member from the mean of the others.
 */
static int measure_cluster(struct measure *m, size_t chunk, uint32_t size, struct error *err)
{
	struct window *w = &m->w;
	double n = (double)m->out->members;

	/* w->a: sum of the members, shifted by A so that it does not cancel */
	memset(w->a, 0, w->n * sizeof(*w->a));
	for (size_t k = 1; k < m->out->members; k++) {
		int e = load(m, member(m, k), chunk, size, w->raw, w->work, err);

		if (e)
			return e;
		for (size_t i = 0; i < w->n; i++)
			w->a[i] += w->work[i] - w->plain[i];
	}
	for (size_t k = 0; k < m->out->members; k++) {
		int e = load(m, member(m, k), chunk, size, w->raw, w->work, err);

		if (e)
			return e;
		for (size_t i = 0; i < w->n; i++) {
			double x = w->work[i] - w->plain[i];
			double rest = w->plain[i] + (w->a[i] - x) / (n - 1);
			double d = beyond_rounding(m, rest, w->work[i]);

			m->member2[k] += d * d;
		}
	}
	for (size_t i = 0; i < w->n; i++) {
		double d = beyond_rounding(m, w->plain[i] + w->a[i] / n, w->b[i]);

		m->apart2 += d * d;
	}
	m->member_elements += w->n;
	return 0;
}

/* Calls for each row of the window: known columns, else tiles; short rows are pooled. */
static size_t row_length(const struct measure *m, size_t left)
{
	size_t row = m->in->columns >= ROW_MIN && m->in->columns <= m->w.capacity
			     ? (size_t)m->in->columns
			     : TILE_ELEMENTS;

	return left < row + ROW_MIN ? left : row;
}

static int measure_pair(struct measure *m, size_t k, size_t chunk, uint32_t size, uint64_t index,
			struct error *err)
{
	struct noise_pair *p = &m->pairs[k];
	int e = load(m, p->a, chunk, size, m->w.raw, m->w.a, err);

	if (!e)
		e = load(m, p->b, chunk, size, m->w.raw_b, m->w.b, err);
	for (size_t first = 0, n; !e && first < m->w.n; first += n) {
		n = row_length(m, m->w.n - first);
		judge_row(m, p, &m->collectors[k], !k && m->narrow, first, n, index);
	}
	if (e || k)
		return e;
	distribution_add(m->distribution, m->w.raw, m->w.raw_b, m->w.n);
	return m->out->members >= CLUSTER_MIN ? measure_cluster(m, chunk, size, err) : 0;
}

/* By how much A changes each element in place in one launch. */
static int load_update(struct measure *m, size_t chunk, uint32_t size, struct error *err)
{
	struct window *w = &m->w;
	int e;

	if (!m->in->chain || m->in->chain_launches < 2)
		return 0;
	e = load(m, m->in->chain, chunk, size, w->raw_b, w->update, err);
	for (size_t i = 0; !e && i < w->n; i++) {
		double d = (w->update[i] - w->plain[i]) / (double)(m->in->chain_launches - 1);

		w->update[i] = isfinite(d) ? d : 0;
	}
	return e;
}

static int measure_chunk(struct measure *m, size_t chunk, uint64_t index, struct error *err)
{
	uint64_t address;
	uint32_t size;
	int e;

	chunk_range(m->in->extent->address, m->in->extent->size, chunk, &address, &size);
	m->w.n = size / dtype_bytes(m->in->dtype);
	e = load(m, m->in->plain, chunk, size, m->w.raw, m->w.plain, err);
	if (!e)
		e = load_others(m, chunk, size, err);
	if (!e)
		e = load_update(m, chunk, size, err);
	for (size_t k = 0; !e && k < m->in->moved_count; k++)
		e = load(m, m->in->moved[k], chunk, size, m->w.raw_b,
			 m->w.moved + k * m->w.capacity, err);
	if (e)
		return e;
	deviations(m, m->w.moved, m->in->moved_count, m->w.g2);
	for (size_t first = 0, n; first < m->w.n; first += n) {
		n = row_length(m, m->w.n - first);
		count_predicted(m, first, n);
		count_jumps(m, first, n, median_g(m, first, n));
	}
	for (size_t k = 0; !e && k < m->pair_count; k++)
		e = measure_pair(m, k, chunk, size, index, err);
	m->out->elements += m->w.n;
	return e;
}

/* Another pass for each of the others: where they flip most. */
static int measure_sibling_places(struct measure *m, struct error *err)
{
	for (size_t k = 0; k < m->in->other_count; k++) {
		uint64_t index = 0;

		if (!m->sibling_flips[k])
			continue;
		place_clear(&m->map);
		for (size_t chunk = 0; chunk < m->in->plain->chunks.count; chunk++) {
			uint64_t address;
			uint32_t size;
			int e;

			chunk_range(m->in->extent->address, m->in->extent->size, chunk, &address,
				    &size);
			m->w.n = size / dtype_bytes(m->in->dtype);
			e = load(m, m->in->plain, chunk, size, m->w.raw, m->w.a, err);
			if (!e)
				e = load(m, m->in->others[k], chunk, size, m->w.raw_b, m->w.b, err);
			if (e)
				return e;
			for (size_t i = 0; i < m->w.n; i++)
				if (differs(m, m->w.a[i], m->w.b[i]))
					place_add(&m->map, index + i);
			index += m->w.n;
		}
		m->out->sibling_place = fmax(m->out->sibling_place, place_worst(&m->map).bound);
	}
	return 0;
}

static void conclude(struct measure *m)
{
	struct noise *o = m->out;

	o->predicted = m->predicted_count ? m->predicted / (double)m->predicted_count : 0;
	o->jumps = m->jumps / (double)m->in->moved_count;
	for (size_t k = 0; k < (m->narrow ? m->in->other_count : own_others(m)); k++)
		if (m->sibling_count[k])
			o->sibling_flips =
				fmax(o->sibling_flips,
				     (double)m->sibling_flips[k] / (double)m->sibling_count[k]);
	if (m->member_elements) {
		o->apart = sqrt(m->apart2 / (double)m->member_elements);
		o->floor = sqrt(m->floor2 / (double)m->member_elements);
		for (size_t k = 0; k < o->members; k++)
			o->cluster =
				fmax(o->cluster, sqrt(m->member2[k] / (double)m->member_elements));
	}
	distribution_figures(m->distribution, &o->distribution);
	for (size_t k = 0; k < m->pair_count; k++) {
		struct collector *c = &m->collectors[k];
		struct noise_pair *p = &m->pairs[k];
		double n = c->elements ? (double)c->elements : 1;

		cluster_end(&c->bias);
		cluster_end(&c->sign);
		cluster_end(&c->slope);
		cluster_end(&c->update);
		cluster_end(&c->update_slope);
		p->update_bias = c->update.sum / n;
		p->update_z = cluster_z(&c->update);
		p->update_slope = c->update2 > 0 ? c->update_slope.sum / c->update2 : 0;
		p->update_slope_z = cluster_z(&c->update_slope);
		p->update_share = c->a2 > 0 ? sqrt(c->update2 / c->a2) : 0;
		p->bias = c->bias.sum / n;
		p->bias_z = cluster_z(&c->bias);
		p->sign_bias = c->sign.sum / n;
		p->sign_z = cluster_z(&c->sign);
		p->slope = c->a2 > 0 ? c->slope.sum / c->a2 : 0;
		p->slope_z = cluster_z(&c->slope);
	}
}

/* Errors of L additions one after the other grow as √L more than inputs moved by a rounding show.
 */
static double roundoff_factor(uint64_t serial)
{
	return serial > SERIAL_MIN ? fmax(4, sqrt((double)serial) / 8) : 4;
}

static void set_up(struct measure *m)
{
	uint64_t n = m->in->extent->size / dtype_bytes(m->in->dtype);
	uint64_t row = m->in->columns >= ROW_MIN ? m->in->columns : TILE_ELEMENTS;

	m->format = *number_format(m->in->dtype);
	m->least_normal = ldexp(1, m->format.min_exponent);
	m->least_spacing = ldexp(1, m->format.min_exponent - m->format.mantissa_bits);
	m->epsilon = ldexp(1, -m->format.mantissa_bits);
	m->type_roundoff = ldexp(1, -m->format.mantissa_bits - 1);
	m->narrow = m->type_roundoff > m->in->u;
	m->ftz = m->in->dtype == DTYPE_F32 || m->in->dtype == DTYPE_BF16 ? threshold(THRESHOLD_FTZ)
									 : 0;
	m->cluster = row;
	if (n / row < CLUSTERS)
		m->cluster = n / 64 < 1 ? 1 : n / 64 < 64 ? n / 64 : 64;
	m->unit2 = square(roundoff_factor(m->in->serial) * m->in->u);
	m->out->members = 1 + own_others(m) + m->in->fellow_count;
	m->out->limit =
		threshold(m->in->u > 0x1p-24 ? THRESHOLD_RESIDUAL_COARSE : THRESHOLD_RESIDUAL);
}

int noise_measure(const struct noise_input *in, struct noise_pair *pairs, size_t pair_count,
		  struct noise *out, struct error *err)
{
	struct measure m = {.in = in, .pairs = pairs, .pair_count = pair_count, .out = out};
	uint64_t index = 0;
	int e;

	*out = (struct noise){0};
	set_up(&m);
	m.collectors = calloc(pair_count ? pair_count : 1, sizeof(*m.collectors));
	e = window_allocate(&m.w, CHUNK_BYTES / dtype_bytes(in->dtype));
	if (!e && m.narrow)
		e = place_init(&m.map, in->extent->size / dtype_bytes(in->dtype), in->columns);
	m.distribution = distribution_new(in->dtype);
	if (e || !m.collectors || !m.distribution)
		e = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	for (size_t chunk = 0; !e && chunk < in->plain->chunks.count; chunk++) {
		e = measure_chunk(&m, chunk, index, err);
		index += m.w.n;
	}
	if (!e && m.narrow) {
		struct place_cell worst = place_worst(&m.map);

		out->place = worst.bound;
		out->place_what = worst.what;
		out->place_index = worst.first;
		e = measure_sibling_places(&m, err);
	}
	if (!e)
		conclude(&m);
	place_free(&m.map);
	distribution_free(m.distribution);
	free(m.collectors);
	window_free(&m.w);
	return e;
}

double poisson_tail(double mean, uint64_t count)
{
	double term = exp(-mean), below = 0;

	if (mean > 700) /* normal with the continuity correction */
		return 0.5 * erfc(((double)count - 0.5 - mean) / sqrt(2 * mean));
	for (uint64_t k = 0; k < count; k++) {
		below += term;
		term *= mean / (double)(k + 1);
		if (term == 0 && (double)k > mean)
			break;
	}
	return fmax(0, 1 - below);
}
