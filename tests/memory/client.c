/* SPDX-License-Identifier: MIT */
/* A program whose kernels reach memory in many ways; prints a hash of all results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drv/driver.h"
#include "kernelab/hash.h"
#include "lib/base.h"
#include "tests/check.h"

#define N 256u

static struct driver d;
static CUmodule module;
static CUstream stream;
static struct hash_state *results;
static bool any_size; /* of variables */

static void launch(const char *name, unsigned blocks, unsigned threads, void **params)
{
	CUfunction function;

	CHECK(d.cuModuleGetFunction(&function, module, name));
	CHECK(d.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, params, NULL));
	CHECK(d.cuStreamSynchronize(stream));
}

static void add_result(CUdeviceptr at, size_t bytes)
{
	_cleanup_free_ void *host = malloc(bytes);

	CHECK(d.cuMemcpyDtoH_v2(host, at, bytes));
	hash_state_add(results, host, bytes);
}

static CUdeviceptr floats(unsigned count, float first)
{
	_cleanup_free_ float *host = malloc(count * sizeof(*host));
	CUdeviceptr at;

	for (unsigned i = 0; i < count; i++)
		host[i] = first + (float)i * 0.25f;
	CHECK(d.cuMemAlloc_v2(&at, count * sizeof(*host)));
	CHECK(d.cuMemcpyHtoD_v2(at, host, count * sizeof(*host)));
	return at;
}

static CUdeviceptr variable(const char *name, size_t bytes)
{
	CUdeviceptr at;
	size_t size;

	CHECK(d.cuModuleGetGlobal_v2(&at, &size, module, name));
	if (size != bytes && !any_size) {
		fprintf(stderr, "memory client: %s has %zu bytes\n", name, size);
		exit(3);
	}
	return at;
}

/* Variables of the module, set by the host: a table of indices, a factor, a sum that grows. */
static void globals(void)
{
	CUdeviceptr x = floats(N, 1), y = floats(N, -7), acc = variable("acc", 256);
	float factors[4] = {0, 3.5f, 0, 0}, sum[64];
	void *params[] = {&x, &y}, *through[] = {&acc, &y};
	unsigned perm[N];

	for (unsigned i = 0; i < N; i++)
		perm[i] = N - 1 - i;
	for (unsigned i = 0; i < 64; i++)
		sum[i] = (float)i;
	CHECK(d.cuMemcpyHtoD_v2(variable("perm", sizeof(perm)), perm, sizeof(perm)));
	CHECK(d.cuMemcpyHtoD_v2(variable("factors", 16), factors, sizeof(factors)));
	CHECK(d.cuMemcpyHtoD_v2(acc, sum, sizeof(sum)));
	launch("named", 1, N, params);
	add_result(y, 4 * N);
	add_result(acc, 256);
	launch("through", 1, 64, through);
	add_result(y, 4 * N);
	add_result(acc, 256);
}

/* A grouped kernel: its only parameter is a table of pointers, each to memory of its own. */
static void tables(void)
{
	CUdeviceptr pairs[8][2], table;
	void *params[] = {&table};

	for (unsigned i = 0; i < 8; i++) {
		pairs[i][0] = floats(i == 3 ? 1 << 20 : N, (float)i);
		pairs[i][1] = floats(N, -1);
	}
	CHECK(d.cuMemAlloc_v2(&table, sizeof(pairs)));
	CHECK(d.cuMemcpyHtoD_v2(table, pairs, sizeof(pairs)));
	launch("grouped", 8, N, params);
	for (unsigned i = 0; i < 8; i++)
		add_result(pairs[i][1], 4 * N);
}

/* A table with a third pointer, which leads from one allocation to the next. */
static void chain(void)
{
	CUdeviceptr table[3] = {floats(N, 1), floats(N, -1), 0}, at;
	void *params[] = {&at};

	for (unsigned i = 0; i < 12; i++) {
		CHECK(d.cuMemAlloc_v2(&at, sizeof(at)));
		CHECK(d.cuMemcpyHtoD_v2(at, &table[2], sizeof(at)));
		table[2] = at;
	}
	CHECK(d.cuMemAlloc_v2(&at, sizeof(table)));
	CHECK(d.cuMemcpyHtoD_v2(at, table, sizeof(table)));
	launch("grouped", 1, N, params);
	add_result(table[1], 4 * N);
}

/* A table that leads to a module variable. */
static void table_of_variable(void)
{
	CUdeviceptr pair[2] = {variable("perm", 4 * N), floats(N, -1)}, table;
	void *params[] = {&table};
	float values[N];

	for (unsigned i = 0; i < N; i++)
		values[i] = 2.5f * (float)i;
	CHECK(d.cuMemcpyHtoD_v2(pair[0], values, sizeof(values)));
	CHECK(d.cuMemAlloc_v2(&table, sizeof(pair)));
	CHECK(d.cuMemcpyHtoD_v2(table, pair, sizeof(pair)));
	launch("grouped", 1, N, params);
	add_result(pair[1], 4 * N);
}

