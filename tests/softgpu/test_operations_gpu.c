/* SPDX-License-Identifier: MIT */
/*
 * Each operation of operations.h on the GPU and on the machine: equal bits, but for approximate
 * ones. KERNELAB_DRIVER names another driver than the system's. Skipped (77) where there is no GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/driver.h"
#include "lib/base.h"
#include "softgpu/machine.h"
#include "tests/softgpu/operation.h"

#define IN_BYTES  (OPERATION_LANES * 24)
#define OUT_BYTES (OPERATION_LANES * 8)

static struct driver cu;

static CUresult on_gpu(const char *text, const void *in, void *out)
{
	CUdeviceptr source = 0, target = 0;
	void *params[] = {&source, &target};
	CUmodule module;
	CUfunction function;
	CUresult r = cu.cuModuleLoadData(&module, text);

	if (r)
		return r;
	r = cu.cuModuleGetFunction(&function, module, "k");
	if (!r)
		r = cu.cuMemAlloc_v2(&source, IN_BYTES);
	if (!r)
		r = cu.cuMemAlloc_v2(&target, OUT_BYTES);
	if (!r)
		r = cu.cuMemcpyHtoD_v2(source, in, IN_BYTES);
	if (!r)
		r = cu.cuMemsetD8_v2(target, 0, OUT_BYTES);
	if (!r)
		r = cu.cuLaunchKernel(function, 1, 1, 1, OPERATION_LANES, 1, 1, 0, NULL, params,
				      NULL);
	if (!r)
		r = cu.cuMemcpyDtoH_v2(out, target, OUT_BYTES);
	if (source)
		cu.cuMemFree_v2(source);
	if (target)
		cu.cuMemFree_v2(target);
	cu.cuModuleUnload(module);
	return r;
}

static bool on_machine(const char *text, void *in, void *out)
{
	struct memory_range ranges[] = {{0x1000000, IN_BYTES, in}, {0x2000000, OUT_BYTES, out}};
	uint64_t params[] = {0x1000000, 0x2000000};
	struct machine_fault fault;
	struct ptx_module *m;
	struct machine_launch l = {.grid = {1, 1, 1},
				   .block = {OPERATION_LANES, 1, 1},
				   .params = params,
				   .ranges = ranges,
				   .range_count = 2};
	struct error err;

	memset(out, 0, OUT_BYTES);
	if (ptx_module_parse(&m, text, strlen(text), &err)) {
		printf("%s\n", err.message);
		return false;
	}
	l.module = m;
	l.entry = m->entries;
	if (machine_run(&l, &fault, NULL) != MACHINE_OK)
		printf("%s\n", fault.message);
	ptx_module_free(m);
	return fault.kind == MACHINE_OK;
}

static unsigned differences(const struct operation *o, uint64_t in[][3], const uint64_t *gpu,
			    const uint64_t *soft)
{
	unsigned n = 0;

	for (unsigned i = 0; i < OPERATION_LANES; i++) {
		if (operation_agrees(o, soft[i], gpu[i]))
			continue;
		if (!n++)
			printf("%s: a %llx b %llx c %llx gives %llx on the GPU, %llx here\n",
			       o->text, (unsigned long long)in[i][0], (unsigned long long)in[i][1],
			       (unsigned long long)in[i][2], (unsigned long long)gpu[i],
			       (unsigned long long)soft[i]);
	}
	return n;
}

static bool start(void)
{
	const char *path = getenv("KERNELAB_DRIVER");
	struct error err;
	CUdevice device;
	CUcontext context;

	if (driver_open(&cu, path ? path : "libcuda.so.1", &err) || cu.cuInit(0) ||
	    cu.cuDeviceGet(&device, 0) || cu.cuDevicePrimaryCtxRetain(&context, device))
		return false;
	return cu.cuCtxSetCurrent(context) == CUDA_SUCCESS;
}

int main(void)
{
	static uint64_t in[OPERATION_LANES][3], gpu[OPERATION_LANES], soft[OPERATION_LANES];
	unsigned wrong = 0;

	if (!start()) {
		printf("no GPU\n");
		return 77;
	}
	for (unsigned k = 0; k < operation_count; k++) {
		_cleanup_free_ char *text = operation_kernel(&operations[k]);
		CUresult r;
		unsigned n;

		operation_inputs(&operations[k], in);
		r = on_gpu(text, in, gpu);
		if (r) {
			printf("%s: CUresult %d\n", operations[k].text, r);
			wrong++;
			continue;
		}
		if (!on_machine(text, in, soft)) {
			wrong++;
			continue;
		}
		n = differences(&operations[k], in, gpu, soft);
		if (n)
			printf("  %u of %u results differ\n", n, OPERATION_LANES);
		wrong += n != 0;
	}
	printf("%u operations, %u differ\n", operation_count, wrong);
	return wrong != 0;
}
