/* SPDX-License-Identifier: MIT */
/* Counts host memory in one atomic number. */
#include "shim/budget.h"

#include <stdatomic.h>

#include "shim/recorder.h"

static _Atomic uint64_t taken, peak;

static bool take(uint64_t bytes, uint64_t limit)
{
	uint64_t now = atomic_load(&taken), sum, highest;

	do {
		if (__builtin_add_overflow(now, bytes, &sum) || sum > limit)
			return false;
	} while (!atomic_compare_exchange_weak(&taken, &now, sum));
	highest = atomic_load(&peak);
	while (sum > highest && !atomic_compare_exchange_weak(&peak, &highest, sum))
		;
	return true;
}

bool budget_take(uint64_t bytes)
{
	return take(bytes, recorder_settings()->host_bytes);
}

bool budget_take_more(uint64_t bytes)
{
	return take(bytes, recorder_settings()->host_bytes / 4 * 3);
}

void budget_give(uint64_t bytes)
{
	atomic_fetch_sub(&taken, bytes);
}

uint64_t budget_peak(void)
{
	return atomic_load(&peak);
}

void budget_forget(void)
{
	atomic_store(&taken, 0);
	atomic_store(&peak, 0);
}
