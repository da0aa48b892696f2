/* SPDX-License-Identifier: MIT */
/* Where restored memory lies: address ranges, rounded out and merged. Pure arithmetic, no driver.
 */
#ifndef REPLAY_LAYOUT_H
#define REPLAY_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/records.h"

#define RESERVE_BYTES (32ull << 20) /* a hint at a multiple of this is granted (docs/replay.md) */
#define MAP_BYTES     (2ull << 20)  /* granularity of physical memory */

struct range {
	uint64_t base, size;
};

/* Sorted by base, disjoint, not touching, once ranges_merge was called. Zero-initialised = empty.
 */
struct ranges {
	struct range *items;
	size_t count, capacity;
};

void ranges_free(struct ranges *r);

/* Appends [base, base + size); size 0 is ignored. -EOVERFLOW if it wraps, -ENOMEM. */
int ranges_add(struct ranges *r, uint64_t base, uint64_t size);

/*
 * Appends the range rounded out to multiples of `unit` (a power of two). -EOVERFLOW if rounding
 * leaves the 64-bit address space.
 */
int ranges_add_rounded(struct ranges *r, uint64_t base, uint64_t size, uint64_t unit);

/* Sorts, and merges what overlaps or touches. */
void ranges_merge(struct ranges *r);

/* The range that holds all of [base, base + size), or NULL. Needs merged ranges. */
const struct range *ranges_find(const struct ranges *r, uint64_t base, uint64_t size);

/* Sum of the sizes. */
uint64_t ranges_bytes(const struct ranges *r);

/*
 * True for memory that is restored at its recorded address; false for module globals, which lie
 * where the module that is loaded has them. In a launch's contents these have stand-in addresses,
 * which are no addresses of any device.
 */
bool region_is_addressed(const struct record_region *region);
#define STAND_IN_BASE      (1ull << 62)
#define STAND_IN_BYTES_MAX (1ull << 36) /* of one variable */

static inline bool address_is_stand_in(uint64_t address)
{
	return address >= STAND_IN_BASE;
}

/* Where region `index` of a launch lies in its contents: the same place in a chunk as recorded. */
uint64_t layout_address(const struct record_region *regions, size_t index);

/* What must be reserved in a replaying process before anything else is. */
struct reservations {
	struct ranges device; /* at the driver; managed memory is restored as device memory */
	struct ranges host;   /* in the process; none of them overlaps or touches one of device */
	/* Host memory that is restored as device memory: the driver's granule holds both. */
	struct ranges host_as_device;
};

void reservations_free(struct reservations *r);

/*
 * Adds what these regions need: whole recorded reservations (an expandable segment is granted only
 * whole), host memory rounded out to MAP_BYTES, everything else rounded out to RESERVE_BYTES. Call
 * layout_settle after the last launch. -EOVERFLOW for an address range that wraps.
 */
int layout_add_reservations(struct reservations *reserve, const struct record_region *regions,
			    size_t count);

/* Merges, and moves host ranges that overlap or touch a device range to device. 0 or -ENOMEM. */
int layout_settle(struct reservations *reserve);

/*
 * The pieces of one launch, to be backed with physical memory but for those at stand-in addresses:
 * its regions rounded out to MAP_BYTES and merged. `pieces` must be empty. Everything else stays
 * unmapped, so that a stray access faults.
 */
int layout_pieces(struct ranges *pieces, const struct record_region *regions, size_t count);

#endif
