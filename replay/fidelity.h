/* SPDX-License-Identifier: MIT */
/* Does the recorded kernel, run on the recorded contents, give what was recorded after it? */
#ifndef REPLAY_FIDELITY_H
#define REPLAY_FIDELITY_H

#include <stddef.h>

#include "kernelab/records.h"
#include "replay/contents.h"
#include "replay/extents.h"

struct fidelity_evidence {
	const struct snapshot *recorded;
	const struct snapshot *repeats; /* of the recorded image */
	size_t repeat_count;            /* at least 1 */
	const struct byteset *written;  /* what it writes in replay */
	const struct byteset *noise;    /* where its repeats differ among themselves */
	const struct extents *extents;  /* of `written` */
	const struct ranges *scratch;   /* recorded scratch memory: left out; sorted */
};

/*
 * Judges on the bytes that the launch writes. Faithful: equal to some repeat there.
 * Nondeterministic: different, but each differing element varies among the repeats too, but for a
 * tenth as many bytes as the varying elements have (it ran beside other work), or for as many
 * elements as a repeat may have in which it alone is different (odd.h): rare values that the others
 * did not hit. Repeats that are all equal allow for none. Unfaithful otherwise, and where the
 * recorded launch changed bytes inside an extent that the replay never writes. Changes outside all
 * extents are other streams' and are only mentioned. Untested: nothing is written at all. `reason`
 * gets one sentence, "" for plain equality. 0 or -ENOMEM.
 */
int fidelity_judge(const struct fidelity_evidence *e, enum fidelity *out, char *reason,
		   size_t size);

#endif
