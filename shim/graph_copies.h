/* SPDX-License-Identifier: MIT */
/* Copies around a kernel of a graph: of the memory that it touches, before it and behind it. */
#ifndef SHIM_GRAPH_COPIES_H
#define SHIM_GRAPH_COPIES_H

#include "shim/regions.h"

/* Chunks [first, end) of a region. */
struct graph_copy {
	uint32_t region;
	bool after;
	uint64_t first, end;
	uint64_t at; /* in the buffer, from the begin of this kernel's part */
};

struct graph_copies {
	struct graph_copy *items; /* those before the kernel come first */
	size_t count, capacity;
	uint64_t bytes; /* of the buffer */
};

/*
 * Plans the copies: of measured regions the chunks that the launch touches before it, those that it
 * writes behind it, else whole regions both times. A region of which more than max_bytes would be
 * copied gets a note instead. 0 or -ENOMEM.
 */
int graph_copies_plan(struct graph_copies *copies, struct regions *regions, uint64_t max_bytes);
void graph_copies_free(struct graph_copies *copies);

/*
 * Puts them into the graph: behind all that the kernel needs and before it, or behind it and before
 * all that need it, so that nothing of the program's order lies between. buffer: where this
 * kernel's part of it begins, in `context`.
 */
CUresult graph_copies_add(const struct graph_copies *copies, const struct regions *regions,
			  CUgraph graph, CUgraphNode kernel, CUdeviceptr buffer, CUcontext context);

/* Drops regions that no parameter leads to and that, as measured by now, are not touched. */
void graph_copies_drop_untouched(struct graph_copies *copies, struct regions *regions);

/*
 * Where in the buffer the copy of [address, address + bytes) before the kernel, or behind it, is;
 * 0: nowhere in one piece.
 */
CUdeviceptr graph_copies_find(const struct graph_copies *copies, const struct regions *regions,
			      CUdeviceptr buffer, bool after, uint64_t address, uint64_t bytes);

/* Whether the copies hold all that the measured regions, by now, say is touched. */
bool graph_copies_cover(const struct graph_copies *copies, const struct regions *regions);

/* Adds a copy between device memory that belongs to no edge yet. */
CUresult graph_add_copy(CUgraph graph, CUgraphNode *node, uint64_t to, uint64_t from,
			uint64_t bytes, CUcontext context);

/* Puts `node` behind all that the kernel needs, and before the kernel. */
CUresult graph_put_before(CUgraph graph, CUgraphNode node, CUgraphNode kernel);

#endif
