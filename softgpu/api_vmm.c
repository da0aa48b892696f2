/* SPDX-License-Identifier: MIT */
/* API: virtual memory management. It belongs to the process, so it works without a context too. */
#include "softgpu/device.h"

#include "softgpu/handle.h"
#include "softgpu/log.h"
#include "softgpu/space.h"

API cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
			unsigned long long flags)
{
	API_SCOPE(NEED_INIT);
	uint64_t address;
	int rc;

	if (!ptr || flags)
		return CUDA_ERROR_INVALID_VALUE;
	rc = space_reserve(&address, size, alignment, addr);
	if (!rc)
		*ptr = address;
	return api_errno(rc);
}

API cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	API_SCOPE(NEED_INIT);
	return api_errno(space_unreserve(ptr, size));
}

static CUresult allocation_prop_check(const CUmemAllocationProp *prop)
{
	if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
		softgpu_log(SOFTGPU_LOG_ERROR, "cuMemCreate: location type %d is not supported",
			    prop->location.type);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	if (!device_exists(prop->location.id))
		return CUDA_ERROR_INVALID_DEVICE;
	if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE ||
	    prop->allocFlags.compressionType || prop->allocFlags.usage) {
		softgpu_log(SOFTGPU_LOG_ERROR,
			    "cuMemCreate: shareable handles, compression and tile pools are not "
			    "supported");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

API cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
				  CUmemAllocationGranularity_flags option)
{
	API_SCOPE(NEED_INIT);
	CUresult result = allocation_prop_check(prop);

	if (!granularity || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
			     option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*granularity = SPACE_GRANULE;
	return result;
}

API cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
		unsigned long long flags)
{
	API_SCOPE(NEED_INIT);
	CUresult result = allocation_prop_check(prop);
	struct physical *p;
	uint64_t h;

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle || !size || size % SPACE_GRANULE || flags)
		return CUDA_ERROR_INVALID_VALUE;
	p = space_create(size);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	p->device = prop->location.id;
	h = handle_new(HANDLE_PHYSICAL, p);
	if (!h) {
		space_release(p);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*handle = h;
	return CUDA_SUCCESS;
}

/* The memory itself stays while it is mapped. */
API cuMemRelease(CUmemGenericAllocationHandle handle)
{
	API_SCOPE(NEED_INIT);
	struct physical *p = handle_get(HANDLE_PHYSICAL, handle);

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	handle_free(HANDLE_PHYSICAL, handle);
	space_release(p);
	return CUDA_SUCCESS;
}

API cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
	     unsigned long long flags)
{
	API_SCOPE(NEED_INIT);
	struct physical *p = handle_get(HANDLE_PHYSICAL, handle);

	if (!p || flags || !size)
		return CUDA_ERROR_INVALID_VALUE;
	if (offset || size != p->size) /* a GPU's driver maps whole handles only */
		return CUDA_ERROR_NOT_SUPPORTED;
	return api_errno(space_map(ptr, p));
}

API cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	API_SCOPE(NEED_INIT);
	return api_errno(space_unmap(ptr, size));
}

API cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	API_SCOPE(NEED_INIT);
	int rc = -1;

	if (!desc || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
			softgpu_log(SOFTGPU_LOG_ERROR,
				    "cuMemSetAccess: location type %d is not supported",
				    desc[i].location.type);
			return CUDA_ERROR_NOT_SUPPORTED;
		}
		if (!device_exists(desc[i].location.id))
			return CUDA_ERROR_INVALID_DEVICE;
		if (desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ) {
			softgpu_log(SOFTGPU_LOG_ERROR,
				    "cuMemSetAccess: read-only access is not supported");
			return CUDA_ERROR_NOT_SUPPORTED;
		}
		if (desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
		    desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
			return CUDA_ERROR_INVALID_VALUE;
	}
	for (size_t i = 0; i < count; i++)
		rc = space_set_access(ptr, size,
				      desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	return api_errno(rc);
}
