/* SPDX-License-Identifier: MIT */
/* Copies memory of the device through a bounded buffer into the bundle, and compares it later. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/base.h"
#include "lib/pairs.h"
#include "shim/hooks.h"
#include "shim/regions.h"

/* One copy; a whole number of chunks. Pageable: pinned memory would belong to the program's
 * context. */
#define STAGING_BYTES (32u * CHUNK_BYTES)

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool stream_wait(CUstream stream, double seconds, CUresult *result)
{
	double start = now_s();

	for (unsigned turn = 0;; turn++) {
		*result = real.cuStreamQuery(stream);
		if (*result != CUDA_ERROR_NOT_READY)
			return *result == CUDA_SUCCESS;
		if (turn < 64)
			continue; /* most kernels end within microseconds */
		if (now_s() - start > seconds)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = turn < 1000 ? 20000 : 500000}, NULL);
	}
}

/*
 * Puts [address, address + bytes) into buffer. Host memory is read as it is: the stream is idle.
 * A copy to pageable memory is done when the call returns; the wait makes sure of it.
 */
static CUresult fetch(const struct record_region *region, uint64_t address, void *buffer,
		      size_t bytes, CUstream stream)
{
	CUresult r;

	if (region->memory == MEMORY_HOST) {
		memcpy(buffer, (const void *)(uintptr_t)address, bytes);
		return CUDA_SUCCESS;
	}
	r = real.cuMemcpyDtoHAsync_v2(buffer, address, bytes, stream);
	return r == CUDA_SUCCESS ? real.cuStreamSynchronize(stream) : r;
}

/* Which chunks of a region matter: all where `reads` and `writes` are NULL. */
struct chunk_choice {
	const struct u64s *reads, *writes; /* either may be NULL */
};

static bool selected(const struct chunk_choice *s, const struct record_region *region,
		     uint64_t index)
{
	uint64_t address;
	uint32_t bytes;

	if (!s->reads && !s->writes)
		return true;
	chunk_range(region->base, region->size, index, &address, &bytes);
	return (s->reads && pairs_touch(s->reads, address - region->base, bytes)) ||
	       (s->writes && pairs_touch(s->writes, address - region->base, bytes));
}

/*
 * Walks over the selected chunks of a region in pieces of at most STAGING_BYTES and calls use for
 * each. *result gets the driver's error, the return value is use's.
 */
static int each_chunk(const struct record_region *region, const struct chunk_choice *which,
		      void *staging, CUstream stream, CUresult *result,
		      int (*use)(uint64_t index, const void *data, uint32_t bytes, void *context),
		      void *context)
{
	uint64_t count = chunk_count(region->base, region->size), index = 0;
	int r = 0;

	*result = CUDA_SUCCESS;
	while (index < count && r >= 0) {
		uint64_t start, address;
		uint32_t bytes, fetched = 0;
		uint64_t first = index;

		if (!selected(which, region, index)) {
			index++;
			continue;
		}
		chunk_range(region->base, region->size, index, &start, &bytes);
		while (index < count && fetched + CHUNK_BYTES <= STAGING_BYTES &&
		       selected(which, region, index)) {
			chunk_range(region->base, region->size, index++, &address, &bytes);
			fetched += bytes;
		}
		*result = fetch(region, start, staging, fetched, stream);
		if (*result != CUDA_SUCCESS)
			return 0;
		for (uint64_t i = first; i < index && r >= 0; i++) {
			chunk_range(region->base, region->size, i, &address, &bytes);
			r = use(i, (const char *)staging + (address - start), bytes, context);
		}
	}
	return r;
}

/* Bytes of the selected chunks. */
static uint64_t selected_bytes(const struct record_region *region, const struct chunk_choice *which)
{
	uint64_t count = chunk_count(region->base, region->size), sum = 0, address;
	uint32_t bytes;

	if (!which->reads && !which->writes)
		return region->size;
	for (uint64_t i = 0; i < count; i++) {
		if (!selected(which, region, i))
			continue;
		chunk_range(region->base, region->size, i, &address, &bytes);
		sum += bytes;
	}
	return sum;
}

