/* SPDX-License-Identifier: MIT */
/* Contexts and each thread's stack of current ones. */
#ifndef SOFTGPU_CONTEXT_H
#define SOFTGPU_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"

struct context {
	uint64_t handle;
	bool primary;
	unsigned flags;
	int device;
	unsigned retained; /* primary only: 0 = not active */
};

/* All of it runs under the API lock. */

/* A device's primary context, made at the first call; NULL without memory. */
struct context *context_primary(int device);
/* A created context. NULL without memory. */
struct context *context_new(unsigned flags, int device);
/* The context of a handle; NULL for one that is not or no longer valid. */
struct context *context_get(CUcontext handle);
/* Ends a created context: its memory, modules, streams and events go with it. */
void context_destroy(struct context *c);
/* Empties the primary context and makes it inactive; its handle stays for the next retain. */
void context_reset_primary(struct context *c);

/* The calling thread's stack. Entries may be handles of contexts that ended since. */
CUcontext context_current(void);     /* NULL if empty */
int context_push(CUcontext handle);  /* -ENOMEM */
bool context_pop(CUcontext *handle); /* false if empty */
int context_set(CUcontext handle);   /* replaces the top; NULL pops it */

#endif
