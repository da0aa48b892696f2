/* SPDX-License-Identifier: MIT */
/* Contexts. A thread's stack holds handles, so a context may end while another thread has it. */
#include "softgpu/context.h"

#include <errno.h>
#include <pthread.h>

#include "lib/base.h"
#include "softgpu/device.h"
#include "softgpu/graph.h"
#include "softgpu/handle.h"
#include "softgpu/space.h"
#include "softgpu/module.h"
#include "softgpu/stream.h"

struct stack {
	CUcontext *items;
	size_t count, capacity;
};

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static struct context *primaries[DEVICE_MOST];

static void stack_free(void *data)
{
	struct stack *s = data;

	free(s->items);
	free(s);
}

static void stack_key_make(void)
{
	if (pthread_key_create(&stack_key, stack_free))
		abort(); /* before anything ran: the process has used up PTHREAD_KEYS_MAX keys */
}

static struct stack *stack_get(void)
{
	pthread_once(&stack_once, stack_key_make);
	return pthread_getspecific(stack_key);
}

static struct stack *stack_make(void)
{
	struct stack *s = stack_get();

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s && pthread_setspecific(stack_key, s)) {
		free(s);
		return NULL;
	}
	return s;
}

CUcontext context_current(void)
{
	struct stack *s = stack_get();

	return s && s->count ? s->items[s->count - 1] : NULL;
}

int context_push(CUcontext handle)
{
	struct stack *s = stack_make();

	if (!s || array_reserve(&s->items, s->count, &s->capacity, sizeof(*s->items)))
		return -ENOMEM;
	s->items[s->count++] = handle;
	return 0;
}

bool context_pop(CUcontext *handle)
{
	struct stack *s = stack_get();

	if (!s || !s->count)
		return false;
	*handle = s->items[--s->count];
	return true;
}

int context_set(CUcontext handle)
{
	struct stack *s = stack_get();
	CUcontext old;

	if (!handle) {
		context_pop(&old);
		return 0;
	}
	if (!s || !s->count)
		return context_push(handle);
	s->items[s->count - 1] = handle;
	return 0;
}

struct context *context_new(unsigned flags, int device)
{
	struct context *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->flags = flags;
	c->device = device;
	c->handle = handle_new(HANDLE_CONTEXT, c);
	if (!c->handle) {
		free(c);
		return NULL;
	}
	return c;
}

struct context *context_primary(int device)
{
	struct context **primary = &primaries[device];

	if (!*primary) {
		*primary = context_new(0, device);
		if (*primary)
			(*primary)->primary = true;
	}
	return *primary;
}

struct context *context_get(CUcontext handle)
{
	struct context *c = handle_get(HANDLE_CONTEXT, (uint64_t)handle);

	return c && (!c->primary || c->retained) ? c : NULL;
}

static void context_empty(struct context *c)
{
	graph_free_context(c->handle);
	module_free_context(c->handle);
	stream_free_context(c->handle);
	space_free_owner(c->handle);
}

void context_destroy(struct context *c)
{
	context_empty(c);
	handle_free(HANDLE_CONTEXT, c->handle);
	free(c);
}

void context_reset_primary(struct context *c)
{
	context_empty(c);
	c->retained = 0;
}