/* The table of indices is a module variable that a copy in the graph fills. */
static void graph_of_variables(void)
{
	static unsigned perm[N];
	static float factors[4] = {0, 1.25f, 0, 0};
	CUdeviceptr x = floats(1 << 20, 1), y = floats(N, -7), acc = variable("acc", 256);
	CUdeviceptr table = variable("perm", sizeof(perm));
	void *params[] = {&x, &y};
	CUfunction function;
	CUgraph captured;
	CUgraphExec exec;

	for (unsigned i = 0; i < N; i++)
		perm[i] = 1000 * (N - 1 - i);
	CHECK(d.cuMemcpyHtoD_v2(variable("factors", 16), factors, sizeof(factors)));
	CHECK(d.cuMemsetD8_v2(acc, 0, 256));
	CHECK(d.cuMemsetD8_v2(table, 0x7e, sizeof(perm)));
	CHECK(d.cuModuleGetFunction(&function, module, "named"));
	CHECK(d.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(d.cuMemcpyHtoDAsync_v2(table, perm, sizeof(perm), stream));
	CHECK(d.cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, stream, params, NULL));
	CHECK(d.cuMemsetD8Async(table, 0x7e, sizeof(perm), stream));
	CHECK(d.cuStreamEndCapture(stream, &captured));
	CHECK(d.cuGraphInstantiateWithFlags(&exec, captured, 0));
	for (unsigned i = 0; i < 3; i++)
		CHECK(d.cuGraphLaunch(exec, stream));
	CHECK(d.cuStreamSynchronize(stream));
	add_result(y, 4 * N);
	add_result(acc, 256);
	CHECK(d.cuGraphExecDestroy(exec));
}

/* Between memory of the host and managed memory, in a graph. */
static void graph_of_host_memory(void)
{
	CUdeviceptr x, y;
	void *pinned, *there[] = {&x, &y}, *back[] = {&y, &x};
	CUfunction function;
	CUgraph captured;
	CUgraphExec exec;

	CHECK(d.cuMemAllocManaged(&x, 4 * N, CU_MEM_ATTACH_GLOBAL));
	CHECK(d.cuMemHostAlloc(&pinned, 4 * N, CU_MEMHOSTALLOC_DEVICEMAP));
	y = (CUdeviceptr)pinned;
	for (unsigned i = 0; i < N; i++)
		((float *)(uintptr_t)x)[i] = (float)i;
	CHECK(d.cuModuleGetFunction(&function, module, "twice"));
	CHECK(d.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(d.cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, stream, there, NULL));
	CHECK(d.cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, stream, back, NULL));
	CHECK(d.cuStreamEndCapture(stream, &captured));
	CHECK(d.cuGraphInstantiateWithFlags(&exec, captured, 0));
	CHECK(d.cuGraphLaunch(exec, stream));
	CHECK(d.cuGraphLaunch(exec, stream));
	CHECK(d.cuStreamSynchronize(stream));
	add_result(x, 4 * N);
	CHECK(d.cuGraphExecDestroy(exec));
}

/*
 * A graph whose grouped kernel gets its table from a copy inside it: before its first launch the
 * table holds no pointers. Another kernel's addresses are known from its parameters.
 */
