/* SPDX-License-Identifier: MIT */
/* Device memory at recorded addresses: reserved once, mapped launch by launch. */
#ifndef REPLAY_MEMORY_H
#define REPLAY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "drv/driver.h"
#include "kernelab/error.h"
#include "replay/cost.h"
#include "replay/layout.h"

/* Belongs to one worker and its thread; the device's context is current in every call. */
struct memory {
	const struct driver *driver;
	CUdevice device;
	struct stopwatch *watch;
	struct ranges reserved; /* granted at the recorded addresses */
	struct ranges host;     /* taken in this process for host memory */
	struct ranges refused;  /* given elsewhere by the driver, and returned to it */
	struct ranges mapped;   /* pieces with physical memory, in the order of addresses */
	CUmemGenericAllocationHandle *handles; /* a piece each */
	size_t handle_capacity;
};

/*
 * Reserves the (settled) ranges at exactly their addresses. Call before anything else allocates.
 * 0; -EADDRNOTAVAIL if some were refused: they are in m->refused and err names the first, the
 * others are reserved and usable.
 */
int memory_reserve(struct memory *m, const struct driver *driver, CUdevice device,
		   struct stopwatch *watch, const struct reservations *wanted, struct error *err);

/*
 * Maps these pieces (merged), and nothing else, in place of those mapped before; a piece that was
 * mapped before stays, with what it holds. -EADDRNOTAVAIL, -ENOMEM or -EIO with the driver's words:
 * some are mapped then.
 */
int memory_map(struct memory *m, const struct ranges *pieces, struct error *err);
void memory_unmap(struct memory *m);

#endif
