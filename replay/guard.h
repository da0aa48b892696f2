/* SPDX-License-Identifier: MIT */
/* The guard trial: memory around what a launch touches holds a pattern. */
#ifndef REPLAY_GUARD_H
#define REPLAY_GUARD_H

#include "replay/trial_state.h"

/*
 * As f32, bf16, f16 and integer far from anything that is computed, so that a read of it shows:
 * 3.4e38, 3.4e38, NaN, 0x7f7f7f7f.
 */
#define GUARD_FILL  0x7f
#define GUARD_OTHER 0x00 /* what a result must differ from, to be the pattern's doing */
#define GUARD_BYTES 256u /* on both sides of what is written and read */

/*
 * Runs A and B with a pattern in the GUARD_BYTES before and behind all that the launch writes and,
 * where it was measured, reads, but for bytes that it touches itself; where it was not measured,
 * only outside of its regions. What does not keep the pattern is stray, though it were what was
 * recorded there. Void where there is no such byte, where A writes one, or where A's own result
 * depends on them. 0, or -errno with err.
 */
int trials_guard(struct trials *t, struct error *err);

#endif
