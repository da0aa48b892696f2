/* SPDX-License-Identifier: MIT */
/* Rules 5 to 9: from the figures of one pair and the measured noise to a bucket and a sentence. */
#ifndef ANALYZE_NOISE_JUDGE_H
#define ANALYZE_NOISE_JUDGE_H

#include "analyze/decide.h"
#include "analyze/noise.h"

/* What is judged. */
struct noise_case {
	const struct noise_input *input;
	const struct noise *noise;
	const struct noise_pair *pair;
	bool plain;                    /* of recorded inputs: rules 6 to 8 apply too */
	uint64_t pooled, pooled_flips; /* rule 6: elements of all pairs it may count */
	const char *inputs;            /* "recorded inputs", "perturbed inputs"; static storage */
};

/* True where numbers differ and the class of none: what noise_judge is about. */
bool noise_judges(const struct metrics *m);

/*
 * Replaces what the provisional rules said of a pair whose numbers differ without a change of
 * class. Sets steps 5 to 9 of *chain. Pure.
 */
void noise_judge(const struct noise_case *c, const struct metrics *m, struct chain *chain,
		 struct outcome *o);

#endif
