/* SPDX-License-Identifier: MIT */
/* API: libraries and their kernels: images that are loaded for all contexts at once. */
#include "softgpu/device.h"

#include "softgpu/handle.h"
#include "softgpu/log.h"
#include "softgpu/module.h"

static struct module *library_get(CUlibrary handle)
{
	return handle_get(HANDLE_LIBRARY, (uint64_t)handle);
}

/* Options only say how to generate code and when to load; here neither matters. */
static CUresult options_check(unsigned jit_count, CUjit_option *jit, void **jit_values,
			      unsigned count, CUlibraryOption *options, void **values)
{
	if ((jit_count && (!jit || !jit_values)) || (count && !options))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++) {
		if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED)
			continue;
		if (options[i] != CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE || !values)
			return CUDA_ERROR_INVALID_VALUE;
		softgpu_log(SOFTGPU_LOG_ERROR, "cuLibraryLoad: a table of host functions is not "
					       "supported");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

API cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
		      void **jitOptionsValues, unsigned int numJitOptions,
		      CUlibraryOption *libraryOptions, void **libraryOptionValues,
		      unsigned int numLibraryOptions)
{
	API_SCOPE(NEED_INIT);
	struct module *m;
	struct error err;
	CUresult result;

	if (!library || !code)
		return CUDA_ERROR_INVALID_VALUE;
	result = options_check(numJitOptions, jitOptions, jitOptionsValues, numLibraryOptions,
			       libraryOptions, libraryOptionValues);
	if (result == CUDA_SUCCESS)
		result = module_load(&m, code, SIZE_MAX, "cuLibraryLoadData", NULL, &err);
	if (result == CUDA_SUCCESS)
		*library = (CUlibrary)m->library;
	return result;
}

API cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
			  void **jitOptionsValues, unsigned int numJitOptions,
			  CUlibraryOption *libraryOptions, void **libraryOptionValues,
			  unsigned int numLibraryOptions)
{
	API_SCOPE(NEED_INIT);
	struct module *m;
	CUresult result;

	if (!library || !fileName)
		return CUDA_ERROR_INVALID_VALUE;
	result = options_check(numJitOptions, jitOptions, jitOptionsValues, numLibraryOptions,
			       libraryOptions, libraryOptionValues);
	if (result == CUDA_SUCCESS)
		result = module_load_file(&m, fileName, "cuLibraryLoadFromFile", NULL);
	if (result == CUDA_SUCCESS)
		*library = (CUlibrary)m->library;
	return result;
}

API cuLibraryUnload(CUlibrary library)
{
	API_SCOPE(NEED_INIT);
	struct module *m = library_get(library);

	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	module_free(m);
	return CUDA_SUCCESS;
}

API cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
	API_SCOPE(NEED_LIVE);
	const struct module *m = library_get(library);

	if (!pMod)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	*pMod = (CUmodule)m->handle;
	return CUDA_SUCCESS;
}

API cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
	API_SCOPE(NEED_INIT);
	struct module *m = library_get(library);
	const struct function *f;

	if (!pKernel || !name || !*name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	f = module_function(m, name);
	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	*pKernel = (CUkernel)f->kernel;
	return CUDA_SUCCESS;
}

API cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
	API_SCOPE(NEED_INIT);
	const struct module *m = library_get(lib);

	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	*count = (unsigned)m->ptx->entry_count;
	return CUDA_SUCCESS;
}

API cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
	API_SCOPE(NEED_INIT);
	const struct module *m = library_get(lib);

	if (!kernels || !numKernels)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	for (size_t i = 0; i < numKernels && i < m->ptx->entry_count; i++)
		kernels[i] = (CUkernel)m->functions[i].kernel;
	return CUDA_SUCCESS;
}

API cuKernelGetName(const char **name, CUkernel hfunc)
{
	API_SCOPE(NEED_INIT);
	const struct function *f = kernel_get(hfunc);

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = f->entry->name;
	return CUDA_SUCCESS;
}

API cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	API_SCOPE(NEED_LIVE);
	const struct function *f = kernel_get(kernel);

	if (!pFunc)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	*pFunc = (CUfunction)f->handle;
	return CUDA_SUCCESS;
}

API cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
	API_SCOPE(NEED_INIT);
	const struct function *f = kernel_get(kernel);

	if (!paramOffset)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (paramIndex >= f->entry->param_count)
		return CUDA_ERROR_INVALID_VALUE;
	*paramOffset = f->entry->params[paramIndex].offset;
	if (paramSize)
		*paramSize = f->entry->params[paramIndex].size;
	return CUDA_SUCCESS;
}
