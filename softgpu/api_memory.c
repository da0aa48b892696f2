/* SPDX-License-Identifier: MIT */
/* API: allocations, copies, what a pointer is. */
#include "softgpu/device.h"

#include <errno.h>

#include "softgpu/backing.h"
#include "softgpu/graph.h"
#include "softgpu/log.h"
#include "softgpu/space.h"
#include "softgpu/stream.h"

API cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	API_SCOPE(NEED_LIVE);
	uint64_t address;
	int rc;

	if (!dptr || !bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	rc = space_allocate(&address, bytesize, 1, RANGE_ALLOCATION, api.context->handle);
	if (!rc)
		*dptr = address;
	return api_errno(rc);
}

API cuMemFree_v2(CUdeviceptr dptr)
{
	API_SCOPE(NEED_LIVE);
	const struct range *r = dptr ? space_range(dptr) : NULL;
	bool managed = r && r->kind == RANGE_MANAGED;

	return dptr ? api_errno(space_free(dptr, managed ? RANGE_MANAGED : RANGE_ALLOCATION))
		    : CUDA_SUCCESS;
}

API cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
	API_SCOPE(NEED_LIVE);
	void *p = NULL;
	int rc;

	if (!dptr || !bytesize || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	rc = space_allocate_pinned(&p, bytesize, RANGE_MANAGED, api.context->handle);
	if (!rc)
		*dptr = (CUdeviceptr)p;
	return api_errno(rc);
}

API cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
	API_SCOPE(NEED_LIVE);
	const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
			       CU_MEMHOSTALLOC_WRITECOMBINED;

	if (!pp || Flags & ~known)
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytesize) {
		*pp = NULL;
		return CUDA_SUCCESS;
	}
	return api_errno(space_allocate_pinned(pp, bytesize, RANGE_PINNED, api.context->handle));
}

API cuMemAllocHost_v2(void **pp, size_t bytesize)
{
	API_SCOPE(NEED_LIVE);
	if (!pp)
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytesize) {
		*pp = NULL;
		return CUDA_SUCCESS;
	}
	return api_errno(space_allocate_pinned(pp, bytesize, RANGE_PINNED, api.context->handle));
}

API cuMemFreeHost(void *p)
{
	API_SCOPE(NEED_LIVE);
	return p ? api_errno(space_free((uint64_t)p, RANGE_PINNED)) : CUDA_SUCCESS;
}

/* Kernels reach it by the host's own address, with or without DEVICEMAP. */
API cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
	API_SCOPE(NEED_LIVE);
	if (!p || !bytesize ||
	    Flags & ~(unsigned)(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
				CU_MEMHOSTREGISTER_READ_ONLY))
		return CUDA_ERROR_INVALID_VALUE;
	switch (space_register(p, bytesize, api.context->handle)) {
	case 0:
		return CUDA_SUCCESS;
	case -EEXIST:
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	case -ENOMEM:
		return CUDA_ERROR_OUT_OF_MEMORY;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

API cuMemHostUnregister(void *p)
{
	API_SCOPE(NEED_LIVE);
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	return space_free((uint64_t)p, RANGE_REGISTERED) ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
							 : CUDA_SUCCESS;
}

API cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
	API_SCOPE(NEED_LIVE);
	const struct range *r = space_range((uint64_t)p);

	if (!pdptr || Flags || !r || (r->kind != RANGE_PINNED && r->kind != RANGE_REGISTERED))
		return CUDA_ERROR_INVALID_VALUE;
	*pdptr = (CUdeviceptr)p;
	return CUDA_SUCCESS;
}

API cuMemGetInfo_v2(size_t *free, size_t *total)
{
	API_SCOPE(NEED_LIVE);
	if (!free || !total)
		return CUDA_ERROR_INVALID_VALUE;
	*free = space_free_bytes();
	*total = space_total();
	return CUDA_SUCCESS;
}

/* Of VMM memory, one mapping; without access to it, none. */
API cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
	API_SCOPE(NEED_LIVE);
	const struct range *r = space_range(dptr);

	if (!r || !r->accessible)
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = r->base;
	if (psize)
		*psize = r->size;
	return CUDA_SUCCESS;
}

/* ---- pointer attributes ---- */

/* The reservation of VMM memory, else the allocation. */
static void pointer_bounds(const struct range *r, uint64_t *base, uint64_t *size)
{
	const struct block *b = space_block(r->base);
	bool reserved = b->kind == BLOCK_RESERVATION;

	*base = reserved ? b->base : r->base;
	*size = reserved ? b->size : r->size;
}

static int device_of(const struct range *r)
{
	const struct context *c = context_get((CUcontext)r->owner);

	return r->physical ? r->physical->device : c ? c->device : 0;
}

static CUresult pointer_attribute(void *data, CUpointer_attribute attribute, uint64_t address)
{
	const struct range *r = space_range(address);
	uint64_t base, size;

	if (!data || !r)
		return CUDA_ERROR_INVALID_VALUE;
	pointer_bounds(r, &base, &size);
	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = (CUcontext)r->owner; /* NULL for VMM memory */
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = space_is_host(r) && r->kind != RANGE_MANAGED
					    ? CU_MEMORYTYPE_HOST
					    : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!space_is_host(r))
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)data = (void *)address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		*(unsigned long long *)data = r->id;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = device_of(r);
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(int *)data = r->kind == RANGE_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
	case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
		*(int *)data = 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*(unsigned long long *)data = 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*(CUmemAccess_flags *)data = r->accessible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
							   : CU_MEM_ACCESS_FLAGS_PROT_NONE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(CUmemoryPool *)data = NULL;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = base;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = size;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(int *)data = 1;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		*(size_t *)data = r->size;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		*(CUdeviceptr *)data = r->base;
		return CUDA_SUCCESS;
	default:
		softgpu_log(SOFTGPU_LOG_ERROR,
			    "cuPointerGetAttribute: attribute %d is not supported", attribute);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

