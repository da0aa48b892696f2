/* SPDX-License-Identifier: MIT */
/* Which chunks of two device ranges differ, found on the device: only those are copied back. */
#ifndef REPLAY_COMPARE_H
#define REPLAY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/driver.h"

/* Belongs to one context and thread. Zero-initialised = not opened yet. */
struct comparer {
	CUmodule module;
	CUfunction function;
	CUdeviceptr flags; /* a u32 each chunk */
	uint32_t *host;    /* the same on the host */
	size_t capacity;
	bool opened, usable;
};

/*
 * Compares [a, a + size) with [b, b + size); size is a multiple of CHUNK_BYTES, both addresses of
 * 16. Returns an array of size / CHUNK_BYTES flags, owned by the comparer and valid until the next
 * call: not 0 where a chunk differs. NULL where the device cannot do it (no PTX compiler, no
 * memory, or a wrong answer on the known pair that is tried first): compare on the host then.
 */
const uint32_t *compare_chunks(struct comparer *c, const struct driver *d, CUdeviceptr a,
			       CUdeviceptr b, uint64_t size);

#endif
