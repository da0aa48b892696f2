/* SPDX-License-Identifier: MIT */
/* The race trial: a few blocks of each side's PTX on the CPU, looked at for races. */
#ifndef REPLAY_RACE_H
#define REPLAY_RACE_H

#include "replay/trial_state.h"

#define RACE_BLOCKS       3u           /* the first, one in the middle, the last */
#define RACE_INSTRUCTIONS 2000000u     /* of warps, a side */
#define RACE_MEMORY       (1ull << 30) /* of a launch, copied on the host */

/*
 * Runs blocks of A's and of B's PTX on the software device's machine, in this process, on the
 * recorded contents, and sends what it found of accesses to shared memory that nothing orders. What
 * the driver is does not matter: the PTX is the same. Void where a side has no PTX that the machine
 * reads, where the launch is too large, or where it does not end in time. Nothing is sent where
 * neither side's PTX has shared memory, or both have the same PTX. 0, or -errno with err.
 */
int trials_race(struct trials *t, struct error *err);

#endif
