/* SPDX-License-Identifier: MIT */
/* Our own kernels: restore, compare, fill and change memory where it lies. */
#ifndef REPLAY_KERNELS_H
#define REPLAY_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "drv/driver.h"
#include "kernelab/bundle.h"
#include "kernelab/error.h"
#include "replay/change.h"

#define SLICES      8u /* of a chunk: what is restored or compared by one block */
#define SLICE_BYTES (CHUNK_BYTES / SLICES)

/* A slice's flags after a comparison. */
#define SLICE_CHANGED (1u << 0) /* differs from the pristine copy */
#define SLICE_DIFFERS (1u << 1) /* differs from the reference */

struct kernels {
	const struct driver *driver;
	CUmodule module;
	CUfunction restore, compare, fill, change, look;
};

/* A run of bytes on the device. */
struct device_run {
	uint64_t address, size;
};

/*
 * Compiles them, and tries restore and compare on chunks of which the answer is known. -ENOTSUP
 * with the driver's words where it has no PTX compiler; -EIO where an answer is wrong.
 */
int kernels_open(struct kernels *k, const struct driver *driver, CUstream stream,
		 struct error *err);

/*
 * Tables are device arrays of addresses, a chunk each, multiples of 16; flags a byte a slice. All
 * are enqueued on the stream.
 */

/* Copies pristine to live where SLICE_CHANGED is set; not where the pristine address is 0. */
CUresult kernels_restore(const struct kernels *k, CUdeviceptr live, CUdeviceptr pristine,
			 CUdeviceptr flags, size_t chunks, CUstream stream);

/* Sets all flags. Both, where the pristine address is 0; SLICE_DIFFERS, where that of the reference
 * is. */
CUresult kernels_compare(const struct kernels *k, CUdeviceptr live, CUdeviceptr pristine,
			 CUdeviceptr reference, CUdeviceptr flags, size_t chunks, CUstream stream);

/* Sets the bytes of `count` device_runs. Meant for short ones. */
CUresult kernels_fill(const struct kernels *k, CUdeviceptr runs, size_t count, uint8_t byte,
		      CUstream stream);

/* Changes the elements of `count` change_rows, as replay/change.h defines it. */
CUresult kernels_change(const struct kernels *k, CUdeviceptr rows, size_t count,
			const struct change *change, CUstream stream);

/*
 * Sets flags[row.index] of the rows that hold an element of that enum look; `count` change_rows as
 * replay/look.h makes them.
 */
CUresult kernels_look(const struct kernels *k, CUdeviceptr rows, size_t count, uint32_t look,
		      CUdeviceptr flags, CUstream stream);

#endif
