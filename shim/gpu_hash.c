/* SPDX-License-Identifier: MIT */
/* Loads and launches the hash kernel. */
#include "shim/gpu_hash.h"

#include <pthread.h>
#include <string.h>

#include "lib/base.h"
#include "shim/gpu_hash_ptx.h"
#include "shim/hooks.h"

#define PLACES_MAX 16u

/* The kernel in one context. A ring whose context was destroyed gets another generation. */
struct place {
	const struct ring *ring;
	unsigned long generation;
	CUfunction function; /* NULL: it cannot be had there */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place places[PLACES_MAX];
static unsigned place_count;

static CUfunction load(CUstream stream)
{
	CUmodule module = NULL;
	CUfunction function = NULL;
	CUdeviceptr keys = 0;
	size_t size = 0;

	if (real.cuModuleLoadDataEx(&module, gpu_hash_ptx, 0, NULL, NULL) != CUDA_SUCCESS)
		return NULL;
	if (real.cuModuleGetFunction(&function, module, "kernelab_hash") == CUDA_SUCCESS &&
	    real.cuModuleGetGlobal_v2(&keys, &size, module, "keys") == CUDA_SUCCESS &&
	    size == sizeof(struct nh_keys) &&
	    real.cuMemcpyHtoDAsync_v2(keys, nh_keys(), size, stream) == CUDA_SUCCESS &&
	    real.cuStreamSynchronize(stream) == CUDA_SUCCESS)
		return function;
	real.cuModuleUnload(module);
	return NULL;
}

static CUfunction function_in(const struct ring *ring, CUstream stream)
{
	CUfunction function = NULL;
	struct place *p = NULL;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < place_count; i++)
		if (places[i].ring == ring)
			p = &places[i];
	if (!p && place_count < PLACES_MAX)
		p = &places[place_count++];
	if (p && (p->ring != ring || p->generation != ring_generation(ring))) {
		p->ring = ring;
		p->generation = ring_generation(ring);
		p->function = load(stream);
	}
	function = p ? p->function : NULL;
	pthread_mutex_unlock(&lock);
	return function;
}

/* As many as a slot has room for. */
static bool run_some(struct ring *ring, CUfunction function, CUstream stream,
		     const struct gpu_hash_piece *pieces, struct nh *hashes, size_t count,
		     double seconds, const char **why)
{
	struct slot *s = ring_take(ring, seconds);
	size_t bytes = count * sizeof(*pieces);
	CUdeviceptr list, out;
	void *params[] = {&list, &out};
	CUresult r;

	*why = "no room in the ring";
	if (!s)
		return false;
	if (!s->data_device) {
		*why = "copies are pageable";
		ring_put_back(s);
		return false;
	}
	list = s->data_device;
	out = list + bytes;
	memcpy(s->data, pieces, bytes);
	r = real.cuLaunchKernel(function, (unsigned)count, 1, 1, NH_COLUMNS, 1, 1, 0, stream,
				params, NULL);
	*why = "its kernel cannot be launched";
	if (r != CUDA_SUCCESS) {
		ring_put_back(s);
		return false;
	}
	*why = "its kernel did not end";
	if (ring_wait(s, stream, seconds) != CUDA_SUCCESS)
		return false;
	memcpy(hashes, s->data + bytes, count * sizeof(*hashes));
	ring_put_back(s);
	return true;
}

bool gpu_hash_run(struct ring *ring, CUstream stream, const struct gpu_hash_piece *pieces,
		  struct nh *hashes, size_t count, double seconds, const char **why)
{
	size_t most = ring_slot_bytes() / (sizeof(*pieces) + sizeof(*hashes));
	CUfunction function;

	*why = "copies are pageable";
	if (!ring_pinned(ring))
		return false;
	function = function_in(ring, stream);
	*why = "its kernel cannot be loaded";
	for (size_t at = 0; function && at < count; at += most)
		if (!run_some(ring, function, stream, pieces + at, hashes + at,
			      count - at < most ? count - at : most, seconds, why))
			return false;
	return function != NULL;
}

void gpu_hash_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	place_count = 0;
	memset(places, 0, sizeof(places));
}
