/* SPDX-License-Identifier: MIT */
/* Streams and events. */
#include "softgpu/stream.h"

#include <stdlib.h>

#include "softgpu/graph.h"
#include "softgpu/handle.h"

struct stream *stream_new(uint64_t context, unsigned flags)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->context = context;
	s->flags = flags;
	s->handle = handle_new(HANDLE_STREAM, s);
	if (!s->handle) {
		free(s);
		return NULL;
	}
	return s;
}

void stream_free(struct stream *s)
{
	handle_free(HANDLE_STREAM, s->handle);
	if (s->capture)
		graph_free(s->capture);
	free(s);
}

struct event *event_new(uint64_t context, unsigned flags)
{
	struct event *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->context = context;
	e->flags = flags;
	e->handle = handle_new(HANDLE_EVENT, e);
	if (!e->handle) {
		free(e);
		return NULL;
	}
	return e;
}

void event_free(struct event *e)
{
	handle_free(HANDLE_EVENT, e->handle);
	free(e);
}

struct event *event_get(CUevent handle)
{
	return handle_get(HANDLE_EVENT, (uint64_t)handle);
}

struct stream *stream_get(CUstream handle)
{
	return handle_get(HANDLE_STREAM, (uint64_t)handle);
}

void stream_free_context(uint64_t context)
{
	struct stream *s;
	struct event *e;

	for (size_t cursor = 0; (s = handle_next(HANDLE_STREAM, &cursor));)
		if (s->context == context)
			stream_free(s);
	for (size_t cursor = 0; (e = handle_next(HANDLE_EVENT, &cursor));)
		if (e->context == context)
			event_free(e);
}

bool stream_valid(CUstream handle, uint64_t context)
{
	struct stream *s;

	if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
		return true;
	s = stream_get(handle);
	return s && s->context == context;
}
