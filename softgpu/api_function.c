/* SPDX-License-Identifier: MIT */
/* API: what is known of a function. */
#include "softgpu/device.h"

#include "softgpu/launch.h"

API cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
	API_SCOPE(NEED_LIVE);
	const struct function *f = function_get(hfunc);

	if (!pi)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	switch (attrib) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*pi = (int)f->entry->max_threads;
		break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*pi = (int)f->entry->static_shared_bytes;
		break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*pi = (int)f->entry->local_bytes;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS: /* 0: PTX has no machine registers */
		*pi = (int)f->registers;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
		*pi = (int)f->module->ptx->target;
		break;
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*pi = (int)DEVICE_ARCH;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*pi = (int)f->max_dynamic_shared_bytes;
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*pi = f->carveout;
		break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		*pi = f->non_portable_cluster;
		break;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		*pi = 0;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

API cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	API_SCOPE(NEED_LIVE);
	struct function *f = function_get(hfunc);

	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	switch (attrib) {
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if (value < 0 || f->entry->static_shared_bytes > DEVICE_SHARED_OPTIN ||
		    (uint32_t)value > DEVICE_SHARED_OPTIN - f->entry->static_shared_bytes)
			return CUDA_ERROR_INVALID_VALUE;
		f->max_dynamic_shared_bytes = (uint32_t)value;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if (value < -1 || value > 100)
			return CUDA_ERROR_INVALID_VALUE;
		f->carveout = value;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		if (value < 0 || value > 1)
			return CUDA_ERROR_INVALID_VALUE;
		f->non_portable_cluster = value;
		return CUDA_SUCCESS;
	default: /* read-only, or about clusters, which are not there */
		return CUDA_ERROR_INVALID_VALUE;
	}
}

API cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
	API_SCOPE(NEED_LIVE);
	if ((int)config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
		return CUDA_ERROR_INVALID_VALUE;
	return function_get(hfunc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API cuFuncGetName(const char **name, CUfunction hfunc)
{
	API_SCOPE(NEED_LIVE);
	const struct function *f = function_get(hfunc);

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = f->entry->name;
	return CUDA_SUCCESS;
}

API cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
	API_SCOPE(NEED_LIVE);
	const struct function *f = function_get(hfunc);

	if (!hmod)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	*hmod = (CUmodule)f->module->handle;
	return CUDA_SUCCESS;
}

API cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
	API_SCOPE(NEED_LIVE);
	const struct function *f = function_get(func);

	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!paramOffset || paramIndex >= f->entry->param_count)
		return CUDA_ERROR_INVALID_VALUE;
	*paramOffset = f->entry->params[paramIndex].offset;
	if (paramSize)
		*paramSize = f->entry->params[paramIndex].size;
	return CUDA_SUCCESS;
}
