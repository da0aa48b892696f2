/* SPDX-License-Identifier: MIT */
/* The part of the run whose launches are recorded: KERNELAB_START_AFTER and KERNELAB_STOP_AFTER. */
#ifndef SHIM_WINDOW_H
#define SHIM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum window {
	WINDOW_UNKNOWN, /* not looked at yet */
	WINDOW_BEFORE,
	WINDOW_INSIDE,
	WINDOW_AFTER
};

/*
 * True if launch number `seq` (0: it has none, see numbers_exact) may lie in another part than the
 * one last looked at: window_look is due. By time a few ms late, since the clock that costs least
 * is asked. Any thread, no lock.
 */
bool window_due(uint64_t seq);

/*
 * Goes on to where launch number `seq`, made now, lies; never back. Returns where that launch lies,
 * which is not where the run is (*now) if other threads' later launches came first. *changed: the
 * run is in another part than before. Caller holds table_lock.
 */
enum window window_look(uint64_t seq, enum window *now, bool *changed);

/* After fork. */
void window_forget(void);

#endif
