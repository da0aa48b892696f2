/* SPDX-License-Identifier: MIT */
/* What a worker is doing, until when, and what it has cost: memory that it shares with its parent.
 */
#include "replay/pulse.h"

#include <stddef.h>
#include <sys/mman.h>

#include "replay/wire.h"

#define SLACK_SECONDS 0.5 /* over a step's limit */

struct pulse *pulse_open(void)
{
	void *p = mmap(NULL, sizeof(struct pulse), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void pulse_close(struct pulse *p)
{
	if (p)
		munmap(p, sizeof(*p));
}

void pulse_set(struct pulse *p, struct step step)
{
	/* Never: the parent must not judge the new step by the old deadline, nor the reverse. */
	atomic_store(&p->deadline_ns, 0);
	p->step = step;
	atomic_store(&p->deadline_ns,
		     monotonic_ns() + (uint64_t)((step.seconds + SLACK_SECONDS) * 1e9));
}
