/* SPDX-License-Identifier: MIT */
/* Copies around a kernel of a graph. */
#include "shim/graph_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/pairs.h"
#include "shim/hooks.h"

#define ALIGNMENT 512u
#define EDGES_MAX 4096u
#define RUNS_MAX  64u /* of a region and side; more are copied as one, with what lies between */

void graph_copies_free(struct graph_copies *c)
{
	free(c->items);
	*c = (struct graph_copies){0};
}

/* ---- planning ---- */

/* The bytes of a copy, and where they begin. */
static uint64_t copy_bytes(const struct graph_copy *c, const struct record_region *r,
			   uint64_t *start)
{
	uint64_t last;
	uint32_t bytes;

	chunk_range(r->base, r->size, c->first, start, &bytes);
	chunk_range(r->base, r->size, c->end - 1, &last, &bytes);
	return last + bytes - *start;
}

static bool wanted(const struct regions *regions, const struct record_region *r, uint64_t chunk,
		   bool after)
{
	uint64_t address;
	uint32_t bytes;

	if (!regions->measured)
		return true;
	chunk_range(r->base, r->size, chunk, &address, &bytes);
	return pairs_touch(&r->writes, address - r->base, bytes) ||
	       (!after && pairs_touch(&r->reads, address - r->base, bytes));
}

static int add_run(struct graph_copies *c, uint32_t region, bool after, uint64_t first,
		   uint64_t end)
{
	int r = array_reserve(&c->items, c->count, &c->capacity, sizeof(*c->items));

	if (r >= 0)
		c->items[c->count++] = (struct graph_copy){region, after, first, end, 0};
	return r;
}

/* The runs of chunks of one region and side. */
static int plan_side(struct graph_copies *c, const struct regions *regions, uint32_t index,
		     bool after)
{
	const struct record_region *region = &regions->items[index];
	uint64_t n = chunk_count(region->base, region->size), i = 0;
	size_t before = c->count;
	int r = 0;

	while (r >= 0 && i < n) {
		uint64_t first = i;

		while (i < n && wanted(regions, region, i, after))
			i++;
		if (i > first)
			r = add_run(c, index, after, first, i);
		else
			i++;
	}
	if (r >= 0 && c->count - before > RUNS_MAX) {
		c->items[before].end = c->items[c->count - 1].end;
		c->count = before + 1;
	}
	return r;
}

/* Bytes of the copies from `from` on. */
static uint64_t bytes_from(const struct graph_copies *c, const struct record_region *region,
			   size_t from)
{
	uint64_t sum = 0, start;

	for (size_t i = from; i < c->count; i++)
		sum += copy_bytes(&c->items[i], region, &start);
	return sum;
}

/* Both sides of it. */
static void drop_region(struct graph_copies *c, uint32_t region)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].region != region)
			c->items[kept++] = c->items[i];
	c->count = kept;
}

static int plan_all(struct graph_copies *c, struct regions *regions, uint64_t max_bytes)
{
	for (int after = 0; after < 2; after++) {
		for (size_t i = 0; i < regions->count; i++) {
			struct record_region *region = &regions->items[i];
			size_t before = c->count;
			int r = region->note ? 0 : plan_side(c, regions, (uint32_t)i, after);

			if (r < 0)
				return r;
			if (bytes_from(c, region, before) <= max_bytes)
				continue;
			/* Behind the kernel it can be more: see RUNS_MAX. */
			drop_region(c, (uint32_t)i);
			region->note = text_format(
				"no contents: larger than KERNELAB_MAX_REGION, %llu bytes",
				(unsigned long long)max_bytes);
		}
	}
	return 0;
}

int graph_copies_plan(struct graph_copies *c, struct regions *regions, uint64_t max_bytes)
{
	int r = plan_all(c, regions, max_bytes);

	for (size_t i = 0; r >= 0 && i < c->count; i++) {
		uint64_t start;
		uint64_t bytes =
			copy_bytes(&c->items[i], &regions->items[c->items[i].region], &start);

		c->items[i].at = c->bytes;
		c->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	return r;
}

/* ---- nodes ---- */

/* UNIFIED: the source may be memory of the host, or managed. */
static CUresult add_copy(CUgraph graph, CUgraphNode *node, const CUgraphNode *needs, size_t count,
			 uint64_t to, uint64_t from, uint64_t bytes, CUcontext context)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
		.srcDevice = from,
		.srcPitch = bytes,
		.srcHeight = 1,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = to,
		.dstPitch = bytes,
		.dstHeight = 1,
		.WidthInBytes = bytes,
		.Height = 1,
		.Depth = 1,
	};

	return real.cuGraphAddMemcpyNode(node, graph, needs, count, &copy, context);
}

CUresult graph_add_copy(CUgraph graph, CUgraphNode *node, uint64_t to, uint64_t from,
			uint64_t bytes, CUcontext context)
{
	return add_copy(graph, node, NULL, 0, to, from, bytes, context);
}

