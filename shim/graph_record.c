/* SPDX-License-Identifier: MIT */
/* Launches a graph with copy nodes around chosen kernels, and writes what they copied. */
#include "shim/graph_record.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/hooks.h"
#include "shim/recorder.h"
#include "shim/regions.h"

/* Device memory for copies, of the whole process; it is kept, since freeing may wait for all. */
#define BUFFERS_BYTES ((uint64_t)1 << 30)
#define BUFFER_MIN    ((uint64_t)32 << 20)
#define ALIGNMENT     512u
#define STAGING_BYTES (8u << 20) /* a whole number of chunks */
#define EDGES_MAX     4096u

_Static_assert(STAGING_BYTES % CHUNK_BYTES == 0, "pieces are whole chunks");

static pthread_mutex_t recording_lock = PTHREAD_MUTEX_INITIALIZER;
/* Under recording_lock. */
static CUdeviceptr buffer;
static uint64_t buffer_bytes, buffers_bytes;
static CUcontext buffer_context;
static bool stuck; /* a recording launch did not end: its buffer is in use for good */

/* One kernel of a recording launch. */
struct piece {
	struct graph_kernel *kernel;
	struct regions regions;
	uint64_t offset; /* in the buffer: all regions before, then all after */
	uint64_t bytes;  /* of one of the two */
	bool placed;     /* its copies are in the graph */
	bool postponed;  /* to be recorded by a later launch */
	bool partial;    /* a region is not copied */
	char note[200];  /* why there are no contents */
};

static uint64_t padded(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool copied(const struct record_region *r)
{
	return r->memory != MEMORY_HOST && r->memory != MEMORY_MANAGED &&
	       r->size <= recorder_settings()->max_region_bytes;
}

/* ---- planning ---- */

static int plan_piece(struct bundle_writer *w, struct piece *p, CUcontext current)
{
	const struct launch_facts *f = &p->kernel->facts;
	int r;

	if (!f->params_known) {
		snprintf(p->note, sizeof(p->note), "the layout of its parameters is not known");
		return 0;
	}
	if (p->kernel->context && p->kernel->context != current) {
		snprintf(p->note, sizeof(p->note),
			 "a graph kernel of another context than the current one");
		return 0;
	}
	r = record_launch_regions(&p->regions, w, f);
	for (size_t i = 0; r >= 0 && i < p->regions.count; i++) {
		struct record_region *region = &p->regions.items[i];

		if (copied(region)) {
			p->bytes += padded(region->size);
			continue;
		}
		p->partial = true;
		region->note = strdup(region->size > recorder_settings()->max_region_bytes
					      ? "no contents: larger than KERNELAB_MAX_REGION"
					      : "no contents: host or managed memory in a graph");
	}
	if (2 * p->bytes > BUFFERS_BYTES)
		snprintf(p->note, sizeof(p->note),
			 "its regions have %llu bytes: copies of a graph's memory are limited to "
			 "1 GiB",
			 (unsigned long long)p->bytes);
	return r;
}

/* Makes buffer at least `need` bytes, or as much as may be. Caller holds recording_lock. */
static bool get_buffer(uint64_t need, CUcontext current)
{
	CUdeviceptr fresh = 0;
	uint64_t bytes = need < BUFFER_MIN ? BUFFER_MIN : need;
	size_t available = 0, total = 0;

	if (buffer && buffer_context == current && buffer_bytes >= need)
		return true;
	if (real.cuMemGetInfo_v2(&available, &total) != CUDA_SUCCESS)
		return false;
	if (bytes > BUFFERS_BYTES - buffers_bytes)
		bytes = BUFFERS_BYTES - buffers_bytes;
	if (bytes > available / 4)
		bytes = available / 4;
	if (buffer && buffer_context == current && bytes <= buffer_bytes)
		return true;
	if (!bytes || real.cuMemAlloc_v2(&fresh, bytes) != CUDA_SUCCESS)
		return buffer && buffer_context == current;
	buffer = fresh;
	buffer_bytes = bytes;
	buffers_bytes += bytes;
	buffer_context = current;
	return true;
}

/* Gives each piece its place; the first ones that fit come first, the others later. */
static void place(struct piece *pieces, size_t count, CUcontext current)
{
	uint64_t need = 0, used = 0;
	bool there;

	for (size_t i = 0; i < count; i++)
		if (!*pieces[i].note && need + 2 * pieces[i].bytes <= BUFFERS_BYTES)
			need += 2 * pieces[i].bytes;
	there = get_buffer(need, current);
	for (size_t i = 0; i < count; i++) {
		struct piece *p = &pieces[i];

		if (*p->note)
			continue;
		if (!there || 2 * p->bytes > buffer_bytes) {
			snprintf(p->note, sizeof(p->note),
				 "no device memory for copies of %llu bytes around a graph's "
				 "kernel",
				 (unsigned long long)(2 * p->bytes));
		} else if (used + 2 * p->bytes > buffer_bytes) {
			p->postponed = true;
		} else {
			p->offset = used;
			used += 2 * p->bytes;
		}
	}
}

/* ---- the graph with copies ---- */

static CUresult add_copy(CUgraph graph, CUgraphNode *node, const CUgraphNode *needs, size_t count,
			 uint64_t to, uint64_t from, uint64_t bytes, CUcontext context)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = from,
		.srcPitch = bytes,
		.srcHeight = 1,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = to,
		.dstPitch = bytes,
		.dstHeight = 1,
		.WidthInBytes = bytes,
		.Height = 1,
		.Depth = 1,
	};

	return real.cuGraphAddMemcpyNode(node, graph, needs, count, &copy, context);
}

