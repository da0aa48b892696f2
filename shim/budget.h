/* SPDX-License-Identifier: MIT */
/*
 * One count of the host memory that the shim's large buffers take, with one limit: whatever the
 * program does, a recording takes no more of it than KERNELAB_HOST_MEMORY (1 GiB). Counted are the
 * ring, bitmaps of measurements, the lists of chunks of launches that are being recorded, and the
 * table of known contents. Not counted: what the bundle's index needs (some 60 bytes a chunk of
 * 256 KiB), and images that are loaded.
 */
#ifndef SHIM_BUDGET_H
#define SHIM_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Adds `bytes` to what is taken; false, and nothing is added, if that is above the limit. Any
 * thread. */
bool budget_take(uint64_t bytes);
/* The same, but only up to three quarters of the limit: for what does well without. */
bool budget_take_more(uint64_t bytes);
/* Gives back what was taken. */
void budget_give(uint64_t bytes);

/* The most that was taken at one time. */
uint64_t budget_peak(void);

/* After fork: all that was taken is the parent's. */
void budget_forget(void);

#endif
