/* SPDX-License-Identifier: MIT */
/* Results that are parts of a replay: are all parts there? */
#ifndef ANALYZE_SHARDS_H
#define ANALYZE_SHARDS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/result.h"

/* "i/n" of a result; false without the fact; a fact that makes no sense is part 0 of 0. */
bool shards_part(const struct result *r, unsigned int *index, unsigned int *count);

/*
 * Calls missing(data, text) for each part that the results (fact replay.shard, "i/n") say must be
 * there and is not, and for results that were cut otherwise; parts of two replays, told by the fact
 * replay.whole, do not stand in for each other. Results without replay.shard are whole.
 * Its negative value ends it and is returned; else 0 or -ENOMEM.
 */
int shards_check(struct result *const *results, size_t count,
		 int (*missing)(void *data, const char *text), void *data);

#endif
