/* SPDX-License-Identifier: MIT */
/* Rules 0 and 2 on one output: results that vary by themselves, or with what memory holds. */
#ifndef ANALYZE_DETERMINISM_H
#define ANALYZE_DETERMINISM_H

#include "analyze/decide.h"
#include "analyze/job.h"

/* True where what an output held before does not show in it afterwards. */
bool poisons_equal(const struct trials *t, uint32_t side, size_t extent);

/*
 * Whether A gave more than one result where it should give one: among its repeats, with a pattern
 * around what it touches, launched in a row.
 */
bool determinism_a_varies(const struct trials *t, size_t extent);

/* Results of a side on the recorded inputs, at most determinism_most(t) of them: what a
 * nondeterministic A was seen to give. Returns how many. */
size_t determinism_results(const struct trials *t, uint32_t side, size_t extent,
			   const struct record_content **out);
size_t determinism_most(const struct trials *t);

/*
 * The metrics stay; rule 0 (a result that depends on memory which the kernel may not read) or 2 (B
 * varies, A does not, and not both add floats atomically there) replaces what the figures alone
 * would say. poison: the poisoned trials may be asked. Sets steps VALID and DETERMINISM.
 */
void determinism_judge(const struct job *j, bool poison, struct output_verdict *v);

/* Rule 2 on the launch as a whole: a race that was found in B's PTX and not in A's. */
void determinism_race(const struct trials *t, struct case_verdict *v);

#endif
