/* SPDX-License-Identifier: MIT */
/*
 * A program whose launches have much memory: copies_client CUBIN MODE PAIRS ELEMENTS. Each pair has
 * an input of 4 * ELEMENTS bytes and an output of half of that; each is launched once (`once`) or
 * twice (`twice`), by one thread or by four (`threads`, `threads-twice`), each with a stream of its
 * own. Prints what the program has to see; on standard error its largest
 * resident size and its threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/driver.h"
#include "lib/base.h"

#define PAIRS_MAX 4096
#define THREADS   4

struct pair {
	CUdeviceptr from, to;
};

static struct driver d;
static CUcontext context;
static CUfunction function;
static struct pair pairs[PAIRS_MAX];
static int pair_count, elements, rounds = 1;

static void must(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	fprintf(stderr, "copies_client: %s: %d\n", what, (int)r);
	exit(3);
}
#define MUST(call) must(call, #call)

/* Different numbers everywhere: no chunk is like another. */
static void fill(CUdeviceptr to, unsigned number)
{
	size_t bytes = 4 * (size_t)elements;
	float *values = malloc(bytes);

	if (!values)
		exit(3);
	for (int i = 0; i < elements; i++)
		values[i] = (float)(unsigned)(i + 1) * (1.0f + (float)number) * 0.37f;
	MUST(d.cuMemcpyHtoD_v2(to, values, bytes));
	free(values);
}

/* The image and the memory, in the current context. */
static void prepare(const char *cubin)
{
	CUmodule module;
	char *data;
	size_t size;

	if (file_read_all(cubin, 1 << 20, &data, &size))
		exit(3);
	MUST(d.cuModuleLoadData(&module, data));
	free(data);
	MUST(d.cuModuleGetFunction(&function, module, "cast_bf16"));
	for (int i = 0; i < pair_count; i++) {
		MUST(d.cuMemAlloc_v2(&pairs[i].from, 4 * (size_t)elements));
		MUST(d.cuMemAlloc_v2(&pairs[i].to, 2 * (size_t)elements));
		MUST(d.cuMemsetD8_v2(pairs[i].to, 0, 2 * (size_t)elements));
		fill(pairs[i].from, (unsigned)i);
	}
}

static void setup(const char *cubin)
{
	struct error err;

	if (driver_open(&d, "libcuda.so.1", &err) < 0)
		exit(3);
#ifdef SHIM_LINKED /* the shim is part of this program, for a sanitizer */
#define LINKED_WRAPPED(symbol) d.symbol = symbol;
#define LINKED_CALLED(symbol)
#define E(symbol, need, use) LINKED_##use(symbol)
	DRIVER_ENTRIES(E)
#undef E
#endif
	MUST(d.cuInit(0));
	MUST(d.cuCtxCreate_v2(&context, 0, 0));
	prepare(cubin);
}

static void launch(const struct pair *p, CUstream stream)
{
	CUdeviceptr scratch = 0;
	int n = elements;
	void *params[] = {(void *)&p->from, (void *)&p->to, &n, &scratch, &scratch};

	MUST(d.cuLaunchKernel(function, (unsigned)(n + 1023) / 1024, 1, 1, 128, 1, 1, 0, stream,
			      params, NULL));
}

static void *run(void *first)
{
	int step = *(int *)first < 0 ? 1 : THREADS;
	CUstream stream = NULL;

	MUST(d.cuCtxSetCurrent(context));
	if (step > 1)
		MUST(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int round = 0; round < rounds; round++)
		for (int i = step > 1 ? *(int *)first : 0; i < pair_count; i += step)
			launch(&pairs[i], stream);
	MUST(d.cuStreamSynchronize(stream));
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, run, &numbers[i]))
			exit(3);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void print_sums(void)
{
	size_t bytes = 2 * (size_t)elements;
	unsigned short *out = malloc(bytes);

	for (int p = 0; out && p < pair_count; p++) {
		unsigned long sum = 0;

		MUST(d.cuMemcpyDtoH_v2(out, pairs[p].to, bytes));
		for (int i = 0; i < elements; i++)
			sum = sum * 31 + out[i];
		printf("sum %lu\n", sum);
	}
	free(out);
}

/* Contexts that come and go, more than the library has places for; resets of the primary one. */
static void run_contexts(const char *cubin)
{
	MUST(d.cuCtxDestroy_v2(context));
	for (int i = 0; i < 20; i++) {
		MUST(d.cuCtxCreate_v2(&context, 0, 0));
		prepare(cubin);
		run(&(int){-1});
		print_sums();
		MUST(d.cuCtxDestroy_v2(context));
		MUST(d.cuDevicePrimaryCtxRetain(&context, 0));
		MUST(d.cuCtxSetCurrent(context));
		prepare(cubin);
		run(&(int){-1});
		print_sums();
		MUST(i % 2 ? d.cuDevicePrimaryCtxReset_v2(0) : d.cuDevicePrimaryCtxRelease_v2(0));
		if (i % 2)
			d.cuDevicePrimaryCtxRelease_v2(0);
	}
}

static void print_size(void)
{
	_cleanup_free_ char *status = NULL;
	size_t size = 0;
	char *line;

	if (file_read_all("/proc/self/status", 1 << 16, &status, &size))
		return;
	line = strstr(status, "VmHWM:");
	if (line)
		fprintf(stderr, "resident %ld\n", strtol(line + 6, NULL, 10) * 1024);
	line = strstr(status, "Threads:");
	if (line)
		fprintf(stderr, "tasks %ld\n", strtol(line + 8, NULL, 10));
}

int main(int argc, char **argv)
{
	const char *mode = argc == 5 ? argv[2] : "";

	if (argc != 5)
		return 2;
	if (!strcmp(mode, "probe")) /* whether the sanitizer's runtime works here at all */
		return 0;
	pair_count = atoi(argv[3]);
	elements = atoi(argv[4]);
	if (pair_count < 1 || pair_count > PAIRS_MAX || elements < 1)
		return 2;
	rounds += !strcmp(mode, "twice") || !strcmp(mode, "threads-twice");
	setup(argv[1]);
	if (!strncmp(mode, "threads", 7))
		run_threads();
	else
		run(&(int){-1});
	if (!strcmp(mode, "context-goes"))
		MUST(d.cuCtxDestroy_v2(context));
	else if (!strcmp(mode, "contexts"))
		run_contexts(argv[1]);
	else
		print_sums();
	print_size();
	return 0;
}
