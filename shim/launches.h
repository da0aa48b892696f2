/* SPDX-License-Identifier: MIT */
/* Every launch of the process: counted, and the first of each kernel and shape class recorded. */
#ifndef SHIM_LAUNCHES_H
#define SHIM_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"
#include "kernelab/bundle.h"

/* A launch call as the program made it. */
struct launch_call {
	const char *entry_point; /* "cuLaunchKernelEx" */
	CUfunction function;
	uint32_t grid[3], block[3], shared_bytes;
	CUstream stream;
	bool per_thread_stream; /* _ptsz: stream 0 is the thread's own */
	void **params, **extra; /* as given */
	const CUlaunchAttribute *attributes;
	unsigned attribute_count;
};

/* What launches_before leaves for launches_after. */
struct recording;

/*
 * Counts the launch and returns 0 if there is nothing to record of it, which nearly always is so;
 * else its number, for launches_before. No lock, no allocation, no system call; leaves errno alone.
 */
uint64_t launches_pass(CUfunction function, const uint32_t grid[3], void **params, void **extra);

/*
 * Decides on a launch that launches_pass did not let pass, and counts it; if it is to be recorded
 * writes KERNEL and LAUNCH with the contents before, and returns what launches_after needs; else
 * NULL. Never changes anything the launch depends on.
 */
struct recording *launches_before(const struct launch_call *call, uint64_t seq);

/* The real launch returned `result`: waits, a bounded time, and writes AFTER. Frees it. NULL:
 * nothing. */
void launches_after(struct recording *r, CUresult result);

/* Launches seen and recorded. */
void launches_totals(uint64_t *seen, uint64_t *recorded);

/* Writes CLASS and UNRECORDED records of what changed since the last time. Takes table_lock. */
void launches_flush(struct bundle_writer *w);

void launches_forget(void);

#endif
