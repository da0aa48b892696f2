/* SPDX-License-Identifier: MIT */
/* Slots of host memory: made, handed out, waited for. */
#include "shim/ring.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "shim/budget.h"
#include "shim/clock.h"
#include "shim/hooks.h"
#include "shim/pending.h"
#include "shim/recorder.h"
#include "shim/regions.h"
#include "shim/workers.h"

#define RINGS_MAX      16u
#define SEGMENT_SLOTS  8u
#define SEGMENTS_MAX   64u
#define SLOT_BYTES_MAX (16u * CHUNK_BYTES)
#define WORDS_BYTES    4096u /* of a segment, in front of its slots */
#define POLL_LEAST_S   30e-6
#define POLL_MOST_S    500e-6
#define SPIN_S         500e-6 /* a sleep takes longer than most waits */
#define CONTEXT_END_S  20.0
#define REASON_BYTES   200u

enum slot_state {
	SLOT_FREE,
	SLOT_TAKEN,  /* a thread copies into it */
	SLOT_FLYING, /* submitted */
	SLOT_USED,   /* by a worker */
	SLOT_LOST    /* given up; free again if its word comes */
};

struct segment {
	char *memory;
	CUdeviceptr device; /* of memory; 0 where it is pageable */
	struct slot slots[SEGMENT_SLOTS];
};

struct ring {
	CUcontext context;
	CUdevice device;
	struct segment *segments[SEGMENTS_MAX];
	unsigned long generation;
	unsigned segment_count, limit; /* of segments */
	bool growing;
	atomic_bool pageable;
	char reason[REASON_BYTES]; /* why; lock */
	atomic_int lost;           /* CUresult: nothing that flies will come */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flown; /* for workers */
static pthread_cond_t freed; /* for takers */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ring *rings[RINGS_MAX]; /* an entry stays; its context may change */
static unsigned ring_count;
static unsigned long generations;
static struct slot *flying, **flying_end = &flying;
static bool polled; /* one worker looks at the words */
static bool stopping;

static void init_conditions(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&flown, &attributes);
	pthread_cond_init(&freed, &attributes);
	pthread_condattr_destroy(&attributes);
}

/* At least one slot is a chunk; eight of them are a segment. */
uint32_t ring_slot_bytes(void)
{
	uint64_t bytes =
		recorder_settings()->ring_bytes / SEGMENT_SLOTS / CHUNK_BYTES * CHUNK_BYTES;

	return (uint32_t)(bytes < CHUNK_BYTES      ? CHUNK_BYTES
			  : bytes > SLOT_BYTES_MAX ? SLOT_BYTES_MAX
						   : bytes);
}

static uint64_t segment_bytes(void)
{
	return WORDS_BYTES + (uint64_t)SEGMENT_SLOTS * ring_slot_bytes();
}

static unsigned segments_wanted(void)
{
	uint64_t n =
		recorder_settings()->ring_bytes / ((uint64_t)SEGMENT_SLOTS * ring_slot_bytes());

	return n < 1 ? 1 : n > SEGMENTS_MAX ? SEGMENTS_MAX : (unsigned)n;
}

uint64_t ring_bytes(void)
{
	return (uint64_t)segments_wanted() * SEGMENT_SLOTS * ring_slot_bytes();
}

bool ring_pinned(const struct ring *r)
{
	return !atomic_load(&r->pageable);
}

void ring_pageable_reason(const struct ring *r, char *text, size_t size)
{
	pthread_mutex_lock(&lock);
	snprintf(text, size, "%s", r->reason);
	pthread_mutex_unlock(&lock);
}

/* Caller holds lock. */
static void set_pageable(struct ring *r, const char *why)
{
	snprintf(r->reason, sizeof(r->reason), "%s", why);
	atomic_store(&r->pageable, *why != 0);
}

/* ---- memory ---- */

static bool refused(char why[REASON_BYTES], const char *call, CUresult result)
{
	char text[120];

	snprintf(why, REASON_BYTES, "%s: %s", call,
		 driver_error_text(&real, result, text, sizeof(text)));
	return false;
}

