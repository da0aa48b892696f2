/* SPDX-License-Identifier: MIT */
/* Keeps the next launch number and time at which the part of the run ends. */
#include "shim/window.h"

#include <stdatomic.h>

#include "shim/guard.h"
#include "shim/recorder.h"

static enum window now_in; /* table_lock */
/* The first launch of the next part, and recorder_running_ns of its begin. */
SHIM_HOT_DATA static _Atomic uint64_t next_seq;
SHIM_HOT_DATA static _Atomic uint64_t next_ns = UINT64_MAX;

SHIM_HOT bool window_due(uint64_t seq)
{
	uint64_t ns = atomic_load_explicit(&next_ns, memory_order_relaxed);

	if (seq >= atomic_load_explicit(&next_seq, memory_order_relaxed))
		return true;
	return ns != UINT64_MAX && recorder_running_coarse_ns() >= ns;
}

static enum window part_of(uint64_t seq, uint64_t ns)
{
	const struct selection *s = recorder_settings();

	if (seq <= s->start.launches || ns < s->start.ns)
		return WINDOW_BEFORE;
	if ((s->stop.launches && seq > s->stop.launches) || (s->stop.ns && ns > s->stop.ns))
		return WINDOW_AFTER;
	return WINDOW_INSIDE;
}

/* Each bound only if it is still to come: 0 otherwise. */
static void wait_for(uint64_t seq, uint64_t ns)
{
	atomic_store_explicit(&next_seq, seq ? seq : UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&next_ns, ns ? ns : UINT64_MAX, memory_order_relaxed);
}

enum window window_look(uint64_t seq, enum window *now, bool *changed)
{
	const struct selection *s = recorder_settings();
	uint64_t ns = s->start.ns || s->stop.ns ? recorder_running_ns() : 0;
	enum window found = part_of(seq, ns);

	*changed = found > now_in;
	if (*changed)
		now_in = found;
	*now = now_in;
	if (now_in == WINDOW_BEFORE)
		wait_for(seq <= s->start.launches ? s->start.launches + 1 : 0,
			 ns < s->start.ns ? s->start.ns : 0);
	else if (now_in == WINDOW_INSIDE)
		wait_for(s->stop.launches ? s->stop.launches + 1 : 0, s->stop.ns);
	else
		wait_for(0, 0);
	return found;
}

void window_forget(void)
{
	now_in = WINDOW_UNKNOWN;
	atomic_store(&next_seq, 0);
	atomic_store(&next_ns, UINT64_MAX);
}
