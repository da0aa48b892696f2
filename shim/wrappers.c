/* SPDX-License-Identifier: MIT */
/* One function a hooked driver entry, of the driver's own name and type. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/hash.h"
#include "lib/base.h"
#include "shim/guard.h"
#include "shim/hooks.h"
#include "shim/images.h"
#include "shim/kernels.h"
#include "shim/launches.h"
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
	char *data = NULL;
	size_t size = 0;
	CUresult r;

	REAL_OR_RETURN(cuModuleLoad);
	if (!recorder_enter(&scope))
		return real.cuModuleLoad(module, path);
	/* Read before the driver does: the file may be gone or another one afterwards. */
	if (path && file_read_all(path, IMAGE_FILE_MAX, &data, &size) < 0)
		data = NULL;
	r = real.cuModuleLoad(module, path);
	if (r == CUDA_SUCCESS && data)
		images_loaded(*module, data, size, image_kind_of(data, size), path, "cuModuleLoad",
			      __builtin_return_address(0));
	else
		free(data);
	recorder_leave(&scope);
	return r;
}

/* Copies what the driver has just loaded. An image of unknown form or without memory is not seen.
 */
static void loaded_from_memory(CUmodule module, const void *image, const char *loader,
			       const void *caller)
{
	enum image_kind kind;
	const void *start;
	size_t size;
	char *copy;

	if (!image_measure(image, &kind, &start, &size))
		return;
	copy = malloc(size + 1);
	if (!copy) {
		recorder_fail("copying an image", -ENOMEM);
		return;
	}
	memcpy(copy, start, size);
	copy[size] = 0;
	images_loaded(module, copy, size, kind, NULL, loader, caller);
}

SHIM_EXPORT CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuModuleLoadData);
	if (!recorder_enter(&scope))
		return real.cuModuleLoadData(module, image);
	r = real.cuModuleLoadData(module, image);
	if (r == CUDA_SUCCESS)
		loaded_from_memory(*module, image, "cuModuleLoadData", __builtin_return_address(0));
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image,
						unsigned int count, CUjit_option *options,
						void **values)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuModuleLoadDataEx);
	if (!recorder_enter(&scope))
		return real.cuModuleLoadDataEx(module, image, count, options, values);
	r = real.cuModuleLoadDataEx(module, image, count, options, values);
	if (r == CUDA_SUCCESS)
		loaded_from_memory(*module, image, "cuModuleLoadDataEx",
				   __builtin_return_address(0));
	recorder_leave(&scope);
	return r;
}

SHIM_EXPORT CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuModuleLoadFatBinary);
	if (!recorder_enter(&scope))
		return real.cuModuleLoadFatBinary(module, image);
	r = real.cuModuleLoadFatBinary(module, image);
	if (r == CUDA_SUCCESS)
		loaded_from_memory(*module, image, "cuModuleLoadFatBinary",
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
	CUresult r;

	REAL_OR_RETURN(cuModuleGetFunction);
	if (!recorder_enter(&scope))
		return real.cuModuleGetFunction(function, module, name);
	r = real.cuModuleGetFunction(function, module, name);
	if (r == CUDA_SUCCESS)
		kernels_found(module, *function, name);
	recorder_leave(&scope);
	return r;
}

/* Enumerated functions are not named by the call, and reading names may load each of them. */
SHIM_EXPORT CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count,
							CUmodule module)
{
	struct recorder_scope scope;
	CUresult r;

	REAL_OR_RETURN(cuModuleEnumerateFunctions);
	r = real.cuModuleEnumerateFunctions(functions, count, module);
	if (r != CUDA_SUCCESS || !recorder_enter(&scope))
		return r;
	for (unsigned i = 0; i < count; i++) {
		const char *name = NULL;

		if (functions[i] && real.cuFuncGetName &&
		    real.cuFuncGetName(&name, functions[i]) == CUDA_SUCCESS && name)
			kernels_found(module, functions[i], name);
	}
	recorder_leave(&scope);
	return r;
}

/* ---- launches ---- */

typedef CUresult CUDAAPI launch_kernel_function(CUfunction, unsigned, unsigned, unsigned, unsigned,
						unsigned, unsigned, unsigned, CUstream, void **,
						void **);

static CUresult launch_kernel(launch_kernel_function *go, const struct launch_call *call)
{
	struct recorder_scope scope;
	struct recording *recording = NULL;
	bool entered = recorder_enter(&scope);
	CUresult r;

	if (entered)
		recording = launches_before(call);
	r = go(call->function, call->grid[0], call->grid[1], call->grid[2], call->block[0],
	       call->block[1], call->block[2], call->shared_bytes, call->stream, call->params,
	       call->extra);
	if (entered) {
		launches_after(recording, r);
		recorder_leave(&scope);
	}
	return r;
}

