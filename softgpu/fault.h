/* SPDX-License-Identifier: MIT */
/* Faults on request: the n-th call of an entry fails or stalls, to test what calls the driver. */
#ifndef SOFTGPU_FAULT_H
#define SOFTGPU_FAULT_H

#include <stdbool.h>

#include "drv/entries.h"

/*
 * Reads KERNELAB_SOFTGPU_FAULT: a comma-separated list of ENTRY:N:RESULT (that call returns the
 * CUresult number and does nothing else), ENTRY:N:stall:SECONDS (it waits, then does its work),
 * ENTRY:N:lose (it returns success and does nothing, as if its work never ended); N+ stands for
 * that call and all later ones. ENTRY@DEVICE counts calls only while that device is the one that
 * cuDeviceGet was last asked for. ENTRY is a row of drv/entries.h; those that need no cuInit cannot
 * fail. False with a log line where it makes no sense. Called once, by cuInit.
 */
bool fault_read(void);

/*
 * Counts a call of that entry; stalls; the result that it must return, else CUDA_SUCCESS. *lose: it
 * must return that success at once.
 */
CUresult fault_take(const char *entry, bool *lose);

/* cuDeviceGet was asked for that device. */
void fault_device(int ordinal);

/* First line of an entry that has no API_SCOPE of its own. */
#define API_FAULT()                                                \
	do {                                                       \
		bool lose_;                                        \
		CUresult injected_ = fault_take(__func__, &lose_); \
		if (injected_ != CUDA_SUCCESS || lose_)            \
			return injected_;                          \
	} while (0)

#endif
