/* SPDX-License-Identifier: MIT */
/* One launch of a graph with the contents around some of its kernels. */
#ifndef SHIM_GRAPH_RECORD_H
#define SHIM_GRAPH_RECORD_H

#include "shim/graphs.h"

/*
 * Launches, once, a copy of g that copies the memory of the claimed kernels before and after each,
 * and writes LAUNCH and AFTER of them; those that do not fit the buffer are given back, to be
 * claimed by a later launch. Settles all of them. Waits for the stream, a bounded time. Where no
 * copy can be launched, exec itself is; its result is returned. per_thread: stream 0 is the
 * thread's.
 */
CUresult graph_record(struct exec_graph *g, struct graph_kernel **claimed, size_t count,
		      CUgraphExec exec, CUstream stream, bool per_thread,
		      graph_launch_function *go);

/* Launches exec and writes LAUNCH of the claimed kernels without contents: why says the reason. */
CUresult graph_record_without(struct graph_kernel **claimed, size_t count, const char *why,
			      CUgraphExec exec, CUstream stream, graph_launch_function *go);

/* After fork. */
void graph_record_forget(void);

#endif