/* Needs no context, and answers after a fault too, as a GPU's driver does. */
API cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	API_SCOPE(NEED_INIT);
	return pointer_attribute(data, attribute, ptr);
}

/* Zero where cuPointerGetAttribute would fail: this entry does not fail for a pointer of the host.
 */
API cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
			   CUdeviceptr ptr)
{
	API_SCOPE(NEED_INIT);
	if (!numAttributes || !attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < numAttributes; i++) {
		CUresult result = pointer_attribute(data[i], attributes[i], ptr);

		if (result == CUDA_SUCCESS)
			continue;
		if (!data[i] || result == CUDA_ERROR_NOT_SUPPORTED)
			return result;
		switch (attributes[i]) {
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
			*(unsigned *)data[i] = 0;
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)data[i] = -2; /* CU_DEVICE_INVALID */
			break;
		case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
			*(int *)data[i] = 0;
			break;
		default:
			*(uint64_t *)data[i] = 0;
		}
	}
	return CUDA_SUCCESS;
}

/* ---- copies and fills: done when the call returns, whatever the stream ---- */

/*
 * Programs may give a device address where a host pointer is meant (unified addressing).
 * Allocations lie where a host maps nothing (but a sanitizer its shadow); reservations lie where
 * the program wants them: there a number that is both counts as the host's.
 */
static bool host_is_device(const void *p, size_t size)
{
	const struct range *r = space_range((uint64_t)p);

	if (!r || space_is_host(r))
		return false;
	return r->kind != RANGE_MAPPING || !backing_is_mapped(p, size);
}

CUresult copy_in(CUdeviceptr to, const void *from, size_t size)
{
	if (size && !from)
		return CUDA_ERROR_INVALID_VALUE;
	if (host_is_device(from, size))
		return api_errno(space_move(to, (uint64_t)from, size));
	return api_errno(space_write(to, from, size));
}

CUresult copy_out(void *to, CUdeviceptr from, size_t size)
{
	if (size && !to)
		return CUDA_ERROR_INVALID_VALUE;
	if (host_is_device(to, size))
		return api_errno(space_move((uint64_t)to, from, size));
	return api_errno(space_read(to, from, size));
}

static CUresult set_words(CUdeviceptr to, unsigned value, size_t count)
{
	return to % 4 ? CUDA_ERROR_INVALID_VALUE : api_errno(space_set(to, value, 4, count));
}

#define CAPTURED(stream, ...)                                                                 \
	do {                                                                                  \
		if (graph_capturing(stream))                                                  \
			return graph_capture_copy(stream, &(struct graph_copy){__VA_ARGS__}); \
	} while (0)

#define CHECK_STREAM(stream)                                    \
	do {                                                    \
		if (!stream_valid(stream, api.context->handle)) \
			return CUDA_ERROR_INVALID_HANDLE;       \
	} while (0)

API cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	API_SCOPE(NEED_LIVE);
	return copy_in(dstDevice, srcHost, ByteCount);
}

API cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	API_SCOPE(NEED_LIVE);
	return copy_out(dstHost, srcDevice, ByteCount);
}

API cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
	API_SCOPE(NEED_LIVE);
	return api_errno(space_move(dstDevice, srcDevice, ByteCount));
}

API cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
			 CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	CHECK_STREAM(hStream);
	CAPTURED(hStream, .kind = COPY_IN, .to = dstDevice, .from = (uint64_t)srcHost,
		 .bytes = ByteCount);
	return copy_in(dstDevice, srcHost, ByteCount);
}

API cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	CHECK_STREAM(hStream);
	CAPTURED(hStream, .kind = COPY_OUT, .to = (uint64_t)dstHost, .from = srcDevice,
		 .bytes = ByteCount);
	return copy_out(dstHost, srcDevice, ByteCount);
}

API cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
			 CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	CHECK_STREAM(hStream);
	CAPTURED(hStream, .kind = COPY_WITHIN, .to = dstDevice, .from = srcDevice,
		 .bytes = ByteCount);
	return api_errno(space_move(dstDevice, srcDevice, ByteCount));
}

API cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
	API_SCOPE(NEED_LIVE);
	return api_errno(space_set(dstDevice, uc, 1, N));
}

API cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
	API_SCOPE(NEED_LIVE);
	return set_words(dstDevice, ui, N);
}

API cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	CHECK_STREAM(hStream);
	CAPTURED(hStream, .kind = COPY_SET, .to = dstDevice, .value = uc, .width = 1,
		 .bytes = N * 1);
	return api_errno(space_set(dstDevice, uc, 1, N));
}

API cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	CHECK_STREAM(hStream);
	CAPTURED(hStream, .kind = COPY_SET, .to = dstDevice, .value = ui, .width = 4,
		 .bytes = N * 4);
	return set_words(dstDevice, ui, N);
}