/* Registers a segment with the current context; false, and why: the ring is pageable. */
static bool pin(struct segment *s, char why[REASON_BYTES])
{
	CUresult result;

	s->device = 0;
	if (!real.cuMemHostRegister_v2 || !real.cuMemHostUnregister ||
	    !real.cuMemHostGetDevicePointer_v2 || !real.cuStreamWriteValue32_v2)
		return refused(why, "cuStreamWriteValue32", CUDA_ERROR_NOT_FOUND);
	result =
		real.cuMemHostRegister_v2(s->memory, segment_bytes(), CU_MEMHOSTREGISTER_DEVICEMAP);
	if (result != CUDA_SUCCESS)
		return refused(why, "cuMemHostRegister", result);
	result = real.cuMemHostGetDevicePointer_v2(&s->device, s->memory, 0);
	if (result == CUDA_SUCCESS && s->device)
		return true;
	real.cuMemHostUnregister(s->memory);
	s->device = 0;
	return refused(why, "cuMemHostGetDevicePointer",
		       result == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : result);
}

static void lay_out(struct ring *r, struct segment *s)
{
	for (unsigned i = 0; i < SEGMENT_SLOTS; i++) {
		struct slot *slot = &s->slots[i];

		slot->ring = r;
		slot->data = s->memory + WORDS_BYTES + (size_t)i * ring_slot_bytes();
		slot->data_device =
			s->device ? s->device + (CUdeviceptr)(slot->data - s->memory) : 0;
		/* A cache line each: the device writes them while workers look. */
		slot->word = (_Atomic uint32_t *)(s->memory + 64 * (size_t)i);
		slot->word_device = s->device ? s->device + 64 * (CUdeviceptr)i : 0;
	}
}

static struct segment *segment_new(struct ring *r, char why[REASON_BYTES])
{
	struct segment *s;

	/* Other contexts need a first one too, and measurements their bitmaps. */
	if (r->segment_count ? !budget_take_more(segment_bytes()) : !budget_take(segment_bytes()))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (s)
		s->memory = mmap(NULL, segment_bytes(), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!s || s->memory == MAP_FAILED) {
		free(s);
		budget_give(segment_bytes());
		return NULL;
	}
	/* A child of fork has neither the context nor a use for it. */
	madvise(s->memory, segment_bytes(), MADV_DONTFORK);
	madvise(s->memory, segment_bytes(), MADV_HUGEPAGE);
	if (ring_pinned(r))
		pin(s, why);
	lay_out(r, s);
	return s;
}

/* No more memory can be pinned, but some is. */
static bool enough(struct ring *r, struct segment *s)
{
	if (s->device || !r->segment_count || !r->segments[0]->device)
		return false;
	r->limit = r->segment_count;
	return true;
}

static void segment_free(struct segment *s)
{
	if (s->device)
		real.cuMemHostUnregister(s->memory);
	munmap(s->memory, segment_bytes());
	budget_give(segment_bytes());
	free(s);
}

/* Caller holds lock. A pageable ring has one segment: nothing flies in it for long. */
static bool may_grow(const struct ring *r)
{
	return !r->growing && r->segment_count < (ring_pinned(r) ? r->limit : 1);
}

/* Caller holds lock, which is given up meanwhile: registering takes milliseconds. */
static bool grow(struct ring *r)
{
	char why[REASON_BYTES] = "";
	struct segment *s;

	r->growing = true;
	pthread_mutex_unlock(&lock);
	s = segment_new(r, why);
	pthread_mutex_lock(&lock);
	r->growing = false;
	pthread_cond_broadcast(&freed);
	if (s && enough(r, s)) {
		segment_free(s);
		s = NULL;
	} else if (s && *why) {
		set_pageable(r, why);
	}
	if (s)
		r->segments[r->segment_count++] = s;
	else
		r->limit = r->segment_count;
	return s != NULL;
}

/* ---- the ring of a context ---- */

/* The driver still knows the memory in the current context. */
static bool registered(const struct ring *r)
{
	CUdeviceptr device = 0;

	return !r->segment_count || !r->segments[0]->device ||
	       (real.cuMemHostGetDevicePointer_v2(&device, r->segments[0]->memory, 0) ==
			CUDA_SUCCESS &&
		device == r->segments[0]->device);
}

