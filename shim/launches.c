/* SPDX-License-Identifier: MIT */
/* Decides in a few look-ups whether a launch is recorded; counts the others. */
#include "shim/launches.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/functions.h"
#include "shim/guard.h"
#include "shim/kernels.h"
#include "shim/numbers.h"
#include "shim/params.h"
#include "shim/record_launch.h"
#include "shim/recorder.h"
#include "shim/sweeps.h"
#include "shim/window.h"

/* So much a kill -9 may lose of the counts. */
#define FLUSH_NS 2000000000u
/* A class whose contents could not be had is tried again with its next launches. */
#define FAILURES_MAX 3u

static atomic_ullong launches_recorded;
static uint64_t claimed_total;         /* recorded or being recorded, whole process; table_lock */
static _Atomic uint64_t last_flush_ns; /* recorder_running_coarse_ns; table_lock to write */

void launches_totals(uint64_t *seen, uint64_t *recorded)
{
	*seen = numbers_total();
	*recorded = atomic_load(&launches_recorded);
}

/* ---- counts into the bundle ---- */

static const char *const left_reasons[LEFT_COUNT] = {
	[LEFT_PER_CLASS] =
		"as many of their shape class are recorded as wanted (--per-class, --sample)",
	[LEFT_SKIPPED] = "among the first KERNELAB_SKIP_LAUNCHES of the class",
	[LEFT_BEFORE] = "before KERNELAB_START_AFTER",
	[LEFT_AFTER] = "after KERNELAB_STOP_AFTER",
	[LEFT_MAX_LAUNCHES] = "KERNELAB_MAX_LAUNCHES launches of the process are recorded",
	[LEFT_MAX_BYTES] = "the bundle has KERNELAB_MAX_BYTES",
	[LEFT_IN_CAPTURE] =
		"launched in stream capture only: geometry and parameters are recorded once",
	[LEFT_FAILED] = "the contents could not be had three times: see the notes of its launches",
	[LEFT_CLASSES] = "beyond 64 shape classes of the kernel, and its tail is recorded already",
	[LEFT_NOT_RECORDABLE] = "launched where it cannot be recorded",
	[LEFT_POSTPONED] = "in a graph of which others were recorded first: a later launch is",
	[LEFT_ENDED] = "the recording had ended",
};

static int put_class(struct bundle_writer *w, const struct kernel *k, const struct shape_class *c,
		     struct tally *t, const char *reason)
{
	struct record_class record = {
		.kernel = k->number,
		.shape_class = c->key,
		.seen = t->count - t->flushed,
		.recorded = reason ? 0 : t->count - t->flushed,
		.reason = reason,
	};

	memcpy(record.grid, c->grid, sizeof(record.grid));
	if (!record.seen)
		return 0;
	t->flushed = t->count;
	return bundle_put_class(w, &record);
}

/* One record for what is recorded, one for each reason why something is not. */
static int put_classes(struct bundle_writer *w, const struct kernel *k, struct shape_class *c)
{
	int r;

	classes_fold(c);
	r = put_class(w, k, c, &c->written, NULL);
	for (int i = 0; r >= 0 && i < LEFT_COUNT; i++)
		r = put_class(w, k, c, &c->left[i], left_reasons[i]);
	return r;
}

static const char *kernel_reason(const struct kernel *k)
{
	if (!k->image)
		return "not from a module or library that the program was seen to load";
	if (k->image->left_out)
		return k->image->left_out;
	if (recorder_settings()->origins & 1u << k->image->origin && k->left)
		return k->left;
	return "its origin is not among those recorded (KERNELAB_ORIGIN)";
}

static int put_unrecorded(struct bundle_writer *w, struct kernel *k)
{
	uint64_t launches = atomic_load_explicit(&k->launches, memory_order_relaxed);
	struct record_unrecorded record = {
		.name = k->entry,
		.origin = k->image ? k->image->origin : ORIGIN_OTHER,
		.launches = launches - k->flushed,
		.reason = kernel_reason(k),
	};

	if (k->flushed == launches)
		return 0;
	k->flushed = launches;
	return bundle_put_unrecorded(w, &record);
}

struct flush {
	struct bundle_writer *w;
	int r;
};

static void flush_kernel(struct kernel *k, void *data)
{
	struct flush *f = data;
	struct shape_class *more = atomic_load(&k->classes.more);

	for (struct shape_class *c = k->classes.first; f->r >= 0 && c; c = c->next)
		f->r = put_classes(f->w, k, c);
	if (f->r >= 0 && more)
		f->r = put_classes(f->w, k, more);
	if (f->r >= 0)
		f->r = put_unrecorded(f->w, k);
}

