/* SPDX-License-Identifier: MIT */
/* Two passes over an output: ranges first, then bins. */
#include "analyze/picture.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/block.h"
#include "lib/base.h"

/* One chunk, both sides. */
struct chunk {
	unsigned char *raw_a, *raw_b;
	double *a, *b;
	int64_t *order_a, *order_b;
	size_t n;
	uint64_t first; /* element index of a[0] */
	uint32_t bytes; /* of an element */
};

static int chunk_allocate(struct chunk *c)
{
	c->raw_a = malloc(CHUNK_BYTES);
	c->raw_b = malloc(CHUNK_BYTES);
	c->a = malloc(CHUNK_BYTES * sizeof(double));
	c->b = malloc(CHUNK_BYTES * sizeof(double));
	c->order_a = malloc(CHUNK_BYTES * sizeof(int64_t));
	c->order_b = malloc(CHUNK_BYTES * sizeof(int64_t));
	return c->raw_a && c->raw_b && c->a && c->b && c->order_a && c->order_b ? 0 : -ENOMEM;
}

static void chunk_free(struct chunk *c)
{
	free(c->raw_a);
	free(c->raw_b);
	free(c->a);
	free(c->b);
	free(c->order_a);
	free(c->order_b);
}

static void widen(struct picture_range *r, double x)
{
	if (x < r->low)
		r->low = x;
	if (x > r->high)
		r->high = x;
}

/* Bin of x out of n over the range; the range's own ends belong to the first and last. */
static size_t bin_of(const struct picture_range *r, double x, size_t n)
{
	double width = r->high - r->low, at;

	if (!(width > 0))
		return n / 2;
	if (!is_finite(width)) /* f64 near its greatest number */
		at = (x / 2 - r->low / 2) / (r->high / 2 - r->low / 2);
	else
		at = (x - r->low) / width;
	return at >= 1 ? n - 1 : at > 0 ? (size_t)(at * (double)n) : 0;
}

static bool bits_differ(const struct chunk *c, size_t i)
{
	return memcmp(c->raw_a + i * c->bytes, c->raw_b + i * c->bytes, c->bytes) != 0;
}

typedef void chunk_visit(struct picture *p, const struct chunk *c);

static void see_ranges(struct picture *p, const struct chunk *c)
{
	for (size_t i = 0; i < c->n; i++) {
		double a = c->a[i], b = c->b[i], d = fabs(b - a);

		if (is_finite(a))
			widen(&p->values, a);
		if (is_finite(b))
			widen(&p->values, b);
		if (!(d > 0) || !is_finite(d))
			continue;
		widen(&p->difference, log2(d));
		if (a != 0)
			widen(&p->magnitude, log2(fabs(a)));
	}
}

static void count_ulp(struct picture *p, const struct chunk *c, size_t i)
{
	uint64_t ulp = order_distance(c->order_a[i], c->order_b[i]);
	unsigned k = ulp ? 63 - (unsigned)__builtin_clzll(ulp) : 0;

	if (c->a[i] != c->a[i] || c->b[i] != c->b[i])
		return;
	if (k >= PICTURE_ULP_BINS)
		k = PICTURE_ULP_BINS - 1;
	if (!ulp)
		p->ulp_equal++;
	else if (c->order_b[i] > c->order_a[i])
		p->ulp_above[k]++;
	else
		p->ulp_below[k]++;
}

static void count_values(struct picture *p, const struct chunk *c, size_t i)
{
	const double value[2] = {c->a[i], c->b[i]};

	for (int s = 0; s < 2; s++) {
		if (is_finite(value[s]))
			p->value_counts[s][bin_of(&p->values, value[s], PICTURE_VALUE_BINS)]++;
		else
			p->not_finite[s]++;
	}
}

