/* SPDX-License-Identifier: MIT */
/* Rules 0 and 2 on one output: what repeats, poisoned, guarded and repeated launches show. */
#ifndef ANALYZE_DETERMINISM_H
#define ANALYZE_DETERMINISM_H

#include "analyze/decide.h"
#include "analyze/job.h"

/* True where a side's repeats leave the same bytes. */
bool repeats_equal(const struct trials *t, uint32_t side, size_t extent);

/* True where what an output held before does not show in it afterwards. */
bool poisons_equal(const struct trials *t, uint32_t side, size_t extent);

/*
 * The metrics stay; rule 0 or 2 replaces what the figures alone would say. poison: the poisoned
 * trials may be asked. Sets steps VALID and DETERMINISM.
 */
void determinism_judge(const struct job *j, bool poison, struct output_verdict *v);

#endif
