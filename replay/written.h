/* SPDX-License-Identifier: MIT */
/* Which bytes a launch writes, measured: by what changes, and by what poison does not survive. */
#ifndef REPLAY_WRITTEN_H
#define REPLAY_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/error.h"
#include "replay/contents.h"
#include "replay/extents.h"

struct written {
	struct byteset bytes;      /* written by the launch */
	struct byteset poisonable; /* of those, the bytes of extents that are not read as well */
	struct extents extents;    /* of `bytes`; EXTENT_IN_PLACE is set where they are read too */
	char note[160];            /* what limits the measurement; "" */
};

struct written_input {
	const struct contents *contents;
	const struct snapshot *plain;   /* after a plain run */
	const struct byteset *noise;    /* bytes that vary between plain runs */
	const struct pointer *pointers; /* sorted */
	size_t pointer_count;
	const struct byteset
		*measured; /* holds all that the recorded launch wrote; NULL: not known */
	bool stores_known; /* pointers[].stored comes from the code; else every one may be stored to
			    */
	bool probe;        /* may poison beyond what was seen to change */
	bool poison;       /* may poison at all */
	/*
	 * Restores, poisons, runs, reads back. -ECANCELED where the launch failed. *after is the
	 * caller's.
	 */
	int (*run)(void *data, const struct byteset *poison, unsigned pattern, bool probe,
		   struct snapshot *after, struct error *err);
	void *data;
};

/*
 * Method. Changed bytes of the plain run are written. A byte that gets the value it had before is
 * not seen so; therefore everything from each pointer that the code stores through up to the next
 * other pointer or the end of its region is filled with pattern 0, then with pattern 1, and the
 * launch is run: a byte that no longer holds the pattern in one of them is written (the patterns
 * are complements). Of a measured launch only what it was seen to write is filled. Where neither is
 * known nor the code's stores, only the hull of an argument's changed
 * bytes is probed. Then each argument's written bytes are poisoned alone: if any written byte comes
 * out different (noise aside), that argument is read as well: EXTENT_IN_PLACE.
 * -ECANCELED: a poisoned run failed (try with less); -ENOMEM; what `run` gave.
 */
int written_find(struct written *out, const struct written_input *in, struct error *err);
void written_free(struct written *w);

#endif
