/* SPDX-License-Identifier: MIT */
/* Rule 0: whether a case says anything about B, and what B did that no figures are needed for. */
#ifndef ANALYZE_VALID_H
#define ANALYZE_VALID_H

#include "analyze/case_trials.h"
#include "analyze/decide.h"

/*
 * Conditions without which the case says nothing about B: false with *o saying why. A derived
 * launch says something only if the one that it comes from, of the same config, was reproduced.
 */
bool valid_testable(const struct result_config *config, const struct result_case *c,
		    const struct trials *t, struct outcome *o);

/* The replay of the launch is one to judge by. */
static inline bool valid_fidelity(const struct record_case *c)
{
	return c->fidelity == FIDELITY_FAITHFUL || c->fidelity == FIDELITY_NONDETERMINISTIC ||
	       c->fidelity == FIDELITY_DERIVED;
}

/*
 * Failures, unwritten elements, writes outside: the step of the whole launch, and *o where it
 * fires.
 */
struct step valid_judge(const struct record_family *f, const struct result_case *c,
			const struct trials *t, struct outcome *o);

/* *o: bucket 3 by rule 0. `tag` is kept. */
__attribute__((format(printf, 4, 5))) void valid_found(struct outcome *o, const char *tag,
						       double severity, const char *format, ...);

/* The argument that an extent belongs to; "?" if none is known. */
const char *valid_output_name(const struct record_family *f, const struct record_extent *e);

#endif