/* The nodes on one side of a node. NULL edge data: an edge that has some is an error. */
static CUresult neighbours(CUgraphNode node, bool before, CUgraphNode *out, size_t *count)
{
	CUresult r;

	*count = 0;
	r = before ? real.cuGraphNodeGetDependencies_v2(node, NULL, NULL, count)
		   : real.cuGraphNodeGetDependentNodes_v2(node, NULL, NULL, count);
	if (r != CUDA_SUCCESS || !*count)
		return r;
	if (*count > EDGES_MAX)
		return CUDA_ERROR_NOT_SUPPORTED;
	return before ? real.cuGraphNodeGetDependencies_v2(node, out, NULL, count)
		      : real.cuGraphNodeGetDependentNodes_v2(node, out, NULL, count);
}

static CUresult add_side(const struct graph_copies *c, const struct regions *regions, CUgraph graph,
			 CUgraphNode kernel, bool after, CUdeviceptr buffer, CUcontext context)
{
	CUgraphNode around[EDGES_MAX], copy;
	size_t count;
	CUresult r = neighbours(kernel, !after, around, &count);

	for (size_t i = 0; r == CUDA_SUCCESS && i < c->count; i++) {
		const struct graph_copy *x = &c->items[i];
		uint64_t start, bytes = copy_bytes(x, &regions->items[x->region], &start);

		if (x->after != after)
			continue;
		r = after ? add_copy(graph, &copy, &kernel, 1, buffer + x->at, start, bytes,
				     context)
			  : add_copy(graph, &copy, around, count, buffer + x->at, start, bytes,
				     context);
		if (r == CUDA_SUCCESS && !after)
			r = real.cuGraphAddDependencies_v2(graph, &copy, &kernel, NULL, 1);
		for (size_t j = 0; r == CUDA_SUCCESS && after && j < count; j++)
			r = real.cuGraphAddDependencies_v2(graph, &copy, &around[j], NULL, 1);
	}
	return r;
}

CUresult graph_copies_add(const struct graph_copies *c, const struct regions *regions,
			  CUgraph graph, CUgraphNode kernel, CUdeviceptr buffer, CUcontext context)
{
	CUresult r = add_side(c, regions, graph, kernel, false, buffer, context);

	return r == CUDA_SUCCESS ? add_side(c, regions, graph, kernel, true, buffer, context) : r;
}

CUresult graph_put_before(CUgraph graph, CUgraphNode node, CUgraphNode kernel)
{
	CUgraphNode around[EDGES_MAX];
	size_t count;
	CUresult r = neighbours(kernel, true, around, &count);

	for (size_t j = 0; r == CUDA_SUCCESS && j < count; j++)
		r = real.cuGraphAddDependencies_v2(graph, &around[j], &node, NULL, 1);
	return r == CUDA_SUCCESS ? real.cuGraphAddDependencies_v2(graph, &node, &kernel, NULL, 1)
				 : r;
}

void graph_copies_drop_untouched(struct graph_copies *c, struct regions *regions)
{
	size_t kept = 0;

	for (size_t i = 0; i < regions->count; i++) {
		struct record_region *r = &regions->items[i];
		bool keep = r->reads.count || r->writes.count || r->param_offsets.count;
		size_t left = 0;

		for (size_t k = 0; k < c->count; k++) {
			struct graph_copy x = c->items[k];

			if (x.region == i && !keep)
				continue;
			if (x.region == i)
				x.region = (uint32_t)kept;
			c->items[left++] = x;
		}
		c->count = left;
		if (keep)
			regions->items[kept++] = *r;
		else
			region_free(r);
	}
	regions->count = kept;
}

CUdeviceptr graph_copies_find(const struct graph_copies *c, const struct regions *regions,
			      CUdeviceptr buffer, bool after, uint64_t address, uint64_t bytes)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct graph_copy *x = &c->items[i];
		uint64_t start, size = copy_bytes(x, &regions->items[x->region], &start);

		if (x->after == after && address >= start && address - start < size &&
		    bytes <= size - (address - start))
			return buffer + x->at + (address - start);
	}
	return 0;
}

static bool has_chunk(const struct graph_copies *c, uint32_t region, bool after, uint64_t chunk)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].region == region && c->items[i].after == after &&
		    chunk >= c->items[i].first && chunk < c->items[i].end)
			return true;
	return false;
}

bool graph_copies_cover(const struct graph_copies *c, const struct regions *regions)
{
	for (size_t i = 0; i < regions->count; i++) {
		const struct record_region *r = &regions->items[i];
		uint64_t n = r->note ? 0 : chunk_count(r->base, r->size);

		for (uint64_t k = 0; k < n; k++)
			for (int after = 0; after < 2; after++)
				if (wanted(regions, r, k, after) &&
				    !has_chunk(c, (uint32_t)i, after, k))
					return false;
	}
	return true;
}
