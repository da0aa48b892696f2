/* SPDX-License-Identifier: MIT */
/* A boundary launch that a config's recorded launches imply, and that none of them is. */
#ifndef REPLAY_DERIVE_H
#define REPLAY_DERIVE_H

#include "kernelab/error.h"
#include "kernelab/records.h"
#include "replay/pair.h"
#include "replay/source.h"

struct derived {
	struct record_launch launch; /* the recorded one, with other parameters */
	uint8_t *params;             /* owned */
	char *text;                  /* "n: 4080 in place of 4096"; owned */
};

/*
 * From a recorded launch of the pair, whose contents it shares. Every integer argument that bounds
 * a mask (bounds.h) and of which the recorded launches show only one sort is lowered: a multiple of
 * the block by the least step that the images allow (1, or the greatest divisibility for which one
 * of them is specialised), so that there is a tail; anything else to the multiple below, so that
 * there is none. Only ever lowered: nothing is touched beyond what the recorded launch touches by
 * way of those masks. 1 with *out (owned by the caller, derived_free); 0 where nothing is lacking
 * or known; -ENOMEM.
 */
int derive_launch(struct derived *out, const struct source *base, const struct pair *pair,
		  const struct record_launch *launch);
void derived_free(struct derived *d);

/* A scalar argument of a launch; 0 where it is none of 4 or 8 bytes. */
int64_t launch_scalar(const struct record_launch *l, const struct record_param *p);

#endif
