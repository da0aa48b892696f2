/* SPDX-License-Identifier: MIT */
/* One launch: its checks, its run on the machine, what a fault does to its context. */
#ifndef SOFTGPU_LAUNCH_H
#define SOFTGPU_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/context.h"
#include "softgpu/module.h"

struct function *function_get(CUfunction handle); /* or NULL */
/* For launches, which take a CUkernel cast to CUfunction too. NULL for neither. */
struct function *launch_function(CUfunction handle);

struct launch {
	struct function *function;
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	CUstream stream;
	void **params; /* one pointer a parameter; or NULL */
	void **extra;  /* CU_LAUNCH_PARAM_*; or NULL */
	bool cooperative;
};

/*
 * Checks all limits. On a stream that is being captured that is all, and the launch becomes a node
 * (softgpu/graph.h). Else runs the launch to its end in the calling thread. A fault is logged with
 * kernel, PTX line, block, thread and address and ends the device for the process (device_lost): as
 * on a GPU, the launch itself returns CUDA_SUCCESS, and later calls return the error (with
 * CUDA_LAUNCH_BLOCKING=1 the launch does too). Under the API lock.
 */
CUresult launch_run(const struct launch *l, struct context *context);

struct graph_node;
/* Checks as launch_run does and makes the launch what a kernel node of a graph does. */
CUresult launch_into_node(const struct launch *l, struct graph_node *node);

/*
 * Blocks of block_threads that fit on a multiprocessor, by threads, blocks, shared memory and,
 * where the cubin tells them, registers (allocated in units of 8 a thread, 256 a warp).
 */
int launch_occupancy(const struct function *f, uint32_t block_threads, uint64_t shared_bytes);

#endif
