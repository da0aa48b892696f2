/* SPDX-License-Identifier: MIT */
/* Launches a graph with copy nodes around chosen kernels, and writes what they copied. */
#include "shim/graph_record.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/clock.h"
#include "shim/extents.h"
#include "shim/graph_copies.h"
#include "shim/hooks.h"
#include "shim/launch_regions.h"
#include "shim/recorder.h"
#include "shim/regions.h"
#include "shim/ring.h"

/* Device memory for copies, of the whole process; it is kept, since freeing may wait for all. */
#define BUFFERS_BYTES ((uint64_t)1 << 30)
#define BUFFER_MIN    ((uint64_t)32 << 20)

static pthread_mutex_t recording_lock = PTHREAD_MUTEX_INITIALIZER;
/* Under recording_lock. */
static CUdeviceptr buffer;
static uint64_t buffer_bytes, buffers_bytes;
static CUcontext buffer_context;
static CUevent buffer_event; /* behind the last copy out of it; NULL: none could be had */
static bool buffer_reading;  /* until that event has come */
static bool stuck;           /* a recording launch did not end: its buffer is in use for good */

/* One kernel of a recording launch. */
struct piece {
	struct graph_kernel *kernel;
	struct regions regions;
	struct graph_copies copies;
	struct extents_probe *probe; /* its extents depend on memory: measured inside the graph */
	uint64_t probe_bytes;        /* of the buffer, behind the copies */
	bool guessed;                /* the copies are those of what earlier launches touched */
	uint64_t offset;             /* in the buffer */
	bool placed;                 /* its copies are in the graph */
	bool postponed;              /* to be recorded by a later launch */
	char note[200];              /* why there are no contents */
};

/* ---- planning ---- */

static uint64_t buffer_need(const struct piece *p)
{
	return p->copies.bytes + p->probe_bytes;
}

/* A probe for a kernel whose extents only its place in the graph tells; one an image. */
static void plan_probe(struct piece *pieces, size_t index, CUstream stream, bool *probing)
{
	struct piece *p = &pieces[index];
	const struct launch_facts *f = &p->kernel->facts;
	const struct graph_history *h = p->kernel->history;

	if (h && h->rounds >= GRAPH_ROUNDS_MAX)
		return; /* whole allocations; the reason is there */
	for (size_t i = 0; i < index; i++)
		if (pieces[i].probe && pieces[i].kernel->facts.kernel->image == f->kernel->image) {
			p->postponed = true;
			return;
		}
	if (!*probing)
		*probing = extents_probes_begin();
	if (*probing)
		p->probe = extents_probe_new(&p->regions, f, stream, &p->probe_bytes);
	if (p->probe && h)
		p->regions.measured = p->guessed = graph_history_extents(h, &p->regions);
}

static int plan_copies(struct piece *p)
{
	int r = graph_copies_plan(&p->copies, &p->regions, recorder_settings()->max_region_bytes);

	if (p->guessed) {
		regions_forget_extents(&p->regions);
		p->regions.measured = false;
	}
	if (r < 0 || buffer_need(p) <= BUFFERS_BYTES)
		return r;
	if (p->probe && !p->guessed) { /* what it touches is known then, and copied next time */
		graph_copies_free(&p->copies);
		p->guessed = true;
		return 0;
	}
	snprintf(p->note, sizeof(p->note),
		 "copies of the memory around it take %llu bytes: those of a graph's memory "
		 "are limited to 1 GiB",
		 (unsigned long long)buffer_need(p));
	return 0;
}

/* Its regions, and their extents if these are the same now and inside the graph. */
static int plan_regions(struct bundle_writer *w, struct piece *p, CUcontext current,
			CUstream stream, bool idle, bool *depends)
{
	const struct launch_facts *f = &p->kernel->facts;
	int r;

	*depends = false;
	if (!f->params_known) {
		snprintf(p->note, sizeof(p->note), "the layout of its parameters is not known");
		return 0;
	}
	if (p->kernel->context && p->kernel->context != current) {
		snprintf(p->note, sizeof(p->note),
			 "a graph kernel of another context than the current one");
		return 0;
	}
	r = launch_regions_find(&p->regions, w, f);
	if (r >= 0 && p->kernel->history)
		r = graph_history_regions(p->kernel->history, &p->regions);
	if (r >= 0 && idle)
		*depends = extents_measure_ahead(&p->regions, f, stream);
	else if (r >= 0)
		snprintf(p->regions.extents, sizeof(p->regions.extents),
			 "its stream was not idle before its graph was launched");
	return r;
}

