/* SPDX-License-Identifier: MIT */
/* Chunk-wise comparison: the same key on both sides means equal bytes. */
#include "analyze/contents.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base.h"

struct contents_buffers {
	unsigned char *a, *b;
	struct metric_hull hull; /* CHUNK_BYTES elements; allocated when first needed */
	double *value;
};

struct contents_buffers *contents_buffers_new(void)
{
	struct contents_buffers *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->a = malloc(CHUNK_BYTES);
	x->b = malloc(CHUNK_BYTES);
	if (x->a && x->b)
		return x;
	contents_buffers_free(x);
	return NULL;
}

void contents_buffers_free(struct contents_buffers *x)
{
	if (!x)
		return;
	free(x->a);
	free(x->b);
	free(x->hull.low);
	free(x->hull.high);
	free(x->hull.classes);
	free(x->value);
	free(x);
}

bool contents_equal(const struct record_content *x, const struct record_content *y)
{
	if (x->chunks.count != y->chunks.count)
		return false;
	for (size_t i = 0; i < x->chunks.count; i++)
		if (!hash_equal(x->chunks.items[i], y->chunks.items[i]))
			return false;
	return true;
}

enum dtype contents_dtype(const struct record_extent *extent, const char **note)
{
	uint32_t bytes;

	*note = NULL;
	if (extent->dtype >= DTYPE_COUNT) {
		*note = "element type unknown to this version: compared as bytes";
		return DTYPE_UNKNOWN;
	}
	bytes = dtype_bytes(extent->dtype);
	if (extent->address % bytes || extent->size % bytes) {
		*note = "begins or ends within an element: compared as bytes";
		return DTYPE_UNKNOWN;
	}
	return extent->dtype;
}

static int hull_allocate(struct contents_buffers *x)
{
	if (x->value)
		return 0;
	x->hull.low = malloc(CHUNK_BYTES * sizeof(double));
	x->hull.high = malloc(CHUNK_BYTES * sizeof(double));
	x->hull.classes = malloc(CHUNK_BYTES);
	x->value = malloc(CHUNK_BYTES * sizeof(double));
	if (x->hull.low && x->hull.high && x->hull.classes && x->value)
		return 0;
	free(x->hull.low);
	free(x->hull.high);
	free(x->hull.classes);
	free(x->value);
	memset(&x->hull, 0, sizeof(x->hull));
	x->value = NULL;
	return -ENOMEM;
}

/* Hull of A's contents on one chunk; x->b serves as read buffer. */
static int hull_of_chunk(const struct bundle *bundle, enum dtype t, size_t chunk, uint32_t size,
			 const struct record_content *const *a_all, size_t a_count,
			 struct contents_buffers *x, struct error *err)
{
	size_t n = size / dtype_bytes(t);
	int e = hull_allocate(x);

	if (e)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	metric_hull_begin(&x->hull, n);
	for (size_t i = 0; i < a_count; i++) {
		struct hash128 key = a_all[i]->chunks.items[chunk];

		if (i && hash_equal(key, a_all[i - 1]->chunks.items[chunk]))
			continue;
		e = bundle_read_chunk(bundle, key, x->b, size, err);
		if (e)
			return e;
		metric_hull_add(&x->hull, t, x->b, n, x->value);
	}
	return 0;
}

static bool chunk_varies(const struct record_content *const *a_all, size_t a_count, size_t chunk)
{
	for (size_t i = 1; i < a_count; i++)
		if (!hash_equal(a_all[0]->chunks.items[chunk], a_all[i]->chunks.items[chunk]))
			return true;
	return false;
}

int contents_compare(const struct bundle *bundle, const struct record_extent *extent, enum dtype t,
		     const struct record_content *a, const struct record_content *b,
		     const struct record_content *const *a_all, size_t a_count,
		     struct contents_buffers *x, struct metrics *m, struct error *err)
{
	uint64_t index = 0;

	metrics_begin(m, t);
	for (size_t i = 0; i < a->chunks.count; i++) {
		struct hash128 ka = a->chunks.items[i], kb = b->chunks.items[i];
		const struct metric_hull *hull = NULL;
		const unsigned char *second = x->a;
		uint64_t address;
		uint32_t size;
		int e;

		chunk_range(extent->address, extent->size, i, &address, &size);
		e = bundle_read_chunk(bundle, ka, x->a, size, err);
		if (!e && chunk_varies(a_all, a_count, i)) {
			e = hull_of_chunk(bundle, t, i, size, a_all, a_count, x, err);
			hull = &x->hull;
		}
		if (!e && !hash_equal(ka, kb)) {
			e = bundle_read_chunk(bundle, kb, x->b, size, err);
			second = x->b;
		}
		if (e)
			return error_prefix(err, "chunk %zu of the output at 0x%" PRIx64, i,
					    extent->address);
		metrics_add(m, x->a, second, size / dtype_bytes(t), index, hull);
		index += size / dtype_bytes(t);
	}
	return 0;
}
