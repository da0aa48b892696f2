/* SPDX-License-Identifier: MIT */
/*
 * Races in a block's shared memory: accesses of two warps to a byte, one of them a write, that no
 * barrier orders. Private to the machine; machine.h has what comes out.
 *
 * Each warp has a vector clock, barriers join those of the warps that meet there, and each byte
 * knows when which warp read and wrote it, so a race is found whatever order the warps happen to
 * run in (happens-before; Flanagan and Freund, FastTrack, PLDI 2009). What orders beside barriers:
 * atomics, and loads and stores that are volatile, relaxed, acquire or release, in whatever memory:
 * each comes after all such before it. Two warps that write the same value are no race: layouts
 * that replicate values do so. Lanes of one warp are not told apart.
 */
#ifndef SOFTGPU_RACES_H
#define SOFTGPU_RACES_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/warp.h"

/* One a launch that looks for races; NULL without memory. */
struct races *races_open(struct machine *m);
void races_free(struct races *x);
/* Another block begins. */
void races_block(struct races *x);

/* What a warp's instruction touches; host addresses outside of shared memory are passed over. */
void races_read(const struct run *r, uint32_t mask, unsigned bytes, uint8_t *const *host);
/* Before a write, and after it: what does not change a value is told from what does. */
void races_before_write(const struct run *r, uint32_t mask, unsigned bytes, uint8_t *const *host);
void races_write(const struct run *r, uint32_t mask, unsigned bytes, uint8_t *const *host);

/* Around an access that orders: what others published before holds; what this warp did is so. */
void races_acquire(const struct run *r);
void races_release(const struct run *r);

/* cp.async writes when it was waited for. */
void races_copy(const struct run *r, uint32_t mask, unsigned bytes, uint8_t *const *host);
void races_commit(const struct run *r);
void races_wait(const struct run *r, uint32_t pending_groups, bool all);

/*
 * A group of lanes comes to a barrier; one that waited there goes on (a barrier of all threads is
 * behind those that have ended too); the barrier is free again.
 */
void races_arrive(const struct run *r, uint32_t barrier, bool waits);
void races_pass(struct races *x, uint32_t warp, uint32_t barrier, bool of_all);
void races_clear(struct races *x, uint32_t barrier);
/* Lanes of a warp end. */
void races_exit(struct races *x, uint32_t warp);

#endif
