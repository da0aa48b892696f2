/* SPDX-License-Identifier: MIT */
/* Launches a graph with copy nodes around chosen kernels, and writes what they copied. */
#include "shim/graph_record.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/extents.h"
#include "shim/graph_copies.h"
#include "shim/hooks.h"
#include "shim/recorder.h"
#include "shim/regions.h"

/* Device memory for copies, of the whole process; it is kept, since freeing may wait for all. */
#define BUFFERS_BYTES ((uint64_t)1 << 30)
#define BUFFER_MIN    ((uint64_t)32 << 20)

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
	struct graph_copies copies;
	uint64_t offset; /* in the buffer */
	bool placed;     /* its copies are in the graph */
	bool postponed;  /* to be recorded by a later launch */
	bool partial;    /* a region is not copied */
	char note[200];  /* why there are no contents */
};

/* ---- planning ---- */

/* idle: the stream is, so that the extents can be measured on it. */
static int plan_piece(struct bundle_writer *w, struct piece *p, CUcontext current, CUstream stream,
		      bool idle)
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
	if (r >= 0 && idle)
		extents_measure_ahead(&p->regions, f, stream);
	else if (r >= 0)
		snprintf(p->regions.extents, sizeof(p->regions.extents),
			 "its stream was not idle before its graph was launched");
	if (r >= 0)
		r = graph_copies_plan(&p->copies, &p->regions,
				      recorder_settings()->max_region_bytes, &p->partial);
	if (r >= 0 && p->copies.bytes > BUFFERS_BYTES)
		snprintf(
			p->note, sizeof(p->note),
			"copies of the memory around it take %llu bytes: those of a graph's memory "
			"are limited to 1 GiB",
			(unsigned long long)p->copies.bytes);
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
		if (!*pieces[i].note && need + pieces[i].copies.bytes <= BUFFERS_BYTES)
			need += pieces[i].copies.bytes;
	there = get_buffer(need, current);
	for (size_t i = 0; i < count; i++) {
		struct piece *p = &pieces[i];

		if (*p->note)
			continue;
		if (!there || p->copies.bytes > buffer_bytes) {
			snprintf(p->note, sizeof(p->note),
				 "no device memory for copies of %llu bytes around a graph's "
				 "kernel",
				 (unsigned long long)p->copies.bytes);
		} else if (used + p->copies.bytes > buffer_bytes) {
			p->postponed = true;
		} else {
			p->offset = used;
			used += p->copies.bytes;
		}
	}
}

/* ---- the graph with copies ---- */

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
			r = graph_copies_add(&p->copies, &p->regions, work, kernel,
					     buffer + p->offset, buffer_context);
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

static int put_contents(struct bundle_writer *w, struct piece *p, CUstream stream,
			struct record_after *after)
{
	CUresult result;
	char text[120];
	int r = graph_copies_store(&p->copies, &p->regions, w, buffer + p->offset, stream,
				   &after->changes.items, &after->changes.count, &result);

	if (result != CUDA_SUCCESS)
		snprintf(p->note, sizeof(p->note), "no contents: reading the copies gave %s",
			 driver_error_text(&real, result, text, sizeof(text)));
	else if (p->partial)
		snprintf(p->note, sizeof(p->note),
			 "contents of a region are missing: see its note");
	return r;
}

/* LAUNCH and AFTER of one kernel. copies: they are there to be read. */
static int put_piece(struct bundle_writer *w, struct piece *p, CUstream stream, bool copies,
		     CUresult result, CUresult sync)
{
	struct record_after after = {
		.seq = p->kernel->facts.seq, .result = result, .sync_result = sync};
	int r = copies ? put_contents(w, p, stream, &after) : 0;

	if (r >= 0)
		r = record_launch_put(w, &p->kernel->facts, &p->regions,
				      *p->note ? LAUNCH_CONTENTS_MISSING : 0,
				      *p->note ? p->note : NULL);
	if (r >= 0)
		r = bundle_put_after(w, &after);
	free(after.changes.items);
	return r;
}

/* Writes and settles them all. copies: the recording launch has ended, its copies can be read. */
static void finish(struct bundle_writer *w, struct piece *pieces, size_t count, CUstream stream,
		   bool copies, CUresult result, CUresult sync)
{
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		struct piece *p = &pieces[i];
		bool write = w && r >= 0 && !p->postponed;

		if (write)
			r = put_piece(w, p, stream, copies && p->placed, result, sync);
		launches_settle(&p->kernel->facts, p->postponed      ? LAUNCH_POSTPONED
						   : !write || r < 0 ? LAUNCH_SKIPPED
						   : *p->note        ? LAUNCH_FAILED
								     : LAUNCH_RECORDED);
		graph_copies_free(&p->copies);
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
		    size_t count, CUstream stream, CUgraphExec *exec)
{
	bool idle = stream_wait(stream, recorder_settings()->wait_before_s, &(CUresult){0});
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
		r = plan_piece(w, &pieces[i], current, stream, idle);
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
	bool copies = prepare(w, g, pieces, count, own, &recording);

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
