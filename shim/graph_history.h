/* SPDX-License-Identifier: MIT */
/* What recording launches of a graph taught about a kernel whose extents depend on memory. */
#ifndef SHIM_GRAPH_HISTORY_H
#define SHIM_GRAPH_HISTORY_H

#include "shim/graph_copies.h"
#include "shim/pointers.h"

#define GRAPH_ROUNDS_MAX 8u /* launches spent on one kernel without a record of it */

struct graph_history {
	uint64_t *found; /* begins of regions that pointers in memory led to */
	size_t found_count, capacity;
	struct regions seen; /* regions with all that was read or written in the launches so far */
	unsigned rounds;
};

/* Adds the regions found so far, merged. 0 or -ENOMEM. */
int graph_history_regions(const struct graph_history *h, struct regions *regions);

/* The extents seen so far, as if measured: true if there are any. What is not known has none. */
bool graph_history_extents(const struct graph_history *h, struct regions *regions);

/*
 * Learns from a launch: the extents of `regions`, if measured; `outside`, an address that it
 * touched outside them (or 0), and what the words that it read, as copied, lead to. The stream is
 * idle. 0 or -ENOMEM.
 */
int graph_history_learn(struct graph_history **h, struct regions *regions, uint64_t outside,
			const struct copies_source *source, CUstream stream);

/* NULL is allowed. */
void graph_history_free(struct graph_history *h);

#endif
