/* SPDX-License-Identifier: MIT */
/* Chunks between host and device through pinned memory, copied while the bus works. */
#include "replay/ring.h"

#include <string.h>

#define HALF (RING_CHUNKS / 2)

static uint8_t *chunk_at(const struct ring *r, size_t i)
{
	return r->memory + i * (size_t)CHUNK_BYTES;
}

CUresult ring_open(struct ring *r, const struct driver *driver, CUstream stream,
		   struct stopwatch *watch)
{
	CUresult result;

	*r = (struct ring){.driver = driver, .stream = stream, .watch = watch};
	result = driver->cuMemAllocHost_v2((void **)&r->memory, RING_CHUNKS * (size_t)CHUNK_BYTES);
	for (size_t i = 0; result == CUDA_SUCCESS && i < 2; i++)
		result = driver->cuEventCreate(&r->used[i], CU_EVENT_DISABLE_TIMING);
	return result;
}

CUresult ring_upload(struct ring *r, CUdeviceptr to, const void *from, size_t bytes)
{
	enum activity before = stopwatch_switch(r->watch, ACTIVITY_UPLOADING);
	CUresult result = CUDA_SUCCESS;

	if (r->next % HALF == 0) /* what was sent from this half last must be there */
		result = r->driver->cuEventSynchronize(r->used[r->next / HALF]);
	if (result == CUDA_SUCCESS) {
		memcpy(chunk_at(r, r->next), from, bytes);
		result =
			r->driver->cuMemcpyHtoDAsync_v2(to, chunk_at(r, r->next), bytes, r->stream);
	}
	if (result == CUDA_SUCCESS && (r->next + 1) % HALF == 0)
		result = r->driver->cuEventRecord(r->used[r->next / HALF], r->stream);
	r->next = (r->next + 1) % RING_CHUNKS;
	r->watch->cost->uploaded_bytes += bytes;
	stopwatch_switch(r->watch, before);
	return result;
}

/* Enqueues up to a half of the copies from `first` on, into half h. */
static CUresult fetch(struct ring *r, const CUdeviceptr *sources, size_t first, size_t count,
		      size_t h)
{
	CUresult result = CUDA_SUCCESS;
	size_t i = 0;

	while (result == CUDA_SUCCESS && i < HALF && first + i < count) {
		size_t n = 1; /* side by side: one copy */

		while (i + n < HALF && first + i + n < count &&
		       sources[first + i + n] == sources[first + i] + n * (size_t)CHUNK_BYTES)
			n++;
		result = r->driver->cuMemcpyDtoHAsync_v2(chunk_at(r, h * HALF + i),
							 sources[first + i],
							 n * (size_t)CHUNK_BYTES, r->stream);
		i += n;
	}
	if (result == CUDA_SUCCESS)
		result = r->driver->cuEventRecord(r->used[h], r->stream);
	return result;
}

CUresult ring_download(struct ring *r, const CUdeviceptr *sources, size_t count,
		       void *(*data)(void *context, size_t i), void *context)
{
	enum activity before = stopwatch_switch(r->watch, ACTIVITY_DOWNLOADING);
	CUresult result = count ? fetch(r, sources, 0, count, 0) : CUDA_SUCCESS;

	for (size_t first = 0, h = 0; result == CUDA_SUCCESS && first < count;
	     first += HALF, h = !h) {
		if (first + HALF < count)
			result = fetch(r, sources, first + HALF, count, !h);
		if (result == CUDA_SUCCESS)
			result = r->driver->cuEventSynchronize(r->used[h]);
		for (size_t i = 0; result == CUDA_SUCCESS && i < HALF && first + i < count; i++) {
			void *to = data(context, first + i);

			if (!to)
				result = CUDA_ERROR_OUT_OF_MEMORY;
			else
				memcpy(to, chunk_at(r, h * HALF + i), CHUNK_BYTES);
		}
	}
	if (count) /* all that was sent before has gone too */
		r->next = 0;
	r->watch->cost->downloaded_bytes += count * (uint64_t)CHUNK_BYTES;
	stopwatch_switch(r->watch, before);
	return result;
}
