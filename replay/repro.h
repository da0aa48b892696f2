/* SPDX-License-Identifier: MIT */
/* The command that shows one launch again. */
#ifndef REPLAY_REPRO_H
#define REPLAY_REPRO_H

#include <stdbool.h>

#include "replay/plan.h"

/*
 * "kernelab diff …" that replays the case (and what is derived from the same launch) alone, with
 * everything of the options that bears on its outcome: sides, device, trials, types, repeats,
 * timeout, pairing and versions. Words are quoted for a POSIX shell; paths are as they were given.
 * malloc'ed; NULL without memory.
 */
char *repro_text(const struct plan *plan, const struct replay_options *options, bool software,
		 const struct replay_case *c);

#endif
