/* SPDX-License-Identifier: MIT */
/* The disturbed trials: the same launch under conditions that move its warps against each other. */
#ifndef REPLAY_DISTURBED_H
#define REPLAY_DISTURBED_H

#include "replay/trial_state.h"

#define DISTURBED_ROUNDS 4u /* runs of each way, a side */

/*
 * Runs A and B with each disturbance of replay/neighbour.h in turn, on the recorded inputs: TRIAL
 * disturbed, index way + DISTURB_WAYS * round. A result that is not the plain one's means that the
 * side varies; where only B does, A is run on until it does too (replay/dispute.h). Nothing is run
 * where neither side's kernel has shared memory. A way that cannot be had is void, with its reason.
 * 0, or -errno with err.
 */
int trials_disturbed(struct trials *t, struct error *err);

#endif
