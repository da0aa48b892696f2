/* SPDX-License-Identifier: MIT */
/* Of several runs, which gives an element that all the others give alike another value. */
#include "replay/odd.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/fisher.h"

#define ELEMENT_MOST 16u /* bytes, of any type */

struct look {
	const struct snapshot *const *runs;
	size_t count;
	uint64_t base;        /* of the chunk whose bytes these are */
	const uint8_t **data; /* of each run */
	uint8_t *copies;      /* of an element that lies in two chunks */
	const uint8_t **ends; /* these, of each run */
};

/* Which of the values at at[...] + offset is the odd one; `count` where none is. */
static size_t odd_one(const uint8_t *const *at, size_t count, size_t offset, size_t bytes)
{
	const uint8_t *common = at[0] + offset;
	size_t odd = count;

	if (memcmp(at[0] + offset, at[1] + offset, bytes)) {
		if (!memcmp(at[1] + offset, at[2] + offset, bytes)) {
			odd = 0;
			common = at[1] + offset;
		} else if (!memcmp(at[0] + offset, at[2] + offset, bytes)) {
			odd = 1;
		} else {
			return count;
		}
	}
	for (size_t i = 2; i < count; i++) {
		if (!memcmp(at[i] + offset, common, bytes))
			continue;
		if (odd != count)
			return count;
		odd = i;
	}
	return odd;
}

static size_t odd_of_element(struct look *l, const struct byteset *shape, uint64_t address,
			     size_t bytes)
{
	size_t offset = address % CHUNK_BYTES;

	if (offset + bytes > CHUNK_BYTES) {
		for (size_t r = 0; r < l->count; r++)
			snapshot_copy(l->runs[r], address, bytes, l->copies + r * ELEMENT_MOST);
		return odd_one(l->ends, l->count, 0, bytes);
	}
	if (l->base != address - offset) {
		size_t chunk = byteset_chunk(shape, address);

		l->base = address - offset;
		for (size_t r = 0; r < l->count; r++)
			l->data[r] = snapshot_chunk(l->runs[r], chunk);
	}
	return odd_one(l->data, l->count, offset, bytes);
}

/* Bytes of the element at `address`, at most `left`; *end becomes the end of what has its type. */
static size_t element_bytes(const struct extents *extents, uint64_t address, uint64_t left,
			    uint64_t *end)
{
	size_t i = extents_find(extents, address), bytes = 1;

	*end = address + 1;
	if (i != SIZE_MAX) {
		bytes = dtype_bytes((enum dtype)extents->items[i].dtype);
		*end = extents->items[i].address + extents->items[i].size;
	}
	if (bytes > ELEMENT_MOST)
		bytes = 1;
	return bytes < left ? bytes : left;
}

static void count_run(uint64_t *counts, struct look *l, const struct byteset *varying,
		      const struct extents *extents, const struct range *run)
{
	uint64_t at = run->base, end = run->base + run->size, same = at;
	size_t bytes = 1;

	while (at < end) {
		size_t odd;

		if (at >= same)
			bytes = element_bytes(extents, at, end - at, &same);
		if (bytes > end - at)
			bytes = end - at;
		odd = odd_of_element(l, varying, at, bytes);
		if (odd < l->count)
			counts[odd]++;
		at += bytes;
	}
}

int odd_count(uint64_t *counts, const struct snapshot *const *runs, size_t count,
	      const struct byteset *varying, const struct extents *extents)
{
	_cleanup_free_ const uint8_t **data = calloc(count, sizeof(*data));
	_cleanup_free_ const uint8_t **ends = calloc(count, sizeof(*ends));
	_cleanup_free_ uint8_t *copies = calloc(count, ELEMENT_MOST);
	struct look l = {runs, count, UINT64_MAX, data, copies, ends};
	uint64_t cursor = 0;
	struct range run;

	memset(counts, 0, count * sizeof(*counts));
	if (count < 3)
		return 0;
	if (!data || !ends || !copies)
		return -ENOMEM;
	for (size_t r = 0; r < count; r++)
		ends[r] = copies + r * ELEMENT_MOST;
	while (byteset_next(varying, &cursor, &run))
		count_run(counts, &l, varying, extents, &run);
	return 0;
}

/* log of n over k; of any size. */
static double log_choose(double n, double k)
{
	int sign;

	return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

/* The probability of at least k of n where each has probability p. */
static double binomial_tail(uint64_t n, uint64_t k, double p)
{
	double sum = 0, term, mean = (double)n * p;

	if ((double)k <= mean)
		return 1; /* half or so: no small one, which is all that is asked */
	term = exp(log_choose((double)n, (double)k) + (double)k * log(p) +
		   (double)(n - k) * log1p(-p));
	for (uint64_t x = k; x <= n && term > sum * 1e-9; x++) {
		sum += term;
		term *= (double)(n - x) / (double)(x + 1) * p / (1 - p);
	}
	return sum;
}

bool odd_plausible(const uint64_t *counts, size_t count)
{
	uint64_t most = 0, others = 0;

	for (size_t r = 1; r < count; r++) {
		others += counts[r];
		if (counts[r] > most)
			most = counts[r];
	}
	if (!counts[0] || !others)
		return !counts[0];
	return counts[0] <= 2 * most ||
	       binomial_tail(others + counts[0], counts[0], 1.0 / (double)count) >= FISHER_LIMIT;
}
