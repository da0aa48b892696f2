/* SPDX-License-Identifier: MIT */
/* Follows executable graphs and the kernels in them. */
#include "shim/graphs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/functions.h"
#include "shim/graph_record.h"
#include "shim/hooks.h"
#include "shim/kernels.h"
#include "shim/map.h"
#include "shim/params.h"
#include "shim/numbers.h"
#include "shim/recorder.h"

/* A graph of more nodes is launched as it is. */
#define NODES_MAX 100000u

static struct map execs; /* handle → struct exec_graph; table_lock */

static void drop_clone(struct exec_graph *g)
{
	if (g->clone)
		real.cuGraphDestroy(g->clone);
	g->clone = NULL;
}

static void drop_kernels(struct exec_graph *g)
{
	for (size_t i = 0; i < g->count; i++) {
		free(g->kernels[i].params);
		graph_history_free(g->kernels[i].history);
	}
	free(g->kernels);
	g->kernels = NULL;
	g->count = 0;
}

static void exec_free(struct exec_graph *g)
{
	if (!g)
		return;
	drop_clone(g);
	drop_kernels(g);
	free(g);
}

/* ---- reading a graph ---- */

/* What a clone can hold, and what the program cannot change without the shim's knowledge. */
static const char *untreated_type(CUgraphNodeType type)
{
	switch ((int)type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
	case CU_GRAPH_NODE_TYPE_HOST:
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return NULL;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return "its graph holds a child graph";
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return "its graph holds an event node";
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return "its graph holds a memory node";
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return "its graph holds a conditional node";
	default:
		return "its graph holds a node of another type than kernel, copy, fill, host and "
		       "empty";
	}
}

static void read_attributes(struct graph_kernel *k)
{
	CUlaunchAttribute *a = k->attributes;

	a->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
	if (real.cuGraphKernelNodeGetAttribute(k->original, a->id, &a->value) == CUDA_SUCCESS &&
	    a->value.cooperative)
		a++;
	a->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
	if (real.cuGraphKernelNodeGetAttribute(k->original, a->id, &a->value) == CUDA_SUCCESS &&
	    (uint64_t)a->value.clusterDim.x * a->value.clusterDim.y * a->value.clusterDim.z > 1)
		a++;
	k->call.attributes = k->attributes;
	k->call.attribute_count = (unsigned)(a - k->attributes);
}

/* The kernel of a handle, taken in if it is new. NULL without memory. */
static struct kernel *kernel_of(CUfunction handle)
{
	struct kernel *k = functions_kernel(handle);

	return k ? k : kernels_adopt(handle);
}

/* Fills everything but the nodes and attributes. 0 or -ENOMEM. */
static int read_params(struct graph_kernel *k, const CUDA_KERNEL_NODE_PARAMS *p)
{
	CUfunction handle = p->func ? p->func : (CUfunction)p->kern;
	struct kernel *kernel = kernel_of(handle);
	unsigned char buffer[PARAMS_BYTES_MAX];
	unsigned char *params = NULL;
	struct launch_call *call = &k->call;
	size_t size = 0;

	if (!kernel)
		return -ENOMEM;
	call->entry_point = "cuGraphLaunch";
	call->function = handle;
	memcpy(call->grid, (uint32_t[]){p->gridDimX, p->gridDimY, p->gridDimZ}, sizeof(call->grid));
	memcpy(call->block, (uint32_t[]){p->blockDimX, p->blockDimY, p->blockDimZ},
	       sizeof(call->block));
	call->shared_bytes = p->sharedMemBytes;
	call->params = p->kernelParams;
	call->extra = p->extra;
	k->context = p->ctx;
	k->facts = (struct launch_facts){.call = call, .kernel = kernel};
	if (kernel->recorded) {
		size = params_gather(kernel, call, buffer, &k->facts.params_known);
		params_id(&k->facts.class_id, kernel, call->grid, call->params, call->extra);
		params = malloc(size + 1);
		if (!params)
			return -ENOMEM;
		memcpy(params, buffer, size);
	}
	call->params = call->extra = NULL; /* the driver's, and only for now */
	free(k->params);
	graph_history_free(k->history);
	k->history = NULL;
	k->params = params;
	k->facts.params = params;
	k->facts.params_size = size;
	return 0;
}

