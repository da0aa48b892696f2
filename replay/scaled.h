/* SPDX-License-Identifier: MIT */
/* Trials on inputs of another scale, where an omitted epsilon or maximum shows. */
#ifndef REPLAY_SCALED_H
#define REPLAY_SCALED_H

#include "replay/change.h"
#include "replay/trial_state.h"

#define SCALED_MOVED  4 /* perturbed runs of A at a point where B differs */
#define SCALED_STRIDE 8 /* TRIAL.index: point * this, plus 1 + k for a perturbed run of A */

/*
 * Runs A and B at each point: all float inputs alike times 2^-10, times 2^6, and times 2^-10 with
 * the floats that the launch updates in place set to zero (void where it has none). Void too where
 * A fails or gives infinity or NaN where the plain run gives a number. Where B differs, A alone is
 * run SCALED_MOVED times more with those inputs moved by +-h: the noise floor there. 0, or -errno
 * with err. After t->r->lost some are missing.
 */
int trials_scaled(struct trials *t, const struct float_inputs *inputs, struct error *err);

#endif
