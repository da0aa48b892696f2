/* SPDX-License-Identifier: MIT */
/*
 * Eight threads that load, look up, launch, capture, launch graphs and unload at the same time, on
 * the software device. Prints how many kernels they launched.
 *   threads_client probe|storm IMAGE   softmax_k's cubin
 * With SHIM_LINKED the shim's wrappers are part of the program (for ThreadSanitizer).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/driver.h"
#include "lib/base.h"
#include "tests/check.h"

#define THREADS 8
#define ROUNDS  12
#define COLUMNS 1000
#define BYTES   8192

static struct driver d;
static CUcontext context;
static CUfunction shared;
static char *image;

struct worker {
	pthread_t thread;
	int number;
	CUstream stream;
	CUdeviceptr x, y;
	unsigned long launches;
};

static CUfunction load(CUmodule *module, const void *data, const char *entry)
{
	CUfunction f;

	CHECK(d.cuModuleLoadData(module, data));
	CHECK(d.cuModuleGetFunction(&f, *module, entry));
	return f;
}

static void launch_columns(struct worker *w, CUfunction f, unsigned rows, int n)
{
	CUdeviceptr scratch = 0;
	void *params[] = {&w->x, &w->y, &n, &scratch, &scratch};

	CHECK(d.cuLaunchKernel(f, rows, 1, 1, 128, 1, 1, 64, w->stream, params, NULL));
	w->launches++;
}

static void launch(struct worker *w, CUfunction f, unsigned rows)
{
	launch_columns(w, f, rows, COLUMNS);
}

/* An image that no other thread has; it comes back with every fourth round. */
static void own_image(struct worker *w, int round, const char *prefix)
{
	char entry[64], ptx[512];
	int n = w->number;
	void *params[] = {&w->x, &n};
	CUmodule module;
	CUfunction f;

	snprintf(entry, sizeof(entry), "%s_%d_%d", prefix, w->number, round % 4);
	snprintf(ptx, sizeof(ptx),
		 ".version 7.0\n.target sm_80\n.address_size 64\n"
		 ".visible .entry %s(.param .u64 p, .param .u32 n)\n{\n\tret;\n}\n",
		 entry);
	f = load(&module, ptx, entry);
	for (unsigned i = 0; i < 5; i++, w->launches++) {
		n = (int)i % 2;
		CHECK(d.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, w->stream, params, NULL));
	}
	CHECK(d.cuStreamSynchronize(w->stream));
	CHECK(d.cuModuleUnload(module));
}

/* Every thread loads the same bytes, as a module of its own. */
static void same_image(struct worker *w)
{
	CUmodule module;
	CUfunction f = load(&module, image, "softmax_k");

	for (unsigned rows = 1; rows <= 3; rows++)
		launch(w, f, rows);
	CHECK(d.cuStreamSynchronize(w->stream));
	CHECK(d.cuModuleUnload(module));
}

static void graph(struct worker *w)
{
	CUgraph g;
	CUgraphExec exec;

	CHECK(d.cuStreamBeginCapture_v2(w->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	launch(w, shared, 1);
	launch(w, shared, 2);
	CHECK(d.cuStreamEndCapture(w->stream, &g));
	CHECK(d.cuGraphInstantiateWithFlags(&exec, g, 0));
	CHECK(d.cuGraphDestroy(g));
	for (int i = 0; i < 3; i++, w->launches += 2)
		CHECK(d.cuGraphLaunch(exec, w->stream));
	CHECK(d.cuStreamSynchronize(w->stream));
	CHECK(d.cuGraphExecDestroy(exec));
}

static void *work(void *data)
{
	struct worker *w = data;

	CHECK(d.cuCtxSetCurrent(context));
	CHECK(d.cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING));
	CHECK(d.cuMemAlloc_v2(&w->x, BYTES));
	CHECK(d.cuMemAlloc_v2(&w->y, BYTES));
	CHECK(d.cuMemsetD8Async(w->x, 0x3f, BYTES, w->stream));
	for (int round = 0; round < ROUNDS; round++) {
		same_image(w);
		own_image(w, round, "mine");
		own_image(w, round, "counted");
		for (unsigned i = 0; i < 20; i++)
			launch(w, shared, 1 + i % 3);
		/* More classes than are kept, so that tails decide. */
		for (int i = 0; i < 12; i++)
			launch_columns(w, shared, 1, 1 + (12 * round + i + 7 * w->number) % 150);
		if (round % 3 == w->number % 3)
			graph(w);
	}
	CHECK(d.cuStreamSynchronize(w->stream));
	return NULL;
}

static void open_driver(const char *path)
{
	struct error err;
	CUdevice device;
	CUmodule module;
	size_t size;

	if (driver_open(&d, "libcuda.so.1", &err) < 0 ||
	    file_read_all(path, 1 << 20, &image, &size)) {
		fprintf(stderr, "threads_client: no driver or image\n");
		exit(3);
	}
#ifdef SHIM_LINKED
#define LINKED_WRAPPED(symbol) d.symbol = symbol;
#define LINKED_CALLED(symbol)
#define E(symbol, need, use) LINKED_##use(symbol)
	DRIVER_ENTRIES(E)
#undef E
#endif
	CHECK(d.cuInit(0));
	CHECK(d.cuDeviceGet(&device, 0));
	CHECK(d.cuDevicePrimaryCtxRetain(&context, device));
	CHECK(d.cuCtxSetCurrent(context));
	shared = load(&module, image, "softmax_k");
}

int main(int argc, char **argv)
{
	struct worker workers[THREADS] = {0};
	unsigned long launches = 0;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "probe")) /* whether the sanitizer's runtime works here at all */
		return 0;
	open_driver(argv[2]);
	for (int i = 0; i < THREADS; i++) {
		workers[i].number = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 4;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		launches += workers[i].launches;
	}
	printf("%lu\n", launches);
	free(image);
	return 0;
}