static void flush_locked(struct bundle_writer *w)
{
	struct flush f = {.w = w};

	kernels_each(flush_kernel, &f);
	atomic_store(&last_flush_ns, recorder_running_coarse_ns() + 1);
	recorder_put(f.r, "writing counts");
}

void launches_flush(struct bundle_writer *w)
{
	pthread_mutex_lock(&recorder_table_lock);
	flush_locked(w);
	pthread_mutex_unlock(&recorder_table_lock);
}

/* The first time after a few launches. */
static bool flush_due(uint64_t seq)
{
	uint64_t last = atomic_load(&last_flush_ns);

	return last ? recorder_running_coarse_ns() - last > FLUSH_NS : seq >= NUMBERS_ROUND;
}

static void flush_now_and_then(uint64_t seq)
{
	struct bundle_writer *w;

	if (!flush_due(seq))
		return;
	w = recorder_acquire();
	if (!w)
		return;
	pthread_mutex_lock(&recorder_table_lock);
	if (flush_due(seq))
		flush_locked(w);
	pthread_mutex_unlock(&recorder_table_lock);
	recorder_release();
}

/* ---- deciding ---- */

static void revoke_all(struct kernel *k, void *unused)
{
	struct shape_class *more = atomic_load(&k->classes.more);

	for (struct shape_class *c = k->classes.first; c; c = c->next)
		classes_revoke(c);
	if (more)
		classes_revoke(more);
}

/* Whether KERNELAB_MAX_LAUNCHES is reached is part of every class's answer. */
static void add_claimed(int n)
{
	uint64_t limit = recorder_settings()->max_launches;
	bool full = claimed_total >= limit;

	claimed_total += (uint64_t)n;
	if (full != (claimed_total >= limit))
		kernels_each(revoke_all, NULL);
}

/* Whether the run is where launches are recorded; else *why. Caller holds table_lock. */
static bool in_budget(uint64_t seq, enum launch_left *why, enum window *now)
{
	bool changed;
	enum window part = window_look(seq, now, &changed);

	if (changed)
		kernels_each(revoke_all, NULL);
	if (part == WINDOW_BEFORE)
		*why = LEFT_BEFORE;
	else if (part == WINDOW_AFTER)
		*why = LEFT_AFTER;
	else if (claimed_total >= recorder_settings()->max_launches)
		*why = LEFT_MAX_LAUNCHES;
	else
		return true;
	return false;
}

/* Whether this launch, number c->seen of its class, is its next sample. */
static bool sample_due(struct shape_class *c)
{
	const struct selection *s = recorder_settings();

	if (c->samples >= s->samples)
		return false;
	if (!c->next_sample)
		c->next_sample = selection_sample(s, c->key, c->schedule);
	if (c->seen < c->next_sample)
		return false;
	c->samples++;
	/* Those that passed while nothing was recorded do not come all at once. */
	do
		c->next_sample = selection_sample(s, c->key, ++c->schedule);
	while (c->next_sample <= c->seen);
	return true;
}

/* Whether the class has a turn for this launch; else *why. Caller holds table_lock. */
static bool has_turn(struct shape_class *c, struct launch_facts *f, enum launch_left *why)
{
	const struct selection *s = recorder_settings();

	f->turn = TURN_FIRST;
	if (classes_is_more(&f->kernel->classes, c)) {
		f->turn = TURN_TAIL;
		*why = c->failed < TAILS_MAX ? LEFT_CLASSES : LEFT_FAILED;
		return c->failed < TAILS_MAX &&
		       tails_new(&f->kernel->tails,
				 tails_key(f->kernel,
					   &(struct params_view){NULL, f->params, f->params_size}));
	}
	if (c->seen <= s->skip_launches) {
		*why = LEFT_SKIPPED;
		return false;
	}
	if (c->failed >= FAILURES_MAX) {
		*why = LEFT_FAILED;
		return false;
	}
	if (c->claimed < s->per_class)
		return true;
	f->turn = TURN_SAMPLE;
	*why = LEFT_PER_CLASS;
	return sample_due(c);
}

/* How many launches that follow are left for the same reason, whatever they are. */
static int64_t passing(const struct shape_class *c, const struct kernel *k, enum launch_left why,
		       enum window now)
{
	const struct selection *s = recorder_settings();
	uint64_t n = 0;

