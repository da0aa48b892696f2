/* SPDX-License-Identifier: MIT */
/* Whether restored memory holds what was recorded. */
#ifndef REPLAY_RESTORED_H
#define REPLAY_RESTORED_H

#include "replay/runner.h"

/*
 * Restores the launch on the board and reads all of its memory back: *bytes that are not as
 * recorded, first at *address. The copies that the device keeps are trusted otherwise, since a
 * launch that gives what was recorded proves them; this is for one that does not. Crosses the bus
 * once. 0, or -errno with err.
 */
int restored_check(struct runner *r, uint64_t *bytes, uint64_t *address, struct error *err);

#endif
