/* SPDX-License-Identifier: MIT */
/* The trials of one case, in the worker: what A writes, fidelity, repeats and poison of A and B. */
#ifndef REPLAY_TRIALS_H
#define REPLAY_TRIALS_H

#include "replay/runner.h"

/* The two fill bytes of poisoned memory: complements, so that no byte value equals both. */
#define POISON_BYTE(pattern) ((uint8_t)((pattern) ? 0x5a : 0xa5))

/* How much may be poisoned: lowered by the parent after a run that ended the worker. */
enum caution {
	CAUTION_NONE,     /* everything that A's code may store through is probed */
	CAUTION_NO_PROBE, /* only bytes that A was seen to change */
	CAUTION_NO_POISON /* nothing */
};

/*
 * Runs one case and sends EXTENTS, CASE, TRIAL messages and at the end DONE. Nothing but STEP is
 * sent before A's own runs are over, so a case that ends in them can be run again with more
 * caution: DONE then asks for it. After r->lost the worker must end.
 */
void trials_run(struct runner *r, const struct replay_case *c, enum caution caution);

#endif
