/* SPDX-License-Identifier: MIT */
/* Device memory at recorded addresses: reserved once, mapped and restored launch by launch. */
#ifndef REPLAY_MEMORY_H
#define REPLAY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "drv/driver.h"
#include "kernelab/error.h"
#include "replay/change.h"
#include "replay/compare.h"
#include "replay/contents.h"
#include "replay/cost.h"
#include "replay/variables.h"

#define STAGING_BYTES (32u << 20)

/* Belongs to one worker and its thread; the device's context is current in every call. */
struct memory {
	const struct driver *driver;
	CUdevice device;
	struct stopwatch *watch;
	struct ranges reserved;          /* granted at the recorded addresses */
	struct ranges host;              /* taken in this process for host memory */
	struct ranges refused;           /* given elsewhere by the driver, and returned to it */
	const struct contents *contents; /* of the launch that is mapped now; NULL: none */
	CUmemGenericAllocationHandle *handles; /* a piece each */
	CUdeviceptr *pristine; /* a piece each: device copy of the contents before; or NULL */
	size_t mapped;         /* pieces mapped so far */
	const struct variables *variables; /* of the module that is run; see memory_use_variables */
	struct comparer comparer;
	uint8_t *staging; /* pinned, STAGING_BYTES; allocated with the first launch */
};

/*
 * Reserves the (settled) ranges at exactly their addresses. Call before anything else allocates.
 * 0; -EADDRNOTAVAIL if some were refused: they are in m->refused and err names the first, the
 * others are reserved and usable.
 */
int memory_reserve(struct memory *m, const struct driver *driver, CUdevice device,
		   struct stopwatch *watch, const struct reservations *wanted, struct error *err);

/*
 * Maps the launch's pieces, and nothing else, in place of those mapped before, and makes a device
 * copy of the contents where memory allows. `contents` is borrowed until the next call.
 * -EADDRNOTAVAIL, -ENOMEM or -EIO with the driver's words.
 */
int memory_map(struct memory *m, const struct contents *contents, struct error *err);
void memory_unmap(struct memory *m);

/* Module variables are restored to and read from these places until the next call. Borrowed. */
void memory_use_variables(struct memory *m, const struct variables *variables);

/* Writes all contents as they were before the launch. Waits for it. */
int memory_restore(struct memory *m, struct error *err);

/* Sets those bytes to `fill`, on top of restored contents. */
int memory_fill(struct memory *m, const struct byteset *bytes, uint8_t fill, struct error *err);

/* Changes float inputs, on top of restored contents. */
int memory_change(struct memory *m, const struct change *change, struct error *err);

/*
 * Reads back what differs from before the launch: found on the device where there is a device copy,
 * else by reading everything. With `only`, just the chunks that hold a byte of that set. `out` must
 * be fresh (snapshot_init).
 */
int memory_read(struct memory *m, const struct byteset *only, struct snapshot *out,
		struct error *err);

#endif
