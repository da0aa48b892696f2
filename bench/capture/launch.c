// SPDX-License-Identifier: MIT
// Host time of a kernel launch, of a kernel that a capture records and of one that it only counts.
//   launch CUBIN   cast_bf16.cubin of tests/data/apps/a: (x, y, n) and two scratch pointers
// Prints two lines: "recorded NS" and "other NS", medians over batches, the queue never full.
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base.h"

#define BATCHES  201
#define LAUNCHES 200 /* a batch: fewer than the driver queues without waiting */

/* Looked up as Triton does, so that the shim's wrappers are what is timed. */
#define CALLS(C)               \
	C(cuInit)              \
	C(cuDeviceGet)         \
	C(cuCtxCreate_v2)      \
	C(cuModuleLoadData)    \
	C(cuModuleGetFunction) \
	C(cuMemAlloc_v2)       \
	C(cuStreamCreate)      \
	C(cuStreamSynchronize) \
	C(cuLaunchKernelEx)

static struct {
#define C(symbol) __typeof__(symbol) *symbol;
	CALLS(C)
#undef C
} cu;

static const char nothing[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
			      ".visible .entry nothing()\n{\n\tret;\n}\n";

static void check(CUresult r, const char *what)
{
	if (r != CUDA_SUCCESS) {
		fprintf(stderr, "launch: %s: CUDA error %d\n", what, (int)r);
		exit(1);
	}
}
#define CHECK(call) check(cu.call, #call)

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double measure(CUfunction f, void **params, CUstream stream)
{
	static double ns[BATCHES];
	const CUlaunchConfig config = {.gridDimX = 1,
				       .gridDimY = 1,
				       .gridDimZ = 1,
				       .blockDimX = 128,
				       .blockDimY = 1,
				       .blockDimZ = 1,
				       .hStream = stream};

	for (int b = -3; b < BATCHES; b++) { /* the first three warm up, and are recorded */
		double start = now_ns();

		for (int i = 0; i < LAUNCHES; i++)
			CHECK(cuLaunchKernelEx(&config, f, params, NULL));
		if (b >= 0)
			ns[b] = (now_ns() - start) / LAUNCHES;
		CHECK(cuStreamSynchronize(stream));
	}
	qsort(ns, BATCHES, sizeof(*ns), compare);
	return ns[BATCHES / 2];
}

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "launch: %s\n", dlerror());
		exit(1);
	}
#define C(symbol)                                                          \
	*(void **)&cu.symbol = dlsym(library, #symbol);                    \
	if (!cu.symbol) {                                                  \
		fprintf(stderr, "launch: the driver lacks " #symbol "\n"); \
		exit(1);                                                   \
	}
	CALLS(C)
#undef C
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *cubin = NULL;
	CUdeviceptr memory, none = 0;
	int32_t n = 0;
	void *params[] = {&memory, &memory, &n, &none, &none};
	CUmodule module, other;
	CUfunction recorded, counted;
	CUstream stream;
	CUcontext context;
	CUdevice device;
	size_t size;

	if (argc != 2 || file_read_all(argv[1], 1u << 26, &cubin, &size)) {
		fprintf(stderr, "usage: launch CUBIN\n");
		return 2;
	}
	open_driver();
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate_v2(&context, 0, device));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc_v2(&memory, 1u << 20));
	CHECK(cuModuleLoadData(&module, cubin));
	CHECK(cuModuleGetFunction(&recorded, module, "cast_bf16"));
	CHECK(cuModuleLoadData(&other, nothing));
	CHECK(cuModuleGetFunction(&counted, other, "nothing"));
	printf("recorded %.1f\n", measure(recorded, params, stream));
	printf("other %.1f\n", measure(counted, NULL, stream));
	return 0;
}
