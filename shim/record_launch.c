/* SPDX-License-Identifier: MIT */
/* Writes LAUNCH with the contents of its regions, and AFTER with what changed. */
#include "shim/record_launch.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base.h"
#include "shim/benchmarks.h"
#include "shim/contents.h"
#include "shim/extents.h"
#include "shim/facts.h"
#include "shim/globals.h"
#include "shim/guard.h"
#include "shim/hooks.h"
#include "shim/launch_regions.h"
#include "shim/pending.h"
#include "shim/recorder.h"
#include "shim/regions.h"
#include "shim/ring.h"

#define TEST_BYTES_MAX 4096 /* of the name of a test; a longer one ends in "..." */

/* At exit: nothing was stored or written for so long, or it took so long in all. */
#define DRAIN_IDLE_S 5
#define DRAIN_S      60

/* Where a launch runs. */
struct launch_place {
	CUcontext context;
	uint32_t device;
	uint64_t time_ns;
	char *test; /* NULL: none */
};

/*
 * One launch until its records are written. Both point into it; it goes with the last of them, or
 * with record_launch_end if that writes none.
 */
struct recording {
	struct pending launch, after;
	atomic_int users;
	struct launch_facts facts; /* call and params are copies */
	struct launch_call call;
	struct launch_place place;
	CUstream stream;
	struct regions regions;
	struct ring *ring;
	struct contents before, later;
	bool contents; /* to be compared afterwards */
	bool of_graph; /* what is read are copies that the graph made */
	uint32_t flags;
	char note[240];
	CUresult result, sync_result; /* of AFTER */
};

/* The handle for the shim's own work: stream 0 of a per-thread entry is another stream. */
static CUstream own_stream(const struct launch_call *call)
{
	return !call->stream && call->per_thread_stream ? CU_STREAM_PER_THREAD : call->stream;
}

