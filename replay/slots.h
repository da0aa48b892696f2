/* SPDX-License-Identifier: MIT */
/* Chunks on the device, found again by what they hold: recorded contents cross the bus once. */
#ifndef REPLAY_SLOTS_H
#define REPLAY_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "drv/driver.h"
#include "kernelab/hash.h"

/* One chunk of device memory. */
struct slot {
	CUdeviceptr address;
	struct hash128 identity; /* of what it holds; zero: of one launch alone */
	uint64_t turn;           /* launch that used it last */
	uint32_t next;           /* of the same bucket, plus one; 0: last */
};

/* Belongs to one context and thread. Zero-initialised with the driver set = empty. */
struct slots {
	const struct driver *driver;
	struct slot *items;
	size_t count, capacity;
	CUdeviceptr *blocks; /* allocations that the slots are parts of */
	size_t block_count, block_capacity;
	uint32_t *buckets; /* first slot, plus one */
	size_t bucket_count;
	size_t hand;   /* where to look for a slot that is not used */
	size_t plenty; /* slots from which on those of earlier launches are used again first */
	uint64_t turn; /* of the present launch */
	bool full;     /* no room for further blocks beside the present launch */
};

/* The next launch begins: slots that it does not use may be taken away from now on. */
void slots_begin(struct slots *s);

/* Address of the slot that holds this, used by the present launch from now on; 0: none. */
CUdeviceptr slots_find(struct slots *s, struct hash128 identity);

/*
 * A slot for the present launch, to be filled by the caller: of device memory of which an eighth
 * stays free, or one that earlier launches left; that first once slots hold a quarter of it. Zero
 * identity: never to be found. 0: there is no room.
 */
CUdeviceptr slots_take(struct slots *s, struct hash128 identity);

/* The slot that holds this could not be filled: it is not found any more. */
void slots_forget(struct slots *s, struct hash128 identity);

/* Gives all device memory back. */
void slots_clear(struct slots *s);

#endif
