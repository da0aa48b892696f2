/* SPDX-License-Identifier: MIT */
/* Results that are parts of a replay: are all parts there? */
#include "analyze/shards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Results of versions that did not write the fact may be parts of any replay. */
static bool one_replay(const struct result *x, const struct result *y)
{
	const char *a = bundle_fact(x->bundle, "replay.whole");
	const char *b = bundle_fact(y->bundle, "replay.whole");

	return !a || !b || !strcmp(a, b);
}

/* of: the replay's name; "" where there is only one. */
static int tell_missing(const bool *there, unsigned int count, const char *of,
			int (*missing)(void *data, const char *text), void *data)
{
	unsigned int n = 0;
	char text[640];
	int rc = 0;

	for (unsigned int i = 0; i < count; i++)
		n += !there[i];
	for (unsigned int i = 0, told = 0; !rc && i < count && told < TOLD_SHARDS; i++) {
		if (there[i])
			continue;
		snprintf(text, sizeof(text), "shard %u/%u is missing%.512s", i, count, of);
		rc = missing(data, text);
		told++;
	}
	if (!rc && n > TOLD_SHARDS) {
		snprintf(text, sizeof(text), "%u more of %u shards are missing%.512s",
			 n - TOLD_SHARDS, count, of);
		rc = missing(data, text);
	}
	return rc;
}

/* The parts of the replay that `first` is the first part of. */
static int check_replay(struct result *const *results, size_t count, size_t first, bool alone,
			int (*missing)(void *data, const char *text), void *data)
{
	_cleanup_free_ bool *there = calloc(MAX_SHARDS, sizeof(*there));
	_cleanup_free_ char *of =
		alone ? strdup("") : text_format(" of the replay of %s", results[first]->path);
	unsigned int index, n, all = 0;
	bool differ = false;

	if (!there || !of)
		return -ENOMEM;
	for (size_t i = first; i < count; i++) {
		if (!shards_part(results[i], &index, &n) || !one_replay(results[first], results[i]))
			continue;
		differ |= !n || (all && n != all);
		all = all ? all : n;
		if (n && n == all)
			there[index] = true;
	}
	if (differ)
		return missing(data, "the results are shards of replays that were cut differently");
	return tell_missing(there, all, of, missing, data);
}

/* The first part of a replay. */
static bool is_first(struct result *const *results, size_t i)
{
	unsigned int index, n;

	if (!shards_part(results[i], &index, &n))
		return false;
	for (size_t k = 0; k < i; k++)
		if (shards_part(results[k], &index, &n) && one_replay(results[k], results[i]))
			return false;
	return true;
}

int shards_check(struct result *const *results, size_t count,
		 int (*missing)(void *data, const char *text), void *data)
{
	size_t replays = 0;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		replays += is_first(results, i);
	for (size_t i = 0; !rc && i < count; i++)
		if (is_first(results, i))
			rc = check_replay(results, count, i, replays == 1, missing, data);
	return rc;
}
