/* SPDX-License-Identifier: MIT */
/* Graphs. */
#include "softgpu/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/device.h"
#include "softgpu/handle.h"
#include "softgpu/log.h"
#include "softgpu/space.h"
#include "softgpu/stream.h"

static enum handle_kind kind_of(const struct graph *g)
{
	return g->executable ? HANDLE_GRAPH_EXEC : HANDLE_GRAPH;
}

static struct graph *new_of_kind(uint64_t context, bool executable)
{
	struct graph *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->context = context;
	g->executable = executable;
	g->handle = handle_new(kind_of(g), g);
	if (!g->handle) {
		free(g);
		return NULL;
	}
	return g;
}

struct graph *graph_new(uint64_t context)
{
	return new_of_kind(context, false);
}

static void node_free(struct graph_node *n)
{
	handle_free(HANDLE_GRAPH_NODE, n->handle);
	free(n->needs);
	free(n->params);
	free(n->pointers);
	free(n);
}

void graph_free(struct graph *g)
{
	handle_free(kind_of(g), g->handle);
	for (size_t i = 0; i < g->count; i++)
		node_free(g->nodes[i]);
	free(g->nodes);
	free(g);
}

void graph_free_context(uint64_t context)
{
	struct graph *g;

	for (size_t cursor = 0; (g = handle_next(HANDLE_GRAPH_EXEC, &cursor));)
		if (g->context == context)
			graph_free(g);
}

struct graph_node *graph_add(struct graph *g, CUgraphNodeType type)
{
	struct graph_node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->graph = g;
	n->type = type;
	n->handle = handle_new(HANDLE_GRAPH_NODE, n);
	if (!n->handle || array_reserve(&g->nodes, g->count, &g->room, sizeof(*g->nodes)) < 0) {
		node_free(n);
		return NULL;
	}
	g->nodes[g->count++] = n;
	return n;
}

bool graph_need(struct graph_node *n, struct graph_node *needed)
{
	if (array_reserve(&n->needs, n->need_count, &n->need_room, sizeof(*n->needs)) < 0)
		return false;
	n->needs[n->need_count++] = needed;
	return true;
}

bool graph_unneed(struct graph_node *n, const struct graph_node *needed)
{
	for (size_t i = 0; i < n->need_count; i++) {
		if (n->needs[i] != needed)
			continue;
		n->needs[i] = n->needs[--n->need_count];
		return true;
	}
	return false;
}

struct graph_node *graph_find(const struct graph *g, uint64_t origin)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->nodes[i]->origin == origin)
			return g->nodes[i];
	return NULL;
}

static bool set_params(struct graph_node *n, const struct ptx_entry *e, const uint8_t *params)
{
	uint8_t *copy = malloc(e->params_bytes + 1);
	void **pointers = calloc(e->param_count + 1, sizeof(*pointers));

	if (!copy || !pointers) {
		free(copy);
		free(pointers);
		return false;
	}
	memcpy(copy, params, e->params_bytes);
	for (size_t i = 0; i < e->param_count; i++)
		pointers[i] = copy + e->params[i].offset;
	free(n->params);
	free(n->pointers);
	n->params = copy;
	n->params_bytes = e->params_bytes;
	n->pointers = pointers;
	return true;
}

bool graph_set_kernel(struct graph_node *n, const struct launch *l, const uint8_t *params)
{
	if (!set_params(n, l->function->entry, params))
		return false;
	n->function = l->function->handle;
	memcpy(n->grid, l->grid, sizeof(n->grid));
	memcpy(n->block, l->block, sizeof(n->block));
	n->shared_bytes = l->shared_bytes;
	n->cooperative = l->cooperative;
	return true;
}

static bool copy_node(struct graph_node *to, const struct graph_node *from)
{
	struct function *f;

	to->origin = from->handle;
	to->disabled = from->disabled;
	to->copy = from->copy;
	to->function = from->function;
	memcpy(to->grid, from->grid, sizeof(to->grid));
	memcpy(to->block, from->block, sizeof(to->block));
	to->shared_bytes = from->shared_bytes;
	to->cooperative = from->cooperative;
	if (!from->params)
		return true;
	f = function_get((CUfunction)from->function);
	return !f || set_params(to, f->entry, from->params);
}

struct graph *graph_clone(const struct graph *from, bool executable)
{
	struct graph *g = new_of_kind(from->context, executable);

	for (size_t i = 0; g && i < from->count; i++) {
		struct graph_node *n = graph_add(g, from->nodes[i]->type);

		if (!n || !copy_node(n, from->nodes[i])) {
			graph_free(g);
			return NULL;
		}
	}
	for (size_t i = 0; g && i < from->count; i++)
		for (size_t j = 0; j < from->nodes[i]->need_count; j++)
			if (!graph_need(g->nodes[i],
					graph_find(g, from->nodes[i]->needs[j]->handle))) {
				graph_free(g);
				return NULL;
			}
	return g;
}

