/* SPDX-License-Identifier: MIT */
/* Loads and launches the hash kernel. */
#include "shim/gpu_hash.h"

#include <pthread.h>
#include <string.h>

#include "lib/base.h"
#include "shim/gpu_hash_ptx.h"
#include "shim/hooks.h"

#define PLACES_MAX   16u
#define BATCHES      4u    /* under way at once */
#define BATCH_PIECES 1024u /* 256 MiB take 0.1 ms */

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

/* ---- batches ---- */

struct batch {
	struct slot *slot;
	size_t first, count;
};

struct run {
	struct ring *ring;
	CUfunction function;
	CUstream stream;
	const struct gpu_hash_piece *pieces;
	double seconds;
	struct batch batches[BATCHES]; /* under way: used of them, the oldest at `oldest` */
	unsigned oldest, used;
	const char *why;
};

static size_t batch_most(void)
{
	size_t most = ring_slot_bytes() / (sizeof(struct gpu_hash_piece) + sizeof(struct nh));

	return most < BATCH_PIECES ? most : BATCH_PIECES;
}

static bool fails(struct run *r, struct slot *s, const char *why)
{
	r->why = why;
	if (s)
		ring_put_back(s);
	return false;
}

/* Launches one more. With others under way it does not wait for room: *later then. */
static bool launch(struct run *r, size_t first, size_t count, bool *later)
{
	struct slot *s = ring_take(r->ring, r->used ? 0 : r->seconds);
	size_t bytes = count * sizeof(*r->pieces);
	CUdeviceptr list, out;
	void *params[] = {&list, &out};

	*later = !s && r->used;
	if (*later)
		return true;
	if (!s || !s->data_device)
		return fails(r, s, s ? "copies are pageable" : "no room in the ring");
	list = s->data_device;
	out = list + bytes;
	memcpy(s->data, r->pieces + first, bytes);
	if (real.cuLaunchKernel(r->function, (unsigned)count, 1, 1, NH_COLUMNS, 1, 1, 0, r->stream,
				params, NULL) != CUDA_SUCCESS)
		return fails(r, s, "its kernel cannot be launched");
	if (ring_mark(s, r->stream, r->seconds) != CUDA_SUCCESS)
		return fails(r, NULL, "its kernel did not end");
	r->batches[(r->oldest + r->used++) % BATCHES] = (struct batch){s, first, count};
	return true;
}

/* Waits for the oldest. use may be NULL: after a failure. */
static bool finish(struct run *r,
		   void (*use)(size_t first, const struct nh *hashes, size_t count, void *context),
		   void *context)
{
	struct batch b = r->batches[r->oldest];

	r->oldest = (r->oldest + 1) % BATCHES;
	r->used--;
	if (ring_wait(b.slot) != CUDA_SUCCESS)
		return fails(r, NULL, "its kernel did not end");
	if (use)
		use(b.first, (const void *)(b.slot->data + b.count * sizeof(*r->pieces)), b.count,
		    context);
	ring_put_back(b.slot);
	return true;
}

bool gpu_hash_run(struct ring *ring, CUstream stream, const struct gpu_hash_piece *pieces,
		  size_t count, double seconds,
		  void (*use)(size_t first, const struct nh *hashes, size_t count, void *context),
		  void *context, const char **why)
{
	struct run r = {.ring = ring, .stream = stream, .pieces = pieces, .seconds = seconds};
	size_t most = batch_most(), next = 0;
	bool good, later = false;

	*why = "copies are pageable";
	if (!ring_pinned(ring))
		return false;
	r.function = function_in(ring, stream);
	r.why = "its kernel cannot be loaded";
	good = r.function != NULL;
	while (good && (next < count || r.used)) {
		size_t n = count - next < most ? count - next : most;

		if (next < count && r.used < BATCHES && !later) {
			good = launch(&r, next, n, &later);
			next += good && !later ? n : 0;
		} else {
			good = finish(&r, use, context);
			later = false;
		}
	}
	while (r.used)
		finish(&r, NULL, NULL);
	*why = r.why;
	return good;
}

void gpu_hash_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	place_count = 0;
	memset(places, 0, sizeof(places));
}
