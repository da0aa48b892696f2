/* SPDX-License-Identifier: MIT */
/* API: cuGetProcAddress. */
#include "softgpu/device.h"

#include <string.h>

#include "lib/base.h"

/*
 * P(symbol, base, version): the exported name, the name that programs ask for, and the CUDA version
 * since which base means symbol (as in CUDA's cudaTypedefs.h).
 */
#define PROCS(P)                                                                         \
	P(cuInit, "cuInit", 2000)                                                        \
	P(cuDriverGetVersion, "cuDriverGetVersion", 2020)                                \
	P(cuGetErrorName, "cuGetErrorName", 6000)                                        \
	P(cuGetErrorString, "cuGetErrorString", 6000)                                    \
	P(cuGetProcAddress, "cuGetProcAddress", 11030)                                   \
	P(cuGetProcAddress_v2, "cuGetProcAddress", 12000)                                \
	P(cuDeviceGet, "cuDeviceGet", 2000)                                              \
	P(cuDeviceGetCount, "cuDeviceGetCount", 2000)                                    \
	P(cuDeviceGetName, "cuDeviceGetName", 2000)                                      \
	P(cuDeviceGetAttribute, "cuDeviceGetAttribute", 2000)                            \
	P(cuDeviceTotalMem_v2, "cuDeviceTotalMem", 3020)                                 \
	P(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000)                    \
	P(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000)              \
	P(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000)                  \
	P(cuCtxCreate_v2, "cuCtxCreate", 3020)                                           \
	P(cuCtxDestroy_v2, "cuCtxDestroy", 4000)                                         \
	P(cuCtxGetCurrent, "cuCtxGetCurrent", 4000)                                      \
	P(cuCtxSetCurrent, "cuCtxSetCurrent", 4000)                                      \
	P(cuCtxPushCurrent_v2, "cuCtxPushCurrent", 4000)                                 \
	P(cuCtxPopCurrent_v2, "cuCtxPopCurrent", 4000)                                   \
	P(cuCtxGetDevice, "cuCtxGetDevice", 2000)                                        \
	P(cuCtxGetLimit, "cuCtxGetLimit", 3010)                                          \
	P(cuCtxSetLimit, "cuCtxSetLimit", 3010)                                          \
	P(cuCtxSynchronize, "cuCtxSynchronize", 2000)                                    \
	P(cuModuleLoad, "cuModuleLoad", 2000)                                            \
	P(cuModuleLoadData, "cuModuleLoadData", 2000)                                    \
	P(cuModuleLoadDataEx, "cuModuleLoadDataEx", 2010)                                \
	P(cuModuleLoadFatBinary, "cuModuleLoadFatBinary", 2000)                          \
	P(cuModuleUnload, "cuModuleUnload", 2000)                                        \
	P(cuModuleGetFunction, "cuModuleGetFunction", 2000)                              \
	P(cuModuleGetGlobal_v2, "cuModuleGetGlobal", 3020)                               \
	P(cuModuleGetFunctionCount, "cuModuleGetFunctionCount", 12040)                   \
	P(cuModuleEnumerateFunctions, "cuModuleEnumerateFunctions", 12040)               \
	P(cuLibraryLoadData, "cuLibraryLoadData", 12000)                                 \
	P(cuLibraryLoadFromFile, "cuLibraryLoadFromFile", 12000)                         \
	P(cuLibraryUnload, "cuLibraryUnload", 12000)                                     \
	P(cuLibraryGetModule, "cuLibraryGetModule", 12000)                               \
	P(cuLibraryGetKernel, "cuLibraryGetKernel", 12000)                               \
	P(cuLibraryGetKernelCount, "cuLibraryGetKernelCount", 12040)                     \
	P(cuLibraryEnumerateKernels, "cuLibraryEnumerateKernels", 12040)                 \
	P(cuFuncGetAttribute, "cuFuncGetAttribute", 2020)                                \
	P(cuFuncSetAttribute, "cuFuncSetAttribute", 9000)                                \
	P(cuFuncSetCacheConfig, "cuFuncSetCacheConfig", 3000)                            \
	P(cuFuncGetName, "cuFuncGetName", 12030)                                         \
	P(cuFuncGetModule, "cuFuncGetModule", 11000)                                     \
	P(cuFuncGetParamInfo, "cuFuncGetParamInfo", 12040)                               \
	P(cuKernelGetName, "cuKernelGetName", 12030)                                     \
	P(cuKernelGetFunction, "cuKernelGetFunction", 12000)                             \
	P(cuKernelGetParamInfo, "cuKernelGetParamInfo", 12040)                           \
	P(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                   \
	  "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050)                           \
	P(cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters", 11070)           \
	P(cuLaunchKernel, "cuLaunchKernel", 4000)                                        \
	P(cuLaunchKernel_ptsz, "cuLaunchKernel", 7000)                                   \
	P(cuLaunchKernelEx, "cuLaunchKernelEx", 11060)                                   \
	P(cuLaunchKernelEx_ptsz, "cuLaunchKernelEx", 11060)                              \
	P(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000)                  \
	P(cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel", 9000)             \
	P(cuGraphInstantiate, "cuGraphInstantiate", 10000)                               \
	P(cuGraphInstantiate_v2, "cuGraphInstantiate", 11000)                            \
	P(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", 11040)             \
	P(cuGraphInstantiateWithParams, "cuGraphInstantiateWithParams", 12000)           \
	P(cuGraphInstantiateWithParams_ptsz, "cuGraphInstantiateWithParams", 12000)      \
	P(cuGraphLaunch, "cuGraphLaunch", 10000)                                         \
	P(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000)                                    \
	P(cuGraphExecDestroy, "cuGraphExecDestroy", 10000)                               \
	P(cuGraphExecUpdate, "cuGraphExecUpdate", 10020)                                 \
	P(cuGraphExecUpdate_v2, "cuGraphExecUpdate", 12000)                              \
	P(cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams", 10010)       \
	P(cuGraphExecKernelNodeSetParams_v2, "cuGraphExecKernelNodeSetParams", 12000)    \
	P(cuGraphExecMemcpyNodeSetParams, "cuGraphExecMemcpyNodeSetParams", 10020)       \
	P(cuGraphExecMemsetNodeSetParams, "cuGraphExecMemsetNodeSetParams", 10020)       \
	P(cuGraphExecHostNodeSetParams, "cuGraphExecHostNodeSetParams", 10020)           \
	P(cuGraphExecNodeSetParams, "cuGraphExecNodeSetParams", 12020)                   \
	P(cuGraphNodeSetEnabled, "cuGraphNodeSetEnabled", 11060)                         \
	P(cuGraphDestroy, "cuGraphDestroy", 10000)                                       \
	P(cuGraphClone, "cuGraphClone", 10000)                                           \
	P(cuGraphNodeFindInClone, "cuGraphNodeFindInClone", 10000)                       \
	P(cuGraphGetNodes, "cuGraphGetNodes", 10000)                                     \
	P(cuGraphNodeGetType, "cuGraphNodeGetType", 10000)                               \
	P(cuGraphKernelNodeGetParams_v2, "cuGraphKernelNodeGetParams", 12000)            \
	P(cuGraphKernelNodeSetParams_v2, "cuGraphKernelNodeSetParams", 12000)            \
	P(cuGraphKernelNodeGetAttribute, "cuGraphKernelNodeGetAttribute", 11000)         \
	P(cuGraphNodeGetDependencies_v2, "cuGraphNodeGetDependencies", 12030)            \
	P(cuGraphNodeGetDependentNodes_v2, "cuGraphNodeGetDependentNodes", 12030)        \
	P(cuGraphAddDependencies_v2, "cuGraphAddDependencies", 12030)                    \
	P(cuGraphRemoveDependencies_v2, "cuGraphRemoveDependencies", 12030)              \
	P(cuGraphAddMemcpyNode, "cuGraphAddMemcpyNode", 10000)                           \
	P(cuGraphAddKernelNode_v2, "cuGraphAddKernelNode", 12000)                        \
	P(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled", 12000)                       \
	P(cuTensorMapEncodeIm2col, "cuTensorMapEncodeIm2col", 12000)                     \
	P(cuMemAlloc_v2, "cuMemAlloc", 3020)                                             \
	P(cuMemFree_v2, "cuMemFree", 3020)                                               \
	P(cuMemAllocHost_v2, "cuMemAllocHost", 3020)                                     \
	P(cuMemHostAlloc, "cuMemHostAlloc", 2020)                                        \
	P(cuMemAllocManaged, "cuMemAllocManaged", 6000)                                  \
	P(cuMemFreeHost, "cuMemFreeHost", 2000)                                          \
	P(cuMemHostRegister_v2, "cuMemHostRegister", 6050)                               \
	P(cuMemHostUnregister, "cuMemHostUnregister", 4000)                              \
	P(cuMemHostGetDevicePointer_v2, "cuMemHostGetDevicePointer", 3020)               \
	P(cuMemGetAddressRange_v2, "cuMemGetAddressRange", 3020)                         \
	P(cuMemGetInfo_v2, "cuMemGetInfo", 3020)                                         \
	P(cuPointerGetAttribute, "cuPointerGetAttribute", 4000)                          \
	P(cuPointerGetAttributes, "cuPointerGetAttributes", 7000)                        \
	P(cuMemcpyHtoD_v2, "cuMemcpyHtoD", 3020)                                         \
	P(cuMemcpyDtoH_v2, "cuMemcpyDtoH", 3020)                                         \
	P(cuMemcpyDtoD_v2, "cuMemcpyDtoD", 3020)                                         \
	P(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync", 3020)                               \
	P(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync", 3020)                               \
	P(cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync", 3020)                               \
	P(cuMemsetD8_v2, "cuMemsetD8", 3020)                                             \
	P(cuMemsetD32_v2, "cuMemsetD32", 3020)                                           \
	P(cuMemsetD8Async, "cuMemsetD8Async", 3020)                                      \
	P(cuMemsetD32Async, "cuMemsetD32Async", 3020)                                    \
	P(cuMemAddressReserve, "cuMemAddressReserve", 10020)                             \
	P(cuMemAddressFree, "cuMemAddressFree", 10020)                                   \
	P(cuMemCreate, "cuMemCreate", 10020)                                             \
	P(cuMemRelease, "cuMemRelease", 10020)                                           \
	P(cuMemMap, "cuMemMap", 10020)                                                   \
	P(cuMemUnmap, "cuMemUnmap", 10020)                                               \
	P(cuMemSetAccess, "cuMemSetAccess", 10020)                                       \
	P(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity", 10020)         \
	P(cuStreamCreate, "cuStreamCreate", 2000)                                        \
	P(cuStreamDestroy_v2, "cuStreamDestroy", 4000)                                   \
	P(cuStreamSynchronize, "cuStreamSynchronize", 2000)                              \
	P(cuStreamQuery, "cuStreamQuery", 2000)                                          \
	P(cuStreamIsCapturing, "cuStreamIsCapturing", 10000)                             \
	P(cuStreamBeginCapture_v2, "cuStreamBeginCapture", 10010)                        \
	P(cuStreamEndCapture, "cuStreamEndCapture", 10000)                               \
	P(cuStreamWaitEvent, "cuStreamWaitEvent", 3020)                                  \
	P(cuStreamWriteValue32_v2, "cuStreamWriteValue32", 11070)                        \
	P(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", 10010) \
	P(cuEventCreate, "cuEventCreate", 2000)                                          \
	P(cuEventRecord, "cuEventRecord", 2000)                                          \
	P(cuEventSynchronize, "cuEventSynchronize", 2000)                                \
	P(cuEventQuery, "cuEventQuery", 2000)                                            \
	P(cuEventElapsedTime, "cuEventElapsedTime", 2000)                                \
	P(cuEventDestroy_v2, "cuEventDestroy", 4000)

struct proc {
	const char *symbol, *base;
	int version;
	bool per_thread;
	void *address;
};

static const struct proc procs[] = {
#define P(symbol, base, version)                                                                 \
	[DRIVER_ENTRY_##symbol] = {#symbol, base, version,                                       \
				   sizeof(#symbol) > 6 && #symbol[sizeof(#symbol) - 3] == 's' && \
					   #symbol[sizeof(#symbol) - 2] == 'z',                  \
				   (void *)symbol},
	PROCS(P)
#undef P
};

/* One row here for each of drv/entries.h. */
#define P(symbol, base, version) +1
_Static_assert(0 PROCS(P) == DRIVER_ENTRY_COUNT, "a driver entry has no row here");
#undef P

/* Since CUDA 12 the older name means another entry than the exported symbol of that name. */
static const struct proc aliases[] = {{"cuGraphInstantiateWithFlags", "cuGraphInstantiate", 12000,
				       false, (void *)cuGraphInstantiateWithFlags}};

/* The entry that a program compiled for that CUDA version means; NULL, with *old if it is newer. */
static const struct proc *proc_find(const char *name, int version, bool per_thread, bool *old)
{
	const struct proc *best = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(procs) + ARRAY_LENGTH(aliases); i++) {
		const struct proc *p =
			i < ARRAY_LENGTH(procs) ? &procs[i] : &aliases[i - ARRAY_LENGTH(procs)];

		if (strcmp(p->base, name) != 0 || (p->per_thread && !per_thread))
			continue;
		if (p->version > version)
			*old = true;
		else if (!best || p->per_thread > best->per_thread ||
			 (p->per_thread == best->per_thread && p->version > best->version))
			best = p;
	}
	return best;
}

/*
 * Needs no cuInit. Answers with the very addresses of the exported symbols. Where there is no such
 * entry, a caller that asks for the status gets CUDA_SUCCESS and a NULL pointer, as of a GPU's
 * driver.
 */
static CUresult proc_address(const char *symbol, void **pfn, int version, uint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	const struct proc *p;
	bool old = false;

	if (!symbol || !pfn ||
	    flags & ~(uint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM |
				CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
		return CUDA_ERROR_INVALID_VALUE;
	p = proc_find(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &old);
	*pfn = p ? p->address : NULL;
	if (status)
		*status = p     ? CU_GET_PROC_ADDRESS_SUCCESS
			  : old ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
				: CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return p || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
	return proc_address(symbol, pfn, cudaVersion, flags, NULL);
}

API cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
			CUdriverProcAddressQueryResult *symbolStatus)
{
	return proc_address(symbol, pfn, cudaVersion, flags, symbolStatus);
}