static bool capturing(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	/* An error counts: the legacy stream while another one is being captured. */
	return real.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Lets this thread copy and wait although another one may be capturing in global mode. */
static CUstreamCaptureMode relax(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	real.cuThreadExchangeStreamCaptureMode(&mode);
	return mode;
}

static void restore(CUstreamCaptureMode mode)
{
	real.cuThreadExchangeStreamCaptureMode(&mode);
}

/* ---- LAUNCH ---- */

struct attributes {
	struct record_attribute *items;
	bool cooperative;
};

static int list_attributes(const struct launch_call *call, struct attributes *a)
{
	a->items = calloc(call->attribute_count + 1u, sizeof(*a->items));
	if (!a->items)
		return -ENOMEM;
	for (unsigned i = 0; i < call->attribute_count; i++) {
		const CUlaunchAttribute *from = &call->attributes[i];
		const char *value = (const char *)&from->value;
		size_t n = sizeof(from->value);

		while (n && !value[n - 1])
			n--;
		a->items[i].id = (uint32_t)from->id;
		a->items[i].value = (struct bytes){value, n};
		a->cooperative |=
			from->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && from->value.cooperative;
	}
	return 0;
}

/*
 * pytest says in its environment which test runs: "tests/test_k.py::test_a[1] (call)". Only the
 * main thread looks, which is the one that pytest changes it in.
 */
static int note_test(char **out)
{
	const char *text = syscall(SYS_gettid) == getpid() ? getenv("PYTEST_CURRENT_TEST") : NULL;
	const char *end = text ? strrchr(text, ' ') : NULL;
	size_t size = end ? (size_t)(end - text) : text ? strlen(text) : 0;

	*out = NULL;
	if (!size)
		return 0;
	*out = size > TEST_BYTES_MAX ? text_format("%.*s...", TEST_BYTES_MAX, text)
				     : strndup(text, size);
	return *out ? 0 : -ENOMEM;
}

/* What the driver has to be asked for, while the launch's context is current; KERNEL if it is new.
 */
static int look_around(struct bundle_writer *w, const struct launch_facts *f,
		       struct launch_place *place)
{
	CUdevice device = 0;
	int r;

	*place = (struct launch_place){.time_ns = recorder_time_ns()};
	r = note_test(&place->test);
	if (real.cuCtxGetCurrent(&place->context) != CUDA_SUCCESS)
		place->context = NULL;
	if (real.cuCtxGetDevice(&device) == CUDA_SUCCESS) {
		place->device = (uint32_t)device;
		facts_note_device(w, device);
	}
	return r < 0 ? r : kernels_write(w, f->kernel, f->call->function);
}

static int put_launch(struct bundle_writer *w, const struct launch_facts *f,
		      const struct launch_place *place, const struct regions *regions,
		      uint32_t flags, const char *note)
{
	const struct launch_call *call = f->call;
	const char *first = note ? note : regions->missing;
	_cleanup_free_ char *unfound = globals_note(regions);
	_cleanup_free_ char *both = first && unfound ? text_format("%s; %s", first, unfound) : NULL;
	struct record_launch record = {
		.seq = f->seq,
		.kernel = f->kernel->number,
		.shared_bytes = call->shared_bytes,
		.params = {f->params, f->params_size},
		.stream = (uintptr_t)call->stream,
		.flags = flags,
		.shape_class = class_id_key(&f->class_id),
		.call = call->entry_point,
		.time_ns = place->time_ns,
		.context = (uintptr_t)place->context,
		.device = place->device,
		.note = both    ? both
			: first ? first
				: unfound,
		.sweep = f->sweep,
		.inputs = f->inputs,
		.measured = regions->measured,
		.extents = *regions->extents ? regions->extents : NULL,
		.test = place->test,
	};
	struct attributes attributes = {0};
	int r = list_attributes(call, &attributes);

	if (r < 0)
		return r;
	memcpy(record.grid, call->grid, sizeof(record.grid));
	memcpy(record.block, call->block, sizeof(record.block));
	record.attributes.items = attributes.items;
	record.attributes.count = call->attribute_count;
	record.regions.items = regions->items;
	record.regions.count = regions->count;
	if (attributes.cooperative)
		record.flags |= LAUNCH_COOPERATIVE;
	if (!f->params_known)
		record.flags |= LAUNCH_PARAMS_UNKNOWN;
	if (f->sweep)
		record.flags |= LAUNCH_SWEEP;
	if (benchmarks_kernel(f->kernel))
		record.flags |= LAUNCH_BENCHMARK;
	r = bundle_put_launch(w, &record);
	free(attributes.items);
	return r;
}

static enum launch_outcome outcome_of(uint32_t flags)
{
	if (flags & LAUNCH_CONTENTS_MISSING)
		return LAUNCH_FAILED;
	return flags & LAUNCH_IN_CAPTURE ? LAUNCH_CAPTURED : LAUNCH_RECORDED;
}

/* ---- the recording ---- */

static struct recording *recording_new(const struct launch_facts *f)
{
	struct recording *rec = calloc(1, sizeof(*rec));
	unsigned count = f->call->attribute_count;
	CUlaunchAttribute *attributes = calloc(count + 1u, sizeof(*attributes));
	unsigned char *params = malloc(f->params_size + 1);

	if (!rec || !attributes || !params) {
		free(rec);
		free(attributes);
		free(params);
		return NULL;
	}
	if (count)
		memcpy(attributes, f->call->attributes, count * sizeof(*attributes));
	if (f->params_size)
		memcpy(params, f->params, f->params_size);
	rec->call = *f->call;
	rec->call.attributes = attributes;
	rec->call.params = rec->call.extra = NULL; /* the program's, for the time of the call */
	rec->facts = *f;
	rec->facts.call = &rec->call;
	rec->facts.params = params;
	rec->stream = own_stream(f->call);
	atomic_store(&rec->users, 1); /* the launching thread */
	return rec;
}

static void recording_leave(struct recording *rec)
{
	if (atomic_fetch_sub(&rec->users, 1) > 1)
		return;
	contents_free(&rec->before);
	contents_free(&rec->later);
	regions_free(&rec->regions);
	free((void *)rec->call.attributes);
	free((void *)rec->facts.params);
	free(rec->place.test);
	free(rec);
}

/*
 * Records of one stream of one context stay in order. But one in stream capture waits for nothing:
 * that its class still needs a launch with contents must be known before its graph is launched.
 */
static void recording_join(struct recording *rec, struct pending *p)
{
	atomic_fetch_add(&rec->users, 1);
	p->order = (uintptr_t)rec->stream ^ (uint64_t)(uintptr_t)rec->place.context << 1;
	if (rec->flags & LAUNCH_IN_CAPTURE)
		p->order = (uintptr_t)rec;
	pending_add(p);
}

/* ---- LAUNCH: contents before ---- */

/* Copies that did not arrive. Calls no driver: this may be a worker, or the end of the process. */
static char *lost_note(const struct recording *rec, int result)
{
	if (result == CUDA_ERROR_NOT_READY)
		return text_format("no contents: the copy did not end within %g seconds (%s)",
				   rec->before.copy_s,
				   rec->of_graph ? "KERNELAB_WAIT_AFTER" : "KERNELAB_WAIT_BEFORE");
	if (result == CUDA_ERROR_DEINITIALIZED)
		return strdup("no contents: the program ended before the copy did");
	return text_format("no contents: its context was lost (error %d) before the copy ended",
			   result);
}

/* Moves the keys into the regions. True if all are there. */
static bool take_keys(struct recording *rec)
{
	bool complete = true;

	for (size_t i = 0; i < rec->before.count; i++) {
		struct contents_region *g = &rec->before.items[i];
		struct record_region *region = &rec->regions.items[i];
		int lost = atomic_load(&g->lost);
		char *why = g->note ? steal_pointer(g->note) : lost ? lost_note(rec, lost) : NULL;

		if (why) {
			free((char *)region->note);
			region->note = why;
			complete = false;
			continue;
		}
		region->chunks.count = g->count;
		region->chunks.items = steal_pointer(g->keys);
	}
	return complete;
}

static void write_launch(struct pending *p)
{
	struct recording *rec =
		(struct recording *)((char *)p - offsetof(struct recording, launch));
	int r = atomic_load(&rec->before.error);

	if (!take_keys(rec)) {
		rec->flags |= LAUNCH_CONTENTS_MISSING;
		if (!*rec->note)
			snprintf(rec->note, sizeof(rec->note),
				 "contents of a region are missing: see its note");
	}
	if (r >= 0)
		r = put_launch(rec->before.w, &rec->facts, &rec->place, &rec->regions, rec->flags,
			       *rec->note ? rec->note : NULL);
	recorder_put(r, "writing a launch");
	launches_settle(&rec->facts, r < 0 ? LAUNCH_SKIPPED : outcome_of(rec->flags));
}

static void free_launch(struct pending *p)
{
	recording_leave((struct recording *)((char *)p - offsetof(struct recording, launch)));
	recorder_release();
}

/* Once a bundle: its copies hold up the program. */
static void note_pageable(struct bundle_writer *w, const struct ring *ring)
{
	static _Atomic(struct bundle_writer *) noted;
	char why[200];

	if (ring_pinned(ring) || atomic_exchange(&noted, w) == w)
		return;
	ring_pageable_reason(ring, why, sizeof(why));
	recorder_put(facts_put(w, "capture.copies", "pageable", why), "writing a fact");
}

/* All that the launch touches. */
static struct contents_choice touched(const struct regions *regions, size_t i)
{
	const struct record_region *g = &regions->items[i];

	return regions->measured ? (struct contents_choice){&g->reads, &g->writes}
				 : (struct contents_choice){NULL, NULL};
}

static void fetch_before(struct recording *rec)
{
	struct contents *c = &rec->before;
	uint64_t limit = recorder_settings()->max_region_bytes;

	/* First all look-ups: workers must not see c change. */
	for (size_t i = 0; i < rec->regions.count; i++) {
		struct contents_choice which = touched(&rec->regions, i);

		if (contents_bytes(&rec->regions.items[i], &which) <= limit)
			contents_look_up(c, (uint32_t)i, &which);
		else
			c->items[i].note = text_format(
				"no contents: larger than KERNELAB_MAX_REGION, %llu bytes",
				(unsigned long long)limit);
	}
	for (size_t i = 0; i < rec->regions.count; i++) {
		struct contents_choice which = touched(&rec->regions, i);

		if (!c->items[i].note)
			contents_fetch(c, (uint32_t)i, &which);
	}
	contents_flush(c);
	note_pageable(c->w, rec->ring);
}

__attribute__((format(printf, 2, 3))) static int without(struct recording *rec, const char *format,
							 ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(rec->note, sizeof(rec->note), format, ap);
	va_end(ap);
	rec->flags |= LAUNCH_CONTENTS_MISSING;
	return 0;
}

/*
 * Finds the regions, measures them on the idle stream, and issues the copies. What is missing
 * stands in note and flags. 0 or -errno.
 */
static int snapshot(struct bundle_writer *w, struct recording *rec)
{
	double wait = recorder_settings()->wait_before_s;
	CUresult result;
	const char *why = "";
	char text[160];
	int r = launch_regions_find(&rec->regions, w, &rec->facts);

	*rec->regions.extents = 0;
	if (r < 0)
		return r;
	if (!rec->facts.params_known)
		return without(rec, "the driver tells no parameter layout (cuFuncGetParamInfo "
				    "needs CUDA 12.4)");
	if (!stream_wait(rec->stream, wait, &result)) {
		ring_lose(rec->place.context, result);
		if (result == CUDA_ERROR_NOT_READY)
			return without(rec,
				       "no contents: its stream was not idle: work before it ran "
				       "longer than %g seconds (KERNELAB_WAIT_BEFORE)",
				       wait);
		return without(rec, "no contents: its stream was not idle: %s",
			       driver_error_text(&real, result, text, sizeof(text)));
	}
	extents_measure(&rec->regions, &rec->facts, rec->stream);
	rec->ring = ring_here(&why);
	if (!rec->ring)
		return without(rec, "no contents: %s", why);
	rec->before = (struct contents){.w = w,
					.regions = &rec->regions,
					.pending = &rec->launch,
					.ring = rec->ring,
					.stream = rec->stream,
					.room_s = wait,
					.copy_s = wait};
	if (contents_init(&rec->before) < 0) {
		contents_free(&rec->before);
		return without(rec, "no contents: no host memory for the list of its chunks");
	}
	fetch_before(rec);
	rec->contents = true;
	return 0;
}

/* At exit, while the driver is still there. */
static void drain(void)
{
	CUstreamCaptureMode mode = relax();

	shim_depth++;
	pending_drain(DRAIN_IDLE_S, DRAIN_S, ring_look);
	shim_depth--;
	restore(mode);
}

static void drain_at_exit(void)
{
	atexit(drain);
}

/* After the driver's own, since it runs already: then before it when the process ends. */
static void drain_later(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, drain_at_exit);
}

