/* SPDX-License-Identifier: MIT */
/* Chunks between host and device through pinned memory, copied while the bus works. */
#ifndef REPLAY_RING_H
#define REPLAY_RING_H

#include <stddef.h>
#include <stdint.h>

#include "drv/driver.h"
#include "kernelab/bundle.h"
#include "replay/cost.h"

#define RING_CHUNKS 32u /* 8 MiB, in two halves: pinning is slow */

/* Belongs to one worker and its stream. */
struct ring {
	const struct driver *driver;
	CUstream stream;
	struct stopwatch *watch;
	uint8_t *memory; /* pinned */
	CUevent used[2]; /* the device is done with that half */
	size_t next;     /* chunk to use next */
};

CUresult ring_open(struct ring *r, const struct driver *driver, CUstream stream,
		   struct stopwatch *watch);

/* Enqueues the copy of at most CHUNK_BYTES; `from` may be changed at once. */
CUresult ring_upload(struct ring *r, CUdeviceptr to, const void *from, size_t bytes);

/*
 * Copies chunks, sources[i] into data(context, i), which gives room for CHUNK_BYTES or NULL (then
 * CUDA_ERROR_OUT_OF_MEMORY). Returns when all are there.
 */
CUresult ring_download(struct ring *r, const CUdeviceptr *sources, size_t count,
		       void *(*data)(void *context, size_t i), void *context);

#endif
