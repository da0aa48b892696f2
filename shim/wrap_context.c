/* SPDX-License-Identifier: MIT */
/* Wrappers of what ends a context: copies that are under way in it are let arrive first. */
#include "shim/wrapping.h"

#include "shim/ring.h"

#define ENDS(entry, type, ring_ends)                  \
	SHIM_EXPORT CUresult CUDAAPI entry(type what) \
	{                                             \
		struct recorder_scope scope;          \
                                                      \
		REAL_OR_RETURN(entry);                \
		if (recorder_enter(&scope)) {         \
			ring_ends(what);              \
			recorder_leave(&scope);       \
		}                                     \
		return real.entry(what);              \
	}

ENDS(cuCtxDestroy_v2, CUcontext, ring_context_ends)
ENDS(cuDevicePrimaryCtxRelease_v2, CUdevice, ring_primary_ends)
ENDS(cuDevicePrimaryCtxReset_v2, CUdevice, ring_primary_ends)
