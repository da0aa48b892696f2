/* SPDX-License-Identifier: MIT */
/* Trials whose outputs are not read back, as long as B leaves in them what A leaves. */
#ifndef REPLAY_SPARE_H
#define REPLAY_SPARE_H

#include "replay/twin.h"

/*
 * Whether the outputs of such a trial are needed only where A and B differ in this case, and they
 * did not so far. Of exact-integer and scaled inputs other configs of the family, if there are any,
 * may have need of them (analyze/vicinity.h).
 */
bool spare_may(const struct trials *t, enum trial_kind kind);

/*
 * twin_run, A's outputs staying on the device. Where B's are equal both trials are sent as unstored
 * (TRIAL.unstored). Else they are sent with their contents, and so are the unstored ones before,
 * which are run again for that; nothing is spared any more. What w->setting leads to must stay
 * until spare_end, but for the change itself. 0, or -errno with err.
 */
int spare_run(struct trials *t, struct twin *w, struct error *err);

/*
 * What was spared is run again, if anything differed since. To be called before what changed its
 * inputs ends. 0, or -errno with err.
 */
int spare_end(struct trials *t, struct error *err);

/* Notes whether a byte that a result lists differs between two outcomes of A and of B. 0; -ENOMEM.
 */
int spare_compare(struct trials *t, const struct snapshot *a, const struct snapshot *b);

#endif