/* The nodes on one side of a node. NULL edge data: an edge that has some is an error. */
static CUresult neighbours(CUgraphNode node, bool before, CUgraphNode *out, size_t *count)
{
	CUresult r;

	*count = 0;
	r = before ? real.cuGraphNodeGetDependencies_v2(node, NULL, NULL, count)
		   : real.cuGraphNodeGetDependentNodes_v2(node, NULL, NULL, count);
	if (r != CUDA_SUCCESS || !*count)
		return r;
	if (*count > EDGES_MAX)
		return CUDA_ERROR_NOT_SUPPORTED;
	return before ? real.cuGraphNodeGetDependencies_v2(node, out, NULL, count)
		      : real.cuGraphNodeGetDependentNodes_v2(node, out, NULL, count);
}

/* Copies of one side: behind all that the kernel needs and before it, or behind it and before all
 * that need it. The same memory is copied when nothing of the program's order lies between. */
static CUresult add_side(const struct piece *p, CUgraph graph, CUgraphNode kernel, bool before)
{
	CUgraphNode around[EDGES_MAX], copy;
	uint64_t at = buffer + p->offset + (before ? 0 : p->bytes);
	size_t count;
	CUresult r = neighbours(kernel, before, around, &count);

	for (size_t i = 0; r == CUDA_SUCCESS && i < p->regions.count; i++) {
		const struct record_region *region = &p->regions.items[i];

		if (!copied(region))
			continue;
		r = before ? add_copy(graph, &copy, around, count, at, region->base, region->size,
				      buffer_context)
			   : add_copy(graph, &copy, &kernel, 1, at, region->base, region->size,
				      buffer_context);
		at += padded(region->size);
		if (r == CUDA_SUCCESS && before)
			r = real.cuGraphAddDependencies_v2(graph, &copy, &kernel, NULL, 1);
		for (size_t j = 0; r == CUDA_SUCCESS && !before && j < count; j++)
			r = real.cuGraphAddDependencies_v2(graph, &copy, &around[j], NULL, 1);
	}
	return r;
}

