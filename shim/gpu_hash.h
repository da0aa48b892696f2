/* SPDX-License-Identifier: MIT */
/* Hashes memory of the device on the device. */
#ifndef SHIM_GPU_HASH_H
#define SHIM_GPU_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include "shim/nh.h"
#include "shim/ring.h"

struct gpu_hash_piece {
	uint64_t address; /* a multiple of 16 */
	uint64_t bytes;   /* 1 … NH_BYTES_MAX */
};

/* Whether a piece may be hashed; others have to be copied. */
static inline bool gpu_hash_can(uint64_t address, uint32_t bytes)
{
	return !(address % 16) && bytes && bytes <= NH_BYTES_MAX;
}

/*
 * Fills hashes (one a piece) with those of the pieces' contents in the order of the stream, which
 * is waited for, at most `seconds`. The kernel is loaded once a context; pieces and hashes go
 * through a slot of the ring. False with *why (static): nothing was hashed, or not everything. Any
 * thread with the ring's context current, not in stream capture.
 */
bool gpu_hash_run(struct ring *ring, CUstream stream, const struct gpu_hash_piece *pieces,
		  struct nh *hashes, size_t count, double seconds, const char **why);

/* After fork. */
void gpu_hash_forget(void);

#endif
