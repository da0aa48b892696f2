/* SPDX-License-Identifier: MIT */
/* The device memory that a launch's parameters reach. */
#ifndef SHIM_REGIONS_H
#define SHIM_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "drv/entries.h"
#include "kernelab/bundle.h"
#include "kernelab/dtype.h"

struct regions {
	struct record_region *items;
	size_t count, capacity;
	const char *missing; /* memory of the launch that is not among them, static; or NULL */
	const char *
		*unfound; /* module variables that the driver did not find; names of the image */
	size_t unfound_count, unfound_capacity;
	CUresult unfound_result; /* its answer, for the last of them */
	bool measured;           /* reads and writes of the items are all that the launch touches */
	char extents[240];       /* why they are not measured, or what limits them; "" */
};

/* Where copies of memory lie that the device made at another time. */
struct copies_source {
	/* A device address of the copy of [address, address + bytes), 0: there is none. */
	CUdeviceptr (*find)(const void *data, uint64_t address, uint64_t bytes);
	const void *data;
};

/*
 * Adds the allocation around `address`, if it is device memory (or host memory that the device
 * reaches); memory of the driver's virtual memory management is taken as far as it is mapped in one
 * piece. param_offset: of the word that holds it, or REGIONS_NO_PARAM. 0 (also where it points
 * nowhere) or -ENOMEM.
 */
#define REGIONS_NO_PARAM UINT64_MAX
int regions_add(struct regions *r, uint64_t address, uint64_t param_offset);
/*
 * Adds a module variable; name lives as long as the process. Pointers into it that regions_add
 * meets later are noted with it. 0 or -ENOMEM.
 */
int regions_add_global(struct regions *r, uint64_t base, uint64_t size, const char *name,
		       enum dtype dtype, bool constant);
/* Sorts by address and merges what overlaps; module variables stay by themselves. */
void regions_merge(struct regions *r);
/* Forgets reads and writes. */
void regions_forget_extents(struct regions *r);
/* Drops regions that no parameter leads to and that a measured launch does not touch. */
void regions_drop_untouched(struct regions *r);
void region_free(struct record_region *region);
void regions_free(struct regions *r);

/*
 * Waits until all work of the stream is done: true. Polls, at most `seconds`; *result is then
 * CUDA_ERROR_NOT_READY. Any other error of the stream is returned in *result too.
 */
bool stream_wait(CUstream stream, double seconds, CUresult *result);

#endif
