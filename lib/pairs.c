/* SPDX-License-Identifier: MIT */
/* Extents of a region as sorted pairs of offset and bytes. */
#include "lib/pairs.h"

#include <errno.h>
#include <stdlib.h>

int pairs_add(struct u64s *pairs, uint64_t offset, uint64_t bytes)
{
	uint64_t end = offset + bytes;
	uint64_t *grown;
	size_t kept = 0, at;

	if (!bytes)
		return 0;
	grown = realloc(pairs->items, (pairs->count + 2) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pairs->items = grown;
	for (size_t i = 0; i < pairs->count; i += 2) { /* what touches it is taken in */
		uint64_t a = grown[i], b = a + grown[i + 1];

		if (b < offset || a > end) {
			grown[kept] = a;
			grown[kept + 1] = b - a;
			kept += 2;
			continue;
		}
		offset = a < offset ? a : offset;
		end = b > end ? b : end;
	}
	for (at = kept; at && grown[at - 2] > offset; at -= 2) {
		grown[at] = grown[at - 2];
		grown[at + 1] = grown[at - 1];
	}
	grown[at] = offset;
	grown[at + 1] = end - offset;
	pairs->count = kept + 2;
	return 0;
}

/* The first pair that ends behind the offset: its number, or how many there are. */
static size_t first_behind(const struct u64s *pairs, uint64_t offset)
{
	size_t low = 0, high = pairs->count / 2;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs->items[2 * middle] + pairs->items[2 * middle + 1] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool pairs_touch(const struct u64s *pairs, uint64_t offset, uint64_t bytes)
{
	size_t i = first_behind(pairs, offset);

	return i < pairs->count / 2 && pairs->items[2 * i] < offset + bytes;
}

bool pairs_next(const struct u64s *pairs, uint64_t offset, uint64_t *first, uint64_t *bytes)
{
	size_t i = first_behind(pairs, offset);
	uint64_t start;

	if (i >= pairs->count / 2)
		return false;
	start = pairs->items[2 * i];
	*first = start > offset ? start : offset;
	*bytes = start + pairs->items[2 * i + 1] - *first;
	return true;
}

uint64_t pairs_bytes(const struct u64s *pairs)
{
	uint64_t sum = 0;

	for (size_t i = 0; i + 1 < pairs->count; i += 2)
		sum += pairs->items[i + 1];
	return sum;
}

bool pairs_valid(const struct u64s *pairs, uint64_t size)
{
	uint64_t end = 0;

	if (pairs->count % 2)
		return false;
	for (size_t i = 0; i < pairs->count; i += 2) {
		uint64_t offset = pairs->items[i], bytes = pairs->items[i + 1];

		if (offset < end || !bytes || offset > size || bytes > size - offset)
			return false;
		end = offset + bytes;
	}
	return true;
}
