/* SPDX-License-Identifier: MIT */
/*
 * The one table of driver entry points. A row expands to a typed real pointer (drv/driver.h), the
 * shim's wrapper map (shim/), and the software device's export list (softgpu/).
 */
#ifndef DRV_ENTRIES_H
#define DRV_ENTRIES_H

/*
 * With it cuda.h declares the exported names (cuMemAlloc_v2, cuLaunchKernel_ptsz …) as functions
 * instead of hiding them behind macros; so a wrapper with a wrong signature does not compile.
 */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>

/*
 * E(symbol, need, use)
 *   need  REQUIRED  a driver without it is refused; OPTIONAL  its pointer may be NULL
 *   use   WRAPPED   the shim interposes it;         CALLED    only called
 */
#define DRIVER_ENTRIES(E)                                                \
	E(cuInit, REQUIRED, CALLED)                                      \
	E(cuDriverGetVersion, REQUIRED, CALLED)                          \
	E(cuGetErrorName, REQUIRED, CALLED)                              \
	E(cuGetErrorString, REQUIRED, CALLED)                            \
	E(cuGetProcAddress, OPTIONAL, WRAPPED)                           \
	E(cuGetProcAddress_v2, OPTIONAL, WRAPPED)                        \
	E(cuDeviceGet, REQUIRED, CALLED)                                 \
	E(cuDeviceGetCount, REQUIRED, CALLED)                            \
	E(cuDeviceGetName, REQUIRED, CALLED)                             \
	E(cuDeviceGetAttribute, REQUIRED, CALLED)                        \
	E(cuDeviceTotalMem_v2, REQUIRED, CALLED)                         \
	E(cuDevicePrimaryCtxRetain, REQUIRED, CALLED)                    \
	E(cuDevicePrimaryCtxRelease_v2, REQUIRED, WRAPPED)               \
	E(cuDevicePrimaryCtxReset_v2, OPTIONAL, WRAPPED)                 \
	E(cuCtxCreate_v2, REQUIRED, CALLED)                              \
	E(cuCtxDestroy_v2, REQUIRED, WRAPPED)                            \
	E(cuCtxGetCurrent, REQUIRED, CALLED)                             \
	E(cuCtxSetCurrent, REQUIRED, CALLED)                             \
	E(cuCtxPushCurrent_v2, REQUIRED, CALLED)                         \
	E(cuCtxPopCurrent_v2, REQUIRED, CALLED)                          \
	E(cuCtxGetDevice, REQUIRED, CALLED)                              \
	E(cuCtxGetLimit, OPTIONAL, CALLED)                               \
	E(cuCtxSetLimit, OPTIONAL, CALLED)                               \
	E(cuCtxSynchronize, REQUIRED, CALLED)                            \
	E(cuModuleLoad, REQUIRED, WRAPPED)                               \
	E(cuModuleLoadData, REQUIRED, WRAPPED)                           \
	E(cuModuleLoadDataEx, REQUIRED, WRAPPED)                         \
	E(cuModuleLoadFatBinary, OPTIONAL, WRAPPED)                      \
	E(cuModuleUnload, REQUIRED, WRAPPED)                             \
	E(cuModuleGetFunction, REQUIRED, WRAPPED)                        \
	E(cuModuleGetGlobal_v2, REQUIRED, CALLED)                        \
	E(cuModuleGetFunctionCount, OPTIONAL, CALLED)                    \
	E(cuModuleEnumerateFunctions, OPTIONAL, WRAPPED)                 \
	E(cuLibraryLoadData, OPTIONAL, WRAPPED)                          \
	E(cuLibraryLoadFromFile, OPTIONAL, WRAPPED)                      \
	E(cuLibraryUnload, OPTIONAL, WRAPPED)                            \
	E(cuLibraryGetModule, OPTIONAL, WRAPPED)                         \
	E(cuLibraryGetKernel, OPTIONAL, WRAPPED)                         \
	E(cuLibraryGetKernelCount, OPTIONAL, CALLED)                     \
	E(cuLibraryEnumerateKernels, OPTIONAL, WRAPPED)                  \
	E(cuFuncGetAttribute, REQUIRED, CALLED)                          \
	E(cuFuncSetAttribute, REQUIRED, CALLED)                          \
	E(cuFuncSetCacheConfig, OPTIONAL, CALLED)                        \
	E(cuFuncGetName, OPTIONAL, CALLED)                               \
	E(cuFuncGetModule, OPTIONAL, CALLED)                             \
	E(cuFuncGetParamInfo, OPTIONAL, CALLED)                          \
	E(cuKernelGetName, OPTIONAL, CALLED)                             \
	E(cuKernelGetFunction, OPTIONAL, WRAPPED)                        \
	E(cuKernelGetParamInfo, OPTIONAL, CALLED)                        \
	E(cuOccupancyMaxActiveBlocksPerMultiprocessor, OPTIONAL, CALLED) \
	E(cuOccupancyMaxActiveClusters, OPTIONAL, CALLED)                \
	E(cuLaunchKernel, REQUIRED, WRAPPED)                             \
	E(cuLaunchKernel_ptsz, OPTIONAL, WRAPPED)                        \
	E(cuLaunchKernelEx, OPTIONAL, WRAPPED)                           \
	E(cuLaunchKernelEx_ptsz, OPTIONAL, WRAPPED)                      \
	E(cuLaunchCooperativeKernel, OPTIONAL, WRAPPED)                  \
	E(cuLaunchCooperativeKernel_ptsz, OPTIONAL, WRAPPED)             \
	E(cuGraphInstantiate, OPTIONAL, WRAPPED)                         \
	E(cuGraphInstantiate_v2, OPTIONAL, WRAPPED)                      \
	E(cuGraphInstantiateWithFlags, OPTIONAL, WRAPPED)                \
	E(cuGraphInstantiateWithParams, OPTIONAL, WRAPPED)               \
	E(cuGraphInstantiateWithParams_ptsz, OPTIONAL, WRAPPED)          \
	E(cuGraphLaunch, OPTIONAL, WRAPPED)                              \
	E(cuGraphLaunch_ptsz, OPTIONAL, WRAPPED)                         \
	E(cuGraphExecDestroy, OPTIONAL, WRAPPED)                         \
	E(cuGraphExecUpdate, OPTIONAL, WRAPPED)                          \
	E(cuGraphExecUpdate_v2, OPTIONAL, WRAPPED)                       \
	E(cuGraphExecKernelNodeSetParams, OPTIONAL, WRAPPED)             \
	E(cuGraphExecKernelNodeSetParams_v2, OPTIONAL, WRAPPED)          \
	E(cuGraphExecMemcpyNodeSetParams, OPTIONAL, WRAPPED)             \
	E(cuGraphExecMemsetNodeSetParams, OPTIONAL, WRAPPED)             \
	E(cuGraphExecHostNodeSetParams, OPTIONAL, WRAPPED)               \
	E(cuGraphExecNodeSetParams, OPTIONAL, WRAPPED)                   \
	E(cuGraphNodeSetEnabled, OPTIONAL, WRAPPED)                      \
	E(cuGraphDestroy, OPTIONAL, CALLED)                              \
	E(cuGraphClone, OPTIONAL, CALLED)                                \
	E(cuGraphNodeFindInClone, OPTIONAL, CALLED)                      \
	E(cuGraphGetNodes, OPTIONAL, CALLED)                             \
	E(cuGraphNodeGetType, OPTIONAL, CALLED)                          \
	E(cuGraphKernelNodeGetParams_v2, OPTIONAL, CALLED)               \
	E(cuGraphKernelNodeSetParams_v2, OPTIONAL, CALLED)               \
	E(cuGraphKernelNodeGetAttribute, OPTIONAL, CALLED)               \
	E(cuGraphNodeGetDependencies_v2, OPTIONAL, CALLED)               \
	E(cuGraphNodeGetDependentNodes_v2, OPTIONAL, CALLED)             \
	E(cuGraphAddDependencies_v2, OPTIONAL, CALLED)                   \
	E(cuGraphRemoveDependencies_v2, OPTIONAL, CALLED)                \
	E(cuGraphAddMemcpyNode, OPTIONAL, CALLED)                        \
	E(cuGraphAddKernelNode_v2, OPTIONAL, CALLED)                     \
	E(cuTensorMapEncodeTiled, OPTIONAL, WRAPPED)                     \
	E(cuTensorMapEncodeIm2col, OPTIONAL, WRAPPED)                    \
	E(cuMemAlloc_v2, REQUIRED, CALLED)                               \
	E(cuMemFree_v2, REQUIRED, CALLED)                                \
	E(cuMemAllocHost_v2, REQUIRED, CALLED)                           \
	E(cuMemFreeHost, REQUIRED, CALLED)                               \
	E(cuMemHostAlloc, OPTIONAL, CALLED)                              \
	E(cuMemAllocManaged, OPTIONAL, CALLED)                           \
	E(cuMemHostRegister_v2, OPTIONAL, CALLED)                        \
	E(cuMemHostUnregister, OPTIONAL, CALLED)                         \
	E(cuMemHostGetDevicePointer_v2, OPTIONAL, CALLED)                \
	E(cuMemGetAddressRange_v2, REQUIRED, CALLED)                     \
	E(cuMemGetInfo_v2, REQUIRED, CALLED)                             \
	E(cuPointerGetAttribute, REQUIRED, CALLED)                       \
	E(cuPointerGetAttributes, OPTIONAL, CALLED)                      \
	E(cuMemcpyHtoD_v2, REQUIRED, CALLED)                             \
	E(cuMemcpyDtoH_v2, REQUIRED, CALLED)                             \
	E(cuMemcpyDtoD_v2, REQUIRED, CALLED)                             \
	E(cuMemcpyHtoDAsync_v2, REQUIRED, CALLED)                        \
	E(cuMemcpyDtoHAsync_v2, REQUIRED, CALLED)                        \
	E(cuMemcpyDtoDAsync_v2, REQUIRED, CALLED)                        \
	E(cuMemsetD8_v2, REQUIRED, CALLED)                               \
	E(cuMemsetD32_v2, REQUIRED, CALLED)                              \
	E(cuMemsetD8Async, REQUIRED, CALLED)                             \
	E(cuMemsetD32Async, REQUIRED, CALLED)                            \
	E(cuMemAddressReserve, REQUIRED, CALLED)                         \
	E(cuMemAddressFree, REQUIRED, CALLED)                            \
	E(cuMemCreate, REQUIRED, CALLED)                                 \
	E(cuMemRelease, REQUIRED, CALLED)                                \
	E(cuMemMap, REQUIRED, CALLED)                                    \
	E(cuMemUnmap, REQUIRED, CALLED)                                  \
	E(cuMemSetAccess, REQUIRED, CALLED)                              \
	E(cuMemGetAllocationGranularity, REQUIRED, CALLED)               \
	E(cuStreamCreate, REQUIRED, CALLED)                              \
	E(cuStreamDestroy_v2, REQUIRED, CALLED)                          \
	E(cuStreamSynchronize, REQUIRED, CALLED)                         \
	E(cuStreamQuery, REQUIRED, CALLED)                               \
	E(cuStreamIsCapturing, REQUIRED, CALLED)                         \
	E(cuStreamBeginCapture_v2, OPTIONAL, CALLED)                     \
	E(cuStreamEndCapture, OPTIONAL, CALLED)                          \
	E(cuStreamWaitEvent, REQUIRED, CALLED)                           \
	E(cuStreamWriteValue32_v2, OPTIONAL, CALLED)                     \
	E(cuThreadExchangeStreamCaptureMode, REQUIRED, CALLED)           \
	E(cuEventCreate, REQUIRED, CALLED)                               \
	E(cuEventRecord, REQUIRED, CALLED)                               \
	E(cuEventSynchronize, REQUIRED, CALLED)                          \
	E(cuEventQuery, REQUIRED, CALLED)                                \
	E(cuEventElapsedTime, REQUIRED, CALLED)                          \
	E(cuEventDestroy_v2, REQUIRED, CALLED)

/* A type for each entry that cuda.h leaves undeclared would stand here; see drv/driver.h. */

enum driver_entry {
#define E(symbol, need, use) DRIVER_ENTRY_##symbol,
	DRIVER_ENTRIES(E)
#undef E
		DRIVER_ENTRY_COUNT
};

#endif
