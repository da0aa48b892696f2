/* SPDX-License-Identifier: MIT */
/*
 * The life of a recording in one process: wanted or not, its bundle, its failure, its end. Nothing
 * here or below ever ends the program, changes a CUresult, or prints more than one line.
 *
 * Locks, in this order: load_lock (registering an image: slow, with file access), table_lock
 * (look-ups and counters: never held over a driver call that can wait, nor over file access, but
 * for the counts of recorder_flush). A launch takes only table_lock.
 */
#ifndef SHIM_RECORDER_H
#define SHIM_RECORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "lib/selection.h"

extern pthread_mutex_t recorder_load_lock, recorder_table_lock;

/*
 * Whether this process may record at all: KERNELAB_OUTPUT is set, the driver is not too old, and
 * the recording has neither failed nor ended. The first call reads the environment. Cheap. Any
 * thread.
 */
bool recorder_wanted(void);
/* Constant after the first recorder_wanted(). */
const struct selection *recorder_settings(void);
/* KERNELAB_RANKS does not name this process's rank: it records no contents. */
bool recorder_rank_left_out(void);
/* Since the process first used the driver. */
uint64_t recorder_running_ns(void);
/* The same by the kernel's tick, some ms behind, and cheaper. */
uint64_t recorder_running_coarse_ns(void);

/*
 * Opens the bundle with RUN and FACT records if there is none yet. Caller holds load_lock.
 * 0 or -errno; a failure has been dealt with (recorder_fail).
 */
int recorder_open(void);

/*
 * The open bundle, or NULL. Each non-NULL answer must be followed by one recorder_release(): the
 * end of the process waits for it, a bounded time.
 */
struct bundle_writer *recorder_acquire(void);
void recorder_release(void);

/*
 * Ends the recording after an internal failure: one line on stderr, END says incomplete. what: the
 * step, e.g. "writing a launch"; error: -errno. Later calls do nothing. Takes no lock.
 */
void recorder_fail(const char *what, int error);

/* Looks at a bundle_put_* result: false (and the recording has ended) if r < 0. */
bool recorder_put(int r, const char *what);

/*
 * Brackets what the shim does inside a driver call: false, and nothing to leave, if this thread is
 * in the shim already or nothing is to be recorded. Keeps errno.
 */
struct recorder_scope {
	int saved_errno;
};
bool recorder_enter(struct recorder_scope *scope);
void recorder_leave(const struct recorder_scope *scope);

/* Unix time. */
uint64_t recorder_time_ns(void);

#endif