struct storing {
	struct bundle_writer *w;
	struct hash128 *keys;
};

static int store_chunk(uint64_t index, const void *data, uint32_t bytes, void *context)
{
	struct storing *s = context;

	return bundle_put_chunk(s->w, data, bytes, &s->keys[index]);
}

static int store_region(struct record_region *region, const struct chunk_choice *which,
			struct bundle_writer *w, void *staging, CUstream stream, bool *complete)
{
	uint64_t count = chunk_count(region->base, region->size);
	struct storing s = {.w = w, .keys = calloc(count, sizeof(*s.keys))};
	CUresult result = CUDA_SUCCESS;
	char text[160];
	int r;

	if (!s.keys) {
		region->note = strdup("no contents: no host memory for the list of its chunks");
		*complete = false;
		return 0;
	}
	r = each_chunk(region, which, staging, stream, &result, store_chunk, &s);
	if (r >= 0 && result == CUDA_SUCCESS) {
		region->chunks.items = s.keys;
		region->chunks.count = count;
		return 0;
	}
	free(s.keys);
	if (r >= 0) {
		driver_error_text(&real, result, text, sizeof(text));
		region->note = text_format("no contents: the copy failed with %s", text);
		*complete = false;
	}
	return r;
}

int regions_store(struct regions *r, struct bundle_writer *w, CUstream stream, uint64_t max_bytes,
		  bool *complete)
{
	_cleanup_free_ void *staging = malloc(STAGING_BYTES);
	int error = 0;

	*complete = staging != NULL;
	for (size_t i = 0; staging && i < r->count && error >= 0; i++) {
		struct record_region *region = &r->items[i];
		struct chunk_choice which = {r->measured ? &region->reads : NULL,
					     r->measured ? &region->writes : NULL};

		if (selected_bytes(region, &which) <= max_bytes) {
			error = store_region(region, &which, w, staging, stream, complete);
			continue;
		}
		r->items[i].note =
			text_format("no contents: larger than KERNELAB_MAX_REGION, %llu bytes",
				    (unsigned long long)max_bytes);
		*complete = false;
	}
	return error;
}

struct comparing {
	struct bundle_writer *w;
	const struct record_region *region;
	uint32_t number;
	struct record_change **changes;
	size_t *count, capacity;
};

static int compare_chunk(uint64_t index, const void *data, uint32_t bytes, void *context)
{
	struct comparing *c = context;
	struct record_change change = {.region = c->number, .chunk = index};
	int r;

	if (hash_equal(hash_bytes(data, bytes), c->region->chunks.items[index]))
		return 0;
	r = bundle_put_chunk(c->w, data, bytes, &change.key);
	if (r >= 0)
		r = array_reserve(c->changes, *c->count, &c->capacity, sizeof(**c->changes));
	if (r >= 0)
		(*c->changes)[(*c->count)++] = change;
	return r;
}

int regions_compare(const struct regions *regions, struct bundle_writer *w, CUstream stream,
		    struct record_change **changes, size_t *count, CUresult *result)
{
	_cleanup_free_ void *staging = malloc(STAGING_BYTES);
	struct comparing c = {.w = w, .changes = changes, .count = count};
	int r = 0;

	*changes = NULL;
	*count = 0;
	*result = CUDA_SUCCESS;
	if (!staging)
		return -ENOMEM;
	for (size_t i = 0; i < regions->count && r >= 0 && *result == CUDA_SUCCESS; i++) {
		struct chunk_choice which = {NULL,
					     regions->measured ? &regions->items[i].writes : NULL};

		c.region = &regions->items[i];
		c.number = (uint32_t)i;
		if (c.region->chunks.count)
			r = each_chunk(c.region, &which, staging, stream, result, compare_chunk,
				       &c);
	}
	return r;
}
