/* SPDX-License-Identifier: MIT */
/* What the noise of one output is measured from: A's perturbed runs, the family's configs. */
#ifndef ANALYZE_VICINITY_H
#define ANALYZE_VICINITY_H

#include "analyze/decide.h"
#include "analyze/job.h"

/*
 * What rules 5 to 8 need around one run of A: perturbed runs of A there, and its configs' trials of
 * the same kind and index. input.moved_count stays 0 where some of it is missing.
 */
void vicinity_gather(struct job *j, const struct output_verdict *v,
		     const struct record_trial *plain, const struct record_trial *const *moved,
		     uint32_t moved_count);

/* Around the recorded inputs; where A varies its repeats are legitimate results too. */
void vicinity_recorded(struct job *j, const struct output_verdict *v);

/* Figures of all pairs, if any of them differs. 0, or -errno with err. */
int vicinity_measure(struct job *j, struct error *err);

/* True where all of A's configs on these inputs give what `own` gave in a trial of that kind. */
bool siblings_agree(const struct job *j, uint32_t kind, uint32_t index,
		    const struct record_content *own);

#endif
