/* SPDX-License-Identifier: MIT */
/* Wrappers of libraries and their kernels: cuBLAS, and through the runtime PyTorch's own code. */
#include "shim/wrapping.h"

#include <stdlib.h>

#include "lib/base.h"
#include "shim/images.h"
#include "shim/kernels.h"

SHIM_EXPORT CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code,
					       CUjit_option *jit, void **jit_values,
					       unsigned int jit_count, CUlibraryOption *options,
					       void **values, unsigned int count)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuLibraryLoadData);
	r = real.cuLibraryLoadData(library, code, jit, jit_values, jit_count, options, values,
				   count);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		images_library_loaded(*library, code, NULL, 0, NULL, "cuLibraryLoadData",
				      __builtin_return_address(0));
		recorder_leave(&scope);
	}
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *path,
						   CUjit_option *jit, void **jit_values,
						   unsigned int jit_count, CUlibraryOption *options,
						   void **values, unsigned int count)
{
	struct recorder_scope scope;
	char *data = NULL;
	size_t size = 0;
	CUresult r;

	REAL_OR_RETURN(cuLibraryLoadFromFile);
	if (!recorder_enter(&scope))
		return real.cuLibraryLoadFromFile(library, path, jit, jit_values, jit_count,
						  options, values, count);
	/* Read before the driver does: the file may be gone or another one afterwards. */
	if (path && file_read_all(path, IMAGE_FILE_MAX, &data, &size) < 0)
		data = NULL;
	r = real.cuLibraryLoadFromFile(library, path, jit, jit_values, jit_count, options, values,
				       count);
	if (r == CUDA_SUCCESS && data)
		images_library_loaded(*library, NULL, data, size, path, "cuLibraryLoadFromFile",
				      __builtin_return_address(0));
	else
		free(data);
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
	struct recorder_scope scope;

	REAL_OR_RETURN(cuLibraryUnload);
	/* Before it: afterwards another thread may already have got the same handle anew. */
	if (library && recorder_enter(&scope)) {
		images_library_unloading(library);
		recorder_leave(&scope);
	}
	return real.cuLibraryUnload(library);
}

SHIM_EXPORT CUresult CUDAAPI cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuLibraryGetModule);
	r = real.cuLibraryGetModule(module, library);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		images_library_module(library, *module);
		recorder_leave(&scope);
	}
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
						const char *name)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuLibraryGetKernel);
	r = real.cuLibraryGetKernel(kernel, library, name);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		kernels_found_in_library(library, *kernel, name);
		recorder_leave(&scope);
	}
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count,
						       CUlibrary library)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuLibraryEnumerateKernels);
	r = real.cuLibraryEnumerateKernels(kernels, count, library);
	if (r != CUDA_SUCCESS || !recorder_enter(&scope))
		return r;
	for (unsigned i = 0; i < count; i++) {
		const char *name = NULL;

		if (kernels[i] && real.cuKernelGetName &&
		    real.cuKernelGetName(&name, kernels[i]) == CUDA_SUCCESS && name)
			kernels_found_in_library(library, kernels[i], name);
	}
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuKernelGetFunction);
	r = real.cuKernelGetFunction(function, kernel);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		kernels_function_of(kernel, *function);
		recorder_leave(&scope);
	}
	return r;
}
