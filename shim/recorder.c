/* SPDX-License-Identifier: MIT */
/* Opens, guards, fails and closes the one bundle of a process. */
#include "shim/recorder.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/environment.h"
#include "shim/budget.h"
#include "shim/bypass.h"
#include "shim/contents.h"
#include "shim/cupti.h"
#include "shim/extents.h"
#include "shim/facts.h"
#include "shim/gpu_hash.h"
#include "shim/graphs.h"
#include "shim/guard.h"
#include "shim/hooks.h"
#include "shim/images.h"
#include "shim/kernels.h"
#include "shim/known.h"
#include "shim/launches.h"
#include "shim/pending.h"
#include "shim/ring.h"
#include "shim/sweeps.h"
#include "shim/tensor_maps.h"
#include "shim/workers.h"

pthread_mutex_t recorder_load_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t recorder_table_lock = PTHREAD_MUTEX_INITIALIZER;

enum state {
	STATE_UNKNOWN, /* the environment has not been looked at */
	STATE_OFF,     /* not wanted in this process */
	STATE_WAITING, /* wanted; no image worth a bundle seen */
	STATE_OPEN,
	STATE_FAILED,
	STATE_ENDED
};

/* At the very end, for copies that are under way. */
#define DRAIN_IDLE_S 2
#define DRAIN_S      10

SHIM_HOT_DATA static _Atomic enum state state;
static atomic_int users; /* of writer, between acquire and release */
static struct bundle_writer *writer;
static struct selection settings;
static char *output_folder;
static uint64_t started_ns; /* monotonic */
static bool without_contents;
static char failure[520];
static const char *failure_step;

static void before_fork(void);
static void parent_after_fork(void);
static void child_after_fork(void);

/* The rank is asked once: a program may set RANK for its children. */
static void apply_rank(void)
{
	const char *rank = facts_rank();

	if (selection_rank(&settings, rank ? strtoull(strchr(rank, '=') + 1, NULL, 10) : 0))
		return;
	without_contents = true;
	settings.no_data = true;
	settings.per_class = 1;
	settings.samples = 0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void start(void)
{
	const char *output = environment_get(ENVIRONMENT_OUTPUT);
	struct error err = {0};
	const char *why;
	enum state next = STATE_OFF;

	if (output) {
		started_ns = clock_ns(CLOCK_MONOTONIC);
		/* Made absolute: the program may change its folder. */
		output_folder = realpath(output, NULL);
		if (!output_folder)
			output_folder = strdup(output);
		next = output_folder ? STATE_WAITING : STATE_OFF;
		if (next == STATE_WAITING && selection_read(&settings, &err) >= 0)
			apply_rank();
		if (next == STATE_WAITING &&
		    pthread_atfork(before_fork, parent_after_fork, child_after_fork))
			next = STATE_OFF;
	}
	atomic_store(&state, next);
	if (next != STATE_WAITING)
		return;
	if (err.code) {
		snprintf(failure, sizeof(failure), "%s", err.message);
		recorder_fail(failure, -err.code);
	} else if (hooks_ready() && !hooks_complete(&why)) {
		snprintf(failure, sizeof(failure), "%s", why);
		recorder_fail(failure, -ENOSYS);
	}
}

static bool wants(enum state s)
{
	return s == STATE_WAITING || s == STATE_OPEN;
}

/* Reached only with the driver loaded: a process without CUDA gets no further. */
__attribute__((cold, noinline)) static bool wanted_at_first(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!hooks_ready())
		return false;
	pthread_once(&once, start);
	return wants(atomic_load(&state));
}

SHIM_HOT bool recorder_wanted(void)
{
	enum state s = atomic_load_explicit(&state, memory_order_acquire);

	return s == STATE_UNKNOWN ? wanted_at_first() : wants(s);
}

const struct selection *recorder_settings(void)
{
	return &settings;
}

bool recorder_rank_left_out(void)
{
	return without_contents;
}

uint64_t recorder_running_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC) - started_ns;
}

uint64_t recorder_running_coarse_ns(void)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	return now > started_ns ? now - started_ns : 0;
}

uint64_t recorder_time_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* "python3-4711-rank3.klab"; a number behind it where that is taken (the kernel reuses pids). */
static char *bundle_path(unsigned attempt)
{
	_cleanup_free_ char *comm = NULL;
	char rank[48] = "", again[16] = "";
	size_t size = 0;

	if (file_read_all("/proc/self/comm", 64, &comm, &size) < 0 || !size)
		comm = strdup("program");
	if (!comm)
		return NULL;
	for (char *c = comm; *c; c++) {
		if (*c == '\n')
			*c = 0;
		else if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
				 "-",
				 *c))
			*c = '_';
		if (!*c)
			break;
	}
	if (facts_rank())
		snprintf(rank, sizeof(rank), "-rank%s", strchr(facts_rank(), '=') + 1);
	if (attempt)
		snprintf(again, sizeof(again), "-%u", attempt + 1);
	return text_format("%s/%s-%ld%s%s.klab", output_folder, comm, (long)getpid(), rank, again);
}

static int open_writer(void)
{
	int r = -EEXIST;

	for (unsigned attempt = 0; r == -EEXIST && attempt < 100; attempt++) {
		_cleanup_free_ char *path = bundle_path(attempt);

		if (!path)
			return -ENOMEM;
		r = bundle_writer_open(&writer, path, BUNDLE_CAPTURE);
	}
	if (r >= 0 && !settings.compress)
		bundle_writer_store_only(writer);
	return r;
}

