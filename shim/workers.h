/* SPDX-License-Identifier: MIT */
/* The few threads that hash, compress and write what the device copied. */
#ifndef SHIM_WORKERS_H
#define SHIM_WORKERS_H

#include <stdbool.h>

/*
 * Starts them if they do not run: half of the processors that this process may use, 2 to 4, all
 * signals blocked. False if no thread can be had. Any thread.
 */
bool workers_start(void);

/* Ends and joins them; waits at most `seconds`: false, they go on. At the end of the process. */
bool workers_stop(double seconds);

/* After fork. */
void workers_forget(void);

#endif
