// SPDX-License-Identifier: MIT
// Host time that a capture adds to a launch it does not record, measured inside one process:
// batches through the entry that a program gets, and through libcuda's own, in turns.
//   kernelab capture --origin all --exclude counted -- launch [--batches N] [--cold BYTES]
// Prints a Markdown table; without a capture both entries are one, and it shows the noise.
// --cold: before each launch BYTES of memory and 64 KiB of code are gone through, out of the time
// measured, as a real driver's own work lies between two launches; for a driver without any.
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base.h"
#include "bench/capture/evict.h"
#include "shim/real_dl.h"

#define LAUNCHES    200 /* a batch: fewer than the driver queues without waiting */
#define GRAPHS      10  /* the same of graphs */
#define THREADS_MAX 8
#define PARAMS_MAX  20
#define BATCHES_MAX 100000
#define COLD_MAX    (1u << 30)

/* Looked up as Triton does: under a capture the shim's wrappers. */
#define CALLS(C)                       \
	C(cuInit)                      \
	C(cuDeviceGet)                 \
	C(cuCtxCreate_v2)              \
	C(cuCtxSetCurrent)             \
	C(cuModuleLoadData)            \
	C(cuModuleGetFunction)         \
	C(cuMemAlloc_v2)               \
	C(cuStreamCreate)              \
	C(cuStreamSynchronize)         \
	C(cuLaunchKernel)              \
	C(cuLaunchKernelEx)            \
	C(cuStreamBeginCapture_v2)     \
	C(cuStreamEndCapture)          \
	C(cuGraphInstantiateWithFlags) \
	C(cuGraphLaunch)

static struct {
#define C(symbol) __typeof__(symbol) *symbol;
	CALLS(C)
#undef C
} cu, real;

/* args_P_N has P pointers and N 32-bit numbers; what "counted" begins is not to be recorded. */
struct kernel {
	const char *name;
	unsigned pointers, numbers;
	CUfunction function;
};

static struct kernel kernels[] = {{"counted_args_1_1", 1, 1, NULL},
				  {"counted_args_10_10", 10, 10, NULL},
				  {"args_1_1", 1, 1, NULL},
				  {"args_10_10", 10, 10, NULL},
				  {"args_2_2", 2, 2, NULL}};

struct measurement {
	const char *what;
	const struct kernel *kernel;
	unsigned classes, threads;
	bool ex;        /* cuLaunchKernelEx, else cuLaunchKernel */
	unsigned nodes; /* of a graph that is launched in their place; 0: none */
};

static int batches = 401;
static size_t cold_bytes; /* 0: launches follow one another */
static double tick_ns;
static CUcontext context;
static CUdeviceptr memory;

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

/* ---- kernels ---- */

