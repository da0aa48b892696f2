/* SPDX-License-Identifier: MIT */
/* API: initialisation and the devices. */
#include "softgpu/device.h"

#include <string.h>

#include "lib/base.h"
#include "softgpu/fault.h"
#include "softgpu/space.h"

API cuInit(unsigned int Flags)
{
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	return device_init();
}

API cuDriverGetVersion(int *driverVersion)
{
	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	*driverVersion = CUDA_VERSION; /* that of the header whose types these entries have */
	return CUDA_SUCCESS;
}

API cuDeviceGet(CUdevice *device, int ordinal)
{
	API_SCOPE(NEED_INIT);
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	fault_device(ordinal);
	return CUDA_SUCCESS;
}

API cuDeviceGetCount(int *count)
{
	API_SCOPE(NEED_INIT);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = (int)device_settings()->devices;
	return CUDA_SUCCESS;
}

API cuDeviceGetName(char *name, int len, CUdevice dev)
{
	API_SCOPE(NEED_INIT);
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)len, "%s", DEVICE_NAME);
	return CUDA_SUCCESS;
}

API cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	API_SCOPE(NEED_INIT);
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = space_total();
	return CUDA_SUCCESS;
}

/*
 * Limits are those of sm_90, which kernels are made for. What this device cannot do reads 0, as do
 * all attributes of the enumeration that are not listed.
 */
static const struct {
	CUdevice_attribute attribute;
	int value;
} attributes[] = {
#define D(name, value)                            \
	{                                         \
		CU_DEVICE_ATTRIBUTE_##name, value \
	}
	D(MAX_THREADS_PER_BLOCK, 1024),
	D(MAX_BLOCK_DIM_X, 1024),
	D(MAX_BLOCK_DIM_Y, 1024),
	D(MAX_BLOCK_DIM_Z, 64),
	D(MAX_GRID_DIM_X, 2147483647),
	D(MAX_GRID_DIM_Y, 65535),
	D(MAX_GRID_DIM_Z, 65535),
	D(MAX_SHARED_MEMORY_PER_BLOCK, DEVICE_SHARED_DEFAULT),
	D(TOTAL_CONSTANT_MEMORY, 65536),
	D(WARP_SIZE, 32),
	D(MAX_PITCH, 2147483647),
	D(MAX_REGISTERS_PER_BLOCK, DEVICE_REGISTERS),
	D(CLOCK_RATE, 1000000),
	D(TEXTURE_ALIGNMENT, 512),
	D(MULTIPROCESSOR_COUNT, DEVICE_MULTIPROCESSORS),
	D(CAN_MAP_HOST_MEMORY, 1),
	D(COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT),
	D(MEMORY_CLOCK_RATE, 1000000),
	D(GLOBAL_MEMORY_BUS_WIDTH, 64),
	D(L2_CACHE_SIZE, 32 << 20),
	D(MAX_THREADS_PER_MULTIPROCESSOR, DEVICE_THREADS_SM),
	D(UNIFIED_ADDRESSING, 1),
	D(TEXTURE_PITCH_ALIGNMENT, 32),
	D(COMPUTE_CAPABILITY_MAJOR, DEVICE_ARCH / 10),
	D(COMPUTE_CAPABILITY_MINOR, DEVICE_ARCH % 10),
	D(GLOBAL_L1_CACHE_SUPPORTED, 1),
	D(LOCAL_L1_CACHE_SUPPORTED, 1),
	D(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, DEVICE_SHARED_SM),
	D(MAX_REGISTERS_PER_MULTIPROCESSOR, DEVICE_REGISTERS),
	D(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2),
	D(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1),
	D(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, DEVICE_SHARED_OPTIN),
	D(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
	D(MAX_BLOCKS_PER_MULTIPROCESSOR, DEVICE_BLOCKS_SM),
	D(RESERVED_SHARED_MEMORY_PER_BLOCK, DEVICE_SHARED_SYSTEM),
	D(MEM_SYNC_DOMAIN_COUNT, 1),
	D(NUMA_ID, -1),
	D(HOST_NUMA_ID, -1),
#undef D
};

API cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	API_SCOPE(NEED_INIT);
	if (!pi || attrib < 1 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pi = 0;
	for (size_t i = 0; i < ARRAY_LENGTH(attributes); i++)
		if (attributes[i].attribute == attrib)
			*pi = attributes[i].value;
	return CUDA_SUCCESS;
}
