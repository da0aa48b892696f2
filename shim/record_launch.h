/* SPDX-License-Identifier: MIT */
/* The slow path: one launch into the bundle, before and after it runs. */
#ifndef SHIM_RECORD_LAUNCH_H
#define SHIM_RECORD_LAUNCH_H

#include <stdbool.h>

#include "shim/kernels.h"
#include "shim/launches.h"

struct launch_facts {
	const struct launch_call *call;
	struct kernel *kernel;
	struct shape_class *shape_class;
	struct hash128 class_key;
	uint64_t seq;
	const unsigned char *params; /* params_size bytes */
	size_t params_size;
	bool params_known;
};

enum launch_outcome {
	LAUNCH_RECORDED,
	LAUNCH_CAPTURED, /* in stream capture: without contents */
	LAUNCH_FAILED,   /* no contents */
	LAUNCH_SKIPPED   /* nothing was written */
};

/* Says what became of a claimed launch of the class (shim/launches.c). */
void launches_settle(struct shape_class *c, enum launch_outcome outcome);
/* True if a launch of the class in stream capture has been recorded. */
bool launches_captured_already(const struct shape_class *c);

/* NULL if there is nothing to do after the launch. */
struct recording *record_launch_begin(const struct launch_facts *facts);
void record_launch_end(struct recording *r, CUresult result);

#endif
