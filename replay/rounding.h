/* SPDX-License-Identifier: MIT */
/* What the PTX tells of how coarsely an output is rounded, noted on its extent. */
#ifndef REPLAY_ROUNDING_H
#define REPLAY_ROUNDING_H

#include "replay/plan.h"

/* Fills roundoff, function, serial, and the flags that say who adds and what is periodic. */
void rounding_note(const struct replay_case *c, struct record_extent *x);

#endif