/* A copy of g's clone with the copies in it; pieces that could not be placed get a note. */
static CUresult build(const struct exec_graph *g, struct piece *pieces, size_t count,
		      CUgraphExec *exec)
{
	CUgraph work;
	CUresult r = real.cuGraphClone(&work, g->clone);
	char text[120];

	if (r != CUDA_SUCCESS)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct piece *p = &pieces[i];
		CUgraphNode kernel;

		if (*p->note || p->postponed)
			continue;
		r = real.cuGraphNodeFindInClone(&kernel, p->kernel->node, work);
		if (r == CUDA_SUCCESS)
			r = add_side(p, work, kernel, true);
		if (r == CUDA_SUCCESS)
			r = add_side(p, work, kernel, false);
		p->placed = r == CUDA_SUCCESS;
		if (!p->placed)
			snprintf(p->note, sizeof(p->note),
				 "no copies could be put around a graph's kernel: %s",
				 driver_error_text(&real, r, text, sizeof(text)));
	}
	r = real.cuGraphInstantiateWithFlags(exec, work, g->flags);
	real.cuGraphDestroy(work);
	return r;
}

/* ---- writing what was copied ---- */

struct reading {
	struct bundle_writer *w;
	CUstream stream;
	char *before, *after; /* STAGING_BYTES each */
	struct record_change *changes;
	size_t count, capacity;
	CUresult result;
};

/* Chunks [first, end) of a region lie in the staging buffers from address `start` on. */
static int put_chunks(struct reading *d, struct record_region *region, uint32_t number,
		      uint64_t first, uint64_t end, uint64_t start)
{
	int r = 0;

	for (uint64_t i = first; r >= 0 && i < end; i++) {
		struct record_change change = {.region = number, .chunk = i};
		uint64_t address;
		uint32_t bytes;

		chunk_range(region->base, region->size, i, &address, &bytes);
		r = bundle_put_chunk(d->w, d->before + (address - start), bytes,
				     &region->chunks.items[i]);
		if (r < 0 ||
		    !memcmp(d->before + (address - start), d->after + (address - start), bytes))
			continue;
		r = bundle_put_chunk(d->w, d->after + (address - start), bytes, &change.key);
		if (r >= 0)
			r = array_reserve(&d->changes, d->count, &d->capacity, sizeof(*d->changes));
		if (r >= 0)
			d->changes[d->count++] = change;
	}
	return r;
}

static void fetch(struct reading *d, char *to, uint64_t from, uint64_t bytes)
{
	if (d->result == CUDA_SUCCESS)
		d->result = real.cuMemcpyDtoHAsync_v2(to, from, bytes, d->stream);
	if (d->result == CUDA_SUCCESS)
		d->result = real.cuStreamSynchronize(d->stream);
}

static int put_region(struct reading *d, struct record_region *region, uint32_t number,
		      uint64_t before, uint64_t after)
{
	uint64_t count = chunk_count(region->base, region->size), index = 0;
	int r = 0;

	region->chunks.items = calloc(count + 1, sizeof(*region->chunks.items));
	if (!region->chunks.items)
		return -ENOMEM;
	region->chunks.count = count;
	while (r >= 0 && d->result == CUDA_SUCCESS && index < count) {
		uint64_t first = index, start, address, fetched = 0;
		uint32_t bytes;

		chunk_range(region->base, region->size, first, &start, &bytes);
		while (index < count && fetched + CHUNK_BYTES <= STAGING_BYTES) {
			chunk_range(region->base, region->size, index++, &address, &bytes);
			fetched += bytes;
		}
		fetch(d, d->before, before + (start - region->base), fetched);
		fetch(d, d->after, after + (start - region->base), fetched);
		if (d->result == CUDA_SUCCESS)
			r = put_chunks(d, region, number, first, index, start);
	}
	if (d->result != CUDA_SUCCESS) {
		free(region->chunks.items);
		region->chunks.items = NULL;
		region->chunks.count = 0;
	}
	return r;
}