	switch (why) {
	case LEFT_BEFORE: /* a thread may come late with a launch from before */
		return now == WINDOW_BEFORE ? CREDIT_FOREVER : 0;
	case LEFT_AFTER:
	case LEFT_MAX_LAUNCHES:
	case LEFT_FAILED:
		return CREDIT_FOREVER;
	case LEFT_SKIPPED:
		n = s->skip_launches - c->seen;
		break;
	case LEFT_PER_CLASS:
		if (c->samples >= s->samples)
			return CREDIT_FOREVER;
		n = c->next_sample - c->seen - 1; /* sample_due has computed it */
		break;
	case LEFT_CLASSES:
		return tails_full(k->tails) ? CREDIT_FOREVER : 0;
	default:
		return 0;
	}
	return n < CREDIT_FOREVER ? (int64_t)n : CREDIT_FOREVER;
}

/* Counts it; true if the launch is one to record: it has been claimed then. */
static bool claim(struct launch_facts *f)
{
	struct shape_class *c;
	enum launch_left why;
	enum window now;
	bool record = false;

	pthread_mutex_lock(&recorder_table_lock);
	c = classes_get(&f->kernel->classes, &f->class_id, f->call->grid);
	f->shape_class = c;
	if (c) {
		classes_revoke(c);
		c->seen++;
		record = in_budget(f->seq, &why, &now) && has_turn(c, f, &why);
	}
	if (record) {
		add_claimed(1);
		c->claimed += f->turn == TURN_FIRST; /* launches_settle says what became of it */
	} else if (c) {
		c->left[why].count++;
		classes_grant(c, why, passing(c, f->kernel, why, now));
	}
	pthread_mutex_unlock(&recorder_table_lock);
	if (!c)
		recorder_fail("counting a launch", -ENOMEM);
	return record;
}

/* Another launch of the class gets the turn. Caller holds table_lock. */
static void give_back(const struct launch_facts *f, bool written)
{
	classes_revoke(f->shape_class);
	if (!written)
		add_claimed(-1);
	f->shape_class->claimed -= f->turn == TURN_FIRST;
}

/* The size of the bundle is asked only where a launch would be recorded. */
static bool bytes_left(const struct launch_facts *f)
{
	uint64_t limit = recorder_settings()->max_bytes;
	struct bundle_writer *w = limit == SELECTION_NO_LIMIT ? NULL : recorder_acquire();
	bool left;

	if (!w)
		return true;
	left = bundle_writer_size(w) < limit;
	recorder_release();
	if (!left) {
		pthread_mutex_lock(&recorder_table_lock);
		give_back(f, false);
		f->shape_class->left[LEFT_MAX_BYTES].count++;
		/* A bundle never gets smaller; after a sample the class goes on as before it. */
		if (f->turn == TURN_FIRST)
			classes_grant(f->shape_class, LEFT_MAX_BYTES, CREDIT_FOREVER);
		pthread_mutex_unlock(&recorder_table_lock);
	}
	return left;
}

bool launches_passes(const struct launch_facts *f)
{
	return f->shape_class && !window_due(f->seq) && classes_pass(f->shape_class);
}

bool launches_claim(struct launch_facts *f)
{
	if (!claim(f) || !bytes_left(f))
		return false;
	f->inputs = sweeps_inputs(f);
	f->sweep = sweeps_note(f);
	return true;
}

void launches_count(struct launch_facts *f)
{
	pthread_mutex_lock(&recorder_table_lock);
	f->shape_class = classes_get(&f->kernel->classes, &f->class_id, f->call->grid);
	if (f->shape_class) {
		f->shape_class->seen++;
		f->shape_class->left[LEFT_NOT_RECORDABLE].count++;
	}
	pthread_mutex_unlock(&recorder_table_lock);
	if (!f->shape_class)
		recorder_fail("counting a launch", -ENOMEM);
}

SHIM_HOT void launches_count_other(struct kernel *kernel)
{
	atomic_fetch_add_explicit(&kernel->launches, 1, memory_order_relaxed);
}

/* Beyond the limit of classes most launches show no new tail. */
__attribute__((noinline)) static bool tail_passes(const struct kernel *k, struct shape_class *c,
						  void **params, void **extra)
{
	const struct tails *tails = atomic_load_explicit(&k->tails, memory_order_acquire);
	struct params_view view;

	if (!tails || !classes_is_more(&k->classes, c))
		return false;
	view = params_view(params, extra);
	if (!tails_known(tails, tails_key(k, &view)))
		return false;
	classes_pass_tail(c);
	return true;
}