#define LAUNCH_KERNEL(entry, per_thread)                                                          \
	SHIM_EXPORT CUresult CUDAAPI entry(CUfunction f, unsigned int gx, unsigned int gy,        \
					   unsigned int gz, unsigned int bx, unsigned int by,     \
					   unsigned int bz, unsigned int shared, CUstream stream, \
					   void **params, void **extra)                           \
	{                                                                                         \
		struct launch_call call = {                                                       \
			.entry_point = #entry,                                                    \
			.function = f,                                                            \
			.grid = {gx, gy, gz},                                                     \
			.block = {bx, by, bz},                                                    \
			.shared_bytes = shared,                                                   \
			.stream = stream,                                                         \
			.per_thread_stream = per_thread,                                          \
			.params = params,                                                         \
			.extra = extra,                                                           \
		};                                                                                \
                                                                                                  \
		REAL_OR_RETURN(entry);                                                            \
		return launch_kernel(real.entry, &call);                                          \
	}

LAUNCH_KERNEL(cuLaunchKernel, false)
LAUNCH_KERNEL(cuLaunchKernel_ptsz, true)

typedef CUresult CUDAAPI launch_cooperative_function(CUfunction, unsigned, unsigned, unsigned,
						     unsigned, unsigned, unsigned, unsigned,
						     CUstream, void **);

/* Recorded with the attribute that cuLaunchKernelEx would have been given. */
static CUresult launch_cooperative(launch_cooperative_function *go, struct launch_call *call)
{
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
				       .value.cooperative = 1};
	struct recorder_scope scope;
	struct recording *recording = NULL;
	bool entered = recorder_enter(&scope);
	CUresult r;

	call->attributes = &attribute;
	call->attribute_count = 1;
	if (entered)
		recording = launches_before(call);
	r = go(call->function, call->grid[0], call->grid[1], call->grid[2], call->block[0],
	       call->block[1], call->block[2], call->shared_bytes, call->stream, call->params);
	if (entered) {
		launches_after(recording, r);
		recorder_leave(&scope);
	}
	return r;
}

#define LAUNCH_COOPERATIVE_KERNEL(entry, per_thread)                                              \
	SHIM_EXPORT CUresult CUDAAPI entry(CUfunction f, unsigned int gx, unsigned int gy,        \
					   unsigned int gz, unsigned int bx, unsigned int by,     \
					   unsigned int bz, unsigned int shared, CUstream stream, \
					   void **params)                                         \
	{                                                                                         \
		struct launch_call call = {                                                       \
			.entry_point = #entry,                                                    \
			.function = f,                                                            \
			.grid = {gx, gy, gz},                                                     \
			.block = {bx, by, bz},                                                    \
			.shared_bytes = shared,                                                   \
			.stream = stream,                                                         \
			.per_thread_stream = per_thread,                                          \
			.params = params,                                                         \
		};                                                                                \
                                                                                                  \
		REAL_OR_RETURN(entry);                                                            \
		return launch_cooperative(real.entry, &call);                                     \
	}

LAUNCH_COOPERATIVE_KERNEL(cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE_KERNEL(cuLaunchCooperativeKernel_ptsz, true)

typedef CUresult CUDAAPI launch_ex_function(const CUlaunchConfig *, CUfunction, void **, void **);

static CUresult launch_ex(launch_ex_function *go, const char *entry_point, bool per_thread,
			  const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	struct recorder_scope scope;
	struct recording *recording = NULL;
	bool entered = config && recorder_enter(&scope);
	CUresult r;

	if (entered) {
		struct launch_call call = {
			.entry_point = entry_point,
			.function = f,
			.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
			.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
			.shared_bytes = config->sharedMemBytes,
			.stream = config->hStream,
			.per_thread_stream = per_thread,
			.params = params,
			.extra = extra,
			.attributes = config->attrs,
			.attribute_count = config->attrs ? config->numAttrs : 0,
		};

		recording = launches_before(&call);
	}
	r = go(config, f, params, extra);
	if (entered) {
		launches_after(recording, r);
		recorder_leave(&scope);
	}
	return r;
}

#define LAUNCH_EX(entry, per_thread)                                                        \
	SHIM_EXPORT CUresult CUDAAPI entry(const CUlaunchConfig *config, CUfunction f,      \
					   void **params, void **extra)                     \
	{                                                                                   \
		REAL_OR_RETURN(entry);                                                      \
		return launch_ex(real.entry, #entry, per_thread, config, f, params, extra); \
	}

LAUNCH_EX(cuLaunchKernelEx, false)
LAUNCH_EX(cuLaunchKernelEx_ptsz, true)

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
