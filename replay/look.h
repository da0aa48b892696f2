/* SPDX-License-Identifier: MIT */
/* Elements that the device looks for in outputs, so that they need not be read back to be checked.
 */
#ifndef REPLAY_LOOK_H
#define REPLAY_LOOK_H

#include "replay/byteset.h"
#include "replay/change.h"
#include "replay/extents.h"

enum look {
	LOOK_NONE,
	LOOK_NOT_FINITE, /* infinity or NaN */
	LOOK_NOT_EXACT,  /* no integer below 2^24 in magnitude */
	LOOK_COUNT
};

/*
 * Rows (replay/change.h) of all elements of the extents of float types that lie wholly within a
 * chunk of which `written` has a byte; `index` is the chunk's number, `zero` tells formats whose
 * negative zero is their NaN. live[] is where chunks are on the device. Adds to *out. 0; 1 where
 * elements lie so that no kernel can read them; -ENOMEM.
 */
int look_rows(struct change_rows *out, const struct extents *extents, const struct byteset *written,
	      const uint64_t *live);

#endif
