/* SPDX-License-Identifier: MIT */
/* What the recorded run made of a config: its USE records. */
#ifndef REPLAY_USES_H
#define REPLAY_USES_H

#include <stdbool.h>

#include "kernelab/bundle.h"
#include "replay/plan.h"

/* Recorded by capture --origin-name test; the model's own run may have the same image. */
bool member_is_test(const struct bundle *b, const struct suite_member *m);

/* Writes a USE record a shape class of the pair's recorded image, in all bundles. 0 or -errno. */
int uses_put(struct bundle_writer *w, const struct plan *plan, size_t index);

#endif
