/* SPDX-License-Identifier: MIT */
/* Streams and events. All work is done when a call returns, so they only order and take the time.
 */
#ifndef SOFTGPU_STREAM_H
#define SOFTGPU_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"

struct stream {
	uint64_t handle, context;
	unsigned flags;
	struct graph *capture;   /* being captured into it, or NULL */
	struct graph_node *last; /* of the capture */
	bool invalid;            /* the capture was broken by a forbidden call */
};

struct event {
	uint64_t handle, context;
	unsigned flags;
	bool recorded;
	uint64_t time_ns; /* CLOCK_MONOTONIC at cuEventRecord */
};

/* NULL without memory. Freed by their _free, or with their context. Under the API lock. */
struct stream *stream_new(uint64_t context, unsigned flags);
void stream_free(struct stream *s);
struct event *event_new(uint64_t context, unsigned flags);
void event_free(struct event *e);
struct event *event_get(CUevent handle);
void stream_free_context(uint64_t context); /* and its events */

/* Whether a stream may be used with a context: 0, legacy, per-thread, or one made in it. */
bool stream_valid(CUstream handle, uint64_t context);
struct stream *stream_get(CUstream handle); /* NULL for the special ones too */

#endif
