/* SPDX-License-Identifier: MIT */
/* The machine code that the driver's JIT makes of PTX and fatbins, through CUPTI (--cupti). */
#ifndef SHIM_CUPTI_H
#define SHIM_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/bundle.h"

/* One call of the driver that may load a module. On the caller's stack, between begin and end. */
struct cupti_watch {
	struct cupti_watch *outer;
	bool listening;
	unsigned modules; /* loaded by this thread meanwhile */
	char *cubin;      /* of the first of them; malloc'ed; NULL: none, or no memory */
	size_t size;
};

/*
 * Listens from here to cupti_end, if --cupti was given: opens libcupti at the first time, and holds
 * CUPTI's one subscription (more are refused) only while some thread is between the two. So a
 * profiler of the program can come at any other time, and one that is there already keeps it: then
 * nothing is heard. Takes a lock of its own, that ranks below all others, and waits for no load of
 * another thread. w need not be initialised. Caller is inside the shim (recorder_enter).
 */
void cupti_begin(struct cupti_watch *w);
/* The caller owns w->cubin then. */
void cupti_end(struct cupti_watch *w);

/*
 * FACTs of what is new: which libcupti with its version, or why there is none; who refused the
 * subscription, once. 0 or -errno. Caller holds load_lock.
 */
int cupti_write_facts(struct bundle_writer *w);

/* After fork. */
void cupti_forget(void);

#endif
