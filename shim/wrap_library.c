/* SPDX-License-Identifier: MIT */
/* Wrappers of libraries and their kernels: cuBLAS, and through the runtime PyTorch's own code. */
#include "shim/wrapping.h"

#include <stdlib.h>

#include "lib/base.h"
#include "shim/cupti.h"
#include "shim/images.h"
#include "shim/kernels.h"

SHIM_EXPORT CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code,
					       CUjit_option *jit, void **jit_values,
					       unsigned int jit_count, CUlibraryOption *options,
					       void **values, unsigned int count)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuLibraryLoadData);
	if (!recorder_enter(&scope))
		return real.cuLibraryLoadData(library, code, jit, jit_values, jit_count, options,
					      values, count);
	images_library_listen(image_glance(code), &watch);
	r = real.cuLibraryLoadData(library, code, jit, jit_values, jit_count, options, values,
				   count);
	cupti_end(&watch);
	if (r == CUDA_SUCCESS) {
		images_library_loaded(*library, code, NULL, 0, NULL, "cuLibraryLoadData",
				      __builtin_return_address(0));
		images_heard(*library, &watch);
	} else {
		free(watch.cubin);
	}
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *path,
						   CUjit_option *jit, void **jit_values,
						   unsigned int jit_count, CUlibraryOption *options,
						   void **values, unsigned int count)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
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
	images_library_listen(data ? image_kind_of(data, size) : IMAGE_UNKNOWN, &watch);
	r = real.cuLibraryLoadFromFile(library, path, jit, jit_values, jit_count, options, values,
				       count);
	cupti_end(&watch);
	if (r == CUDA_SUCCESS && data) {
		images_library_loaded(*library, NULL, data, size, path, "cuLibraryLoadFromFile",
				      __builtin_return_address(0));
		images_heard(*library, &watch);
	} else {
		free(data);
		free(watch.cubin);
	}
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
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuLibraryGetModule);
	if (!recorder_enter(&scope))
		return real.cuLibraryGetModule(module, library);
	images_listen_late(library, &watch);
	r = real.cuLibraryGetModule(module, library);
	cupti_end(&watch);
	images_heard(library, &watch);
	if (r == CUDA_SUCCESS)
		images_library_module(library, *module);
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
						const char *name)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuLibraryGetKernel);
	if (!recorder_enter(&scope))
		return real.cuLibraryGetKernel(kernel, library, name);
	images_listen_late(library, &watch);
	r = real.cuLibraryGetKernel(kernel, library, name);
	if (r == CUDA_SUCCESS) /* asking for its layout has the driver load the code */
		kernels_found_in_library(library, *kernel, name);
	cupti_end(&watch);
	images_heard(library, &watch);
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count,
						       CUlibrary library)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuLibraryEnumerateKernels);
	r = real.cuLibraryEnumerateKernels(kernels, count, library);
	if (r != CUDA_SUCCESS || !recorder_enter(&scope))
		return r;
	images_listen_late(library, &watch);
	for (unsigned i = 0; i < count; i++) {
		const char *name = NULL;

		if (kernels[i] && real.cuKernelGetName &&
		    real.cuKernelGetName(&name, kernels[i]) == CUDA_SUCCESS && name)
			kernels_found_in_library(library, kernels[i], name);
	}
	cupti_end(&watch);
	images_heard(library, &watch);
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuKernelGetFunction);
	if (!recorder_enter(&scope))
		return real.cuKernelGetFunction(function, kernel);
	kernels_load((CUfunction)kernel);
	r = real.cuKernelGetFunction(function, kernel);
	if (r == CUDA_SUCCESS)
		kernels_function_of(kernel, *function);
	recorder_leave(&scope);
	return r;
}
