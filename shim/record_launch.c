/* SPDX-License-Identifier: MIT */
/* Writes LAUNCH with the contents of its regions, and AFTER with what changed. */
#include "shim/record_launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/benchmarks.h"
#include "shim/extents.h"
#include "shim/facts.h"
#include "shim/globals.h"
#include "shim/hooks.h"
#include "shim/recorder.h"
#include "shim/regions.h"
#include "shim/tensor_maps.h"

/* The longest that a program is held up: a kernel may wait for what the host does after its launch.
 */
#define WAIT_BEFORE_S 20
#define WAIT_AFTER_S  60

struct recording {
	uint64_t seq;
	CUstream stream;
	struct regions regions;
	struct shape_class *shape_class;
	bool contents; /* to be compared afterwards */
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

/* ---- regions of the parameters ---- */

static int add_descriptors(struct regions *regions, struct bundle_writer *w,
			   const struct launch_facts *f, const struct record_param *p)
{
	int r = 0, written = 0;

	/* By value in a parameter or inside a struct; CUtensorMap is 64-byte aligned. */
	for (uint64_t at = p->offset + (-p->offset & 63u);
	     r >= 0 && at + sizeof(CUtensorMap) <= (uint64_t)p->offset + p->size; at += 64) {
		uint64_t address;

		if (!tensor_maps_find(w, f->params + at, &address, &written))
			continue;
		r = written < 0 ? written : regions_add(regions, address, at);
	}
	return r;
}

int record_launch_regions(struct regions *regions, struct bundle_writer *w,
			  const struct launch_facts *f)
{
	struct record_param whole = {.size = (uint32_t)f->params_size};
	const struct record_param *params = f->kernel->params;
	size_t count = f->kernel->param_count;
	int r = 0;

	if (!f->kernel->layout_known) { /* an `extra` buffer is taken as one piece */
		params = &whole;
		count = 1;
	}
	r = globals_add(regions, f);
	for (size_t i = 0; i < count && r >= 0; i++) {
		uint64_t end = (uint64_t)params[i].offset + params[i].size;

		if (end > f->params_size)
			continue;
		for (uint64_t at = (params[i].offset + 7u) & ~7ull; r >= 0 && at + 8 <= end;
		     at += 8) {
			uint64_t word;

			memcpy(&word, f->params + at, sizeof(word));
			r = regions_add(regions, word, at);
		}
		if (r >= 0)
			r = add_descriptors(regions, w, f, &params[i]);
	}
	if (r >= 0)
		regions_merge(regions);
	snprintf(regions->extents, sizeof(regions->extents), "launched in a CUDA graph");
	return r;
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

int record_launch_put(struct bundle_writer *w, const struct launch_facts *f,
		      const struct regions *regions, uint32_t flags, const char *note)
{
	const struct launch_call *call = f->call;
	struct record_launch record = {
		.seq = f->seq,
		.kernel = f->kernel->number,
		.shared_bytes = call->shared_bytes,
		.params = {f->params, f->params_size},
		.stream = (uintptr_t)call->stream,
		.flags = flags,
		.shape_class = f->class_key,
		.call = call->entry_point,
		.time_ns = recorder_time_ns(),
		.note = note,
		.sweep = f->sweep,
		.inputs = f->inputs,
		.measured = regions->measured,
		.extents = *regions->extents ? regions->extents : NULL,
	};
	struct attributes attributes = {0};
	CUcontext context = NULL;
	CUdevice device = 0;
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
	if (real.cuCtxGetCurrent(&context) == CUDA_SUCCESS)
		record.context = (uintptr_t)context;
	if (real.cuCtxGetDevice(&device) == CUDA_SUCCESS) {
		record.device = (uint32_t)device;
		facts_note_device(w, device);
	}
	r = kernels_write(w, f->kernel, call->function);
	if (r >= 0)
		r = bundle_put_launch(w, &record);
	free(attributes.items);
	return r;
}

/*
 * Regions and their contents, on the idle stream. Fills note (static or owned by the caller's
 * buffer) where contents are missing.
 */
static int snapshot(struct bundle_writer *w, const struct launch_facts *f, struct regions *regions,
		    CUstream stream, bool *complete, char *note, size_t note_size)
{
	CUresult result;
	int r = record_launch_regions(regions, w, f);
	char text[160];

	*complete = false;
	*regions->extents = 0;
	if (r < 0)
		return r;
	if (!f->params_known) {
		snprintf(note, note_size,
			 "the driver tells no parameter layout (cuFuncGetParamInfo needs CUDA "
			 "12.4)");
		return 0;
	}
	if (!stream_wait(stream, WAIT_BEFORE_S, &result)) {
		snprintf(note, note_size, "no contents: its stream was not idle: %s",
			 result == CUDA_ERROR_NOT_READY
				 ? "work before it ran longer than 20 seconds"
				 : driver_error_text(&real, result, text, sizeof(text)));
		return 0;
	}
	extents_measure(regions, f, stream);
	r = regions_store(regions, w, stream, recorder_settings()->max_region_bytes, complete);
	if (r >= 0 && !*complete)
		snprintf(note, note_size, "contents of a region are missing: see its note");
	return r;
}

static enum launch_outcome outcome_of(uint32_t flags)
{
	if (flags & LAUNCH_CONTENTS_MISSING)
		return LAUNCH_FAILED;
	return flags & LAUNCH_IN_CAPTURE ? LAUNCH_CAPTURED : LAUNCH_RECORDED;
}

static struct recording *begin(struct bundle_writer *w, const struct launch_facts *f)
{
	bool no_data = recorder_settings()->no_data, complete = false;
	CUstream stream = own_stream(f->call);
	struct recording *rec = calloc(1, sizeof(*rec));
	char note[240] = "";
	uint32_t flags = 0;
	int r = 0;

	if (!rec) {
		recorder_fail("recording a launch", -ENOMEM);
		return NULL;
	}
	if (no_data)
		flags |= LAUNCH_NO_DATA;
	if (capturing(stream))
		flags |= LAUNCH_IN_CAPTURE;
	if ((flags & LAUNCH_IN_CAPTURE) && launches_captured_already(f->shape_class)) {
		launches_settle(f, LAUNCH_REPEATED);
		free(rec);
		return NULL;
	}
	if (flags & LAUNCH_IN_CAPTURE)
		snprintf(note, sizeof(note), "launched in stream capture: no contents");
	if (!flags) {
		r = snapshot(w, f, &rec->regions, stream, &complete, note, sizeof(note));
		if (!complete)
			flags |= LAUNCH_CONTENTS_MISSING;
	}
	if (r >= 0)
		r = record_launch_put(w, f, &rec->regions, flags, *note ? note : NULL);
	recorder_put(r, "writing a launch");
	launches_settle(f, r < 0 ? LAUNCH_SKIPPED : outcome_of(flags));
	rec->seq = f->seq;
	rec->stream = stream;
	rec->contents = !flags || (flags & LAUNCH_CONTENTS_MISSING && rec->regions.count);
	return rec;
}

struct recording *record_launch_begin(const struct launch_facts *facts)
{
	struct bundle_writer *w = recorder_acquire();
	struct recording *rec;
	CUstreamCaptureMode mode;

	if (!w) {
		launches_settle(facts, LAUNCH_SKIPPED);
		return NULL;
	}
	mode = relax();
	rec = begin(w, facts);
	restore(mode);
	recorder_release();
	return rec;
}

/* ---- AFTER ---- */

static void end(struct bundle_writer *w, struct recording *rec, CUresult result)
{
	struct record_after record = {.seq = rec->seq, .result = result};
	struct record_change *changes = NULL;
	CUresult wait = CUDA_SUCCESS, copy = CUDA_SUCCESS;
	size_t count = 0;
	int r = 0;

	if (result == CUDA_SUCCESS && rec->contents) {
		if (stream_wait(rec->stream, WAIT_AFTER_S, &wait))
			r = regions_compare(&rec->regions, w, rec->stream, &changes, &count, &copy);
		record.sync_result = wait != CUDA_SUCCESS ? wait : copy;
	}
	record.changes.items = changes;
	record.changes.count = count;
	if (r >= 0)
		r = bundle_put_after(w, &record);
	recorder_put(r, "writing what a launch changed");
	free(changes);
}

void record_launch_end(struct recording *rec, CUresult result)
{
	struct bundle_writer *w = recorder_acquire();
	CUstreamCaptureMode mode;

	if (w) {
		mode = relax();
		end(w, rec, result);
		restore(mode);
		recorder_release();
	}
	regions_free(&rec->regions);
	free(rec);
}
