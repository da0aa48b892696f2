/* SPDX-License-Identifier: MIT */
/*
 * Executable graphs of the program: their kernels are counted at each launch, and recorded with
 * contents by launching, once, a copy of the graph that also copies memory.
 */
#ifndef SHIM_GRAPHS_H
#define SHIM_GRAPHS_H

#include <stdbool.h>
#include <stddef.h>

#include "drv/entries.h"
#include "shim/graph_history.h"
#include "shim/record_launch.h"

/* A kernel node. Lives as long as its graph. */
struct graph_kernel {
	CUgraphNode original; /* of the program's graph, which may be gone: only compared */
	CUgraphNode node;     /* of the shim's clone */
	CUcontext context;    /* NULL: that of the launch */
	struct launch_call call;
	struct launch_facts facts; /* of call; seq is set at each launch */
	unsigned char *params;
	CUlaunchAttribute attributes[2];
	struct graph_history *history; /* of its recording launches; NULL: none */
};

struct exec_graph {
	CUgraph clone; /* NULL: untreated says why */
	unsigned long long flags;
	const char *untreated; /* static */
	struct graph_kernel *kernels;
	size_t count;
};

/* The driver calls of these names succeeded. Take the locks. */
void graphs_instantiated(CUgraphExec exec, CUgraph graph, unsigned long long flags);
void graphs_updated(CUgraphExec exec, CUgraph graph);
void graphs_kernel_set(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p);
/* Something else of it changed: what follows is counted only. how: static, for the reader. */
void graphs_changed(CUgraphExec exec, const char *how);
/* It is about to be destroyed. */
void graphs_destroying(CUgraphExec exec);

typedef CUresult CUDAAPI graph_launch_function(CUgraphExec, CUstream);

/* Launches exec, or its recording copy, by go. What go returns for exec is returned. */
CUresult graphs_launch(CUgraphExec exec, CUstream stream, bool per_thread,
		       graph_launch_function *go);

/* After fork. */
void graphs_forget(void);

#endif