/* All that flew is gone with the context that had this handle before. Caller holds lock. */
static void register_anew(struct ring *r)
{
	char why[REASON_BYTES] = "";

	set_pageable(r, "");
	r->generation = ++generations;
	atomic_store(&r->lost, CUDA_SUCCESS);
	for (unsigned i = 0; i < r->segment_count; i++) {
		struct segment *s = r->segments[i];

		s->device = 0;
		if (ring_pinned(r) && !pin(s, why))
			set_pageable(r, why);
		for (unsigned j = 0; j < SEGMENT_SLOTS; j++) {
			struct slot *slot = &s->slots[j];

			slot->word_device = s->device ? s->device + 64 * (CUdeviceptr)j : 0;
			slot->data_device =
				s->device ? s->device + (CUdeviceptr)(slot->data - s->memory) : 0;
			if (slot->state == SLOT_FLYING)
				slot->deadline = 0;
			if (slot->state == SLOT_LOST)
				slot->state = SLOT_FREE;
		}
	}
}

static struct ring *find(CUcontext context)
{
	for (unsigned i = 0; i < ring_count; i++)
		if (rings[i]->context == context)
			return rings[i];
	return NULL;
}

/* Caller holds lock. */
static struct ring *ring_new(CUcontext context, const char **why)
{
	struct ring *r = NULL;

	for (unsigned i = 0; i < ring_count && !r; i++)
		if (!rings[i]->context)
			r = rings[i];
	*why = "more than 16 contexts";
	if (!r && ring_count < RINGS_MAX) {
		*why = "no host memory for copies";
		r = calloc(1, sizeof(*r));
		if (r)
			rings[ring_count++] = r;
	}
	if (!r)
		return NULL;
	r->context = context;
	r->generation = ++generations;
	atomic_store(&r->lost, CUDA_SUCCESS);
	set_pageable(r, "");
	r->limit = segments_wanted();
	real.cuCtxGetDevice(&r->device);
	return r;
}

struct ring *ring_here(const char **why)
{
	CUcontext context = NULL;
	struct ring *r;

	pthread_once(&once, init_conditions);
	if (real.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) {
		*why = "no context is current";
		return NULL;
	}
	pthread_mutex_lock(&lock);
	r = find(context);
	if (!r)
		r = ring_new(context, why);
	else if (!registered(r))
		register_anew(r);
	pthread_mutex_unlock(&lock);
	return r;
}

/* ---- taking ---- */

static bool word_there(const struct slot *s)
{
	return atomic_load_explicit(s->word, memory_order_acquire) == s->expected;
}

static struct slot *find_free(struct ring *r)
{
	for (unsigned i = 0; i < r->segment_count; i++)
		for (unsigned j = 0; j < SEGMENT_SLOTS; j++) {
			struct slot *s = &r->segments[i]->slots[j];

			if (s->state == SLOT_LOST && word_there(s))
				s->state = SLOT_FREE;
			if (s->state == SLOT_FREE)
				return s;
		}
	return NULL;
}

bool ring_has_memory(struct ring *r)
{
	bool any;

	pthread_mutex_lock(&lock);
	any = r->segment_count > 0;
	pthread_mutex_unlock(&lock);
	return any;
}

struct slot *ring_take(struct ring *r, double seconds)
{
	double end = clock_seconds() + seconds;
	struct slot *s;

	pthread_mutex_lock(&lock);
	while (!(s = find_free(r))) {
		struct timespec until;
		double left = end - clock_seconds();

		if (may_grow(r) && grow(r))
			continue;
		if (left <= 0 || (!r->segment_count && !r->growing))
			break;
		/* A word of a lost slot wakes nobody. */
		until = clock_ahead(left < 0.05 ? left : 0.05);
		pthread_cond_timedwait(&freed, &lock, &until);
	}
	if (s) {
		s->state = SLOT_TAKEN;
		s->used = s->piece_count = 0;
	}
	pthread_mutex_unlock(&lock);
	return s;
}

/* ---- submitting ---- */

/* This device's streams write no words. */
static void make_pageable(struct ring *r)
{
	char why[REASON_BYTES];

	refused(why, "cuStreamWriteValue32", CUDA_ERROR_NOT_SUPPORTED);
	pthread_mutex_lock(&lock);
	set_pageable(r, why);
	pthread_mutex_unlock(&lock);
}