static int begin(struct bundle_writer *w, struct recording *rec)
{
	int r;

	drain_later();
	rec->before.w = w;
	r = look_around(w, &rec->facts, &rec->place);
	rec->launch.write = write_launch;
	rec->launch.free = free_launch;
	recording_join(rec, &rec->launch);
	if (rec->flags & LAUNCH_IN_CAPTURE)
		snprintf(rec->note, sizeof(rec->note), "launched in stream capture: no contents");
	if (!(rec->flags & LAUNCH_IN_CAPTURE))
		kernels_load(rec->facts.call->function);
	if (r >= 0 && !rec->flags)
		r = snapshot(w, rec);
	if (r < 0)
		atomic_store(&rec->before.error, r);
	pending_release(&rec->launch);
	return r;
}

struct recording *record_launch_begin(const struct launch_facts *facts)
{
	struct bundle_writer *w = recorder_acquire();
	struct recording *rec = w ? recording_new(facts) : NULL;
	enum launch_outcome outcome = LAUNCH_SKIPPED;
	CUstreamCaptureMode mode;

	if (rec) {
		mode = relax();
		if (recorder_settings()->no_data)
			rec->flags |= LAUNCH_NO_DATA;
		if (capturing(rec->stream))
			rec->flags |= LAUNCH_IN_CAPTURE;
		if (!(rec->flags & LAUNCH_IN_CAPTURE) ||
		    !launches_captured_already(facts->shape_class)) {
			begin(w, rec); /* settles it, and releases w, when LAUNCH is written */
			restore(mode);
			return rec;
		}
		restore(mode);
		recording_leave(rec);
		outcome = LAUNCH_REPEATED;
	} else if (w) {
		recorder_fail("recording a launch", -ENOMEM);
	}
	launches_settle(facts, outcome);
	if (w)
		recorder_release();
	return NULL;
}