/* Where all launches are numbered. c: the class of a recorded kernel, if it is known. */
__attribute__((noinline)) static uint64_t pass_numbered(struct kernel *k, struct shape_class *c,
							void **params, void **extra)
{
	uint64_t seq = numbers_take(1);

	if (seq % NUMBERS_ROUND == 0)
		return seq;
	if (!k->recorded) {
		launches_count_other(k);
		return 0;
	}
	if (!c || window_due(seq))
		return seq;
	return classes_pass(c) || tail_passes(k, c, params, extra) ? 0 : seq;
}

/* An atomic step waits for all that is under way: there is one, behind the look-ups. */
SHIM_HOT uint64_t launches_pass(CUfunction function, const uint32_t grid[3], void **params,
				void **extra)
{
	struct kernel *k = functions_kernel(function);
	struct shape_class *c = NULL;
	struct class_id id;

	if (!k)
		return numbers_take(1);
	if (k->recorded) {
		params_id(&id, k, grid, params, extra);
		c = classes_find(&k->classes, &id);
	}
	if (!numbers_can_count())
		return numbers_exact() ? pass_numbered(k, c, params, extra) : numbers_take(1);
	if (!k->recorded)
		launches_count_other(k);
	else if (!c || window_due(0) || !(classes_pass(c) || tail_passes(k, c, params, extra)))
		return numbers_take(1);
	numbers_count();
	return 0;
}

static struct recording *consider(const struct launch_call *call, struct kernel *k, uint64_t seq)
{
	unsigned char params[PARAMS_BYTES_MAX];
	struct launch_facts facts = {.call = call, .kernel = k, .seq = seq, .params = params};

	facts.params_size = params_gather(k, call, params, &facts.params_known);
	params_id(&facts.class_id, k, call->grid, call->params, call->extra);
	return launches_claim(&facts) ? record_launch_begin(&facts) : NULL;
}

struct recording *launches_before(const struct launch_call *call, uint64_t seq)
{
	struct kernel *k = functions_kernel(call->function);
	struct recording *r = NULL;

	if (!k)
		k = kernels_adopt(call->function);
	if (!k) {
		recorder_fail("counting a launch", -ENOMEM);
		return NULL;
	}
	if (k->recorded)
		r = consider(call, k, seq);
	else
		launches_count_other(k);
	flush_now_and_then(seq);
	return r;
}

/* The class of a tail stands nowhere else. */
static void count_tail(const struct launch_facts *f)
{
	struct record_class record = {.kernel = f->kernel->number,
				      .shape_class = class_id_key(&f->class_id),
				      .seen = 1,
				      .recorded = 1};
	struct bundle_writer *w = recorder_acquire();

	if (!w)
		return;
	memcpy(record.grid, f->call->grid, sizeof(record.grid));
	recorder_put(bundle_put_class(w, &record), "writing counts");
	recorder_release();
}

void launches_settle(const struct launch_facts *f, enum launch_outcome outcome)
{
	struct shape_class *c = f->shape_class;
	bool written = outcome == LAUNCH_RECORDED || outcome == LAUNCH_CAPTURED ||
		       outcome == LAUNCH_FAILED;

	pthread_mutex_lock(&recorder_table_lock);
	if (outcome != LAUNCH_RECORDED)
		give_back(f,
			  written); /* takes the credit too, for what follows may be decided anew */
	switch (outcome) {
	case LAUNCH_FAILED:
		c->failed++;
		break;
	case LAUNCH_CAPTURED:
		c->captured = 1;
		break;
	case LAUNCH_REPEATED:
		c->left[LEFT_IN_CAPTURE].count++;
		break;
	case LAUNCH_POSTPONED:
		c->left[LEFT_POSTPONED].count++;
		break;
	case LAUNCH_SKIPPED:
		c->left[LEFT_ENDED].count++;
		break;
	case LAUNCH_RECORDED:
		break;
	}
	if (written) {
		c->written.count += f->turn != TURN_TAIL; /* see count_tail */
		launches_recorded++;
	}
	pthread_mutex_unlock(&recorder_table_lock);
	if (written && f->turn == TURN_TAIL)
		count_tail(f);
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
	numbers_forget();
	atomic_store(&launches_recorded, 0);
	claimed_total = 0;
	atomic_store(&last_flush_ns, 0);
	window_forget();
}
