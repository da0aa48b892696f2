/* SPDX-License-Identifier: MIT */
/* Libraries of the software device: kernels of all contexts, launched as such or as functions. */
#include "tests/softgpu/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char store_ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
				".visible .global .align 4 .b8 table[8] = {1, 2, 3, 4};\n"
				".visible .entry other()\n{\n\tret;\n}\n"
				".visible .entry store(.param .u64 p, .param .u32 n)\n{\n"
				"\t.reg .b64 %rd<2>;\n\t.reg .b32 %r<2>;\n"
				"\tld.param.u64 %rd1, [p];\n\tld.param.u32 %r1, [n];\n"
				"\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n";

static CUlibrary load(const char *image)
{
	CUlibrary library;

	must(cu.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	return library;
}

static void run(CUfunction f, uint32_t value, CUresult (*go)(CUfunction, CUdeviceptr *, uint32_t *))
{
	CUdeviceptr p = client_allocate(4);
	uint32_t got = 0;

	must(go(f, &p, &value));
	must(cu.cuMemcpyDtoH_v2(&got, p, 4));
	assert_int_equal(got, value);
	must(cu.cuMemFree_v2(p));
}

static CUresult plain(CUfunction f, CUdeviceptr *p, uint32_t *n)
{
	void *params[] = {p, n};

	return cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
}

static CUresult extended(CUfunction f, CUdeviceptr *p, uint32_t *n)
{
	void *params[] = {p, n};
	CUlaunchConfig config = {.gridDimX = 1,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 1,
				 .blockDimY = 1,
				 .blockDimZ = 1};

	return cu.cuLaunchKernelEx(&config, f, params, NULL);
}

static CUresult cooperative(CUfunction f, CUdeviceptr *p, uint32_t *n)
{
	void *params[] = {p, n};

	return cu.cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params);
}

static void kernels_and_functions(void **state)
{
	CUlibrary library = load(store_ptx);
	CUkernel kernel, again, all[4] = {NULL};
	CUfunction f, listed[4] = {NULL};
	CUmodule module, of;
	size_t offset, size;
	unsigned count;
	const char *name;
	CUdeviceptr p;

	must(cu.cuLibraryGetKernel(&kernel, library, "store"));
	must(cu.cuLibraryGetKernel(&again, library, "store"));
	assert_true(kernel == again);
	expect(CUDA_ERROR_NOT_FOUND, cu.cuLibraryGetKernel(&again, library, "none"));
	must(cu.cuKernelGetName(&name, kernel));
	assert_string_equal(name, "store");
	must(cu.cuKernelGetParamInfo(kernel, 1, &offset, &size));
	assert_int_equal(offset, 8);
	assert_int_equal(size, 4);
	expect(CUDA_ERROR_INVALID_VALUE, cu.cuKernelGetParamInfo(kernel, 2, &offset, &size));
	must(cu.cuLibraryGetKernelCount(&count, library));
	assert_int_equal(count, 2);
	must(cu.cuLibraryEnumerateKernels(all, 4, library));
	assert_true(all[0] == kernel || all[1] == kernel);

	must(cu.cuKernelGetFunction(&f, kernel));
	must(cu.cuLibraryGetModule(&module, library));
	must(cu.cuFuncGetModule(&of, f));
	assert_true(of == module);
	assert_true(client_function(module, "store") == f);
	must(cu.cuModuleGetFunctionCount(&count, module));
	assert_int_equal(count, 2);
	must(cu.cuModuleEnumerateFunctions(listed, 4, module));
	assert_true(listed[0] == f || listed[1] == f);
	must(cu.cuModuleGetGlobal_v2(&p, &size, module, "table"));
	assert_int_equal(size, 8);

	run(f, 1, plain);
	run((CUfunction)kernel, 2, plain);
	run((CUfunction)kernel, 3, extended);
	run((CUfunction)kernel, 4, cooperative);
	/* A kernel is a function for launches only. */
	expect(CUDA_ERROR_INVALID_HANDLE, cu.cuFuncGetName(&name, (CUfunction)kernel));

	expect(CUDA_ERROR_NOT_PERMITTED, cu.cuModuleUnload(module));
	must(cu.cuLibraryUnload(library));
	expect(CUDA_ERROR_INVALID_HANDLE, cu.cuLibraryUnload(library));
	expect(CUDA_ERROR_INVALID_HANDLE, cu.cuKernelGetFunction(&f, kernel));
	expect(CUDA_ERROR_INVALID_HANDLE, cu.cuModuleUnload(module));
	expect(CUDA_ERROR_INVALID_HANDLE, plain((CUfunction)kernel, &p, &count));
}

static void good_in_every_context(void **state)
{
	CUlibrary library = load(store_ptx);
	CUcontext context;
	CUkernel kernel;
	CUdevice device;

	must(cu.cuLibraryGetKernel(&kernel, library, "store"));
	must(cu.cuDeviceGet(&device, 0));
	must(cu.cuCtxCreate_v2(&context, 0, device));
	run((CUfunction)kernel, 5, plain);
	must(cu.cuCtxDestroy_v2(context));
	run((CUfunction)kernel, 6, plain);
	must(cu.cuLibraryUnload(library));
}

static void files_and_faults(void **state)
{
	CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
	size_t size;
	char *cubin = client_data("softmax_k.cubin", &size);
	CUlibrary library;
	CUkernel kernel;
	CUmodule module;
	CUtensorMap map;
	char path[512];

	must(cu.cuLibraryLoadData(&library, cubin, NULL, NULL, 0, &option, NULL, 1));
	must(cu.cuLibraryGetKernel(&kernel, library, "softmax_k"));
	must(cu.cuLibraryUnload(library));
	snprintf(path, sizeof(path), "%s/softmax_k.cubin", getenv("KERNELAB_TEST_DATA"));
	must(cu.cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
	must(cu.cuLibraryUnload(library));
	expect(CUDA_ERROR_FILE_NOT_FOUND,
	       cu.cuLibraryLoadFromFile(&library, "/nonexistent", NULL, NULL, 0, NULL, NULL, 0));
	expect(CUDA_ERROR_INVALID_IMAGE,
	       cu.cuLibraryLoadData(&library, "no image", NULL, NULL, 0, NULL, NULL, 0));
	must(cu.cuModuleLoadFatBinary(&module, cubin));
	must(cu.cuModuleUnload(module));
	expect(CUDA_ERROR_NOT_SUPPORTED,
	       cu.cuTensorMapEncodeIm2col(&map, 0, 3, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 0,
					  0, 0, 0));
	free(cubin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_and_functions),
		cmocka_unit_test(good_in_every_context),
		cmocka_unit_test(files_and_faults),
	};

	return cmocka_run_group_tests(tests, client_open, NULL);
}
