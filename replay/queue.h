/* SPDX-License-Identifier: MIT */
/* The cases that are still to be run, in the order in which devices take them. */
#ifndef REPLAY_QUEUE_H
#define REPLAY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/plan.h"

/*
 * Cases side by side in the plan that have the same recorded contents, as a sweep's have: one
 * device takes them one after the other, so that these cross the bus once.
 */
struct unit {
	size_t first, next, end; /* into queue.cases: next to take, behind the last */
	uint64_t bytes;          /* of memory, summed over its cases */
	bool taken;              /* by some device */
};

struct queue {
	size_t *cases; /* numbers in the plan */
	size_t case_count;
	struct unit *units;
	size_t unit_count, unit_capacity;
};

/*
 * Every case for which wanted() says so and that can be run. For one device units stand in the
 * plan's order, for several the largest come first, so that all end at about the same time. 0 or
 * -ENOMEM.
 */
int queue_make(struct queue *q, const struct plan *plan, size_t devices,
	       bool (*wanted)(const void *data, size_t number), const void *data);
void queue_free(struct queue *q);

/*
 * The next case for a device: of its unit (*unit; SIZE_MAX: none), else of one that nobody has,
 * else of the one with most cases left. False: there is none. *unit is its unit.
 */
bool queue_take(struct queue *q, size_t *unit, size_t *number);

#endif