/* idle: the stream is, so that the extents can be measured on it. *probing: see
 * extents_probes_begin.
 */
static int plan(struct bundle_writer *w, struct piece *pieces, size_t count, CUstream stream,
		bool idle, bool *probing)
{
	_cleanup_free_ bool *depends = calloc(count, sizeof(*depends));
	CUcontext current = NULL;
	int r = depends ? 0 : -ENOMEM;

	real.cuCtxGetCurrent(&current);
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = plan_regions(w, &pieces[i], current, stream, idle, &depends[i]);
	for (size_t i = 0; r >= 0 && i < count; i++)
		if (depends[i])
			plan_probe(pieces, i, stream, probing);
	for (size_t i = 0; r >= 0 && i < count; i++)
		if (!*pieces[i].note && !pieces[i].postponed)
			r = plan_copies(&pieces[i]);
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
	if (real.cuEventCreate(&buffer_event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		buffer_event = NULL;
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
		if (!*pieces[i].note && !pieces[i].postponed &&
		    need + buffer_need(&pieces[i]) <= BUFFERS_BYTES)
			need += buffer_need(&pieces[i]);
	there = get_buffer(need, current);
	for (size_t i = 0; i < count; i++) {
		struct piece *p = &pieces[i];

		if (*p->note || p->postponed)
			continue;
		if (!there || buffer_need(p) > buffer_bytes) {
			snprintf(p->note, sizeof(p->note),
				 "no device memory for copies of %llu bytes around a graph's "
				 "kernel",
				 (unsigned long long)buffer_need(p));
		} else if (used + buffer_need(p) > buffer_bytes) {
			p->postponed = true;
		} else {
			p->offset = used;
			used += buffer_need(p);
		}
	}
}

/* ---- the graph with copies ---- */

/* Puts a probe before its kernel; without it whole allocations stay what is recorded. */
static CUresult add_probe(struct piece *p, CUgraph work, CUgraphNode kernel)
{
	CUDA_KERNEL_NODE_PARAMS params;
	CUdeviceptr to, from;
	size_t bytes;
	CUgraphNode node;
	CUresult r = extents_probe_start(p->probe, buffer + p->offset + p->copies.bytes, &params);

	for (size_t i = 0;
	     r == CUDA_SUCCESS && extents_probe_variable(p->probe, i, &to, &from, &bytes); i++) {
		r = graph_add_copy(work, &node, to, from, bytes, buffer_context);
		if (r == CUDA_SUCCESS)
			r = graph_put_before(work, node, kernel);
	}
	if (r == CUDA_SUCCESS)
		r = real.cuGraphAddKernelNode_v2(&node, work, NULL, 0, &params);
	return r == CUDA_SUCCESS ? graph_put_before(work, node, kernel) : r;
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
			r = graph_copies_add(&p->copies, &p->regions, work, kernel,
					     buffer + p->offset, buffer_context);
		if (r == CUDA_SUCCESS && p->probe)
			r = add_probe(p, work, kernel);
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

static CUdeviceptr find_before(const void *data, uint64_t address, uint64_t bytes)
{
	const struct piece *p = data;

	return graph_copies_find(&p->copies, &p->regions, buffer + p->offset, false, address,
				 bytes);
}

static CUdeviceptr find_after(const void *data, uint64_t address, uint64_t bytes)
{
	const struct piece *p = data;

	return graph_copies_find(&p->copies, &p->regions, buffer + p->offset, true, address, bytes);
}

/* LAUNCH and AFTER of one kernel. copies: they are there, or will be when the stream gets there. */
static void put_piece(struct piece *p, CUstream stream, bool copies, CUresult result, CUresult sync)
{
	const struct copies_source sources[] = {{find_before, p}, {find_after, p}};

	if (!copies && !*p->note)
		snprintf(p->note, sizeof(p->note), "no contents: nothing was copied");
	record_launch_copied(&p->kernel->facts, &p->regions, sources, stream, result, sync,
			     *p->note ? p->note : NULL);
}

/*
 * Extents by the probe. Where the copies do not hold all of them, or more memory was reached, the
 * kernel's turn is another launch, which then knows; but not for ever.
 */
static int end_probe(struct piece *p, CUstream stream, bool ran)
{
	const struct copies_source copies = {find_before, p};
	uint64_t outside = extents_probe_end(p->probe, ran);
	bool whole =
		!p->guessed || (p->regions.measured && graph_copies_cover(&p->copies, &p->regions));
	int r = 0;

	p->probe = NULL;
	if (ran && whole && p->regions.measured)
		graph_copies_drop_untouched(&p->copies, &p->regions);
	if (!ran || *p->note || (whole && !outside))
		return 0;
	if (!p->kernel->history || p->kernel->history->rounds < GRAPH_ROUNDS_MAX - 1) {
		p->postponed = true;
		return graph_history_learn(&p->kernel->history, &p->regions, outside, &copies,
					   stream);
	}
	if (!whole) {
		snprintf(p->note, sizeof(p->note),
			 "no contents: what it touches differs from launch to launch of its graph");
		r = graph_history_learn(&p->kernel->history, &p->regions, 0, &copies, stream);
	}
	return r;
}

/* Hands on or settles them all. copies: the recording launch is in the stream. */
static void finish(struct bundle_writer *w, struct piece *pieces, size_t count, CUstream stream,
		   bool copies, CUresult result, CUresult sync)
{
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		struct piece *p = &pieces[i];

		if (p->probe && r >= 0)
			r = end_probe(p, stream, copies && p->placed);
		if (w && r >= 0 && !p->postponed)
			put_piece(p, stream, copies && p->placed, result, sync);
		else
			launches_settle(&p->kernel->facts,
					p->postponed ? LAUNCH_POSTPONED : LAUNCH_SKIPPED);
		graph_copies_free(&p->copies);
		regions_free(&p->regions);
	}
	recorder_put(r, "measuring the launches of a graph");
}

/* ---- the buffer between two launches ---- */

/*
 * Behind the copies out of the buffer: the next recording launch may be of another stream. Without
 * an event the stream is waited for.
 */
static void leave_buffer(CUstream stream)
{
	CUresult result;

	buffer_reading = true;
	if (buffer_event && real.cuEventRecord(buffer_event, stream) == CUDA_SUCCESS)
		return;
	buffer_reading = false;
	stuck = !stream_wait(stream, recorder_settings()->wait_after_s, &result) &&
		result == CUDA_ERROR_NOT_READY;
}

/* Whether all copies out of it have been made; waits for them at most `seconds`. */
static bool buffer_left(double seconds)
{
	double end = clock_seconds() + seconds;
	CUresult result = CUDA_SUCCESS;

	while (buffer_reading &&
	       (result = real.cuEventQuery(buffer_event)) == CUDA_ERROR_NOT_READY &&
	       clock_seconds() < end)
		clock_sleep(100e-6);
	if (result == CUDA_ERROR_NOT_READY)
		return false;
	buffer_reading = false;
	if (result != CUDA_SUCCESS) { /* its context is gone, and the buffer with it */
		buffer = 0;
		buffer_event = NULL;
		buffers_bytes -= buffer_bytes;
		buffer_bytes = 0;
	}
	return true;
}

/* Whether copies out of the buffer are made while the program goes on: there is pinned memory. */
static bool asynchronous(void)
{
	const char *why;
	struct ring *ring = ring_here(&why);
	struct slot *slot = ring ? ring_take(ring, 0) : NULL;

	if (slot)
		ring_put_back(slot);
	return ring && ring_has_memory(ring) && ring_pinned(ring);
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
		    size_t count, CUstream stream, CUgraphExec *exec, bool *probing)
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
	if (!buffer_left(recorder_settings()->wait_before_s)) {
		for (size_t i = 0; i < count; i++)
			pieces[i].postponed = true;
		return false;
	}
	real.cuCtxGetCurrent(&current);
	r = plan(w, pieces, count, stream, idle, probing);
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
	bool probing = false;
	CUresult result = CUDA_SUCCESS, sync = CUDA_SUCCESS;
	bool copies = prepare(w, g, pieces, count, own, &recording, &probing);
	bool wait = probing || !asynchronous();

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
	} else if (wait && !stream_wait(own, recorder_settings()->wait_after_s, &sync)) {
		note_all(pieces, count,
			 "no contents: the launch of its graph did not end in time "
			 "(KERNELAB_WAIT_AFTER)");
		stuck = sync == CUDA_ERROR_NOT_READY;
		copies = false;
	}
	finish(w, pieces, count, own, copies, result, sync);
	if (copies)
		leave_buffer(own);
	if (probing)
		extents_probes_end();
	/* One that still runs is freed by the driver when it ends. */
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
	buffer_event = NULL;
	buffer_reading = stuck = false;
}