/* Appends a kernel node. 0 or -ENOMEM; one that the driver does not describe is left out. */
static int add_kernel(struct exec_graph *g, CUgraphNode node)
{
	struct graph_kernel *k = &g->kernels[g->count];
	CUDA_KERNEL_NODE_PARAMS p = {0};
	int r;

	if (real.cuGraphKernelNodeGetParams_v2(node, &p) != CUDA_SUCCESS || (!p.func && !p.kern)) {
		g->untreated = "the driver does not tell a kernel of its graph";
		return 0;
	}
	k->original = node;
	r = read_params(k, &p);
	if (r < 0)
		return r;
	read_attributes(k);
	g->count++;
	return 0;
}

static int read_nodes(struct exec_graph *g, const CUgraphNode *nodes, size_t count)
{
	int r = 0;

	/* All at once: the calls and facts in it are pointed to. */
	g->kernels = calloc(count + 1, sizeof(*g->kernels));
	if (!g->kernels)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < count; i++) {
		CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
		const char *why;

		if (real.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS)
			g->untreated = "the driver does not tell the nodes of its graph";
		why = untreated_type(type);
		if (why)
			g->untreated = why;
		else if (type == CU_GRAPH_NODE_TYPE_KERNEL)
			r = add_kernel(g, nodes[i]);
	}
	return r;
}

static int read_graph(struct exec_graph *g, CUgraph graph)
{
	_cleanup_free_ CUgraphNode *nodes = NULL;
	size_t count = 0;

	g->untreated = NULL;
	if (real.cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS || count > NODES_MAX) {
		g->untreated = "its graph has more than 100,000 nodes";
		return 0;
	}
	nodes = calloc(count + 1, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	if (count && real.cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS) {
		g->untreated = "the driver does not tell the nodes of its graph";
		return 0;
	}
	return read_nodes(g, nodes, count);
}

static bool any_recorded(const struct exec_graph *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->kernels[i].facts.kernel->recorded)
			return true;
	return false;
}

