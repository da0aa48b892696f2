/* SPDX-License-Identifier: MIT */
/* Pointers that lie in memory. */
#include "shim/pointers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/pairs.h"
#include "shim/hooks.h"

#define SMALL_REGION ((uint64_t)1 << 20)
#define STAGING      (1u << 20)

struct look {
	struct regions *regions;
	CUstream stream;
	unsigned char *staging; /* STAGING bytes */
	uint64_t left;          /* bytes that may still be looked at */
	const char *limited;
	const struct copies_source *source;
	size_t known; /* regions that were there before */
	size_t hit;   /* region of the last pointer */
};

/* Most words are floats or small integers, of which regions_add asks no driver, or lead to where
 * the last one did. */
static bool look_at_words(struct look *l, size_t bytes)
{
	const struct record_region *items;
	uint64_t last = 0;

	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t word;

		memcpy(&word, l->staging + i, sizeof(word));
		items = l->regions->items;
		if (word == last ||
		    (l->hit < l->regions->count && word - items[l->hit].base < items[l->hit].size))
			continue;
		last = word;
		l->hit = l->regions->count; /* the one that is added, if there is one */
		if (l->regions->count >= POINTERS_REGIONS_MAX) {
			l->limited = "more than 4096 regions";
			return false;
		}
		if (regions_add(l->regions, word, REGIONS_NO_PARAM) < 0) {
			l->limited = "no host memory";
			return false;
		}
	}
	return true;
}

/* [base, base + size), of which the aligned words count. */
static bool look_at(struct look *l, uint64_t base, uint64_t size)
{
	uint64_t at = (base + 7) & ~7ull, end = base + size;

	while (at + 8 <= end) {
		uint64_t n = end - at < STAGING ? end - at : STAGING;
		CUdeviceptr from = at;

		if (n > l->left) {
			l->limited = "more than 16 MiB could hold pointers";
			return false;
		}
		l->left -= n;
		if (l->source)
			from = l->source->find(l->source->data, at, n);
		if (!from) {
			l->limited = "what was read was not copied in one piece";
			return false;
		}
		if (real.cuMemcpyDtoHAsync_v2(l->staging, from, n, l->stream) != CUDA_SUCCESS ||
		    real.cuStreamSynchronize(l->stream) != CUDA_SUCCESS) {
			l->limited = "a copy failed";
			return false;
		}
		if (!look_at_words(l, n))
			return false;
		at += n;
	}
	return true;
}

static void look_at_region(struct look *l, size_t index)
{
	/* The array may move while regions are added. */
	const struct record_region g = l->regions->items[index];

	if (!l->regions->measured) {
		if (g.size <= SMALL_REGION)
			look_at(l, g.base, g.size);
		else
			l->limited = "regions above 1 MiB are not looked into";
		return;
	}
	for (size_t k = 0; k + 1 < g.reads.count; k += 2)
		if (!look_at(l, g.base + g.reads.items[k], g.reads.items[k + 1]))
			return;
}

bool pointers_follow(struct regions *regions, CUstream stream, const struct copies_source *source,
		     const char **limited)
{
	_cleanup_free_ unsigned char *staging = malloc(STAGING);
	struct look l = {.regions = regions,
			 .stream = stream,
			 .staging = staging,
			 .source = source,
			 .left = POINTERS_BYTES_MAX,
			 .known = regions->count};

	*limited = "no host memory";
	if (!staging)
		return false;
	for (size_t i = 0; i < l.known; i++)
		look_at_region(&l, i);
	*limited = l.limited;
	return regions->count > l.known;
}
