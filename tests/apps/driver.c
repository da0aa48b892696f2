/* SPDX-License-Identifier: MIT */
/* Opens the driver by dlopen and dlsym, and ends the program where a call fails. */
#include "tests/apps/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct driver cu;

void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

void driver_check(CUresult result, const char *what)
{
	const char *name = NULL;

	if (result == CUDA_SUCCESS)
		return;
	if (!cu.cuGetErrorName || cu.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
		name = "unknown error";
	die("%s (%d) from %s", name, (int)result, what);
}

void driver_open(void)
{
	CUdriverProcAddressQueryResult status;
	void *address = NULL;
	CUcontext context;
	char name[128];

	cu.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!cu.library)
		die("%s", dlerror());
#define C(symbol)                                                     \
	cu.symbol = (__typeof__(symbol) *)dlsym(cu.library, #symbol); \
	if (!cu.symbol)                                               \
		die("libcuda.so.1 has no %s", #symbol);
	CLIENT_CALLS(C)
#undef C
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&cu.device, 0));
	CHECK(cuDeviceGetName(name, sizeof name, cu.device));
	CHECK(cuDevicePrimaryCtxRetain(&context, cu.device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&cu.stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuGetProcAddress_v2("cuLaunchKernel", &address, 12000,
				  CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status));
	if (!address || status != CU_GET_PROC_ADDRESS_SUCCESS)
		die("cuGetProcAddress does not know cuLaunchKernel");
	cu.launch_kernel = (__typeof__(cuLaunchKernel) *)address;
	fprintf(stderr, "%s: device %s\n", program_invocation_short_name, name);
}

void driver_close(void)
{
	CHECK(cuStreamDestroy_v2(cu.stream));
	CHECK(cuDevicePrimaryCtxRelease_v2(cu.device));
	dlclose(cu.library);
}

void write_to(CUdeviceptr device, const void *host, size_t bytes)
{
	CHECK(cuMemcpyHtoDAsync_v2(device, host, bytes, cu.stream));
	CHECK(cuStreamSynchronize(cu.stream));
}

void read_back(void *host, CUdeviceptr device, size_t bytes)
{
	CHECK(cuMemcpyDtoHAsync_v2(host, device, bytes, cu.stream));
	CHECK(cuStreamSynchronize(cu.stream));
}