/* ---- AFTER: what changed ---- */

/* What arrived and differs from before; LAUNCH, and with it the keys of before, is written. */
static int list_changes(const struct recording *rec, struct record_after *record,
			struct record_change **changes)
{
	size_t capacity = 0, count = 0;
	int r = 0;

	for (size_t i = 0; i < rec->later.count; i++) {
		const struct contents_region *g = &rec->later.items[i];
		const struct hashes *before = &rec->regions.items[i].chunks;

		for (uint64_t j = 0; r >= 0 && before->count && j < g->count; j++) {
			if (hash_is_zero(g->keys[j]) || hash_equal(g->keys[j], before->items[j]))
				continue;
			r = array_reserve(changes, count, &capacity, sizeof(**changes));
			if (r >= 0)
				(*changes)[count++] = (struct record_change){
					.region = (uint32_t)i, .chunk = j, .key = g->keys[j]};
		}
		if (before->count && atomic_load(&g->lost))
			record->sync_result = (uint32_t)atomic_load(&g->lost);
	}
	record->changes.items = *changes;
	record->changes.count = count;
	return r;
}

static void write_after(struct pending *p)
{
	struct recording *rec = (struct recording *)((char *)p - offsetof(struct recording, after));
	struct record_after record = {
		.seq = rec->facts.seq, .result = rec->result, .sync_result = rec->sync_result};
	_cleanup_free_ struct record_change *changes = NULL;
	int r = atomic_load(&rec->later.error);

	if (r >= 0)
		r = list_changes(rec, &record, &changes);
	if (r >= 0)
		r = bundle_put_after(rec->later.w, &record);
	recorder_put(r, "writing what a launch changed");
}

