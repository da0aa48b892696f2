/* SPDX-License-Identifier: MIT */
/* Memory that is given out in pieces and freed at once, with an upper bound. */
#ifndef LIB_BUNDLE_ARENA_H
#define LIB_BUNDLE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	uint64_t used_bytes;        /* given out so far */
	uint64_t limit_bytes;       /* more than that: NULL with over_limit set */
	int over_limit;
};

/* Zeroed memory aligned to 16 bytes; size 0 gives a valid pointer. NULL: no memory, or the limit.
 */
void *arena_take(struct arena *a, size_t size);
/* count * size with an overflow check. */
void *arena_take_array(struct arena *a, size_t count, size_t size);
void arena_free(struct arena *a);

#endif