/* Behind the copies. What cannot be told by a word is waited for. */
static CUresult mark_end(struct slot *s, CUstream stream, double seconds)
{
	CUresult result = CUDA_ERROR_NOT_SUPPORTED;

	if (s->word_device)
		result = real.cuStreamWriteValue32_v2(stream, s->word_device, s->expected,
						      CU_STREAM_WRITE_VALUE_DEFAULT);
	if (result == CUDA_SUCCESS)
		return CUDA_SUCCESS;
	if (s->word_device && result == CUDA_ERROR_NOT_SUPPORTED)
		make_pageable(s->ring);
	if (stream_wait(stream, seconds, &result))
		atomic_store(s->word, s->expected);
	return result;
}

static void use(struct slot *s, CUresult result)
{
	bool there = word_there(s);

	s->use(s, result);
	pending_progress();
	pthread_mutex_lock(&lock);
	s->state = there ? SLOT_FREE : SLOT_LOST;
	pthread_cond_broadcast(&freed);
	pthread_mutex_unlock(&lock);
}

/* No worker can be had. */
static void use_here(struct slot *s)
{
	while (!word_there(s) && clock_seconds() < s->deadline &&
	       atomic_load(&s->ring->lost) == CUDA_SUCCESS)
		clock_sleep(POLL_MOST_S);
	use(s, word_there(s) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

void ring_submit(struct slot *s, CUstream stream, double seconds)
{
	CUresult result;
	bool threads = workers_start();

	s->expected++;
	s->deadline = clock_seconds() + seconds;
	result = mark_end(s, stream, seconds);
	if (result != CUDA_SUCCESS || !threads) {
		if (result != CUDA_SUCCESS)
			use(s, result);
		else
			use_here(s);
		return;
	}
	pthread_mutex_lock(&lock);
	s->state = SLOT_FLYING;
	s->next = NULL;
	*flying_end = s;
	flying_end = &s->next;
	pthread_cond_signal(&flown);
	pthread_mutex_unlock(&lock);
}

/* Its memory may be written at any time, until the word comes. */
static CUresult lost(struct slot *s, CUresult result)
{
	if (result == CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	s->state = SLOT_LOST;
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult ring_mark(struct slot *s, CUstream stream, double seconds)
{
	s->expected++;
	s->deadline = clock_seconds() + seconds;
	return lost(s, mark_end(s, stream, seconds));
}

CUresult ring_wait(struct slot *s)
{
	double start = clock_seconds(), pause = 10e-6;
	CUresult result = CUDA_SUCCESS;

	while (result == CUDA_SUCCESS && !word_there(s)) {
		if (atomic_load(&s->ring->lost) != CUDA_SUCCESS)
			result = (CUresult)atomic_load(&s->ring->lost);
		else if (clock_seconds() > s->deadline)
			result = CUDA_ERROR_NOT_READY;
		if (clock_seconds() - start < SPIN_S)
			continue;
		clock_sleep(pause);
		pause = pause < POLL_MOST_S ? pause * 1.2 : pause;
	}
	return lost(s, result);
}

void ring_put_back(struct slot *s)
{
	pthread_mutex_lock(&lock);
	s->state = SLOT_FREE;
	pthread_cond_broadcast(&freed);
	pthread_mutex_unlock(&lock);
}

unsigned long ring_generation(const struct ring *r)
{
	return r->generation;
}

/* ---- workers ---- */

/* Whether a worker has to do with it, and what it is told. Caller holds lock. */
static bool due(const struct slot *s, double now, CUresult *result)
{
	*result = CUDA_SUCCESS;
	if (word_there(s))
		return true;
	*result = (CUresult)atomic_load(&s->ring->lost);
	if (*result == CUDA_SUCCESS && stopping)
		*result = CUDA_ERROR_DEINITIALIZED;
	if (*result == CUDA_SUCCESS && now > s->deadline)
		*result = CUDA_ERROR_NOT_READY;
	return *result != CUDA_SUCCESS;
}

static struct slot *take_due(CUresult *result)
{
	double now = clock_seconds();

	for (struct slot **at = &flying; *at; at = &(*at)->next) {
		struct slot *s = *at;

		if (!due(s, now, result))
			continue;
		*at = s->next;
		if (flying_end == &s->next)
			flying_end = at;
		s->state = SLOT_USED;
		return s;
	}
	return NULL;
}

/* One worker looks at the words, the others sleep. Caller holds lock. */
static void wait_for_work(double *pause)
{
	if (!flying || polled) {
		pthread_cond_wait(&flown, &lock);
		*pause = POLL_LEAST_S;
		return;
	}
	polled = true;
	pthread_mutex_unlock(&lock);
	clock_sleep(*pause);
	if (*pause < POLL_MOST_S)
		*pause *= 1.5;
	pthread_mutex_lock(&lock);
	polled = false;
}

void ring_work(void)
{
	double pause = POLL_LEAST_S;

	pthread_mutex_lock(&lock);
	for (;;) {
		CUresult result;
		struct slot *s = take_due(&result);

		if (!s) {
			if (stopping && !flying)
				break;
			wait_for_work(&pause);
			continue;
		}
		pause = POLL_LEAST_S;
		pthread_cond_signal(&flown); /* another one looks at the next */
		pthread_mutex_unlock(&lock);
		use(s, result);
		pthread_mutex_lock(&lock);
	}
	pthread_cond_broadcast(&flown);
	pthread_mutex_unlock(&lock);
}

void ring_stop(void)
{
	pthread_once(&once, init_conditions);
	pthread_mutex_lock(&lock);
	stopping = true;
	pthread_cond_broadcast(&flown);
	pthread_mutex_unlock(&lock);
}

/* ---- contexts that go ---- */

/* Errors that stay: no later call in the context succeeds. */
static bool ends_context(CUresult r)
{
	switch (r) {
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_LAUNCH_FAILED:
		return true;
	default:
		return false;
	}
}

void ring_lose(CUcontext context, CUresult why)
{
	struct ring *r;

	if (!ends_context(why))
		return;
	pthread_mutex_lock(&lock);
	r = find(context);
	if (r && atomic_load(&r->lost) == CUDA_SUCCESS)
		atomic_store(&r->lost, (int)why);
	pthread_mutex_unlock(&lock);
}

static bool in_use(const struct ring *r)
{
	for (unsigned i = 0; i < r->segment_count; i++)
		for (unsigned j = 0; j < SEGMENT_SLOTS; j++) {
			int state = r->segments[i]->slots[j].state;

			if (state != SLOT_FREE && state != SLOT_LOST)
				return true;
		}
	return false;
}

/* Caller holds lock. A kernel that never ends is not waited for longer than the program would. */
static bool wait_unused(struct ring *r)
{
	double end = clock_seconds() + CONTEXT_END_S;

	while (in_use(r) && clock_seconds() < end) {
		struct timespec until = clock_ahead(0.01);

		pthread_cond_timedwait(&freed, &lock, &until);
	}
	return !in_use(r);
}

static bool any_lost(const struct ring *r)
{
	for (unsigned i = 0; i < r->segment_count; i++)
		for (unsigned j = 0; j < SEGMENT_SLOTS; j++)
			if (r->segments[i]->slots[j].state == SLOT_LOST)
				return true;
	return false;
}

void ring_context_ends(CUcontext context)
{
	struct ring *r;
	CUcontext before;

	pthread_mutex_lock(&lock);
	r = context ? find(context) : NULL;
	/* With a slot lost or in use the device may still write: then the memory stays for good. */
	if (r && wait_unused(r) && !any_lost(r) &&
	    real.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS) {
		for (unsigned i = 0; i < r->segment_count; i++)
			segment_free(r->segments[i]);
		real.cuCtxPopCurrent_v2(&before);
		r->segment_count = 0;
		r->context = NULL;
	}
	pthread_mutex_unlock(&lock);
}

void ring_primary_ends(CUdevice device)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < ring_count; i++)
		if (rings[i]->context && rings[i]->device == device)
			wait_unused(rings[i]);
	pthread_mutex_unlock(&lock);
}

void ring_look(void)
{
	CUcontext context = NULL;

	if (real.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
		return;
	ring_lose(context, real.cuStreamQuery(CU_STREAM_LEGACY));
}

void ring_forget(void)
{
	static const pthread_once_t fresh = PTHREAD_ONCE_INIT;

	pthread_mutex_init(&lock, NULL);
	once = fresh;
	ring_count = 0;
	flying = NULL;
	flying_end = &flying;
	polled = stopping = false;
}
