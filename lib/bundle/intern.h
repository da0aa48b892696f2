/* SPDX-License-Identifier: MIT */
/* Equal lists of keys of one bundle share their memory: repeats and sweeps name the same contents.
 */
#ifndef LIB_BUNDLE_INTERN_H
#define LIB_BUNDLE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/bundle/arena.h"

struct intern_slot {
	const void *data; /* NULL: free */
	size_t size;
	uint64_t sum;
};

/* Zero-initialised = empty. Needed only while a bundle is decoded. Not thread-safe. */
struct intern {
	struct intern_slot *slots;
	size_t count, slot_count; /* slot_count: power of two */
};

/*
 * Copy of `size` bytes in the arena, the earlier one where those were equal; so it must not be
 * changed. NULL: no memory, or the arena's limit. Data below INTERN_LEAST_BYTES is always copied.
 */
const void *intern_bytes(struct intern *t, struct arena *arena, const void *data, size_t size);
void intern_free(struct intern *t);

#define INTERN_LEAST_BYTES 128u

#endif