static int put_contents(struct reading *d, struct piece *p)
{
	uint64_t at = buffer + p->offset;
	char text[120];
	int r = 0;

	for (size_t i = 0; r >= 0 && d->result == CUDA_SUCCESS && i < p->regions.count; i++) {
		if (!copied(&p->regions.items[i]))
			continue;
		r = put_region(d, &p->regions.items[i], (uint32_t)i, at, at + p->bytes);
		at += padded(p->regions.items[i].size);
	}
	if (d->result != CUDA_SUCCESS)
		snprintf(p->note, sizeof(p->note), "no contents: reading the copies gave %s",
			 driver_error_text(&real, d->result, text, sizeof(text)));
	else if (p->partial)
		snprintf(p->note, sizeof(p->note),
			 "contents of a region are missing: see its note");
	return r;
}

/* LAUNCH and AFTER of one kernel. d: NULL where nothing was copied. */
static int put_piece(struct bundle_writer *w, struct piece *p, struct reading *d, CUresult result,
		     CUresult sync)
{
	struct record_after after = {
		.seq = p->kernel->facts.seq, .result = result, .sync_result = sync};
	int r = d ? put_contents(d, p) : 0;

	if (r >= 0)
		r = record_launch_put(w, &p->kernel->facts, &p->regions,
				      *p->note ? LAUNCH_CONTENTS_MISSING : 0,
				      *p->note ? p->note : NULL);
	if (d) {
		after.changes.items = d->changes;
		after.changes.count = d->count;
	}
	if (r >= 0)
		r = bundle_put_after(w, &after);
	return r;
}

/* Writes and settles them all. copies: the recording launch has ended, its copies can be read. */
static void finish(struct bundle_writer *w, struct piece *pieces, size_t count, CUstream stream,
		   bool copies, CUresult result, CUresult sync)
{
	_cleanup_free_ char *before = copies ? malloc(STAGING_BYTES) : NULL;
	_cleanup_free_ char *after = copies ? malloc(STAGING_BYTES) : NULL;
	int r = copies && (!before || !after) ? -ENOMEM : 0;

	for (size_t i = 0; i < count; i++) {
		struct piece *p = &pieces[i];
		struct reading d = {.w = w, .stream = stream, .before = before, .after = after};
		bool write = w && r >= 0 && !p->postponed;

		if (write) {
			r = put_piece(w, p, copies && p->placed ? &d : NULL, result, sync);
			free(d.changes);
		}
		launches_settle(&p->kernel->facts, p->postponed      ? LAUNCH_POSTPONED
						   : !write || r < 0 ? LAUNCH_SKIPPED
						   : *p->note        ? LAUNCH_FAILED
								     : LAUNCH_RECORDED);
		regions_free(&p->regions);
	}
	recorder_put(r, "writing the launches of a graph");
}

/* ---- one launch ---- */

static struct piece *new_pieces(struct graph_kernel **claimed, size_t count)
{
	struct piece *pieces = calloc(count, sizeof(*pieces));

	for (size_t i = 0; pieces && i < count; i++)
		pieces[i].kernel = claimed[i];
	for (size_t i = 0; !pieces && i < count; i++)
		launches_settle(&claimed[i]->facts, LAUNCH_SKIPPED);
	return pieces;
}

/* All pieces that have no reason of their own get this one. */
static void note_all(struct piece *pieces, size_t count, const char *why)
{
	for (size_t i = 0; i < count; i++)
		if (!*pieces[i].note && !pieces[i].postponed)
			snprintf(pieces[i].note, sizeof(pieces[i].note), "%s", why);
}

static bool any_placed(const struct piece *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pieces[i].placed)
			return true;
	return false;
}

