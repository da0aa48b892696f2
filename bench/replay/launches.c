// SPDX-License-Identifier: MIT
// Launches to record for a measurement of replay: one kernel, each launch in a shape class of its
// own.
//   launches CUBIN COUNT ELEMENTS   cast_bf16.cubin of tests/data/apps/a: (f32 *x, bf16 *y, n,
//   scratch)
// Launch i casts ELEMENTS - 16 i elements. Prints what it did.
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base.h"

#define BLOCK 1024 /* elements */

/* Looked up as Triton does, so that the shim sees them. */
#define CALLS(C)               \
	C(cuInit)              \
	C(cuDeviceGet)         \
	C(cuCtxCreate_v2)      \
	C(cuModuleLoadData)    \
	C(cuModuleGetFunction) \
	C(cuMemAlloc_v2)       \
	C(cuMemcpyHtoD_v2)     \
	C(cuCtxSynchronize)    \
	C(cuLaunchKernel)

static struct {
#define C(symbol) __typeof__(symbol) *symbol;
	CALLS(C)
#undef C
} cu;

static void check(CUresult r, const char *what)
{
	if (r != CUDA_SUCCESS) {
		fprintf(stderr, "launches: %s: CUDA error %d\n", what, (int)r);
		exit(1);
	}
}
#define CHECK(call) check(cu.call, #call)

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "launches: %s\n", dlerror());
		exit(1);
	}
#define C(symbol)                                                            \
	*(void **)&cu.symbol = dlsym(library, #symbol);                      \
	if (!cu.symbol) {                                                    \
		fprintf(stderr, "launches: the driver lacks " #symbol "\n"); \
		exit(1);                                                     \
	}
	CALLS(C)
#undef C
}

/* Fills x with numbers that are not alike, through a buffer of bounded size. */
static void fill(CUdeviceptr x, uint64_t elements)
{
	enum { PART = 1 << 20 };
	static float part[PART];

	for (uint64_t done = 0; done < elements; done += PART) {
		uint64_t n = elements - done < PART ? elements - done : PART;

		for (uint64_t i = 0; i < n; i++)
			part[i] = (float)((done + i) * 2654435761u % 1000003) * 0x1p-9f - 900.0f;
		CHECK(cuMemcpyHtoD_v2(x + 4 * done, part, n * 4));
	}
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *cubin = NULL;
	CUdeviceptr x, y, none = 0;
	int32_t n;
	void *params[] = {&x, &y, &n, &none, &none};
	CUmodule module;
	CUfunction function;
	CUcontext context;
	CUdevice device;
	size_t size;
	long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	long elements = argc == 4 ? strtol(argv[3], NULL, 10) : 0;

	if (count < 1 || elements % 16 || elements <= 16 * count || elements > INT32_MAX / 4 ||
	    file_read_all(argv[1], 1u << 26, &cubin, &size)) {
		fprintf(stderr, "usage: launches CUBIN COUNT ELEMENTS\n");
		return 2;
	}
	open_driver();
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate_v2(&context, 0, device));
	CHECK(cuMemAlloc_v2(&x, (size_t)elements * 4));
	CHECK(cuMemAlloc_v2(&y, (size_t)elements * 2));
	CHECK(cuModuleLoadData(&module, cubin));
	CHECK(cuModuleGetFunction(&function, module, "cast_bf16"));
	fill(x, (uint64_t)elements);
	for (long i = 0; i < count; i++) {
		n = (int32_t)(elements - 16 * i);
		CHECK(cuLaunchKernel(function, (unsigned)((n + BLOCK - 1) / BLOCK), 1, 1, 128, 1, 1,
				     0, NULL, params, NULL));
	}
	CHECK(cuCtxSynchronize());
	printf("%ld launches of %ld elements\n", count, elements);
	return 0;
}
