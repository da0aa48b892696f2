/* SPDX-License-Identifier: MIT */
/* Handles of API objects: a number with kind, generation and index, so that stale ones are seen. */
#ifndef SOFTGPU_HANDLE_H
#define SOFTGPU_HANDLE_H

#include <stddef.h>
#include <stdint.h>

enum handle_kind {
	HANDLE_CONTEXT = 1,
	HANDLE_MODULE,
	HANDLE_FUNCTION,
	HANDLE_STREAM,
	HANDLE_EVENT,
	HANDLE_PHYSICAL,
	HANDLE_LIBRARY,
	HANDLE_KERNEL,
	HANDLE_GRAPH,
	HANDLE_GRAPH_NODE,
	HANDLE_GRAPH_EXEC,
	HANDLE_KIND_END
};

/*
 * A handle never is a pointer: it can be given to the API in any state without a crash. No value
 * is given out twice (2^28 generations a slot), none is 0, 1 or 2 (special streams).
 * Threads: under the API lock.
 */
uint64_t handle_new(enum handle_kind kind, void *object); /* 0 without memory */

/* The object; NULL for a handle of another kind, a freed or an invented one. */
void *handle_get(enum handle_kind kind, uint64_t handle);

/* Makes the handle invalid. The object stays the caller's. */
void handle_free(enum handle_kind kind, uint64_t handle);

/* Walks the objects of a kind: *cursor starts at 0; NULL at the end. Freeing on the way is fine. */
void *handle_next(enum handle_kind kind, size_t *cursor);

#endif