static void free_after(struct pending *p)
{
	recording_leave((struct recording *)((char *)p - offsetof(struct recording, after)));
	recorder_release();
}

static struct contents_choice written(const struct regions *regions, size_t i)
{
	return regions->measured ? (struct contents_choice){NULL, &regions->items[i].writes}
				 : (struct contents_choice){NULL, NULL};
}

/* Whether the copies can be left to themselves: they fit the ring, and nothing is read by us. */
static bool fits(const struct recording *rec)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < rec->regions.count; i++) {
		const struct record_region *region = &rec->regions.items[i];
		struct contents_choice which = written(&rec->regions, i);
		uint64_t n = rec->before.items[i].fetched ? contents_bytes(region, &which) : 0;

		if (n && region->memory == MEMORY_HOST)
			return false;
		bytes += n;
	}
	return ring_pinned(rec->ring) && bytes <= ring_bytes() / 2;
}

static void issue_later(struct recording *rec, bool ended)
{
	struct contents *c = &rec->later;

	for (size_t i = 0; ended && i < rec->regions.count; i++) {
		struct contents_choice which = written(&rec->regions, i);

		if (rec->before.items[i].fetched)
			contents_look_up(c, (uint32_t)i, &which);
	}
	for (size_t i = 0; i < rec->regions.count; i++) {
		struct contents_choice which = written(&rec->regions, i);

		if (rec->before.items[i].fetched && !contents_fetch(c, (uint32_t)i, &which) &&
		    rec->sync_result == CUDA_SUCCESS)
			rec->sync_result =
				c->result != CUDA_SUCCESS ? c->result : CUDA_ERROR_NOT_READY;
	}
	contents_flush(c);
}

