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
 * Hashes the pieces' contents in the order of the stream, and calls use for each batch of them in
 * their order, while later ones are being hashed. Waits for the stream, at most `seconds`. The
 * kernel is loaded once a context; pieces and hashes go through slots of the ring. False with *why
 * (static): the rest was not hashed. Any thread with the ring's context current, not in stream
 * capture.
 */
bool gpu_hash_run(struct ring *ring, CUstream stream, const struct gpu_hash_piece *pieces,
		  size_t count, double seconds,
		  void (*use)(size_t first, const struct nh *hashes, size_t count, void *context),
		  void *context, const char **why);

/* After fork. */
void gpu_hash_forget(void);

#endif
