/* SPDX-License-Identifier: MIT */
/* Decides in a few look-ups whether a launch is recorded; counts the others. */
#include "shim/launches.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/kernels.h"
#include "shim/params.h"
#include "shim/record_launch.h"
#include "shim/recorder.h"

/* So much a kill -9 may lose of the counts. */
#define FLUSH_NS       2000000000u
#define FLUSH_LAUNCHES 256u
/* A class whose contents could not be had is tried again with its next launches. */
#define FAILURES_MAX 3u

static atomic_ullong launches_seen, launches_recorded;
static uint64_t last_flush_ns; /* table_lock */

void launches_totals(uint64_t *seen, uint64_t *recorded)
{
	*seen = atomic_load(&launches_seen);
	*recorded = atomic_load(&launches_recorded);
}

/* ---- counts into the bundle ---- */

static const char *class_reason(const struct shape_class *c)
{
	if (c->seen == c->written)
		return NULL;
	if (c->failed >= FAILURES_MAX)
		return "the contents could not be had three times: see the notes of its launches";
	if (c->captured && !c->claimed)
		return "launched in stream capture only: geometry and parameters are recorded once";
	return "KERNELAB_PER_CLASS launches of the class are recorded";
}

static int put_class(struct bundle_writer *w, const struct kernel *k, struct shape_class *c,
		     const char *reason)
{
	struct record_class record = {
		.kernel = k->number,
		.shape_class = c->key,
		.seen = c->seen - c->seen_flushed,
		.recorded = c->written - c->written_flushed,
		.reason = reason,
	};

	memcpy(record.grid, c->grid, sizeof(record.grid));
	if (!record.seen && !record.recorded)
		return 0;
	c->seen_flushed = c->seen;
	c->written_flushed = c->written;
	return bundle_put_class(w, &record);
}

static int put_unrecorded(struct bundle_writer *w, struct kernel *k)
{
	struct record_unrecorded record = {
		.name = k->entry,
		.origin = k->image ? k->image->origin : ORIGIN_OTHER,
		.launches = k->launches - k->flushed,
		.reason = !k->image
				  ? "not from a module or library that the program was seen to load"
			  : k->image->left_out
				  ? k->image->left_out
				  : "its origin is not among those recorded (KERNELAB_ORIGIN)",
	};

	if (k->flushed == k->launches)
		return 0;
	k->flushed = k->launches;
	return bundle_put_unrecorded(w, &record);
}

struct flush {
	struct bundle_writer *w;
	int r;
};

static void flush_kernel(struct kernel *k, void *data)
{
	struct flush *f = data;

	for (size_t i = 0; f->r >= 0 && i < k->class_count; i++)
		f->r = put_class(f->w, k, &k->classes[i], class_reason(&k->classes[i]));
	if (f->r >= 0)
		f->r = put_class(
			f->w, k, &k->more,
			"beyond 64 shape classes of this kernel launches are only counted");
	if (f->r >= 0)
		f->r = put_unrecorded(f->w, k);
}

static void flush_locked(struct bundle_writer *w)
{
	struct flush f = {.w = w};

	kernels_each(flush_kernel, &f);
	last_flush_ns = recorder_time_ns();
	recorder_put(f.r, "writing counts");
}

void launches_flush(struct bundle_writer *w)
{
	pthread_mutex_lock(&recorder_table_lock);
	flush_locked(w);
	pthread_mutex_unlock(&recorder_table_lock);
}

static void flush_now_and_then(uint64_t seq)
{
	struct bundle_writer *w;

	if (seq % FLUSH_LAUNCHES)
		return;
	w = recorder_acquire();
	if (!w)
		return;
	pthread_mutex_lock(&recorder_table_lock);
	if (recorder_time_ns() - last_flush_ns > FLUSH_NS)
		flush_locked(w);
	pthread_mutex_unlock(&recorder_table_lock);
	recorder_release();
}

/* ---- deciding ---- */

uint64_t launches_number(uint64_t count)
{
	return atomic_fetch_add(&launches_seen, count) + 1;
}

/* Counts it; true if the launch is one to record. Caller holds table_lock. */
static bool wanted(struct shape_class *c, const struct kernel *k)
{
	c->seen++;
	return c != &k->more && c->claimed < recorder_settings()->per_class &&
	       c->failed < FAILURES_MAX;
}

bool launches_claim(struct launch_facts *f)
{
	struct shape_class *c;
	bool record;

	pthread_mutex_lock(&recorder_table_lock);
	c = kernels_class(f->kernel, f->class_key, f->call->grid);
	f->shape_class = c;
	record = wanted(c, f->kernel);
	if (record)
		c->claimed++; /* launches_settle says what became of it */
	pthread_mutex_unlock(&recorder_table_lock);
	return record;
}

void launches_count(struct launch_facts *f)
{
	pthread_mutex_lock(&recorder_table_lock);
	f->shape_class = kernels_class(f->kernel, f->class_key, f->call->grid);
	f->shape_class->seen++;
	pthread_mutex_unlock(&recorder_table_lock);
}

void launches_count_other(struct kernel *kernel)
{
	pthread_mutex_lock(&recorder_table_lock);
	kernel->launches++;
	pthread_mutex_unlock(&recorder_table_lock);
}

static struct recording *consider(const struct launch_call *call, struct kernel *k, uint64_t seq)
{
	unsigned char params[PARAMS_BYTES_MAX];
	struct launch_facts facts = {.call = call, .kernel = k, .seq = seq, .params = params};

	facts.params_size = params_gather(k, call, params, &facts.params_known);
	facts.class_key = params_class(k, call, params, facts.params_size);
	return launches_claim(&facts) ? record_launch_begin(&facts) : NULL;
}

struct recording *launches_before(const struct launch_call *call)
{
	uint64_t seq = launches_number(1);
	struct recording *r = NULL;
	struct kernel *k;

	pthread_mutex_lock(&recorder_table_lock);
	k = kernels_of_function(call->function);
	if (k && !k->recorded)
		k->launches++;
	pthread_mutex_unlock(&recorder_table_lock);
	if (!k) {
		k = kernels_adopt(call->function);
		if (!k) {
			recorder_fail("counting a launch", -ENOMEM);
			return NULL;
		}
		if (!k->recorded)
			launches_count_other(k);
	}
	if (k->recorded)
		r = consider(call, k, seq);
	flush_now_and_then(seq);
	return r;
}

void launches_settle(const struct launch_facts *f, enum launch_outcome outcome)
{
	struct shape_class *c = f->shape_class;

	pthread_mutex_lock(&recorder_table_lock);
	if (outcome != LAUNCH_RECORDED)
		c->claimed--;
	if (outcome == LAUNCH_CAPTURED)
		c->captured = 1;
	if (outcome == LAUNCH_FAILED)
		c->failed++;
	if (outcome != LAUNCH_SKIPPED)
		c->written++;
	pthread_mutex_unlock(&recorder_table_lock);
	if (outcome != LAUNCH_SKIPPED)
		atomic_fetch_add(&launches_recorded, 1);
}

bool launches_captured_already(const struct shape_class *c)
{
	bool captured;

	pthread_mutex_lock(&recorder_table_lock);
	captured = c->captured;
	pthread_mutex_unlock(&recorder_table_lock);
	return captured;
}

void launches_after(struct recording *r, CUresult result)
{
	if (r)
		record_launch_end(r, result);
}

void launches_forget(void)
{
	atomic_store(&launches_seen, 0);
	atomic_store(&launches_recorded, 0);
	last_flush_ns = 0;
}
