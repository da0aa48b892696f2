/* SPDX-License-Identifier: MIT */
/*
 * Host memory in slots, into which the device copies while the program goes on. Pinned: ordinary
 * memory of this library that is registered with the driver, so that it stays mapped whatever
 * becomes of the context; a worker can never read memory that is gone.
 *
 * That a slot's copies are done is told by a word in the slot's segment, which the stream itself
 * writes behind them (cuStreamWriteValue32: with its default flags all that the stream wrote before
 * is visible to the host when the word is). So workers read memory and call nothing of the driver.
 * The other ways are not safe here: an event or stream query is illegal while a thread captures in
 * global mode unless the caller exchanges its mode, needs handles that the program may destroy
 * meanwhile, and can meet a driver that is being torn down at exit; a host function runs on a
 * thread of the driver, holds up the stream until it returns and is never called after an error.
 * The word needs no handle, is written in stream order, and where the context goes it is just never
 * written: then the slot is given up after a time, and is used again only if the word comes.
 *
 * A ring grows by segments of eight slots up to KERNELAB_RING; each context of the program has its
 * own. Where memory cannot be registered, or the stream cannot write words, slots are pageable:
 * copies are waited for before ring_submit returns, the rest is the same.
 */
#ifndef SHIM_RING_H
#define SHIM_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"

#define SLOT_PIECES 64u

/* Contents that lie one behind the other in a slot. The ring does not look at them. */
struct slot_piece {
	uint32_t region, offset; /* offset in the slot */
	uint64_t first, end;     /* chunks of the region */
};

struct ring;

struct slot {
	/* For who took the slot: at most slot_bytes of data, filled from the start. */
	char *data;
	CUdeviceptr data_device; /* the same for the device; 0 where it is pageable */
	uint32_t used, piece_count;
	struct slot_piece pieces[SLOT_PIECES];
	/*
	 * Called once by a worker: CUDA_SUCCESS, the data is there; else why it will not come
	 * (CUDA_ERROR_NOT_READY: not in time). The slot is the ring's again when it returns.
	 */
	void (*use)(struct slot *s, CUresult result);
	void *context;

	/* The ring's. */
	struct ring *ring;
	struct slot *next;
	_Atomic uint32_t *word;
	CUdeviceptr word_device;
	uint32_t expected;
	double deadline;
	int state;
};

/*
 * The ring of the current context, or NULL with *why (static). One whose memory is not registered
 * any more (the context was destroyed, and its handle is used again) is registered anew. Any thread
 * with that context current.
 */
struct ring *ring_here(const char **why);
/* Copies are asynchronous; else ring_pageable_reason says why not (for the life of the ring). */
bool ring_pinned(const struct ring *r);
void ring_pageable_reason(const struct ring *r, char *text, size_t size);
uint32_t ring_slot_bytes(void); /* a whole number of chunks */
/* Bytes that the ring can hold. */
uint64_t ring_bytes(void);

/* False: not one slot could be made. After ring_take. */
bool ring_has_memory(struct ring *r);

/* A free slot; waits at most `seconds` for one. NULL: none became free, or no memory. */
struct slot *ring_take(struct ring *r, double seconds);

/*
 * All copies into the slot are in the stream: a worker will use it when they are done, at the
 * latest after `seconds`. Where there are no workers it is used before this returns.
 */
void ring_submit(struct slot *s, CUstream stream, double seconds);

/*
 * For who uses a slot's memory otherwise than for copies: ring_mark puts the word into the stream
 * behind it, ring_wait waits until it is there, without a call of the driver, at most `seconds`
 * after ring_mark. CUDA_SUCCESS: the slot is still taken; else it is not.
 */
CUresult ring_mark(struct slot *s, CUstream stream, double seconds);
CUresult ring_wait(struct slot *s);
/* Nothing of the device uses it. */
void ring_put_back(struct slot *s);

/* Changes when the ring's context turns out to be another one: its modules are gone. */
unsigned long ring_generation(const struct ring *r);

/*
 * A call in that context returned `why`. If that is an error after which nothing more runs in it,
 * what is still under way will not come, for that reason; else nothing is done.
 */
void ring_lose(CUcontext context, CUresult why);
/* The context is about to be destroyed: waits, a bounded time, for what is under way, and frees
 * its ring. */
void ring_context_ends(CUcontext context);
/* The same for the primary context of a device, but it may live on: the ring stays. */
void ring_primary_ends(CUdevice device);
/* Before the process ends: looks whether a context is lost, so that nothing is waited for. */
void ring_look(void);

/* ---- for workers ---- */

/*
 * Uses slots whose data is there until told to stop; then those that are left get
 * CUDA_ERROR_DEINITIALIZED.
 */
void ring_work(void);
void ring_stop(void);

/* After fork. The memory is not in the child. */
void ring_forget(void);

#endif
