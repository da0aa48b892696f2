/* SPDX-License-Identifier: MIT */
/* Other conditions for a launch that its result must not depend on: neighbours, caches, room. */
#ifndef REPLAY_NEIGHBOUR_H
#define REPLAY_NEIGHBOUR_H

#include "drv/driver.h"
#include "kernelab/error.h"

/* W(id, name) */
#define DISTURBANCES(W)                                                           \
	W(ROOM, "one block a multiprocessor") /* by more dynamic shared memory */ \
	W(FIRST, "a spinning kernel beside warps 0, 4, …")                        \
	W(THIRD, "a spinning kernel beside warps 2, 6, …")                        \
	W(COLD, "caches emptied")

enum disturbance {
	DISTURB_NONE,
#define W(id, name) DISTURB_##id,
	DISTURBANCES(W)
#undef W
		DISTURB_END
};
#define DISTURB_WAYS (DISTURB_END - 1u)

/* The kernels and memory that it takes. Zeros: not opened yet. */
struct neighbour {
	const struct driver *driver;
	CUmodule module;
	CUfunction spin, gate;
	CUstream stream;
	CUevent before, after;
	CUdeviceptr words;   /* stop, started, sink */
	CUdeviceptr emptier; /* twice the second-level cache; 0: not allocated */
	size_t emptier_bytes;
	unsigned multiprocessors;
};

/* Opens it where it is not open. 0, or -errno with err, and all is closed again: *n holds zeros. */
int neighbour_open(struct neighbour *n, const struct driver *driver, CUdevice device,
		   struct error *err);

/*
 * Enqueued on the stream before the launch: what disturbs it begins. `cycles`: how long a spinning
 * kernel lasts at most, where the launch does not fit beside it or does not end.
 */
CUresult neighbour_begin(struct neighbour *n, enum disturbance way, uint64_t cycles,
			 CUstream stream);
/* Behind the launch: it ends. */
CUresult neighbour_end(struct neighbour *n, enum disturbance way, CUstream stream);

/* Gives the emptier's memory back: launches may need it. */
void neighbour_rest(struct neighbour *n);

#endif