/* A launch whose results do not fit the ring is waited for, and then hashed before it is copied. */
static void fetch_later(struct recording *rec)
{
	struct contents *c = &rec->later;
	double wait = recorder_settings()->wait_after_s;
	CUresult result = CUDA_SUCCESS;
	bool wait_for_it = !fits(rec);

	if (wait_for_it && !stream_wait(rec->stream, wait, &result)) {
		ring_lose(rec->place.context, result);
		rec->sync_result = result;
		return;
	}
	c->regions = &rec->regions;
	c->pending = &rec->after;
	c->ring = rec->ring;
	c->stream = rec->stream;
	c->room_s = c->copy_s = wait;
	c->known = rec->before.known;
	if (contents_init(c) < 0) {
		contents_free(c);
		rec->sync_result = CUDA_ERROR_OUT_OF_MEMORY;
		return;
	}
	issue_later(rec, wait_for_it);
}

void record_launch_end(struct recording *rec, CUresult result)
{
	struct bundle_writer *w = recorder_acquire();
	CUstreamCaptureMode mode;

	if (w) {
		rec->result = result;
		rec->later.w = w;
		rec->after.write = write_after;
		rec->after.free = free_after;
		recording_join(rec, &rec->after);
		mode = relax();
		if (result == CUDA_SUCCESS && rec->contents)
			fetch_later(rec);
		else
			ring_lose(rec->place.context, result);
		restore(mode);
		pending_release(&rec->after);
	}
	recording_leave(rec);
}

/* ---- a kernel of a graph ---- */

/* Both sides out of copies that the graph made. */
static int fetch_copied(struct recording *rec, const struct copies_source sources[2], double wait)
{
	const char *why = "";

	rec->ring = ring_here(&why);
	if (!rec->ring)
		return without(rec, "no contents: %s", why);
	rec->before = (struct contents){.w = rec->before.w,
					.regions = &rec->regions,
					.pending = &rec->launch,
					.ring = rec->ring,
					.stream = rec->stream,
					.room_s = wait,
					.copy_s = wait,
					.source = &sources[0]};
	rec->later = rec->before;
	rec->later.pending = &rec->after;
	rec->later.source = &sources[1];
	if (contents_init(&rec->before) < 0 || contents_init(&rec->later) < 0) {
		contents_free(&rec->before);
		contents_free(&rec->later);
		return without(rec, "no contents: no host memory for the list of its chunks");
	}
	for (size_t i = 0; i < rec->regions.count; i++) {
		struct record_region *g = &rec->regions.items[i];
		struct contents_choice which = touched(&rec->regions, i);

		if (g->note) /* it was not copied */
			rec->before.items[i].note = (char *)steal_pointer(g->note);
		else
			contents_fetch(&rec->before, (uint32_t)i, &which);
	}
	contents_flush(&rec->before);
	issue_later(rec, false);
	note_pageable(rec->before.w, rec->ring);
	return 0;
}

void record_launch_copied(const struct launch_facts *f, struct regions *regions,
			  const struct copies_source sources[2], CUstream stream, CUresult result,
			  CUresult sync_result, const char *note)
{
	struct bundle_writer *w = recorder_acquire(), *again = w ? recorder_acquire() : NULL;
	struct recording *rec = again ? recording_new(f) : NULL;
	int r;

	if (!rec) {
		if (again)
			recorder_fail("recording a launch", -ENOMEM);
		launches_settle(f, LAUNCH_SKIPPED);
		for (int i = (w != NULL) + (again != NULL); i > 0; i--)
			recorder_release();
		return;
	}
	drain_later();
	rec->stream = stream;
	rec->of_graph = true;
	rec->regions = *regions; /* what sources find goes by the caller's until all is issued */
	rec->result = result;
	rec->sync_result = sync_result;
	rec->before.w = rec->later.w = w;
	r = look_around(w, &rec->facts, &rec->place);
	rec->launch.write = write_launch;
	rec->launch.free = free_launch;
	rec->after.write = write_after;
	rec->after.free = free_after;
	recording_join(rec, &rec->launch);
	recording_join(rec, &rec->after);
	if (note)
		without(rec, "%s", note);
	else if (r >= 0)
		r = fetch_copied(rec, sources, recorder_settings()->wait_after_s);
	if (r < 0)
		atomic_store(&rec->before.error, r);
	*regions = (struct regions){0};
	/* LAUNCH goes first in any case: both are of one stream. */
	pending_release(&rec->launch);
	pending_release(&rec->after);
	recording_leave(rec);
}
