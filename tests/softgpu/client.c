/* SPDX-License-Identifier: MIT */
/* A client of the software device for tests. */
#include "tests/softgpu/client.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base.h"

struct driver cu;

const char *client_result(CUresult r)
{
	const char *name;

	return cu.cuGetErrorName(r, &name) == CUDA_SUCCESS ? name : "no CUresult";
}

int client_open(void **state)
{
	struct error err;
	CUcontext context;
	CUdevice device;

	if (!getenv("KERNELAB_DRIVER") || driver_open(&cu, getenv("KERNELAB_DRIVER"), &err)) {
		fprintf(stderr, "KERNELAB_DRIVER: %s\n",
			getenv("KERNELAB_DRIVER") ? err.message : "not set");
		return -1;
	}
	if (cu.cuInit(0) || cu.cuDeviceGet(&device, 0) ||
	    cu.cuDevicePrimaryCtxRetain(&context, device) || cu.cuCtxSetCurrent(context))
		return -1;
	return 0;
}

char *client_data(const char *name, size_t *size)
{
	_cleanup_free_ char *path = text_format("%s/%s", getenv("KERNELAB_TEST_DATA"), name);
	char *data;

	assert_int_equal(file_read_all(path, 1 << 26, &data, size), 0);
	return data;
}

CUdeviceptr client_allocate(size_t bytes)
{
	CUdeviceptr p;

	must(cu.cuMemAlloc_v2(&p, bytes));
	return p;
}

CUfunction client_function(CUmodule module, const char *name)
{
	CUfunction f;

	must(cu.cuModuleGetFunction(&f, module, name));
	return f;
}
