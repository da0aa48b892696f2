/* SPDX-License-Identifier: MIT */
/* Asks the driver how far the allocation around an address reaches. */
#include "shim/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/hooks.h"

/* No device or host allocation lies below the first page or above the canonical user half. */
#define ADDRESS_MIN 0x10000u
#define ADDRESS_MAX (1ull << 57)

/* Memory of the host that the device reaches; cuMemGetAddressRange need not know that. */
static bool host_range(CUdeviceptr address, CUdeviceptr *base, size_t *size)
{
	unsigned type = 0;

	return real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ==
		       CUDA_SUCCESS &&
	       type == CU_MEMORYTYPE_HOST &&
	       real.cuPointerGetAttribute(base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) ==
		       CUDA_SUCCESS &&
	       real.cuPointerGetAttribute(size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) ==
		       CUDA_SUCCESS;
}

static bool address_range(CUdeviceptr address, uint64_t *base, uint64_t *size)
{
	CUdeviceptr b = 0;
	size_t n = 0;

	if (real.cuMemGetAddressRange_v2(&b, &n, address) != CUDA_SUCCESS &&
	    !host_range(address, &b, &n))
		return false;
	if (!n || address < b || address - b >= n)
		return false;
	*base = b;
	*size = n;
	return true;
}

static enum memory_kind memory_kind_of(CUdeviceptr address)
{
	uint64_t managed = 0;
	unsigned type = 0;

	if (real.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
		    CUDA_SUCCESS &&
	    managed)
		return MEMORY_MANAGED;
	if (real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ==
		    CUDA_SUCCESS &&
	    type == CU_MEMORYTYPE_HOST)
		return MEMORY_HOST;
	return MEMORY_ALLOCATION;
}

/* The driver shows one physical chunk of mapped memory: walk on while the neighbour is mapped too.
 */
static void coalesce(struct record_region *region)
{
	uint64_t end = region->reservation_base + region->reservation_size, base, size;

	while (region->base + region->size < end &&
	       address_range(region->base + region->size, &base, &size) &&
	       base == region->base + region->size)
		region->size += size;
	while (region->base > region->reservation_base &&
	       address_range(region->base - 1, &base, &size) && base + size == region->base) {
		region->base = base;
		region->size += size;
	}
}

/* Only memory of cuMemAlloc can be shared the old way, and a pool's memory names its pool. */
static bool plain_allocation(CUdeviceptr address)
{
	uint64_t legacy = 0; /* the manual does not say how wide: little-endian, zeroed */
	CUmemoryPool pool = NULL;

	if (real.cuPointerGetAttribute(&legacy, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
				       address) == CUDA_SUCCESS &&
	    legacy)
		return true;
	return real.cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) ==
		       CUDA_SUCCESS &&
	       pool;
}

static void look_at_reservation(struct record_region *region)
{
	uint64_t base = 0;
	size_t size = 0;

	if (region->memory != MEMORY_ALLOCATION || plain_allocation(region->base) ||
	    real.cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
				       region->base) != CUDA_SUCCESS ||
	    real.cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, region->base) !=
		    CUDA_SUCCESS)
		return;
	if (size <= region->size || base > region->base ||
	    region->base - base > size - region->size)
		return;
	region->memory = MEMORY_VMM;
	region->reservation_base = base;
	region->reservation_size = size;
	coalesce(region);
}

static int add_offset(struct record_region *region, uint64_t offset)
{
	size_t n = region->param_offsets.count;
	uint64_t *grown;

	if (offset == REGIONS_NO_PARAM)
		return 0;
	grown = realloc(region->param_offsets.items, (n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	grown[n] = offset;
	region->param_offsets.items = grown;
	region->param_offsets.count = n + 1;
	return 0;
}

int regions_add(struct regions *r, uint64_t address, uint64_t param_offset)
{
	struct record_region region = {0};
	int error;

	if (address < ADDRESS_MIN || address >= ADDRESS_MAX)
		return 0;
	for (size_t i = 0; i < r->count; i++)
		if (address - r->items[i].base < r->items[i].size)
			return add_offset(&r->items[i], param_offset);
	if (!address_range(address, &region.base, &region.size))
		return 0;
	region.memory = memory_kind_of(address);
	look_at_reservation(&region);
	error = array_reserve(&r->items, r->count, &r->capacity, sizeof(*r->items));
	if (error >= 0)
		error = add_offset(&region, param_offset);
	if (error >= 0)
		r->items[r->count++] = region;
	return error;
}

int regions_add_global(struct regions *r, uint64_t base, uint64_t size, const char *name,
		       enum dtype dtype, bool constant)
{
	struct record_region region = {.base = base,
				       .size = size,
				       .memory = MEMORY_GLOBAL,
				       .name = name,
				       .dtype = dtype,
				       .constant = constant};
	int error;

	if (base < ADDRESS_MIN || base >= ADDRESS_MAX || size > ADDRESS_MAX - base)
		return 0;
	error = array_reserve(&r->items, r->count, &r->capacity, sizeof(*r->items));
	if (error >= 0)
		r->items[r->count++] = region;
	return error;
}

static int by_base(const void *a, const void *b)
{
	const struct record_region *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

void regions_merge(struct regions *r)
{
	size_t kept = 0;

	if (!r->count)
		return;
	qsort(r->items, r->count, sizeof(*r->items), by_base);
	for (size_t i = 1; i < r->count; i++) {
		struct record_region *last = &r->items[kept], *next = &r->items[i];
		uint64_t end = next->base + next->size;

		if (next->base >= last->base + last->size || last->memory == MEMORY_GLOBAL ||
		    next->memory == MEMORY_GLOBAL) {
			r->items[++kept] = *next;
			continue;
		}
		if (end > last->base + last->size)
			last->size = end - last->base;
		for (size_t j = 0; j < next->param_offsets.count; j++)
			add_offset(last, next->param_offsets.items[j]);
		free(next->param_offsets.items);
	}
	r->count = kept + 1;
}

void regions_forget_extents(struct regions *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->items[i].reads.items);
		free(r->items[i].writes.items);
		r->items[i].reads = r->items[i].writes = (struct u64s){0};
	}
}

void regions_drop_untouched(struct regions *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++) {
		struct record_region *g = &r->items[i];

		if (!g->reads.count && !g->writes.count && !g->param_offsets.count)
			region_free(g);
		else
			r->items[kept++] = *g;
	}
	r->count = kept;
}

void region_free(struct record_region *region)
{
	free(region->param_offsets.items);
	free(region->chunks.items);
	free((char *)region->note);
	free(region->reads.items);
	free(region->writes.items);
	*region = (struct record_region){0};
}

void regions_free(struct regions *r)
{
	for (size_t i = 0; i < r->count; i++)
		region_free(&r->items[i]);
	free(r->items);
	free(r->unfound);
	*r = (struct regions){0};
}
