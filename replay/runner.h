/* SPDX-License-Identifier: MIT */
/* A worker's device: context, modules, one launch at a time. Lives only in the worker process. */
#ifndef REPLAY_RUNNER_H
#define REPLAY_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drv/driver.h"
#include "kernelab/records.h"
#include "replay/bind.h"
#include "replay/memory.h"
#include "replay/neighbour.h"
#include "replay/plan.h"
#include "replay/pulse.h"
#include "replay/shelf.h"
#include "replay/board.h"
#include "replay/written.h"
#include "replay/wire.h"

struct loaded_module {
	struct hash128 code; /* replay/code.h */
	CUmodule module;
};

struct runner {
	int fd;              /* to the parent */
	struct pulse *pulse; /* shared with it */
	struct stopwatch watch;
	int ordinal; /* of the device */
	const struct plan *plan;
	const struct replay_options *options;
	struct driver driver;
	CUdevice device;
	CUcontext context;
	CUstream stream;
	CUevent begin, restored, start, stop, end; /* of a trial, and of the launch in it */
	unsigned sm;                               /* 90; 0: the software device */
	bool software;                             /* runs launches when they are enqueued */
	struct memory memory;
	struct neighbour neighbour;
	struct board board;
	struct shelf shelf;
	struct loaded_module *modules;
	size_t module_count, module_capacity;
	struct packet packet;
	struct hash128 *sent; /* chunks that the parent has: open addressing */
	size_t sent_count, sent_capacity;
	bool lost;        /* the context is: a sticky error */
	bool parent_gone; /* sending failed */
};

/* A bound launch made ready: function, own scratch memory, parameters with its addresses. */
struct ready {
	const struct bound *bound;
	CUfunction function;
	CUdeviceptr scratch[2];
	struct variables variables; /* of the launch that is mapped, in its module */
	void **pointers;            /* kernelParams, a parameter each */
};

struct outcome {
	enum trial_status status;
	char reason[480]; /* as long as an error's message */
	double time_us;
	uint64_t wall_ns;      /* launch to completion and comparison, seen from the host */
	struct snapshot after; /* empty unless status is OK */
};

/*
 * Opens the driver, context, stream; reserves the plan's addresses first. Tells the parent READY
 * (device, refused ranges) or FAILED. 0 or -errno.
 */
int runner_open(struct runner *r, const char *driver_path);

/* Notes for the parent what begins. seconds is the limit after which it may end this process. */
void runner_step(struct runner *r, enum phase phase, enum side side, enum trial_kind kind,
		 uint32_t index, double seconds);

/*
 * Loads the image (once a worker), finds the function, allocates scratch. 0, or -errno with the
 * driver's words (its log included).
 */
int ready_make(struct ready *ready, struct runner *r, const struct bound *bound, struct error *err);
void ready_free(struct ready *ready, struct runner *r);

/*
 * What a launch is, for the parent: it gets `seconds`, the copies around it setup_seconds. Also
 * which picture of memory it is compared with, and which it becomes (replay/board.h).
 */
struct moment {
	enum phase phase;
	enum side side;
	enum trial_kind kind;
	uint32_t index;
	double seconds, setup_seconds;
};

/*
 * Maps a launch's memory and puts its contents on the device. `contents` is borrowed until the next
 * call or board_drop. 0; -E2BIG where the device has too little memory, with the sizes in err; or
 * -errno with err.
 */
int runner_take(struct runner *r, const struct contents *contents, struct error *err);

/* What differs from a plain run; all zero: nothing does. */
struct setting {
	const struct byteset *poison; /* filled with `fill` before the launch */
	uint8_t fill;
	const struct change *change;
	uint32_t launches;          /* in a row, nothing restored between; 0: one */
	enum disturbance disturb;   /* of what is around it */
	double usual_us;            /* with disturb: how long the launch takes without */
	const struct byteset *read; /* only chunks of these bytes are read back */
	bool away;      /* what becomes a picture on the device is not read back unless asked for */
	enum look look; /* what the device looks for in these outputs */
	const struct written *outputs;
};

/*
 * Restores memory, prepares it as `setting` (may be NULL) says, launches, waits, reads back, and
 * tells the parent when the launch begins and ends. *out is filled and owned by the caller
 * (outcome_free). Failing launches are outcomes, not errors; an error (-errno, err) means that the
 * device or host could not do its part.
 */
int runner_launch(struct runner *r, const struct ready *ready, const struct moment *when,
		  const struct setting *setting, struct outcome *out, struct error *err);
void outcome_free(struct outcome *o);

/*
 * Ships [address, address + size) of a snapshot: chunks that the parent lacks, then their keys are
 * put into `keys`. Returns 0 or -ENOMEM.
 */
int runner_ship(struct runner *r, struct packet *keys, const struct snapshot *s, uint64_t address,
		uint64_t size);

/* The worker's life: serves jobs from fd until the parent closes it. Returns its exit status. */
int worker_main(int fd, int ordinal, struct pulse *pulse, const struct plan *plan,
		const struct replay_options *options, const char *driver_path);

#endif