/* ---- running ---- */

static CUresult run_copy(const struct graph_copy *c)
{
	switch (c->kind) {
	case COPY_IN:
		return copy_in(c->to, (const void *)c->from, c->bytes);
	case COPY_OUT:
		return copy_out((void *)c->to, c->from, c->bytes);
	case COPY_WITHIN:
		return api_errno(space_move(c->to, c->from, c->bytes));
	case COPY_SET:
		return api_errno(space_set(c->to, c->value, c->width, c->bytes / c->width));
	}
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult run_node(const struct graph_node *n, struct context *context, CUstream stream)
{
	struct launch l = {
		.function = function_get((CUfunction)n->function),
		.grid = {n->grid[0], n->grid[1], n->grid[2]},
		.block = {n->block[0], n->block[1], n->block[2]},
		.shared_bytes = n->shared_bytes,
		.stream = stream,
		.params = n->pointers,
	};

	if (n->disabled)
		return CUDA_SUCCESS;
	if (n->type != CU_GRAPH_NODE_TYPE_KERNEL)
		return run_copy(&n->copy);
	if (!l.function) {
		softgpu_log(SOFTGPU_LOG_ERROR, "cuGraphLaunch: a kernel's module is unloaded");
		return CUDA_ERROR_INVALID_HANDLE;
	}
	return launch_run(&l, context);
}

static bool ready(const struct graph *g, const bool *done, size_t i)
{
	if (done[i])
		return false;
	for (size_t j = 0; j < g->nodes[i]->need_count; j++)
		for (size_t k = 0; k < g->count; k++)
			if (g->nodes[k] == g->nodes[i]->needs[j] && !done[k])
				return false;
	return true;
}

/* Indices of nodes in the order in which they run: NULL for a circle or without memory. */
static size_t *order_of(const struct graph *g)
{
	bool oldest_first = device_settings()->seed & 1;
	bool *done = calloc(g->count + 1, sizeof(*done));
	size_t *order = calloc(g->count + 1, sizeof(*order));
	size_t count = 0;

	for (bool going = done && order; going;) {
		going = false;
		for (size_t k = 0; !going && k < g->count; k++) {
			size_t i = oldest_first ? k : g->count - 1 - k;

			if (!ready(g, done, i))
				continue;
			done[i] = going = true;
			order[count++] = i;
		}
	}
	free(done);
	if (count == g->count)
		return order;
	free(order);
	return NULL;
}

bool graph_runnable(const struct graph *g)
{
	_cleanup_free_ size_t *order = order_of(g);

	return order != NULL;
}

CUresult graph_run(const struct graph *g, struct context *context, CUstream stream)
{
	_cleanup_free_ size_t *order = order_of(g);
	CUresult result = CUDA_SUCCESS;

	if (!order)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; result == CUDA_SUCCESS && i < g->count; i++)
		result = run_node(g->nodes[order[i]], context, stream);
	return result;
}

/* ---- capture ---- */

bool graph_capturing(CUstream handle)
{
	const struct stream *s = stream_get(handle);

	return s && s->capture;
}

CUresult graph_capture_refuse(CUstream handle)
{
	struct stream *s = stream_get(handle);

	if (!s || !s->capture)
		return CUDA_SUCCESS;
	s->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* The next node of the stream's capture, behind the one before. */
static struct graph_node *capture_node(struct stream *s, CUgraphNodeType type)
{
	struct graph_node *n = graph_add(s->capture, type);

	if (n && s->last && !graph_need(n, s->last))
		return NULL; /* it stays in a graph that is invalid now */
	if (n)
		s->last = n;
	return n;
}

CUresult graph_capture_kernel(const struct launch *l, const uint8_t *params)
{
	struct stream *s = stream_get(l->stream);
	struct graph_node *n;

	if (s->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	n = capture_node(s, CU_GRAPH_NODE_TYPE_KERNEL);
	if (n && graph_set_kernel(n, l, params))
		return CUDA_SUCCESS;
	s->invalid = true;
	return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult graph_capture_copy(CUstream handle, const struct graph_copy *copy)
{
	struct stream *s = stream_get(handle);
	struct graph_node *n;

	if (s->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	n = capture_node(s, copy->kind == COPY_SET ? CU_GRAPH_NODE_TYPE_MEMSET
						   : CU_GRAPH_NODE_TYPE_MEMCPY);
	if (!n) {
		s->invalid = true;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	n->copy = *copy;
	return CUDA_SUCCESS;
}
