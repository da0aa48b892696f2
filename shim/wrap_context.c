/* SPDX-License-Identifier: MIT */
/* Wrappers of what ends a context: copies that are under way in it are let arrive first. */
#include "shim/wrapping.h"

#include "shim/ring.h"

SHIM_EXPORT CUresult CUDAAPI cuCtxDestroy_v2(CUcontext context)
{
	struct recorder_scope scope;

	REAL_OR_RETURN(cuCtxDestroy_v2);
	if (recorder_enter(&scope)) {
		ring_context_ends(context);
		recorder_leave(&scope);
	}
	return real.cuCtxDestroy_v2(context);
}

SHIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	struct recorder_scope scope;

	REAL_OR_RETURN(cuDevicePrimaryCtxRelease_v2);
	if (recorder_enter(&scope)) {
		ring_primary_ends(device);
		recorder_leave(&scope);
	}
	return real.cuDevicePrimaryCtxRelease_v2(device);
}

SHIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	struct recorder_scope scope;

	REAL_OR_RETURN(cuDevicePrimaryCtxReset_v2);
	if (recorder_enter(&scope)) {
		ring_primary_ends(device);
		recorder_leave(&scope);
	}
	return real.cuDevicePrimaryCtxReset_v2(device);
}
