/* SPDX-License-Identifier: MIT */
/* One function a hooked driver entry, of the driver's own name and type. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/hash.h"
#include "lib/base.h"
#include "shim/cupti.h"
#include "shim/guard.h"
#include "shim/hooks.h"
#include "shim/images.h"
#include "shim/kernels.h"
#include "shim/recorder.h"
#include "shim/tensor_maps.h"
#include "shim/wrapping.h"

/* ---- resolution ---- */

/* The answer of the real cuGetProcAddress stands in *function. */
static void replace_answer(const char *symbol, void **function, int version, cuuint64_t flags)
{
	void *wrapper;

	if (shim_depth || !function || !*function || !recorder_wanted())
		return;
	wrapper = hooks_replacement(*function);
	if (!wrapper && symbol)
		wrapper = hooks_replacement_by_name(symbol, version, flags, *function);
	if (wrapper)
		*function = wrapper;
}

SHIM_EXPORT CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **function, int version,
					      cuuint64_t flags)
{
	CUresult r;

	REAL_OR_RETURN(cuGetProcAddress);
	r = real.cuGetProcAddress(symbol, function, version, flags);
	if (r == CUDA_SUCCESS)
		replace_answer(symbol, function, version, flags);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **function, int version,
						 cuuint64_t flags,
						 CUdriverProcAddressQueryResult *status)
{
	CUresult r;

	REAL_OR_RETURN(cuGetProcAddress_v2);
	r = real.cuGetProcAddress_v2(symbol, function, version, flags, status);
	if (r == CUDA_SUCCESS)
		replace_answer(symbol, function, version, flags);
	return r;
}

/* ---- modules ---- */

SHIM_EXPORT CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *path)
{
	struct recorder_scope scope;
	enum image_kind kind = IMAGE_UNKNOWN;
	struct cupti_watch watch;
	char *data = NULL;
	size_t size = 0;
	CUresult r;

	REAL_OR_RETURN(cuModuleLoad);
	if (!recorder_enter(&scope))
		return real.cuModuleLoad(module, path);
	/* Read before the driver does: the file may be gone or another one afterwards. */
	if (path && file_read_all(path, IMAGE_FILE_MAX, &data, &size) < 0)
		data = NULL;
	if (data)
		kind = image_kind_of(data, size);
	images_listen(kind, &watch);
	r = real.cuModuleLoad(module, path);
	cupti_end(&watch);
	if (r == CUDA_SUCCESS && data) {
		images_loaded(*module, data, size, kind, path, "cuModuleLoad",
			      __builtin_return_address(0));
		images_heard(*module, &watch);
	} else {
		free(data);
		free(watch.cubin);
	}
	recorder_leave(&scope);
	return r;
}

/* Copies what the driver has just loaded. An image of unknown form or without memory is not seen.
 */
static void loaded_from_memory(CUresult result, const CUmodule *module, const void *image,
			       struct cupti_watch *watch, const char *loader, const void *caller)
{
	enum image_kind kind;
	const void *start;
	size_t size;
	char *copy;

	if (result != CUDA_SUCCESS || !image_measure(image, &kind, &start, &size)) {
		free(watch->cubin);
		return;
	}
	copy = malloc(size + 1);
	if (!copy) {
		free(watch->cubin);
		recorder_fail("copying an image", -ENOMEM);
		return;
	}
	memcpy(copy, start, size);
	copy[size] = 0;
	images_loaded(*module, copy, size, kind, NULL, loader, caller);
	images_heard(*module, watch);
}