static void load(struct kernel *k)
{
	char text[4096];
	size_t n = 0;
	CUmodule module = NULL;

#define ADD(...) n += (size_t)snprintf(text + n, sizeof(text) - n, __VA_ARGS__)
	ADD(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry %s(\n", k->name);
	for (unsigned i = 0; i < k->pointers + k->numbers; i++)
		ADD("%s\t.param .u%d p%u", i ? ",\n" : "", i < k->pointers ? 64 : 32, i);
	ADD(")\n{\n\tret;\n}\n");
#undef ADD
	CHECK(cuModuleLoadData(&module, text));
	CHECK(cuModuleGetFunction(&k->function, module, k->name));
}

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library || !real_dlsym()) {
		fprintf(stderr, "launch: %s\n", library ? "no dlsym" : dlerror());
		exit(1);
	}
#define C(symbol)                                                          \
	*(void **)&cu.symbol = dlsym(library, #symbol);                    \
	*(void **)&real.symbol = real_dlsym()(library, #symbol);           \
	if (!cu.symbol || !real.symbol) {                                  \
		fprintf(stderr, "launch: the driver lacks " #symbol "\n"); \
		exit(1);                                                   \
	}
	CALLS(C)
#undef C
}

/* ---- batches ---- */

struct worker {
	const struct measurement *m;
	pthread_barrier_t *together;
	pthread_t thread;
	CUstream stream;
	CUdeviceptr pointers[PARAMS_MAX];
	int32_t numbers[PARAMS_MAX];
	void *params[PARAMS_MAX];
	CUgraphExec graph;
	char *evicted;         /* cold_bytes */
	double *plain, *added; /* batches of them: ns a launch */
};

static void set_params(struct worker *w)
{
	for (unsigned i = 0; i < w->m->kernel->pointers + w->m->kernel->numbers; i++) {
		w->pointers[i] = memory;
		w->numbers[i] = (int32_t)i;
		w->params[i] = i < w->m->kernel->pointers ? (void *)&w->pointers[i]
							  : (void *)&w->numbers[i];
	}
}

static unsigned launches_of(const struct measurement *m)
{
	return m->nodes ? GRAPHS : LAUNCHES;
}

static CUresult launch_one(const struct worker *w, const __typeof__(cu) *driver,
			   const CUlaunchConfig *config)
{
	const struct measurement *m = w->m;

	return m->ex ? driver->cuLaunchKernelEx(config, m->kernel->function, (void **)w->params,
						NULL)
		     : driver->cuLaunchKernel(m->kernel->function, config->gridDimX, 1, 1, 32, 1, 1,
					      0, w->stream, (void **)w->params, NULL);
}

static double launch_graphs(const struct worker *w, const __typeof__(cu) *driver)
{
	double start = now_ns();

	for (unsigned i = 0; i < GRAPHS; i++)
		check(driver->cuGraphLaunch(w->graph, w->stream), "launching a graph");
	return now_ns() - start;
}

/* ns, of the launches alone. */
static double launch_kernels(const struct worker *w, const __typeof__(cu) *driver, unsigned count)
{
	const struct measurement *m = w->m;
	CUlaunchConfig config = {.gridDimX = 1,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 32,
				 .blockDimY = 1,
				 .blockDimZ = 1,
				 .hStream = w->stream};
	double start = now_ns();

	for (unsigned i = 0; i < count; i++) {
		config.gridDimX = 1 + i % m->classes;
		check(launch_one(w, driver, &config), "launching");
	}
	return now_ns() - start;
}

/* The same, each by itself. What the program has just written is not cold. */
static double launch_cold(struct worker *w, const __typeof__(cu) *driver)
{
	CUlaunchConfig config = {
		.gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
	uint64_t ticks = 0;

	config.hStream = w->stream;
	for (unsigned i = 0; i < LAUNCHES; i++) {
		uint64_t start;
		CUresult r;

		evict(w->evicted, cold_bytes);
		set_params(w);
		config.gridDimX = 1 + i % w->m->classes;
		start = evict_ticks();
		r = launch_one(w, driver, &config);
		ticks += evict_ticks() - start;
		check(r, "launching");
	}
	return (double)ticks * tick_ns;
}

static double batch(struct worker *w, const __typeof__(cu) *driver)
{
	if (w->m->nodes)
		return launch_graphs(w, driver);
	return cold_bytes ? launch_cold(w, driver) : launch_kernels(w, driver, LAUNCHES);
}

/* False where the driver captures nothing: the one of tests, whose launches take no time. */
static bool make_graph(struct worker *w)
{
	CUgraph graph = NULL;

	CHECK(cuStreamBeginCapture_v2(w->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	launch_kernels(w, &cu, w->m->nodes);
	CHECK(cuStreamEndCapture(w->stream, &graph));
	if (graph)
		CHECK(cuGraphInstantiateWithFlags(&w->graph, graph, 0));
	return graph != NULL;
}

/* All threads go through the same entry at the same time. */
static double timed(struct worker *w, const __typeof__(cu) *driver)
{
	double ns;

	pthread_barrier_wait(w->together);
	ns = batch(w, driver);
	CHECK(cuStreamSynchronize(w->stream));
	return ns / launches_of(w->m);
}

static void *work(void *data)
{
	struct worker *w = data;

	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING));
	set_params(w);
	w->evicted = cold_bytes ? calloc(1, cold_bytes) : NULL;
	if (cold_bytes && !w->evicted)
		exit(1);
	if (w->m->nodes && !make_graph(w))
		return NULL;
	/* What is to be recorded is, and caches are warm. */
	batch(w, &cu);
	batch(w, &real);
	CHECK(cuStreamSynchronize(w->stream));
	for (int b = 0; b < batches; b++) {
		double first = timed(w, b % 2 ? &cu : &real);
		double second = timed(w, b % 2 ? &real : &cu);

		w->plain[b] = b % 2 ? second : first;
		w->added[b] = b % 2 ? first - second : second - first;
	}
	free(w->evicted);
	return NULL;
}

static void measure(const struct measurement *m)
{
	struct worker workers[THREADS_MAX] = {0};
	size_t count = (size_t)batches * m->threads;
	double *plain = calloc(count, sizeof(*plain)), *added = calloc(count, sizeof(*added));
	pthread_barrier_t together;

	if (!plain || !added || pthread_barrier_init(&together, NULL, m->threads))
		exit(1);
	for (unsigned i = 0; i < m->threads; i++) {
		workers[i].m = m;
		workers[i].together = &together;
		workers[i].plain = plain + (size_t)batches * i;
		workers[i].added = added + (size_t)batches * i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			exit(1);
	}
	for (unsigned i = 0; i < m->threads; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_barrier_destroy(&together);
	if (m->nodes && !workers[0].graph)
		goto done;
	qsort(plain, count, sizeof(*plain), compare);
	qsort(added, count, sizeof(*added), compare);
	printf("| %s | %s | %u | %u | %u | %.0f | %+.0f | %+.0f | %+.0f |\n", m->what,
	       m->nodes ? "cuGraphLaunch"
	       : m->ex  ? "cuLaunchKernelEx"
			: "cuLaunchKernel",
	       m->kernel->pointers + m->kernel->numbers, m->classes, m->threads, plain[count / 2],
	       added[count / 2], added[count / 10], added[count - 1 - count / 10]);
	fflush(stdout);
done:
	free(plain);
	free(added);
}

int main(int argc, char **argv)
{
	static const char counted[] = "only counted", recorded[] = "class is recorded already",
			  beyond[] = "beyond 64 classes, tail recorded already",
			  graph1[] = "graph of 1 kernel", graph100[] = "graph of 100 kernels";
	const struct measurement all[] = {
		{counted, &kernels[0], 1, 1, true, 0},      {counted, &kernels[1], 1, 1, true, 0},
		{counted, &kernels[1], 1, 4, true, 0},      {recorded, &kernels[2], 1, 1, true, 0},
		{recorded, &kernels[2], 1, 1, false, 0},    {recorded, &kernels[2], 16, 1, true, 0},
		{recorded, &kernels[3], 1, 1, true, 0},     {recorded, &kernels[3], 16, 1, true, 0},
		{recorded, &kernels[3], 60, 1, true, 0},    {recorded, &kernels[2], 1, 4, true, 0},
		{recorded, &kernels[3], 16, 4, true, 0},    {beyond, &kernels[4], 200, 1, true, 0},
		{beyond, &kernels[4], 200, 4, true, 0},     {graph1, &kernels[2], 16, 1, false, 1},
		{graph100, &kernels[2], 16, 1, false, 100},
	};
	CUdevice device = 0;

	for (int i = 1; i < argc; i += 2) {
		if (i + 1 < argc && !strcmp(argv[i], "--batches"))
			batches = atoi(argv[i + 1]);
		else if (i + 1 < argc && !strcmp(argv[i], "--cold"))
			cold_bytes = strtoul(argv[i + 1], NULL, 0);
		else
			batches = 0;
	}
	if (batches < 1 || batches > BATCHES_MAX || cold_bytes > COLD_MAX) {
		fprintf(stderr, "usage: launch [--batches N] [--cold BYTES]\n");
		return 2;
	}
	if (cold_bytes)
		tick_ns = evict_tick_ns();
	open_driver();
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate_v2(&context, 0, device));
	CHECK(cuMemAlloc_v2(&memory, 1u << 20));
	for (size_t i = 0; i < ARRAY_LENGTH(kernels); i++)
		load(&kernels[i]);
	printf("%s\n\n",
	       cu.cuLaunchKernel == real.cuLaunchKernel
		       ? "Nothing stands between program and driver: the figures are noise."
		       : "With a capture.");
	printf("| launch | entry | parameters | classes | threads | libcuda alone, ns | added, "
	       "median ns | p10 | p90 |\n|---|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
		measure(&all[i]);
	return 0;
}
