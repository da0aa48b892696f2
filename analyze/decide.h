/* SPDX-License-Identifier: MIT */
/* The decision procedure of docs/numerics.md on one case: a launch replayed under A and B. */
#ifndef ANALYZE_DECIDE_H
#define ANALYZE_DECIDE_H

#include "analyze/contents.h"
#include "analyze/distribution.h"
#include "analyze/metrics.h"
#include "analyze/reference.h"
#include "analyze/result.h"
#include "analyze/rule.h"

/* What was decided. bucket 0: not tested, evidence says why. */
struct outcome {
	int bucket;
	bool unproven; /* bucket 3 because nothing could be shown, not because a fault was found */
	bool provisional;      /* rests on a provisional threshold */
	bool nondeterministic; /* A itself varies from run to run */
	enum rule rule;
	const char *tag;    /* a word or two for tables: "fault"; NULL. Static storage */
	double severity;    /* orders outcomes of one rule: greater is worse */
	char evidence[352]; /* one sentence without a full stop */
};

/* Negative, 0, positive: x is better, as bad, worse than y. Found faults are worse than unproven
 * ones. */
int outcome_compare(const struct outcome *x, const struct outcome *y);

#define RECORDED_STEPS 5
extern const enum rule recorded_rules[RECORDED_STEPS]; /* RESIDUAL, FLIPS, BIAS, SHIFT, PLACE */

struct output_verdict {
	const struct record_extent *extent;
	const char *name; /* argument, or "?" */
	enum dtype dtype; /* compared as */
	const char *note; /* NULL, or why dtype is not the extent's own */
	struct metrics metrics;
	struct outcome outcome;
	struct chain chain; /* of the worst pair of trials, as metrics are */
	/*
	 * What rules 5 to 8 saw of pairs on recorded inputs, the greatest in its limit each; all
	 * STEP_UNASKED where nothing differs, or the noise is not known.
	 */
	struct step recorded[RECORDED_STEPS];   /* in the order of recorded_rules */
	double predicted;                       /* f_pred of rule 6 */
	uint32_t synthetic, synthetic_left_out; /* siblings in its noise, and those that are not */
	struct distribution_figures distribution;
	struct reference_figures reference;            /* of the first repeats of A and of B */
	const struct record_content *pair[SIDE_COUNT]; /* that pair's contents; NULL: none */
};

struct case_verdict {
	const struct result *result;
	const struct record_case *record;
	struct outcome outcome;
	struct chain
		chain; /* what concerns the launch as a whole: validity, or why it is unproven */
	bool damaged;  /* contents are missing or damaged in the result */
	uint32_t repeats[SIDE_COUNT], poisons; /* trials that counted; poisons: pairs */
	double time_us[SIDE_COUNT];            /* median kernel time of the repeats; 0 unknown */
	double least_us[SIDE_COUNT], most_us[SIDE_COUNT]; /* range of the repeats */
	struct output_verdict *outputs;
	size_t output_count;
	size_t worst_output; /* == output_count: none in particular */
};

/*
 * Judges one case. 0 and *v filled (free with case_verdict_clear), or -ENOMEM with err.
 * Contents that are missing or damaged are no error: the case is unproven then and v->damaged set.
 * Threads: any, with buffers of their own.
 */
int case_decide(const struct result *r, const struct result_config *config,
		const struct result_case *c, struct contents_buffers *buffers,
		struct case_verdict *v, struct error *err);
void case_verdict_clear(struct case_verdict *v);

/* The chain behind v->outcome: the worst output's, else the launch's own. */
const struct chain *case_chain(const struct case_verdict *v);

/*
 * Judges one output's figures by rules 1, 3, int and 9, and sets their steps in *chain (the others
 * are left alone). Pure. o->bucket 1 if nothing differs.
 */
void metrics_judge(const struct metrics *m, const char *note, bool nondeterministic,
		   struct chain *chain, struct outcome *o);

#endif