SHIM_EXPORT CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuModuleLoadData);
	if (!recorder_enter(&scope))
		return real.cuModuleLoadData(module, image);
	images_listen(image_glance(image), &watch);
	r = real.cuModuleLoadData(module, image);
	cupti_end(&watch);
	loaded_from_memory(r, module, image, &watch, "cuModuleLoadData",
			   __builtin_return_address(0));
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image,
						unsigned int count, CUjit_option *options,
						void **values)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuModuleLoadDataEx);
	if (!recorder_enter(&scope))
		return real.cuModuleLoadDataEx(module, image, count, options, values);
	images_listen(image_glance(image), &watch);
	r = real.cuModuleLoadDataEx(module, image, count, options, values);
	cupti_end(&watch);
	loaded_from_memory(r, module, image, &watch, "cuModuleLoadDataEx",
			   __builtin_return_address(0));
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuModuleLoadFatBinary);
	if (!recorder_enter(&scope))
		return real.cuModuleLoadFatBinary(module, image);
	images_listen(image_glance(image), &watch);
	r = real.cuModuleLoadFatBinary(module, image);
	cupti_end(&watch);
	loaded_from_memory(r, module, image, &watch, "cuModuleLoadFatBinary",
			   __builtin_return_address(0));
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuModuleUnload);
	if (!recorder_enter(&scope))
		return real.cuModuleUnload(module);
	/* Before it: afterwards another thread may already have got the same handle anew. */
	if (module)
		images_unloading(module);
	r = real.cuModuleUnload(module);
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module,
						 const char *name)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuModuleGetFunction);
	if (!recorder_enter(&scope))
		return real.cuModuleGetFunction(function, module, name);
	images_listen_late(module, &watch);
	r = real.cuModuleGetFunction(function, module, name);
	if (r == CUDA_SUCCESS)
		kernels_found(module, *function, name);
	cupti_end(&watch);
	images_heard(module, &watch);
	recorder_leave(&scope);
	return r;
}

/* Enumerated functions are not named by the call, and reading names may load each of them. */
SHIM_EXPORT CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count,
							CUmodule module)
{
	struct recorder_scope scope;
	struct cupti_watch watch;
	CUresult r;

	REAL_OR_RETURN(cuModuleEnumerateFunctions);
	r = real.cuModuleEnumerateFunctions(functions, count, module);
	if (r != CUDA_SUCCESS || !recorder_enter(&scope))
		return r;
	images_listen_late(module, &watch);
	for (unsigned i = 0; i < count; i++) {
		const char *name = NULL;

		if (functions[i] && real.cuFuncGetName &&
		    real.cuFuncGetName(&name, functions[i]) == CUDA_SUCCESS && name)
			kernels_found(module, functions[i], name);
	}
	cupti_end(&watch);
	images_heard(module, &watch);
	recorder_leave(&scope);
	return r;
}

/* ---- TMA ---- */

SHIM_EXPORT CUresult CUDAAPI cuTensorMapEncodeTiled(
	CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
	const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
	const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
	CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	struct tensor_map_arguments a = {
		type,      rank, address, dims, strides, box, element_strides, interleave, swizzle,
		promotion, fill, NULL,    NULL, 0,       0};
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuTensorMapEncodeTiled);
	r = real.cuTensorMapEncodeTiled(map, type, rank, address, dims, strides, box,
					element_strides, interleave, swizzle, promotion, fill);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		tensor_maps_encoded(map, &a);
		recorder_leave(&scope);
	}
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuTensorMapEncodeIm2col(
	CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
	const cuuint64_t *dims, const cuuint64_t *strides, const int *lower, const int *upper,
	cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *element_strides,
	CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
	CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	struct tensor_map_arguments a = {
		type,    rank,      address, dims,  strides, NULL,     element_strides, interleave,
		swizzle, promotion, fill,    lower, upper,   channels, pixels};
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuTensorMapEncodeIm2col);
	r = real.cuTensorMapEncodeIm2col(map, type, rank, address, dims, strides, lower, upper,
					 channels, pixels, element_strides, interleave, swizzle,
					 promotion, fill);
	if (r == CUDA_SUCCESS && recorder_enter(&scope)) {
		tensor_maps_encoded(map, &a);
		recorder_leave(&scope);
	}
	return r;
}
