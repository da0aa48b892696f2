/* SPDX-License-Identifier: MIT */
/* API: stream capture and graphs of kernel, copy and fill nodes. */
#include "softgpu/device.h"

#include <string.h>

#include "softgpu/graph.h"
#include "softgpu/handle.h"
#include "softgpu/log.h"
#include "softgpu/stream.h"

static struct graph *graph_get(CUgraph handle)
{
	return handle_get(HANDLE_GRAPH, (uint64_t)handle);
}

static struct graph *exec_get(CUgraphExec handle)
{
	return handle_get(HANDLE_GRAPH_EXEC, (uint64_t)handle);
}

static struct graph_node *node_get(CUgraphNode handle)
{
	return handle_get(HANDLE_GRAPH_NODE, (uint64_t)handle);
}

static CUresult not_supported(const char *entry)
{
	softgpu_log(SOFTGPU_LOG_ERROR, "%s is not supported", entry);
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- capture ---- */

API cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
	API_SCOPE(NEED_LIVE);
	struct stream *s = stream_get(hStream);

	if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (!s) /* the special streams cannot be captured */
		return stream_valid(hStream, api.context->handle)
			       ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
			       : CUDA_ERROR_INVALID_HANDLE;
	if (s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	s->capture = graph_new(s->context);
	s->last = NULL;
	s->invalid = false;
	return s->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
	API_SCOPE(NEED_LIVE);
	struct stream *s = stream_get(hStream);
	struct graph *g;

	if (!phGraph)
		return CUDA_ERROR_INVALID_VALUE;
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	g = s->capture;
	s->capture = NULL;
	if (s->invalid) {
		graph_free(g);
		*phGraph = NULL;
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	*phGraph = (CUgraph)g->handle;
	return CUDA_SUCCESS;
}

/* ---- graphs ---- */

API cuGraphDestroy(CUgraph hGraph)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = graph_get(hGraph);

	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	graph_free(g);
	return CUDA_SUCCESS;
}

API cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = graph_get(originalGraph), *clone;

	if (!phGraphClone || !g)
		return CUDA_ERROR_INVALID_VALUE;
	clone = graph_clone(g, false);
	if (!clone)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*phGraphClone = (CUgraph)clone->handle;
	return CUDA_SUCCESS;
}

API cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = graph_get(hClonedGraph);
	struct graph_node *n = g ? graph_find(g, (uint64_t)hOriginalNode) : NULL;

	if (!phNode || !n)
		return CUDA_ERROR_INVALID_VALUE;
	*phNode = (CUgraphNode)n->handle;
	return CUDA_SUCCESS;
}

/* Handles of nodes into a caller's array: *count is its room, then how many there are. */
static void list_nodes(struct graph_node *const *nodes, size_t n, CUgraphNode *out, size_t *count)
{
	for (size_t i = 0; out && i < *count; i++)
		out[i] = i < n ? (CUgraphNode)nodes[i]->handle : NULL;
	if (!out || n < *count)
		*count = n;
}

API cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
	API_SCOPE(NEED_INIT);
	const struct graph *g = graph_get(hGraph);

	if (!g || !numNodes)
		return CUDA_ERROR_INVALID_VALUE;
	list_nodes(g->nodes, g->count, nodes, numNodes);
	return CUDA_SUCCESS;
}

API cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
	API_SCOPE(NEED_INIT);
	const struct graph_node *n = node_get(hNode);

	if (!n || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = n->type;
	return CUDA_SUCCESS;
}

/* Edges carry no data here. */
API cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
				  CUgraphEdgeData *edgeData, size_t *numDependencies)
{
	API_SCOPE(NEED_INIT);
	const struct graph_node *n = node_get(hNode);

	if (!n || !numDependencies)
		return CUDA_ERROR_INVALID_VALUE;
	list_nodes(n->needs, n->need_count, dependencies, numDependencies);
	if (edgeData && dependencies)
		memset(edgeData, 0, *numDependencies * sizeof(*edgeData));
	return CUDA_SUCCESS;
}

static bool needs(const struct graph_node *n, const struct graph_node *needed)
{
	for (size_t i = 0; i < n->need_count; i++)
		if (n->needs[i] == needed)
			return true;
	return false;
}

API cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
				    CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
	API_SCOPE(NEED_INIT);
	const struct graph_node *n = node_get(hNode);
	size_t found = 0;

	if (!n || !numDependentNodes)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n->graph->count; i++) {
		if (!needs(n->graph->nodes[i], n))
			continue;
		if (dependentNodes && found < *numDependentNodes)
			dependentNodes[found] = (CUgraphNode)n->graph->nodes[i]->handle;
		if (dependentNodes && edgeData && found < *numDependentNodes)
			memset(&edgeData[found], 0, sizeof(*edgeData));
		found++;
	}
	for (size_t i = found; dependentNodes && i < *numDependentNodes; i++)
		dependentNodes[i] = NULL;
	if (!dependentNodes || found < *numDependentNodes)
		*numDependentNodes = found;
	return CUDA_SUCCESS;
}

API cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
			      const CUgraphEdgeData *edgeData, size_t numDependencies)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = graph_get(hGraph);

	if (!g || (numDependencies && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numDependencies; i++) {
		struct graph_node *a = node_get(from[i]), *b = node_get(to[i]);

		if (!a || !b || a->graph != g || b->graph != g || a == b || needs(b, a))
			return CUDA_ERROR_INVALID_VALUE;
		if (!graph_need(b, a))
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

API cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
				 const CUgraphEdgeData *edgeData, size_t numDependencies)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = graph_get(hGraph);

	if (!g || (numDependencies && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numDependencies; i++) {
		struct graph_node *a = node_get(from[i]), *b = node_get(to[i]);

		if (!a || !b || a->graph != g || b->graph != g || !graph_unneed(b, a))
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

/* ---- copies ---- */

/* One run of bytes; pitches do not matter then. */
static CUresult copy_read(struct graph_copy *out, const CUDA_MEMCPY3D *p)
{
	bool from_host, to_host;

	if (!p || p->Height > 1 || p->Depth > 1 || p->srcY || p->srcZ || p->dstY || p->dstZ)
		return p ? not_supported("a copy node of more than one row")
			 : CUDA_ERROR_INVALID_VALUE;
	from_host = p->srcMemoryType == CU_MEMORYTYPE_HOST;
	to_host = p->dstMemoryType == CU_MEMORYTYPE_HOST;
	if (p->srcMemoryType == CU_MEMORYTYPE_ARRAY || p->dstMemoryType == CU_MEMORYTYPE_ARRAY ||
	    (from_host && to_host))
		return not_supported("a copy node of arrays or within the host");
	*out = (struct graph_copy){
		.kind = from_host ? COPY_IN
			: to_host ? COPY_OUT
				  : COPY_WITHIN,
		.from = (from_host ? (uint64_t)p->srcHost : p->srcDevice) + p->srcXInBytes,
		.to = (to_host ? (uint64_t)p->dstHost : p->dstDevice) + p->dstXInBytes,
		.bytes = p->Height && p->Depth ? p->WidthInBytes : 0,
	};
	return CUDA_SUCCESS;
}

API cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
			 size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = graph_get(hGraph);
	struct graph_copy copy;
	struct graph_node *n;
	CUresult result;

	if (!phGraphNode || !g || (numDependencies && !dependencies) || !context_get(ctx))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numDependencies; i++)
		if (!node_get(dependencies[i]) || node_get(dependencies[i])->graph != g)
			return CUDA_ERROR_INVALID_VALUE;
	result = copy_read(&copy, copyParams);
	if (result != CUDA_SUCCESS)
		return result;
	n = graph_add(g, CU_GRAPH_NODE_TYPE_MEMCPY);
	if (!n)
		return CUDA_ERROR_OUT_OF_MEMORY;
	n->copy = copy;
	for (size_t i = 0; i < numDependencies; i++)
		if (!graph_need(n, node_get(dependencies[i])))
			return CUDA_ERROR_OUT_OF_MEMORY;
	*phGraphNode = (CUgraphNode)n->handle;
	return CUDA_SUCCESS;
}

/* ---- kernels ---- */

static struct graph_node *kernel_node(CUgraphNode handle)
{
	struct graph_node *n = node_get(handle);

	return n && n->type == CU_GRAPH_NODE_TYPE_KERNEL ? n : NULL;
}

API cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	API_SCOPE(NEED_INIT);
	const struct graph_node *n = kernel_node(hNode);

	if (!n || !nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	*nodeParams = (CUDA_KERNEL_NODE_PARAMS){
		.func = (CUfunction)n->function,
		.gridDimX = n->grid[0],
		.gridDimY = n->grid[1],
		.gridDimZ = n->grid[2],
		.blockDimX = n->block[0],
		.blockDimY = n->block[1],
		.blockDimZ = n->block[2],
		.sharedMemBytes = n->shared_bytes,
		.kernelParams = n->pointers,
		.ctx = (CUcontext)n->graph->context,
	};
	return CUDA_SUCCESS;
}

static CUresult set_kernel(struct graph_node *n, const CUDA_KERNEL_NODE_PARAMS *p)
{
	CUfunction handle = p->func ? p->func : (CUfunction)p->kern;
	struct launch l = {
		.function = launch_function(handle),
		.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
		.block = {p->blockDimX, p->blockDimY, p->blockDimZ},
		.shared_bytes = p->sharedMemBytes,
		.params = p->kernelParams,
		.extra = p->extra,
		.cooperative = n->cooperative,
	};

	return l.function ? launch_into_node(&l, n) : CUDA_ERROR_INVALID_HANDLE;
}

API cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
			    const CUgraphNode *dependencies, size_t numDependencies,
			    const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = graph_get(hGraph);
	struct graph_node *n;
	CUresult result;

	if (!phGraphNode || !g || !nodeParams || (numDependencies && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numDependencies; i++)
		if (!node_get(dependencies[i]) || node_get(dependencies[i])->graph != g)
			return CUDA_ERROR_INVALID_VALUE;
	if (!launch_function(nodeParams->func ? nodeParams->func : (CUfunction)nodeParams->kern))
		return CUDA_ERROR_INVALID_HANDLE;
	n = graph_add(g, CU_GRAPH_NODE_TYPE_KERNEL);
	result = n ? set_kernel(n, nodeParams) : CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; result == CUDA_SUCCESS && i < numDependencies; i++)
		if (!graph_need(n, node_get(dependencies[i])))
			result = CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS)
		*phGraphNode = (CUgraphNode)n->handle;
	return result;
}

API cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	API_SCOPE(NEED_INIT);
	struct graph_node *n = kernel_node(hNode);

	return n && nodeParams ? set_kernel(n, nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

API cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
				  CUkernelNodeAttrValue *value_out)
{
	API_SCOPE(NEED_INIT);
	const struct graph_node *n = kernel_node(hNode);

	if (!n || !value_out)
		return CUDA_ERROR_INVALID_VALUE;
	memset(value_out, 0, sizeof(*value_out));
	if (attr == CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE)
		value_out->cooperative = n->cooperative;
	else if (attr != CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION &&
		 attr != CU_KERNEL_NODE_ATTRIBUTE_PRIORITY)
		return not_supported("cuGraphKernelNodeGetAttribute of another attribute");
	return CUDA_SUCCESS;
}

/* ---- executable graphs ---- */

static CUresult instantiate(CUgraphExec *out, CUgraph handle, uint64_t flags)
{
	const struct graph *g = graph_get(handle);
	struct graph *exec;

	if (!out || !g ||
	    flags & ~(uint64_t)(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
				CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
				CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))
		return CUDA_ERROR_INVALID_VALUE;
	if (!graph_runnable(g))
		return CUDA_ERROR_INVALID_VALUE;
	exec = graph_clone(g, true);
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (CUgraphExec)exec->handle;
	return CUDA_SUCCESS;
}

API cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
	API_SCOPE(NEED_LIVE);
	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
		return CUDA_ERROR_INVALID_VALUE;
	return instantiate(phGraphExec, hGraph, flags);
}

/* The forms of CUDA 10 and 11: where and why it failed, which is not told here. */
static CUresult instantiate_log(CUgraphExec *exec, CUgraph g, CUgraphNode *error, char *log,
				size_t size)
{
	CUresult result = instantiate(exec, g, 0);

	if (error && result != CUDA_SUCCESS)
		*error = NULL;
	if (log && size)
		*log = 0;
	return result;
}

API cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
		       char *logBuffer, size_t bufferSize)
{
	API_SCOPE(NEED_LIVE);
	return instantiate_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

API cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
			  char *logBuffer, size_t bufferSize)
{
	API_SCOPE(NEED_LIVE);
	return instantiate_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

static CUresult instantiate_params(CUgraphExec *exec, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	CUresult result;

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	result = instantiate(exec, g, p->flags);
	p->hErrNode_out = NULL;
	p->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
					       : CUDA_GRAPH_INSTANTIATE_ERROR;
	return result;
}

API cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
				 CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	API_SCOPE(NEED_LIVE);
	return instantiate_params(phGraphExec, hGraph, instantiateParams);
}

API cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	API_SCOPE(NEED_LIVE);
	return instantiate_params(phGraphExec, hGraph, instantiateParams);
}

