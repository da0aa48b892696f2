/* SPDX-License-Identifier: MIT */
/* Makes caches forget, as a long call between two measured ones does; a clock for single calls. */
#ifndef BENCH_CAPTURE_EVICT_H
#define BENCH_CAPTURE_EVICT_H

#include <stddef.h>
#include <stdint.h>

/* Reads and writes each cache line of memory, and runs through 64 KiB of code. */
void evict(char *memory, size_t bytes);

/* Nothing before it is still under way, nothing behind it has begun. */
uint64_t evict_ticks(void);
/* Measured: takes 20 ms. */
double evict_tick_ns(void);

#endif
