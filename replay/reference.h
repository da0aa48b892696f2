/* SPDX-License-Identifier: MIT */
/* The reference: what A's PTX gives in double precision at the elements where A and B differ. */
#ifndef REPLAY_REFERENCE_H
#define REPLAY_REFERENCE_H

#include "replay/ledger.h"
#include "replay/trial_state.h"

#define REFERENCE_ELEMENTS 16384u       /* of an output; beyond, evenly chosen ones */
#define REFERENCE_MEMORY   (1ull << 30) /* of a launch, copied on the host */
#define REFERENCE_SHADOW   (4ull << 30) /* doubles beside it */

/*
 * Where B's first repeat differs from A's: runs A's PTX on the recorded contents on the software
 * device's machine, in this process, with a shadow in double precision (softgpu/shadow.h), and
 * sends the values of differing elements. Blocks are run until all are reached or
 * options->reference_s have passed; all of them, in order, where blocks add to the same memory.
 * Whatever stands in the way is sent as the reason. 0, or -errno with err.
 */
int trials_reference(struct trials *t, struct error *err);

/* In the parent: its REFERENCE record; and those of a case of an older result. 0 or -errno. */
int reference_put(struct ledger *r, size_t number, struct packet *p);
int reference_keep(struct ledger *r, const struct bundle *old, uint32_t number);

#endif