static CUresult launch_graph(CUgraphExec handle, CUstream stream, struct context *context)
{
	const struct graph *g = exec_get(handle);

	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_valid(stream, context->handle))
		return CUDA_ERROR_INVALID_HANDLE;
	if (graph_capturing(stream)) /* it would become a child graph */
		return graph_capture_refuse(stream);
	return graph_run(g, context, stream);
}

API cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	return launch_graph(hGraphExec, hStream, api.context);
}

API cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	return launch_graph(hGraphExec, hStream, api.context);
}

API cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = exec_get(hGraphExec);

	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	graph_free(g);
	return CUDA_SUCCESS;
}

static bool same_topology(const struct graph *x, const struct graph *y)
{
	if (x->count != y->count)
		return false;
	for (size_t i = 0; i < x->count; i++)
		if (x->nodes[i]->type != y->nodes[i]->type ||
		    x->nodes[i]->need_count != y->nodes[i]->need_count)
			return false;
	return true;
}

/* Takes over what each node of g does; edges are as they were, the topology being the same. */
static CUresult update(CUgraphExec handle, CUgraph graph, CUgraphExecUpdateResult *why)
{
	struct graph *exec = exec_get(handle), *g = graph_get(graph), *copy;
	struct graph_node **nodes;

	*why = CU_GRAPH_EXEC_UPDATE_ERROR;
	if (!exec || !g)
		return CUDA_ERROR_INVALID_VALUE;
	if (!same_topology(exec, g)) {
		*why = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	copy = graph_clone(g, true);
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < copy->count; i++) {
		copy->nodes[i]->origin = exec->nodes[i]->origin;
		copy->nodes[i]->graph = exec;
		exec->nodes[i]->graph = copy;
	}
	nodes = exec->nodes;
	exec->nodes = copy->nodes;
	copy->nodes = nodes;
	graph_free(copy);
	*why = CU_GRAPH_EXEC_UPDATE_SUCCESS;
	return CUDA_SUCCESS;
}

API cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
			 CUgraphExecUpdateResultInfo *resultInfo)
{
	API_SCOPE(NEED_INIT);
	if (!resultInfo)
		return CUDA_ERROR_INVALID_VALUE;
	resultInfo->errorNode = resultInfo->errorFromNode = NULL;
	return update(hGraphExec, hGraph, &resultInfo->result);
}

API cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
		      CUgraphExecUpdateResult *updateResult_out)
{
	API_SCOPE(NEED_INIT);
	if (!hErrorNode_out || !updateResult_out)
		return CUDA_ERROR_INVALID_VALUE;
	*hErrorNode_out = NULL;
	return update(hGraphExec, hGraph, updateResult_out);
}

/* ---- changes of one node of an executable graph ---- */

static struct graph_node *exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type)
{
	struct graph *g = exec_get(exec);
	struct graph_node *n = g ? graph_find(g, (uint64_t)node) : NULL;

	return n && n->type == type ? n : NULL;
}

API cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
				      const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	API_SCOPE(NEED_INIT);
	struct graph_node *n = exec_node(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL);

	return n && nodeParams ? set_kernel(n, nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

API cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
				   const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	API_SCOPE(NEED_INIT);
	struct graph_node *n = exec_node(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	CUDA_KERNEL_NODE_PARAMS p = {0};

	if (!n || !nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&p, nodeParams, sizeof(*nodeParams)); /* the newer struct begins alike */
	return set_kernel(n, &p);
}

API cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
				   const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
	API_SCOPE(NEED_INIT);
	struct graph_node *n = exec_node(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY);

	return n ? copy_read(&n->copy, copyParams) : CUDA_ERROR_INVALID_VALUE;
}

API cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
				   const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
	API_SCOPE(NEED_INIT);
	return not_supported("cuGraphExecMemsetNodeSetParams");
}

API cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
				 const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	API_SCOPE(NEED_INIT);
	return not_supported("cuGraphExecHostNodeSetParams");
}

API cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
			     CUgraphNodeParams *nodeParams)
{
	API_SCOPE(NEED_INIT);
	return not_supported("cuGraphExecNodeSetParams");
}

API cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
	API_SCOPE(NEED_INIT);
	struct graph *g = exec_get(hGraphExec);
	struct graph_node *n = g ? graph_find(g, (uint64_t)hNode) : NULL;

	if (!n)
		return CUDA_ERROR_INVALID_VALUE;
	n->disabled = !isEnabled;
	return CUDA_SUCCESS;
}
