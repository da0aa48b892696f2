/* SPDX-License-Identifier: MIT */
/* The driver as a program sees it that, like Triton, opens libcuda.so.1 itself. */
#ifndef TESTS_APPS_DRIVER_H
#define TESTS_APPS_DRIVER_H

/* Exported names (cuMemAlloc_v2 …) are declared, not hidden behind macros. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* C(symbol): what the client calls; all by dlsym, as Triton's launcher does. */
#define CLIENT_CALLS(C)                      \
	C(cuInit)                            \
	C(cuGetErrorName)                    \
	C(cuGetProcAddress_v2)               \
	C(cuDeviceGet)                       \
	C(cuDeviceGetName)                   \
	C(cuDevicePrimaryCtxRetain)          \
	C(cuDevicePrimaryCtxRelease_v2)      \
	C(cuCtxSetCurrent)                   \
	C(cuModuleLoadData)                  \
	C(cuLibraryLoadData)                 \
	C(cuLibraryUnload)                   \
	C(cuLibraryGetKernel)                \
	C(cuKernelGetFunction)               \
	C(cuModuleUnload)                    \
	C(cuModuleGetFunction)               \
	C(cuFuncSetAttribute)                \
	C(cuLaunchKernelEx)                  \
	C(cuMemAlloc_v2)                     \
	C(cuMemFree_v2)                      \
	C(cuMemcpyHtoDAsync_v2)              \
	C(cuMemcpyDtoHAsync_v2)              \
	C(cuMemsetD8Async)                   \
	C(cuStreamCreate)                    \
	C(cuStreamDestroy_v2)                \
	C(cuStreamSynchronize)               \
	C(cuStreamBeginCapture_v2)           \
	C(cuStreamEndCapture)                \
	C(cuGraphInstantiateWithFlags)       \
	C(cuGraphGetNodes)                   \
	C(cuGraphNodeGetType)                \
	C(cuGraphKernelNodeGetParams_v2)     \
	C(cuGraphExecKernelNodeSetParams_v2) \
	C(cuGraphLaunch)                     \
	C(cuGraphExecDestroy)                \
	C(cuGraphDestroy)                    \
	C(cuEventCreate)                     \
	C(cuEventRecord)                     \
	C(cuEventSynchronize)                \
	C(cuEventElapsedTime)                \
	C(cuEventDestroy_v2)

struct driver {
	void *library;
#define C(symbol) __typeof__(symbol) *symbol;
	CLIENT_CALLS(C)
#undef C
	__typeof__(cuLaunchKernel) *launch_kernel; /* by cuGetProcAddress, as PyTorch does */
	CUdevice device;
	CUstream stream;
};

/* The process' one driver; filled by driver_open. */
extern struct driver cu;

/* Opens libcuda.so.1, device 0, its primary context, one stream. Ends the program on failure. */
void driver_open(void);
/* Destroys the stream, releases the context, closes the library. */
void driver_close(void);

/* Ends the program with status 1 and the error's name unless result is CUDA_SUCCESS. */
void driver_check(CUresult result, const char *what);
#define CHECK(call) driver_check(cu.call, #call)

/* Prints "PROGRAM: …" on stderr and ends the program with status 1. */
__attribute__((format(printf, 1, 2), noreturn)) void die(const char *format, ...);

/* Copies to device memory in the order of the stream; done when it returns. */
void write_to(CUdeviceptr device, const void *host, size_t bytes);
/* Copies device memory to the host after everything queued on the stream. */
void read_back(void *host, CUdeviceptr device, size_t bytes);

#endif