int recorder_open(void)
{
	enum state s = atomic_load(&state);
	int r;

	if (s == STATE_OPEN)
		return 0;
	if (s != STATE_WAITING)
		return -ESHUTDOWN;
	r = open_writer();
	if (r < 0) {
		writer = NULL;
		recorder_fail("creating a bundle in KERNELAB_OUTPUT", r);
		return r;
	}
	r = facts_write_start(writer, &settings);
	if (r < 0) {
		recorder_fail("writing what is known of the run", r);
		return r;
	}
	atomic_store(&state, STATE_OPEN);
	return 0;
}

struct bundle_writer *recorder_acquire(void)
{
	atomic_fetch_add(&users, 1);
	if (atomic_load(&state) == STATE_OPEN)
		return writer;
	atomic_fetch_sub(&users, 1);
	return NULL;
}

void recorder_release(void)
{
	atomic_fetch_sub(&users, 1);
}

void recorder_fail(const char *what, int error)
{
	char line[700];
	enum state s = atomic_load(&state);
	int n;

	do {
		if (s != STATE_WAITING && s != STATE_OPEN)
			return;
	} while (!atomic_compare_exchange_weak(&state, &s, STATE_FAILED));
	failure_step = what;
	n = snprintf(line, sizeof(line),
		     "kernelab: recording of process %ld stopped: %s: %s; the program goes on\n",
		     (long)getpid(), what, strerror(-error));
	if (n > 0 &&
	    write(STDERR_FILENO, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		return;
}

bool recorder_put(int r, const char *what)
{
	if (r < 0)
		recorder_fail(what, r);
	return r >= 0;
}

bool recorder_enter(struct recorder_scope *scope)
{
	if (shim_depth || !recorder_wanted())
		return false;
	shim_depth++;
	scope->saved_errno = errno;
	return true;
}

void recorder_leave(const struct recorder_scope *scope)
{
	shim_depth--;
	errno = scope->saved_errno;
}

/* ---- fork: the child has neither the parent's bundle nor its CUDA context ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&recorder_load_lock);
	pthread_mutex_lock(&recorder_table_lock);
}

static void parent_after_fork(void)
{
	pthread_mutex_unlock(&recorder_table_lock);
	pthread_mutex_unlock(&recorder_load_lock);
}

/*
 * Modules and functions of the parent mean nothing here, and what was written is in its bundle, so
 * all is forgotten. The memory is not freed: another thread of the parent may have been using it.
 */
static void child_after_fork(void)
{
	pthread_mutex_init(&recorder_load_lock, NULL);
	pthread_mutex_init(&recorder_table_lock, NULL);
	shim_depth = 0;
	if (writer)
		bundle_writer_forsake(writer);
	writer = NULL;
	atomic_store(&users, 0);
	budget_forget();
	cupti_forget();
	gpu_hash_forget();
	known_forget();
	pending_forget();
	ring_forget();
	workers_forget();
	extents_forget();
	images_forget();
	kernels_forget();
	launches_forget();
	sweeps_forget();
	tensor_maps_forget();
	graphs_forget();
	facts_forget();
	if (atomic_load(&state) == STATE_OPEN)
		atomic_store(&state, STATE_WAITING);
}

/* ---- the end ---- */

static bool lock_within(pthread_mutex_t *lock, unsigned seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	return !pthread_mutex_timedlock(lock, &until);
}

/* Another thread may be in the middle of recording a launch; it is given two seconds. */
static bool wait_for_users(void)
{
	for (int i = 0; i < 2000; i++) {
		if (!atomic_load(&users))
			return true;
		usleep(1000);
	}
	return false;
}

static void write_end(bool clean)
{
	struct record_end end = {
		.clean = clean,
		.incomplete = clean ? NULL : failure_step,
		.time_ns = recorder_time_ns(),
	};

	launches_totals(&end.launches, &end.recorded);
	bundle_put_end(writer, &end);
}

/* There is no bundle to say it in. */
static void tell_unseen(void)
{
	_cleanup_free_ char *past = recorder_wanted() ? bypass_libraries() : NULL;
	char line[700];
	int n;

	if (!past)
		return;
	n = snprintf(
		line, sizeof(line),
		"kernelab: nothing of process %ld is recorded: bound to the driver itself, past "
		"kernelab (RTLD_DEEPBIND): %s\n",
		(long)getpid(), past);
	if (n > 0 &&
	    write(STDERR_FILENO, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		return;
}

/* Runs when the process exits. The driver may be down already: no call of it from here. */
__attribute__((destructor)) static void end_recording(void)
{
	enum state s = atomic_load(&state);

	if (s == STATE_UNKNOWN || s == STATE_WAITING) {
		shim_depth++;
		tell_unseen();
		shim_depth--;
	}
	if ((s != STATE_OPEN && s != STATE_FAILED) || !writer)
		return;
	shim_depth++;
	/* What an exit handler has not seen is of launches since: it is given little time. */
	pending_drain(DRAIN_IDLE_S, DRAIN_S, NULL);
	workers_stop(DRAIN_S);
	if (!lock_within(&recorder_load_lock, 5))
		return; /* the file reads up to its last whole record */
	if (s == STATE_OPEN) {
		kernels_write_unlaunched(writer);
		images_write_end(writer);
		facts_write_end(writer);
		contents_write_facts(writer);
		extents_write_facts(writer);
		launches_flush(writer);
	}
	s = atomic_exchange(&state, STATE_ENDED);
	if (wait_for_users()) {
		write_end(s == STATE_OPEN);
		bundle_writer_close(writer);
		writer = NULL;
	}
	pthread_mutex_unlock(&recorder_load_lock);
	shim_depth--;
}
