/* SPDX-License-Identifier: MIT */
/* From the set of written bytes to the few extents, one or more an argument, that results list. */
#ifndef REPLAY_EXTENTS_H
#define REPLAY_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/records.h"
#include "replay/byteset.h"

/* A pointer that the launch gets. */
struct pointer {
	uint64_t address;
	uint64_t limit; /* end of its region */
	uint32_t arg;   /* index into the family's args, plus one; 0 unknown */
	uint32_t dtype; /* of the elements */
	bool stored;    /* the kernel's code stores through it, as far as can be told */
};

#define EXTENTS_PER_POINTER 64u  /* more are merged at their smallest gaps */
#define EXTENTS_GAP_BYTES   256u /* smaller gaps are always merged */

struct extents {
	struct record_extent *items; /* sorted by address, disjoint */
	size_t count, capacity;
};

void extents_free(struct extents *e);

/* Sorts pointers by address and drops those of equal address (an argument beats an unknown one). */
void pointers_sort(struct pointer *pointers, size_t *count);

/*
 * Builds extents of the written bytes. A byte belongs to the greatest pointer at or below it inside
 * the same region; runs are rounded out to whole elements of that pointer, cut at the next pointer,
 * and merged: one extent for a pointer where at least a quarter of the bytes between its first
 * and its last written byte are written, else gaps below EXTENTS_GAP_BYTES and then the smallest
 * ones until EXTENTS_PER_POINTER are left. Merged gaps hold bytes that the launch does not write:
 * they are equal on both sides unless one strays there. `pointers` must be sorted. 0 or -ENOMEM.
 */
int extents_build(struct extents *out, const struct byteset *written,
		  const struct pointer *pointers, size_t count);

/* Index of the extent that holds the address, or SIZE_MAX. */
size_t extents_find(const struct extents *e, uint64_t address);

#endif
