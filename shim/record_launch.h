/* SPDX-License-Identifier: MIT */
/* The slow path: one launch into the bundle, before and after it runs. */
#ifndef SHIM_RECORD_LAUNCH_H
#define SHIM_RECORD_LAUNCH_H

#include <stdbool.h>

#include "shim/kernels.h"
#include "shim/launches.h"
#include "shim/regions.h"

/* Why a launch is recorded. */
enum launch_turn {
	TURN_FIRST,  /* among the first of its class */
	TURN_SAMPLE, /* a later one of it */
	TURN_TAIL    /* of a class beyond the limit, with a tail not seen before */
};

struct launch_facts {
	const struct launch_call *call;
	struct kernel *kernel;
	struct shape_class *shape_class; /* of class_id, once it is known */
	struct class_id class_id;
	uint64_t seq;
	const unsigned char *params; /* params_size bytes */
	size_t params_size;
	bool params_known;
	enum launch_turn turn;
	struct hash128 inputs; /* sweeps_inputs */
	uint64_t sweep;        /* sweeps_note */
};

enum launch_outcome {
	LAUNCH_RECORDED,
	LAUNCH_CAPTURED,  /* in stream capture: without contents */
	LAUNCH_FAILED,    /* no contents */
	LAUNCH_REPEATED,  /* nothing was written: one in stream capture was already */
	LAUNCH_POSTPONED, /* nothing was written: a later launch is to be recorded */
	LAUNCH_SKIPPED    /* nothing was written: the recording has ended */
};

/*
 * Whether a launch of a class that is known already is only counted: then it is, but for its
 * number. f->seq may be 0 if !numbers_exact(). No lock.
 */
bool launches_passes(const struct launch_facts *f);
/*
 * Counts a launch of a recorded kernel, whose call, kernel, seq, parameters and class_id are set;
 * fills shape_class. True if it is to be recorded: then
 * launches_settle must say what became of it. Takes table_lock.
 */
bool launches_claim(struct launch_facts *f);
/* Counts it only: it cannot be recorded. Takes table_lock. */
void launches_count(struct launch_facts *f);
/* Counts a launch of a kernel that is not recorded. Takes table_lock. */
void launches_count_other(struct kernel *kernel);
/* Says what became of a claimed launch (shim/launches.c). */
void launches_settle(const struct launch_facts *f, enum launch_outcome outcome);
/* True if a launch of the class in stream capture has been recorded. */
bool launches_captured_already(const struct shape_class *c);

/*
 * Writes LAUNCH and AFTER of a claimed kernel of a graph, which is in the stream: reads the copies
 * before and after it from `sources` (valid during the call) through the ring, in the stream, and
 * returns when that is issued; waits for room for at most --wait-after. Of a pageable ring the
 * stream must be idle. note: why there are no contents, else NULL. Takes the regions over. Settles
 * the launch when LAUNCH is written.
 */
void record_launch_copied(const struct launch_facts *f, struct regions *regions,
			  const struct copies_source sources[2], CUstream stream, CUresult result,
			  CUresult sync_result, const char *note);

/* NULL if there is nothing to do after the launch. */
struct recording *record_launch_begin(const struct launch_facts *facts);
void record_launch_end(struct recording *r, CUresult result);

#endif
