/* SPDX-License-Identifier: MIT */
/* The workers of a replay, one a device, and the cases that each of them has in hand. */
#ifndef REPLAY_CREW_H
#define REPLAY_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "replay/cost.h"
#include "replay/ledger.h"
#include "replay/plan.h"
#include "replay/process.h"
#include "replay/progress.h"
#include "replay/queue.h"
#include "replay/resume.h"
#include "replay/trials.h"

enum post_state {
	POST_OFF,      /* no worker */
	POST_STARTING, /* it opens its device */
	POST_IDLE,
	POST_BUSY,
	POST_DEAD /* its device cannot be opened any more */
};

/* One device and its worker. */
struct post {
	int ordinal;
	enum post_state state;
	struct process worker;
	struct device_text device;
	bool seen;          /* was ready once */
	bool told_large;    /* a launch did not fit, and a note said so */
	size_t unit;        /* of the queue, that it works on; SIZE_MAX: none */
	struct open_case c; /* in hand, where has_case */
	bool has_case;
	enum caution caution; /* to run it with */
	uint64_t tried;       /* posts that it was given to before, a bit each */
};

/* A case that waits for another device than those that could not run it. */
struct held {
	struct open_case c;
	enum caution caution;
	uint64_t tried;
};

struct crew {
	const struct plan *plan;
	const struct replay_options *options;
	struct replay_summary *summary;
	struct ledger *ledger;
	struct resume *resume;
	struct progress *progress;
	struct stopwatch *watch; /* of the parent */
	const volatile int *stop;
	const char *driver;
	struct queue queue;
	struct packet packet;
	struct post *posts;
	size_t post_count; /* at most 64: struct held */
	struct held *held;
	size_t held_count, held_capacity;
	bool device_written;
};

/*
 * Runs every case of the queue, on all posts at once, and writes it. Starts workers when they have
 * something to do, and ends them all. A device that cannot be opened when others can is left out,
 * with a note that names it; its case goes to another one, and so does one that needs more memory
 * than it has free. 0; -EINTR stopped, unfinished cases are noted as
 * interrupted; -errno with err.
 */
int crew_run(struct crew *c, struct error *err);

#endif