/* Makes the recording copy. True with *exec if there is one worth launching. */
static bool prepare(struct bundle_writer *w, const struct exec_graph *g, struct piece *pieces,
		    size_t count, CUgraphExec *exec)
{
	CUcontext current = NULL;
	CUresult result;
	char text[120], why[200];
	int r = 0;

	if (stuck) {
		note_all(pieces, count, "no contents: an earlier recording launch did not end");
		return false;
	}
	real.cuCtxGetCurrent(&current);
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = plan_piece(w, &pieces[i], current);
	if (!recorder_put(r, "planning the copies of a graph"))
		return false;
	place(pieces, count, current);
	result = build(g, pieces, count, exec);
	if (result != CUDA_SUCCESS) {
		snprintf(why, sizeof(why), "no contents: a copy of its graph gave %s",
			 driver_error_text(&real, result, text, sizeof(text)));
		note_all(pieces, count, why);
		return false;
	}
	if (any_placed(pieces, count))
		return true;
	real.cuGraphExecDestroy(*exec);
	return false;
}

static CUresult record(struct bundle_writer *w, struct exec_graph *g, struct piece *pieces,
		       size_t count, CUgraphExec exec, CUstream stream, bool per_thread,
		       graph_launch_function *go)
{
	CUstream own = !stream && per_thread ? CU_STREAM_PER_THREAD : stream;
	CUgraphExec recording = NULL;
	CUresult result = CUDA_SUCCESS, sync = CUDA_SUCCESS;
	bool copies = prepare(w, g, pieces, count, &recording);

	if (copies)
		result = go(recording, stream);
	if (copies && result != CUDA_SUCCESS) {
		note_all(pieces, count, "no contents: a recording copy of its graph was refused");
		real.cuGraphExecDestroy(recording);
		copies = false;
		recording = NULL;
	}
	if (!copies) {
		result = go(exec, stream);
	} else if (!stream_wait(own, recorder_settings()->wait_after_s, &sync)) {
		note_all(pieces, count,
			 "no contents: the launch of its graph did not end in time "
			 "(KERNELAB_WAIT_AFTER)");
		stuck = sync == CUDA_ERROR_NOT_READY;
		copies = false;
	}
	finish(w, pieces, count, own, copies, result, sync);
	if (recording && !stuck)
		real.cuGraphExecDestroy(recording);
	return result;
}

CUresult graph_record(struct exec_graph *g, struct graph_kernel **claimed, size_t count,
		      CUgraphExec exec, CUstream stream, bool per_thread, graph_launch_function *go)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	_cleanup_free_ struct piece *pieces = new_pieces(claimed, count);
	struct bundle_writer *w;
	CUresult result;

	if (!pieces)
		return go(exec, stream);
	w = recorder_acquire();
	/* Another thread's graph is being recorded: this one's turn is its next launch. */
	if (!w || pthread_mutex_trylock(&recording_lock)) {
		for (size_t i = 0; i < count; i++)
			launches_settle(&claimed[i]->facts, w ? LAUNCH_POSTPONED : LAUNCH_SKIPPED);
		if (w)
			recorder_release();
		return go(exec, stream);
	}
	/* Another thread may be capturing in global mode. */
	real.cuThreadExchangeStreamCaptureMode(&mode);
	result = record(w, g, pieces, count, exec, stream, per_thread, go);
	real.cuThreadExchangeStreamCaptureMode(&mode);
	pthread_mutex_unlock(&recording_lock);
	recorder_release();
	return result;
}

CUresult graph_record_without(struct graph_kernel **claimed, size_t count, const char *why,
			      CUgraphExec exec, CUstream stream, graph_launch_function *go)
{
	CUresult result = go(exec, stream);
	_cleanup_free_ struct piece *pieces = new_pieces(claimed, count);
	struct bundle_writer *w = pieces ? recorder_acquire() : NULL;
	char note[160];

	if (!pieces)
		return result;
	snprintf(note, sizeof(note), "no contents: %s", why);
	note_all(pieces, count, note);
	finish(w, pieces, count, stream, false, result, CUDA_SUCCESS);
	if (w)
		recorder_release();
	return result;
}

void graph_record_forget(void)
{
	pthread_mutex_init(&recording_lock, NULL);
	buffer = 0;
	buffer_bytes = buffers_bytes = 0;
	buffer_context = NULL;
	stuck = false;
}
