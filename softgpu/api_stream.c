/* SPDX-License-Identifier: MIT */
/* API: streams, events, stream capture. */
#include "softgpu/device.h"

#include <time.h>

#include "softgpu/graph.h"
#include "softgpu/log.h"
#include "softgpu/space.h"
#include "softgpu/stream.h"

#define EVENT_FLAGS (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)

API cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	API_SCOPE(NEED_LIVE);
	struct stream *s;

	if (!phStream || Flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	s = stream_new(api.context->handle, Flags);
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*phStream = (CUstream)s->handle;
	return CUDA_SUCCESS;
}

API cuStreamDestroy_v2(CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	struct stream *s = stream_get(hStream);

	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	stream_free(s);
	return CUDA_SUCCESS;
}

API cuStreamSynchronize(CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	if (!stream_valid(hStream, api.context->handle))
		return CUDA_ERROR_INVALID_HANDLE;
	return graph_capture_refuse(hStream);
}

API cuStreamQuery(CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	if (!stream_valid(hStream, api.context->handle))
		return CUDA_ERROR_INVALID_HANDLE;
	return graph_capture_refuse(hStream);
}

API cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
	API_SCOPE(NEED_LIVE);
	if (!captureStatus)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_valid(hStream, api.context->handle))
		return CUDA_ERROR_INVALID_HANDLE;
	*captureStatus = !graph_capturing(hStream)      ? CU_STREAM_CAPTURE_STATUS_NONE
			 : stream_get(hStream)->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
							: CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return CUDA_SUCCESS;
}

API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	static _Thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
	CUstreamCaptureMode old = current;

	API_SCOPE(NEED_INIT);
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	current = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

API cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	API_SCOPE(NEED_LIVE);
	if (Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_valid(hStream, api.context->handle) || !event_get(hEvent))
		return CUDA_ERROR_INVALID_HANDLE;
	return graph_capture_refuse(hStream); /* captures that fork are not supported */
}

/* The value is there when the call returns, as all work before it. */
API cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
	API_SCOPE(NEED_LIVE);
	const struct range *r = space_range(addr);

	if (flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER || addr % 4)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_valid(stream, api.context->handle))
		return CUDA_ERROR_INVALID_HANDLE;
	if (graph_capturing(stream))
		return graph_capture_refuse(stream);
	if (!r || addr - r->base > r->size - 4)
		return CUDA_ERROR_INVALID_VALUE;
	__atomic_store_n((uint32_t *)(r->host + (addr - r->base)), value, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

API cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	API_SCOPE(NEED_LIVE);
	struct event *e;

	if (!phEvent || Flags & ~(unsigned)EVENT_FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	if (Flags & CU_EVENT_INTERPROCESS) {
		softgpu_log(SOFTGPU_LOG_ERROR,
			    "cuEventCreate: CU_EVENT_INTERPROCESS is not supported");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	e = event_new(api.context->handle, Flags);
	if (!e)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*phEvent = (CUevent)e->handle;
	return CUDA_SUCCESS;
}

API cuEventDestroy_v2(CUevent hEvent)
{
	API_SCOPE(NEED_LIVE);
	struct event *e = event_get(hEvent);

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	event_free(e);
	return CUDA_SUCCESS;
}

API cuEventRecord(CUevent hEvent, CUstream hStream)
{
	API_SCOPE(NEED_LIVE);
	struct event *e = event_get(hEvent);
	struct timespec now;

	if (!e || e->context != api.context->handle || !stream_valid(hStream, api.context->handle))
		return CUDA_ERROR_INVALID_HANDLE;
	if (graph_capturing(hStream))
		return graph_capture_refuse(hStream);
	clock_gettime(CLOCK_MONOTONIC, &now);
	e->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	e->recorded = true;
	return CUDA_SUCCESS;
}

API cuEventSynchronize(CUevent hEvent)
{
	API_SCOPE(NEED_LIVE);
	return event_get(hEvent) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API cuEventQuery(CUevent hEvent)
{
	API_SCOPE(NEED_LIVE);
	return event_get(hEvent) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	API_SCOPE(NEED_LIVE);
	const struct event *a = event_get(hStart), *b = event_get(hEnd);

	if (!pMilliseconds)
		return CUDA_ERROR_INVALID_VALUE;
	if (!a || !b || !a->recorded || !b->recorded ||
	    (a->flags | b->flags) & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	*pMilliseconds = (float)((double)(int64_t)(b->time_ns - a->time_ns) * 1e-6);
	return CUDA_SUCCESS;
}
