/* SPDX-License-Identifier: MIT */
/* Seconds of the monotonic clock, and short sleeps. */
#ifndef SHIM_CLOCK_H
#define SHIM_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Less than a second. */
static inline void clock_sleep(double seconds)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

/* A point so many seconds ahead, for waits by the monotonic clock. */
static inline struct timespec clock_ahead(double seconds)
{
	double at = clock_seconds() + seconds;

	return (struct timespec){(time_t)at, (long)((at - (double)(time_t)at) * 1e9)};
}

#endif