static void graph_of(size_t large_bytes)
{
	static CUdeviceptr pairs[8][2];
	CUdeviceptr table, x = floats(1 << 20, 1), y = floats(1 << 20, 0);
	void *params[] = {&table}, *twice[] = {&x, &y};
	CUfunction function, other;
	CUgraph captured;
	CUgraphExec exec;

	for (unsigned i = 0; i < 8; i++) {
		pairs[i][0] = floats(N, (float)i);
		pairs[i][1] = floats(N, -1);
	}
	CHECK(d.cuMemAlloc_v2(&pairs[3][0], large_bytes));
	CHECK(d.cuMemsetD8_v2(pairs[3][0], 1, 4 * N));
	CHECK(d.cuMemAlloc_v2(&table, sizeof(pairs)));
	CHECK(d.cuMemsetD8_v2(table, 0xee, sizeof(pairs)));
	CHECK(d.cuModuleGetFunction(&function, module, "grouped"));
	CHECK(d.cuModuleGetFunction(&other, module, "twice"));
	CHECK(d.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(d.cuMemcpyHtoDAsync_v2(table, pairs, sizeof(pairs), stream));
	CHECK(d.cuLaunchKernel(function, 8, 1, 1, N, 1, 1, 0, stream, params, NULL));
	CHECK(d.cuLaunchKernel(other, 4, 1, 1, N, 1, 1, 0, stream, twice, NULL));
	CHECK(d.cuMemsetD8Async(table, 0xee, sizeof(pairs), stream));
	CHECK(d.cuStreamEndCapture(stream, &captured));
	CHECK(d.cuGraphInstantiateWithFlags(&exec, captured, 0));
	for (unsigned i = 0; i < 5; i++)
		CHECK(d.cuGraphLaunch(exec, stream));
	CHECK(d.cuStreamSynchronize(stream));
	for (unsigned i = 0; i < 8; i++)
		add_result(pairs[i][1], 4 * N);
	add_result(y, 4 * N);
	CHECK(d.cuGraphExecDestroy(exec));
}

static void graph(void)
{
	graph_of(4 << 20);
}

/* Copies of whole allocations would not fit. */
static void graph_large(void)
{
	graph_of((size_t)3 << 29);
}

static void fill(float *at, float first)
{
	for (unsigned i = 0; i < N; i++)
		at[i] = first + (float)i * 0.5f;
}

/* From managed to managed memory. */
static void managed(void)
{
	CUdeviceptr x, y;
	void *params[] = {&x, &y};

	CHECK(d.cuMemAllocManaged(&x, 4 * N, CU_MEM_ATTACH_GLOBAL));
	CHECK(d.cuMemAllocManaged(&y, 4 * N, CU_MEM_ATTACH_GLOBAL));
	fill((float *)(uintptr_t)x, 3);
	launch("twice", 1, N, params);
	add_result(y, 4 * N);
}

/* From pinned to registered memory of the host. */
static void host(void)
{
	void *x, *y = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CUdeviceptr to;
	void *params[] = {&x, &to};

	CHECK(d.cuMemHostAlloc(&x, 4 * N, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(d.cuMemHostRegister_v2(y, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
	CHECK(d.cuMemHostGetDevicePointer_v2(&to, y, 0));
	fill(x, 5);
	fill(y, 1);
	launch("twice", 1, N, params);
	hash_state_add(results, y, 4 * N);
	CHECK(d.cuMemHostUnregister(y));
	munmap(y, 8192);
}

/* Pointers inside a struct, the parameters once as a list and once as an `extra` buffer. */
static void packed(void)
{
	struct {
		int n;
		CUdeviceptr x, y;
	} args = {.n = 100, .x = floats(2 * N, 1), .y = floats(N, 0)};
	size_t size = sizeof(args);
	void *params[] = {&args};
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &args, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 CU_LAUNCH_PARAM_END};
	CUfunction function;

	launch("packed", 1, N, params);
	add_result(args.y, 4 * N);
	args.n = 7;
	CHECK(d.cuModuleGetFunction(&function, module, "packed"));
	CHECK(d.cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, stream, NULL, extra));
	CHECK(d.cuStreamSynchronize(stream));
	add_result(args.y, 4 * N);
}

static char *data; /* the image */

/* The same image in a second context, with variables and memory of its own. */
static void contexts(void)
{
	CUcontext first, second;
	CUdevice device;

	globals();
	CHECK(d.cuCtxGetCurrent(&first));
	CHECK(d.cuDeviceGet(&device, 0));
	CHECK(d.cuCtxCreate_v2(&second, 0, device));
	CHECK(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(d.cuModuleLoadData(&module, data));
	tables();
	globals();
	CHECK(d.cuCtxDestroy_v2(second));
	CHECK(d.cuCtxSetCurrent(first));
}

/* The same on every device, first to last. */
static void devices(void)
{
	int count;

	CHECK(d.cuDeviceGetCount(&count));
	for (int i = 0; i < count; i++) {
		CUcontext context;
		CUdevice device;

		CHECK(d.cuDeviceGet(&device, i));
		CHECK(d.cuDevicePrimaryCtxRetain(&context, device));
		CHECK(d.cuCtxSetCurrent(context));
		CHECK(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
		CHECK(d.cuModuleLoadData(&module, data));
		globals();
		tables();
		graph();
	}
}

static void setup(const char *image)
{
	struct error err = {0};
	CUcontext context;
	CUdevice device;
	size_t size;

	if (driver_open(&d, "libcuda.so.1", &err) < 0 ||
	    file_read_all(image, 1 << 20, &data, &size)) {
		fprintf(stderr, "memory client: no driver or image: %s\n", err.message);
		exit(3);
	}
	CHECK(d.cuInit(0));
	CHECK(d.cuDeviceGet(&device, 0));
	CHECK(d.cuDevicePrimaryCtxRetain(&context, device));
	CHECK(d.cuCtxSetCurrent(context));
	CHECK(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(d.cuModuleLoadData(&module, data));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"globals", globals},
		     {"any-size", globals},
		     {"tables", tables},
		     {"chain", chain},
		     {"managed", managed},
		     {"host", host},
		     {"graph", graph},
		     {"graph-large", graph_large},
		     {"contexts", contexts},
		     {"devices", devices},
		     {"packed", packed},
		     {"table-of-variable", table_of_variable},
		     {"graph-host", graph_of_host_memory},
		     {"graph-variables", graph_of_variables}};
	struct hash128 hash;

	results = hash_state_new();
	if (argc != 3 || !results)
		return 2;
	any_size = !strcmp(argv[1], "any-size");
	setup(argv[2]);
	for (size_t i = 0; i < ARRAY_LENGTH(modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].run();
	CHECK(d.cuCtxSynchronize());
	hash = hash_state_end(results);
	printf("%016llx%016llx\n", (unsigned long long)hash.high, (unsigned long long)hash.low);
	hash_state_free(results);
	free(data);
	return 0;
}
