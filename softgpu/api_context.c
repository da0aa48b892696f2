/* SPDX-License-Identifier: MIT */
/* API: contexts. */
#include "softgpu/device.h"

#define CONTEXT_FLAGS 0xffu

API cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	API_SCOPE(NEED_INIT);
	struct context *c;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (device_lost() != CUDA_SUCCESS)
		return device_lost();
	c = context_primary(dev);
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->retained++;
	*pctx = (CUcontext)c->handle;
	return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	API_SCOPE(NEED_INIT);
	struct context *c;

	if (!device_exists(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	c = context_primary(dev);
	if (!c || !c->retained)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (c->retained == 1)
		context_reset_primary(c);
	else
		c->retained--;
	return CUDA_SUCCESS;
}

/* Whoever retained it keeps an inactive one. */
API cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	API_SCOPE(NEED_INIT);
	struct context *c;

	if (!device_exists(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	c = context_primary(dev);
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (c->retained)
		context_reset_primary(c);
	return CUDA_SUCCESS;
}

API cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	API_SCOPE(NEED_INIT);
	struct context *c;

	if (!pctx || flags & ~CONTEXT_FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (device_lost() != CUDA_SUCCESS)
		return device_lost();
	c = context_new(flags, dev);
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (context_push((CUcontext)c->handle)) {
		context_destroy(c);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*pctx = (CUcontext)c->handle;
	return CUDA_SUCCESS;
}

/* After a fault too. */
API cuCtxDestroy_v2(CUcontext ctx)
{
	API_SCOPE(NEED_INIT);
	struct context *c = context_get(ctx);
	CUcontext top;

	if (!c || c->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context_current() == ctx)
		context_pop(&top);
	context_destroy(c);
	return CUDA_SUCCESS;
}

API cuCtxGetCurrent(CUcontext *pctx)
{
	API_SCOPE(NEED_INIT);
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = context_current();
	return CUDA_SUCCESS;
}

API cuCtxSetCurrent(CUcontext ctx)
{
	API_SCOPE(NEED_INIT);
	if (ctx && !context_get(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	return api_errno(context_set(ctx));
}

API cuCtxPushCurrent_v2(CUcontext ctx)
{
	API_SCOPE(NEED_INIT);
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!context_get(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	return api_errno(context_push(ctx));
}

API cuCtxPopCurrent_v2(CUcontext *pctx)
{
	API_SCOPE(NEED_INIT);
	CUcontext top;

	if (!context_pop(&top))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (pctx)
		*pctx = top;
	return CUDA_SUCCESS;
}

API cuCtxGetDevice(CUdevice *device)
{
	API_SCOPE(NEED_CONTEXT);
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = api.context->device;
	return CUDA_SUCCESS;
}

/* Limits are kept and given back: nothing here has a stack or heap of a fixed size. */
static size_t limits[CU_LIMIT_MAX];

API cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
	API_SCOPE(NEED_CONTEXT);
	if (!pvalue)
		return CUDA_ERROR_INVALID_VALUE;
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	*pvalue = limits[limit];
	return CUDA_SUCCESS;
}

API cuCtxSetLimit(CUlimit limit, size_t value)
{
	API_SCOPE(NEED_CONTEXT);
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	limits[limit] = value;
	return CUDA_SUCCESS;
}

API cuCtxSynchronize(void)
{
	API_SCOPE(NEED_LIVE);
	return CUDA_SUCCESS; /* a call returns when its work is done */
}
