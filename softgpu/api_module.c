/* SPDX-License-Identifier: MIT */
/* API: modules and their functions. */
#include "softgpu/device.h"

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/handle.h"
#include "softgpu/log.h"
#include "softgpu/module.h"

#define FILE_MAX_BYTES ((size_t)1 << 30)

/* ---- options of the JIT compiler ---- */

/* Where the caller wants messages. */
struct jit_log {
	char *text;
	void **size; /* option value: bytes in, bytes used out */
};

/* Puts text into a caller's buffer, cut at its size, and tells how much was used. */
static void jit_log_write(const struct jit_log *log, const char *text)
{
	size_t room = log->size ? (size_t)(uintptr_t)*log->size : 0;
	size_t used = 0;

	if (log->text && room) {
		used = strlen(text) < room - 1 ? strlen(text) : room - 1;
		memcpy(log->text, text, used);
		log->text[used++] = 0;
	}
	if (log->size)
		*log->size = (void *)(uintptr_t)used;
}

static CUresult jit_options_read(unsigned count, const CUjit_option *options, void **values,
				 struct jit_log *errors, struct jit_log *infos)
{
	if (count && (!options || !values))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++) {
		if ((int)options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS)
			return CUDA_ERROR_INVALID_VALUE;
		switch (options[i]) {
		case CU_JIT_ERROR_LOG_BUFFER:
			errors->text = values[i];
			break;
		case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			errors->size = &values[i];
			break;
		case CU_JIT_INFO_LOG_BUFFER:
			infos->text = values[i];
			break;
		case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
			infos->size = &values[i];
			break;
		case CU_JIT_GLOBAL_SYMBOL_NAMES:
		case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
		case CU_JIT_GLOBAL_SYMBOL_COUNT:
			softgpu_log(SOFTGPU_LOG_ERROR,
				    "cuModuleLoadDataEx: option %d (symbols of the host) is not "
				    "supported",
				    options[i]);
			return CUDA_ERROR_NOT_SUPPORTED;
		default: /* how to generate code: none is generated */
			softgpu_log(SOFTGPU_LOG_INFO, "cuModuleLoadDataEx: option %d has no effect",
				    options[i]);
		}
	}
	return CUDA_SUCCESS;
}

static CUresult verdict_result(enum image_verdict v)
{
	switch (v) {
	case IMAGE_OK:
		return CUDA_SUCCESS;
	case IMAGE_NO_BINARY:
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	case IMAGE_TARGET:
		return CUDA_ERROR_INVALID_PTX;
	case IMAGE_VERSION:
		return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
	case IMAGE_NO_MEMORY:
		return CUDA_ERROR_OUT_OF_MEMORY;
	default:
		return CUDA_ERROR_INVALID_IMAGE;
	}
}

CUresult module_load(struct module **out, const void *data, size_t size, const char *where,
		     const struct context *context, struct error *err)
{
	struct image image;
	CUresult result;
	int rc;

	*err = (struct error){0};
	result = verdict_result(image_open(&image, data, size, DEVICE_ARCH, err));
	if (result == CUDA_SUCCESS) {
		rc = context ? module_new(out, &image, context->handle, err)
			     : module_new_library(out, &image, err);
		if (rc == -ENOMEM)
			result = CUDA_ERROR_OUT_OF_MEMORY;
		else if (rc == -ENOTSUP) /* valid PTX, but not for this device */
			result = CUDA_ERROR_NOT_SUPPORTED;
		else if (rc)
			result = CUDA_ERROR_INVALID_PTX;
	}
	if (result != CUDA_SUCCESS)
		softgpu_log(SOFTGPU_LOG_ERROR, "%s: %s", where, err->message);
	return result;
}

static CUresult load_data(CUmodule *out, const void *data, const char *where,
			  const struct context *context, const struct jit_log *errors)
{
	struct module *m;
	struct error err;
	CUresult result = module_load(&m, data, SIZE_MAX, where, context, &err);

	if (result == CUDA_SUCCESS)
		*out = (CUmodule)m->handle;
	jit_log_write(errors, err.message);
	return result;
}

API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
		       CUjit_option *options, void **optionValues)
{
	API_SCOPE(NEED_LIVE);
	struct jit_log errors = {0}, infos = {0};
	CUresult result;

	if (!module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	result = jit_options_read(numOptions, options, optionValues, &errors, &infos);
	if (result != CUDA_SUCCESS)
		return result;
	jit_log_write(&infos, "");
	return load_data(module, image, "cuModuleLoadDataEx", api.context, &errors);
}

API cuModuleLoadData(CUmodule *module, const void *image)
{
	API_SCOPE(NEED_LIVE);
	if (!module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	return load_data(module, image, "cuModuleLoadData", api.context, &(struct jit_log){0});
}

API cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
	API_SCOPE(NEED_LIVE);
	if (!module || !fatCubin)
		return CUDA_ERROR_INVALID_VALUE;
	return load_data(module, fatCubin, "cuModuleLoadFatBinary", api.context,
			 &(struct jit_log){0});
}

CUresult module_load_file(struct module **out, const char *path, const char *where,
			  const struct context *context)
{
	_cleanup_free_ char *data = NULL;
	struct error err;
	size_t size;
	int rc = file_read_all(path, FILE_MAX_BYTES, &data, &size);

	if (rc) {
		softgpu_log(SOFTGPU_LOG_ERROR, "%s: %s: %s", where, path, strerror(-rc));
		return rc == -ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_FILE_NOT_FOUND;
	}
	return module_load(out, data, size, path, context, &err);
}

API cuModuleLoad(CUmodule *module, const char *fname)
{
	API_SCOPE(NEED_LIVE);
	struct module *m;
	CUresult result;

	if (!module || !fname)
		return CUDA_ERROR_INVALID_VALUE;
	result = module_load_file(&m, fname, "cuModuleLoad", api.context);
	if (result == CUDA_SUCCESS)
		*module = (CUmodule)m->handle;
	return result;
}

static struct module *module_get(CUmodule handle)
{
	return handle_get(HANDLE_MODULE, (uint64_t)handle);
}

API cuModuleUnload(CUmodule hmod)
{
	API_SCOPE(NEED_LIVE);
	struct module *m = module_get(hmod);

	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	if (m->library)
		return CUDA_ERROR_NOT_PERMITTED; /* it goes with its library */
	module_free(m);
	return CUDA_SUCCESS;
}

API cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	API_SCOPE(NEED_LIVE);
	struct module *m = module_get(hmod);
	struct function *f;

	if (!hfunc || !name || !*name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	f = module_function(m, name);
	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	*hfunc = (CUfunction)f->handle;
	return CUDA_SUCCESS;
}

API cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
	API_SCOPE(NEED_LIVE);
	const struct module *m = module_get(mod);

	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	*count = (unsigned)m->ptx->entry_count;
	return CUDA_SUCCESS;
}

API cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
	API_SCOPE(NEED_LIVE);
	const struct module *m = module_get(mod);

	if (!functions || !numFunctions)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	for (size_t i = 0; i < numFunctions && i < m->ptx->entry_count; i++)
		functions[i] = (CUfunction)m->functions[i].handle;
	return CUDA_SUCCESS;
}

API cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
	API_SCOPE(NEED_LIVE);
	struct module *m = module_get(hmod);
	const struct ptx_global *g;

	if (!name || !*name || (!dptr && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	g = module_global(m, name);
	if (!g)
		return CUDA_ERROR_NOT_FOUND;
	if (dptr)
		*dptr = g->address;
	if (bytes)
		*bytes = g->size;
	return CUDA_SUCCESS;
}
