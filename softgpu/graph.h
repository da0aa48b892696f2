/* SPDX-License-Identifier: MIT */
/* Graphs: kernel, copy and fill nodes, made by the capture of one stream; executable copies. */
#ifndef SOFTGPU_GRAPH_H
#define SOFTGPU_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/context.h"
#include "softgpu/launch.h"

enum copy_kind { COPY_IN, COPY_OUT, COPY_WITHIN, COPY_SET };

struct graph_copy {
	enum copy_kind kind;
	uint64_t to, from; /* addresses of device or host, as kind says; a fill has no from */
	size_t bytes;
	unsigned value, width; /* of a fill: bytes of one element */
};

struct graph_node {
	uint64_t handle;
	uint64_t origin; /* handle of the node that it is a copy of, or 0 */
	struct graph *graph;
	CUgraphNodeType type;
	bool disabled; /* in an executable graph: does nothing */
	struct graph_node **needs;
	size_t need_count, need_room;

	uint64_t function; /* kernel: handle, looked up when it runs */
	uint32_t grid[3], block[3], shared_bytes;
	bool cooperative;
	uint8_t *params; /* packed */
	size_t params_bytes;
	void **pointers; /* one a parameter, into params */

	struct graph_copy copy; /* of a copy or fill node */
};

struct graph {
	uint64_t handle, context;
	bool executable; /* handle is a CUgraphExec */
	struct graph_node **nodes;
	size_t count, room;
};

/* Everything here runs under the API lock. NULL or false: no memory. */

struct graph *graph_new(uint64_t context);
/* A copy whose nodes know their origin. */
struct graph *graph_clone(const struct graph *from, bool executable);
void graph_free(struct graph *g);
void graph_free_context(uint64_t context);
struct graph_node *graph_add(struct graph *g, CUgraphNodeType type);
bool graph_need(struct graph_node *node, struct graph_node *needed);
/* False if there was no such edge. */
bool graph_unneed(struct graph_node *node, const struct graph_node *needed);
/* The copy of a node, or NULL. */
struct graph_node *graph_find(const struct graph *g, uint64_t origin);

/* Puts function, geometry and parameters into a kernel node. */
bool graph_set_kernel(struct graph_node *node, const struct launch *l, const uint8_t *params);

/*
 * Runs all nodes, each after those that it needs, and of those that could run the one made last
 * first, with an odd seed the one made first: an edge that is missing shows in one of them.
 * CUDA_ERROR_INVALID_VALUE for a circle, before anything ran.
 */
CUresult graph_run(const struct graph *g, struct context *context, CUstream stream);
/* Whether there is no circle. */
bool graph_runnable(const struct graph *g);

bool graph_capturing(CUstream stream);
/* On a stream in capture: breaks the capture, as waiting for it does. Else CUDA_SUCCESS. */
CUresult graph_capture_refuse(CUstream stream);
CUresult graph_capture_kernel(const struct launch *l, const uint8_t *params);
CUresult graph_capture_copy(CUstream stream, const struct graph_copy *copy);

/* softgpu/api_memory.c */
CUresult copy_in(CUdeviceptr to, const void *from, size_t size);
CUresult copy_out(void *to, CUdeviceptr from, size_t size);

#endif
