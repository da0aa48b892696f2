/* SPDX-License-Identifier: MIT */
/* Wrappers of executable graphs: made, changed, launched, destroyed. */
#include "shim/wrapping.h"

#include <string.h>

#include "shim/graphs.h"

SHIM_EXPORT CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
							 unsigned long long flags)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuGraphInstantiateWithFlags);
	r = real.cuGraphInstantiateWithFlags(exec, graph, flags);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		graphs_instantiated(*exec, graph, flags);
		recorder_leave(&scope);
	}
	return r;
}

/* As CUDA 10 and 11 call it. */
#define INSTANTIATE_LOG(entry)                                                                   \
	SHIM_EXPORT CUresult CUDAAPI entry(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, \
					   char *log, size_t size)                               \
	{                                                                                        \
		struct recorder_scope scope;                                                     \
		CUresult r;                                                                      \
                                                                                                 \
		REAL_OR_RETURN(entry);                                                           \
		r = real.entry(exec, graph, error, log, size);                                   \
		if (r == CUDA_SUCCESS && recorder_enter(&scope)) {                               \
			graphs_instantiated(*exec, graph, 0);                                    \
			recorder_leave(&scope);                                                  \
		}                                                                                \
		return r;                                                                        \
	}

INSTANTIATE_LOG(cuGraphInstantiate)
INSTANTIATE_LOG(cuGraphInstantiate_v2)

#define INSTANTIATE(entry)                                                        \
	SHIM_EXPORT CUresult CUDAAPI entry(CUgraphExec *exec, CUgraph graph,      \
					   CUDA_GRAPH_INSTANTIATE_PARAMS *params) \
	{                                                                         \
		struct recorder_scope scope;                                      \
		CUresult r;                                                       \
                                                                                  \
		REAL_OR_RETURN(entry);                                            \
		r = real.entry(exec, graph, params);                              \
		if (r == CUDA_SUCCESS && recorder_enter(&scope)) {                \
			graphs_instantiated(*exec, graph, params->flags);         \
			recorder_leave(&scope);                                   \
		}                                                                 \
		return r;                                                         \
	}

INSTANTIATE(cuGraphInstantiateWithParams)
INSTANTIATE(cuGraphInstantiateWithParams_ptsz)

#define LAUNCH_GRAPH(entry, per_thread)                                       \
	SHIM_EXPORT CUresult CUDAAPI entry(CUgraphExec exec, CUstream stream) \
	{                                                                     \
		struct recorder_scope scope;                                  \
		CUresult r;                                                   \
                                                                              \
		REAL_OR_RETURN(entry);                                        \
		if (!recorder_enter(&scope))                                  \
			return real.entry(exec, stream);                      \
		r = graphs_launch(exec, stream, per_thread, real.entry);      \
		recorder_leave(&scope);                                       \
		return r;                                                     \
	}

LAUNCH_GRAPH(cuGraphLaunch, false)
LAUNCH_GRAPH(cuGraphLaunch_ptsz, true)

SHIM_EXPORT CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec)
{
	struct recorder_scope scope;

	REAL_OR_RETURN(cuGraphExecDestroy);
	/* Before it: afterwards another thread may already have got the same handle anew. */
	if (exec && recorder_enter(&scope)) {
		graphs_destroying(exec);
		recorder_leave(&scope);
	}
	return real.cuGraphExecDestroy(exec);
}

SHIM_EXPORT CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
						  CUgraphExecUpdateResultInfo *info)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuGraphExecUpdate_v2);
	r = real.cuGraphExecUpdate_v2(exec, graph, info);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		graphs_updated(exec, graph);
		recorder_leave(&scope);
	}
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node,
					       CUgraphExecUpdateResult *result)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuGraphExecUpdate);
	r = real.cuGraphExecUpdate(exec, graph, node, result);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		graphs_updated(exec, graph);
		recorder_leave(&scope);
	}
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
							       const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuGraphExecKernelNodeSetParams_v2);
	r = real.cuGraphExecKernelNodeSetParams_v2(exec, node, p);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		graphs_kernel_set(exec, node, p);
		recorder_leave(&scope);
	}
	return r;
}

_Static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS, kern) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1),
	       "the newer struct begins as the older one");

SHIM_EXPORT CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
							    const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	CUDA_KERNEL_NODE_PARAMS now = {0};
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuGraphExecKernelNodeSetParams);
	r = real.cuGraphExecKernelNodeSetParams(exec, node, p);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		memcpy(&now, p, sizeof(*p));
		graphs_kernel_set(exec, node, &now);
		recorder_leave(&scope);
	}
	return r;
}

/* Changes that a clone does not follow. */
#define CHANGED(entry, why, parameters, ...)                       \
	SHIM_EXPORT CUresult CUDAAPI entry parameters              \
	{                                                          \
		struct recorder_scope scope;                       \
		CUresult r;                                        \
                                                                   \
		REAL_OR_RETURN(entry);                             \
		r = real.entry(__VA_ARGS__);                       \
		if (r == CUDA_SUCCESS && recorder_enter(&scope)) { \
			graphs_changed(exec, why);                 \
			recorder_leave(&scope);                    \
		}                                                  \
		return r;                                          \
	}

CHANGED(cuGraphExecMemcpyNodeSetParams, "a copy of its executable graph was changed",
	(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p, CUcontext context), exec, node,
	p, context)
CHANGED(cuGraphExecMemsetNodeSetParams, "a fill of its executable graph was changed",
	(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context),
	exec, node, p, context)
CHANGED(cuGraphExecHostNodeSetParams, "a host call of its executable graph was changed",
	(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p), exec, node, p)
CHANGED(cuGraphExecNodeSetParams, "a node of its executable graph was changed",
	(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p), exec, node, p)
CHANGED(cuGraphNodeSetEnabled, "a node of its executable graph was switched off or on",
	(CUgraphExec exec, CUgraphNode node, unsigned int enabled), exec, node, enabled)
