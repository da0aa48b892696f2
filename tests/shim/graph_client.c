/* SPDX-License-Identifier: MIT */
/* Launches softmax_k from graphs on the software device; modes by name. Prints the memory's hash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/driver.h"
#include "kernelab/hash.h"
#include "lib/base.h"
#include "tests/check.h"

#define COLUMNS 1000
#define BYTES   (3 * 262144 + 1024)

static struct driver d;
static CUmodule module;
static CUfunction function;
static CUstream stream;
static CUdeviceptr x, y;

static void setup(const char *image)
{
	_cleanup_free_ unsigned short *host = malloc(BYTES);
	_cleanup_free_ char *data = NULL;
	struct error err;
	CUcontext context;
	CUdevice device;
	size_t size;

	if (driver_open(&d, "libcuda.so.1", &err) < 0 ||
	    file_read_all(image, 1 << 20, &data, &size) || !host)
		exit(3);
	CHECK(d.cuInit(0));
	CHECK(d.cuDeviceGet(&device, 0));
	CHECK(d.cuDevicePrimaryCtxRetain(&context, device));
	CHECK(d.cuCtxSetCurrent(context));
	CHECK(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(d.cuModuleLoadData(&module, data));
	CHECK(d.cuModuleGetFunction(&function, module, "softmax_k"));
	CHECK(d.cuMemAlloc_v2(&x, BYTES));
	CHECK(d.cuMemAlloc_v2(&y, BYTES));
	for (size_t i = 0; i < BYTES / 2; i++)
		host[i] = (unsigned short)(0x3f00 + i * 2654435761u % 256); /* bf16, 0.5 to 2 */
	CHECK(d.cuMemcpyHtoD_v2(x, host, BYTES));
	CHECK(d.cuMemsetD8_v2(y, 0xa5, BYTES));
}

static CUresult launch(unsigned rows, CUdeviceptr from, CUdeviceptr to)
{
	CUdeviceptr scratch = 0;
	int n = COLUMNS;
	void *params[] = {&from, &to, &n, &scratch, &scratch};

	return d.cuLaunchKernel(function, rows, 1, 1, 128, 1, 1, 64, stream, params, NULL);
}

/* y = f(x), part of y cleared, x = f(y) in place of x, y = f(x) again with another grid. */
static CUgraph capture(unsigned rows)
{
	CUgraph graph;

	CHECK(d.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(launch(rows, x, y));
	CHECK(d.cuMemsetD8Async(y, 0, 4096, stream));
	CHECK(launch(rows, y, x));
	CHECK(launch(rows + 1, x, y));
	CHECK(d.cuStreamEndCapture(stream, &graph));
	return graph;
}

static CUgraphExec instantiate(CUgraph graph)
{
	CUgraphExec exec;

	CHECK(d.cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

static void go(CUgraphExec exec, int times)
{
	for (int i = 0; i < times; i++)
		CHECK(d.cuGraphLaunch(exec, stream));
}

static CUgraphNode kernel_node(CUgraph graph, int which)
{
	CUgraphNode nodes[16];
	CUgraphNodeType type;
	size_t count = 16;

	CHECK(d.cuGraphGetNodes(graph, nodes, &count));
	for (size_t i = 0; i < count; i++) {
		CHECK(d.cuGraphNodeGetType(nodes[i], &type));
		if (type == CU_GRAPH_NODE_TYPE_KERNEL && !which--)
			return nodes[i];
	}
	exit(4);
}

static void set_rows(CUgraphExec exec, CUgraph graph, unsigned rows)
{
	CUgraphNode node = kernel_node(graph, 1);
	CUDA_KERNEL_NODE_PARAMS p;

	CHECK(d.cuGraphKernelNodeGetParams_v2(node, &p));
	p.gridDimX = rows;
	CHECK(d.cuGraphExecKernelNodeSetParams_v2(exec, node, &p));
}

/* Launched in capture, a graph is a child of another one: the software device refuses that. */
static void in_capture(CUgraphExec exec)
{
	CUgraph graph;

	CHECK(d.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	if (d.cuGraphLaunch(exec, stream) != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ||
	    d.cuStreamEndCapture(stream, &graph) != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
		exit(5);
}

static void run(const char *mode)
{
	CUgraph graph = capture(8), other;
	CUgraphExec exec = instantiate(graph);

	if (!strcmp(mode, "destroyed")) { /* as PyTorch does */
		CHECK(d.cuGraphDestroy(graph));
		go(exec, 3);
	} else if (!strcmp(mode, "cuda11")) { /* the forms with five arguments */
		CUgraphNode error;
		char log[64];

		CHECK(d.cuGraphExecDestroy(exec));
		CHECK(d.cuGraphInstantiate_v2(&exec, graph, &error, log, sizeof(log)));
		go(exec, 1);
		CHECK(d.cuGraphExecDestroy(exec));
		CHECK(d.cuGraphInstantiate(&exec, graph, &error, log, sizeof(log)));
		go(exec, 2);
	} else if (!strcmp(mode, "set")) {
		set_rows(exec, graph, 20);
		go(exec, 2);
		set_rows(exec, graph, 21);
		go(exec, 1);
	} else if (!strcmp(mode, "update")) {
		CUgraphExecUpdateResultInfo info;

		go(exec, 1);
		other = capture(30);
		CHECK(d.cuGraphExecUpdate_v2(exec, other, &info));
		CHECK(d.cuGraphDestroy(other));
		go(exec, 1);
	} else if (!strcmp(mode, "disabled")) {
		CHECK(d.cuGraphNodeSetEnabled(exec, kernel_node(graph, 1), 0));
		go(exec, 5);
	} else if (!strcmp(mode, "in-capture")) {
		in_capture(exec);
		go(exec, 1);
	} else if (!strcmp(mode, "recorded")) { /* nothing is left for the graph */
		CHECK(launch(8, x, y));
		CHECK(launch(9, x, y));
		go(exec, 2);
	} else {
		go(exec, 3);
	}
	CHECK(d.cuGraphExecDestroy(exec));
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *host = malloc(2 * BYTES);
	struct hash128 hash;

	if (argc != 3 || !host)
		return 2;
	setup(argv[2]);
	run(argv[1]);
	CHECK(d.cuStreamSynchronize(stream));
	CHECK(d.cuMemcpyDtoH_v2(host, x, BYTES));
	CHECK(d.cuMemcpyDtoH_v2(host + BYTES, y, BYTES));
	hash = hash_bytes(host, 2 * BYTES);
	printf("%016llx%016llx\n", (unsigned long long)hash.high, (unsigned long long)hash.low);
	CHECK(d.cuModuleUnload(module));
	return 0;
}