/* The program may destroy its graph now: the copy stays. */
static void clone_graph(struct exec_graph *g, CUgraph graph)
{
	if (g->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		g->untreated = "its graph can be launched from the device";
	if (g->untreated || recorder_settings()->no_data || !any_recorded(g))
		return;
	if (real.cuGraphClone(&g->clone, graph) != CUDA_SUCCESS) {
		g->clone = NULL;
		g->untreated = "its graph cannot be cloned";
		return;
	}
	for (size_t i = 0; i < g->count; i++)
		if (real.cuGraphNodeFindInClone(&g->kernels[i].node, g->kernels[i].original,
						g->clone) != CUDA_SUCCESS) {
			drop_clone(g);
			g->untreated = "a node of its graph is not found in a clone";
			return;
		}
}

/* Whether this driver has what treating a graph takes. */
static bool able(void)
{
	return real.cuGraphDestroy && real.cuGraphClone && real.cuGraphNodeFindInClone &&
	       real.cuGraphGetNodes && real.cuGraphNodeGetType &&
	       real.cuGraphKernelNodeGetParams_v2 && real.cuGraphKernelNodeSetParams_v2 &&
	       real.cuGraphKernelNodeGetAttribute && real.cuGraphNodeGetDependencies_v2 &&
	       real.cuGraphNodeGetDependentNodes_v2 && real.cuGraphAddDependencies_v2 &&
	       real.cuGraphAddMemcpyNode && real.cuGraphInstantiateWithFlags &&
	       real.cuGraphExecDestroy;
}

/* ---- the table ---- */

static struct exec_graph *find(CUgraphExec exec)
{
	struct exec_graph *g;

	pthread_mutex_lock(&recorder_table_lock);
	g = map_get(&execs, (uintptr_t)exec);
	pthread_mutex_unlock(&recorder_table_lock);
	return g;
}

/* g may be NULL: none. What was there before goes. */
static void replace(CUgraphExec exec, struct exec_graph *g)
{
	struct exec_graph *old;
	int r = 0;

	pthread_mutex_lock(&recorder_table_lock);
	old = map_remove(&execs, (uintptr_t)exec);
	if (g)
		r = map_put(&execs, (uintptr_t)exec, g);
	pthread_mutex_unlock(&recorder_table_lock);
	exec_free(old);
	if (r < 0) {
		exec_free(g);
		recorder_fail("remembering a graph", r);
	}
}

void graphs_instantiated(CUgraphExec exec, CUgraph graph, unsigned long long flags)
{
	struct exec_graph *g;
	int r;

	if (!able())
		return;
	g = calloc(1, sizeof(*g));
	if (!g) {
		recorder_fail("remembering a graph", -ENOMEM);
		return;
	}
	g->flags = flags & ~(unsigned long long)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
	r = read_graph(g, graph);
	if (r < 0) {
		exec_free(g);
		recorder_fail("reading a graph", r);
		return;
	}
	clone_graph(g, graph);
	replace(exec, g);
}

void graphs_updated(CUgraphExec exec, CUgraph graph)
{
	const struct exec_graph *g = find(exec);

	if (g)
		graphs_instantiated(exec, graph, g->flags);
}

void graphs_changed(CUgraphExec exec, const char *how)
{
	struct exec_graph *g = find(exec);

	if (!g)
		return;
	drop_clone(g);
	g->untreated = how;
}

void graphs_kernel_set(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct exec_graph *g = find(exec);
	size_t i = 0;
	int r;

	if (!g)
		return;
	while (i < g->count && g->kernels[i].original != node)
		i++;
	if (i == g->count) {
		graphs_changed(exec, "a kernel of its graph was changed after an update");
		return;
	}
	r = read_params(&g->kernels[i], p);
	if (r < 0)
		recorder_fail("following a change of a graph", r);
	if (g->clone && real.cuGraphKernelNodeSetParams_v2(g->kernels[i].node, p) != CUDA_SUCCESS)
		graphs_changed(exec, "a change of its kernel could not be followed in a clone");
}

void graphs_destroying(CUgraphExec exec)
{
	replace(exec, NULL);
}

/* ---- launching ---- */

static bool capturing(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return real.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Counts the graph's kernels; those to be recorded are claimed and listed. */
static size_t count_kernels(struct exec_graph *g, CUstream stream, struct graph_kernel **claimed)
{
	bool countable_only = recorder_settings()->no_data || !claimed;
	/* Most launches record nothing, and need no numbers then. */
	uint64_t first = numbers_exact() ? numbers_take(g->count) : 0;
	size_t found = 0;

	for (size_t i = 0; i < g->count; i++) {
		struct graph_kernel *k = &g->kernels[i];

		k->facts.seq = first ? first + i : 0;
		if (!k->facts.kernel->recorded) {
			launches_count_other(k->facts.kernel);
			continue;
		}
		if (!countable_only && launches_passes(&k->facts))
			continue;
		if (!first)
			first = numbers_take(g->count);
		k->facts.seq = first + i;
		k->call.stream = stream;
		if (countable_only)
			launches_count(&k->facts);
		else if (launches_claim(&k->facts))
			claimed[found++] = k;
	}
	if (!first)
		numbers_add(g->count);
	return found;
}

CUresult graphs_launch(CUgraphExec exec, CUstream stream, bool per_thread,
		       graph_launch_function *go)
{
	CUstream own = !stream && per_thread ? CU_STREAM_PER_THREAD : stream;
	struct exec_graph *g = find(exec);
	_cleanup_free_ struct graph_kernel **claimed = NULL;
	size_t count;

	/* In capture it becomes part of another graph, which then is one that holds a child. */
	if (!g || !g->count || capturing(own))
		return go(exec, stream);
	claimed = calloc(g->count, sizeof(struct graph_kernel *));
	count = count_kernels(g, own, claimed);
	if (!count)
		return go(exec, stream);
	if (!g->clone)
		return graph_record_without(claimed, count,
					    g->untreated ? g->untreated : "its graph has no clone",
					    exec, stream, go);
	return graph_record(g, claimed, count, exec, stream, per_thread, go);
}

void graphs_forget(void)
{
	execs = (struct map){0};
	graph_record_forget();
}
