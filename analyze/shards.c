/* SPDX-License-Identifier: MIT */
/* Results that are parts of one replay: are all parts there? */
#include "analyze/shards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernelab/bundle.h"
#include "lib/base.h"

#define MAX_SHARDS  65536u
#define TOLD_SHARDS 8u /* missing ones that are named one by one */

bool shards_part(const struct result *r, unsigned int *index, unsigned int *count)
{
	const char *text = bundle_fact(r->bundle, "replay.shard");
	char end;

	if (!text)
		return false;
	if (sscanf(text, "%u/%u%c", index, count, &end) != 2 || *index >= *count ||
	    *count > MAX_SHARDS)
		*index = *count = 0;
	return true;
}

static int tell_missing(const bool *there, unsigned int count,
			int (*missing)(void *data, const char *text), void *data)
{
	unsigned int n = 0;
	char text[96];
	int rc = 0;

	for (unsigned int i = 0; i < count; i++)
		n += !there[i];
	for (unsigned int i = 0, told = 0; !rc && i < count && told < TOLD_SHARDS; i++) {
		if (there[i])
			continue;
		snprintf(text, sizeof(text), "shard %u/%u is missing", i, count);
		rc = missing(data, text);
		told++;
	}
	if (!rc && n > TOLD_SHARDS) {
		snprintf(text, sizeof(text), "%u more of %u shards are missing", n - TOLD_SHARDS,
			 count);
		rc = missing(data, text);
	}
	return rc;
}

int shards_check(struct result *const *results, size_t count,
		 int (*missing)(void *data, const char *text), void *data)
{
	_cleanup_free_ bool *there = calloc(MAX_SHARDS, sizeof(*there));
	unsigned int index, n, all = 0;
	bool differ = false;

	if (!there)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!shards_part(results[i], &index, &n))
			continue;
		differ |= !n || (all && n != all);
		all = all ? all : n;
		if (n && n == all)
			there[index] = true;
	}
	if (differ)
		return missing(data, "the results are shards of replays that were cut differently");
	return all ? tell_missing(there, all, missing, data) : 0;
}