static void count_difference(struct picture *p, const struct chunk *c, size_t i)
{
	double a = c->a[i], d = fabs(c->b[i] - a);
	size_t row;

	if (!(d > 0) || !is_finite(d))
		return;
	row = bin_of(&p->difference, log2(d), PICTURE_SCATTER_ROWS);
	if (a == 0)
		p->from_zero[row]++;
	else
		p->scatter[row][bin_of(&p->magnitude, log2(fabs(a)), PICTURE_SCATTER_COLUMNS)]++;
}

/* index * cells / of without overflow for what an address space holds. */
static size_t cell_of(uint64_t index, uint64_t of, uint32_t cells)
{
	return (size_t)((unsigned __int128)index * cells / of);
}

static void count_heat(struct picture *p, const struct chunk *c, size_t i)
{
	uint64_t index = c->first + i;
	size_t row = cell_of(index / p->shape.columns, p->shape.rows, p->heat_rows);
	size_t column = cell_of(index % p->shape.columns, p->shape.columns, p->heat_columns);
	size_t cell = row * p->heat_columns + column;
	double d = fabs(c->b[i] - c->a[i]);

	p->heat_differing[cell]++;
	if (number_class(c->a[i]) != number_class(c->b[i]))
		p->heat_changes[cell]++;
	else if (is_finite(d) && d > (double)p->heat_max[cell])
		p->heat_max[cell] = (float)fmin(d, (double)FLT_MAX);
}

static void see_bins(struct picture *p, const struct chunk *c)
{
	for (size_t i = 0; i < c->n; i++) {
		count_ulp(p, c, i);
		count_values(p, c, i);
		count_difference(p, c, i);
		if (bits_differ(c, i))
			count_heat(p, c, i);
	}
}

/* Both sides' chunks of the extent, one after the other. */
static int walk(struct picture *p, const struct bundle *bundle, const struct record_extent *extent,
		const struct record_content *a, const struct record_content *b, struct chunk *c,
		chunk_visit *visit, struct error *err)
{
	c->bytes = dtype_bytes(p->dtype);
	c->first = 0;
	for (size_t i = 0; i < a->chunks.count; i++) {
		uint64_t address;
		uint32_t size;
		int e;

		chunk_range(extent->address, extent->size, i, &address, &size);
		e = bundle_read_chunk(bundle, a->chunks.items[i], c->raw_a, size, err);
		if (!e)
			e = bundle_read_chunk(bundle, b->chunks.items[i], c->raw_b, size, err);
		if (e)
			return error_prefix(err, "chunk %zu of the output at 0x%" PRIx64, i,
					    extent->address);
		c->n = size / c->bytes;
		number_load(p->dtype, c->raw_a, c->n, c->a, c->order_a);
		number_load(p->dtype, c->raw_b, c->n, c->b, c->order_b);
		visit(p, c);
		c->first += c->n;
	}
	return 0;
}

static uint32_t cells(uint64_t n)
{
	return n < PICTURE_HEAT_SIDE ? (uint32_t)n : PICTURE_HEAT_SIDE;
}

int picture_take(struct picture **out, const struct bundle *bundle,
		 const struct record_extent *extent, enum dtype t, const struct record_content *a,
		 const struct record_content *b, const struct shape *shape, struct error *err)
{
	static const struct picture_range nothing = {INFINITY, -INFINITY};
	struct picture *p = calloc(1, sizeof(*p));
	struct chunk c = {0};
	int e = 0;

	*out = NULL;
	if (!p || chunk_allocate(&c))
		e = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	if (!e) {
		p->dtype = t;
		p->elements = extent->size / dtype_bytes(t);
		p->shape = *shape;
		p->heat_rows = cells(shape->rows);
		p->heat_columns = cells(shape->columns);
		p->magnitude = p->difference = p->values = nothing;
		e = walk(p, bundle, extent, a, b, &c, see_ranges, err);
	}
	if (!e)
		e = walk(p, bundle, extent, a, b, &c, see_bins, err);
	chunk_free(&c);
	if (e)
		free(p);
	else
		*out = p;
	return e;
}
