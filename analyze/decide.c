/* SPDX-License-Identifier: MIT */
/* The decision procedure on one case: which trials count, its outputs, and the worst of them. */
#include "analyze/decide.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analyze/case_trials.h"
#include "analyze/determinism.h"
#include "analyze/duo.h"
#include "analyze/job.h"
#include "analyze/output.h"
#include "analyze/timing.h"
#include "analyze/valid.h"
#include "lib/base.h"

const enum rule recorded_rules[RECORDED_STEPS] = {RULE_RESIDUAL, RULE_FLIPS, RULE_BIAS, RULE_SHIFT,
						  RULE_PLACE};

static void output_damaged(struct case_verdict *v, struct output_verdict *o,
			   const struct error *err)
{
	v->damaged = true;
	o->outcome = (struct outcome){
		.bucket = 3, .unproven = true, .rule = RULE_UNPROVEN, .tag = "damaged result"};
	o->chain.steps[RULE_UNPROVEN] = step_of(1, 0, "contents are missing or damaged");
	snprintf(o->outcome.evidence, sizeof(o->outcome.evidence), "the result is damaged: %.300s",
		 err->message);
}

static int decide_outputs(const struct result *r, const struct result_config *config,
			  const struct result_case *test_case, const struct trials *t,
			  struct contents_buffers *buffers, struct case_verdict *v,
			  struct error *err)
{
	const struct record_case *c = v->record;
	_cleanup_free_ const struct record_content **a_all =
		calloc(determinism_most(t), sizeof(*a_all));
	size_t duos = duos_most(t);
	_cleanup_free_ struct duo *list = calloc(duos, sizeof(*list));
	_cleanup_free_ struct noise_pair *figures = calloc(duos, sizeof(*figures));
	struct job j = {.result = r,
			.config = config,
			.test_case = test_case,
			.trials = t,
			.buffers = buffers,
			.a_all = a_all,
			.duos = list,
			.figures = figures};

	if (!t->repeat_count[SIDE_B] || !c->extents.count)
		return 0;
	v->outputs = calloc(c->extents.count, sizeof(*v->outputs));
	if (!v->outputs || !a_all || !list || !figures)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	v->output_count = c->extents.count;
	for (size_t i = 0; i < v->output_count; i++) {
		struct output_verdict *o = &v->outputs[i];
		struct error damage;
		int e;

		o->extent = &c->extents.items[i];
		o->name = valid_output_name(config->family, o->extent);
		o->dtype = contents_dtype(o->extent, &o->note);
		o->chain.steps[RULE_VALID] = v->chain.steps[RULE_VALID];
		j.extent = i;
		e = output_decide(&j, o, &damage);
		if (e == -ENOMEM)
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
		if (e)
			output_damaged(v, o, &damage);
	}
	return 0;
}

/* What was equal: every kind of trial with its count. */
static void say_equal(const struct trials *t, char *out, size_t size)
{
	const struct {
		uint32_t count;
		const char *what;
	} kinds[] = {{t->poison_count, "poisoned"},
		     {t->moved_count, "perturbed"},
		     {t->scaled_count, "scaled"},
		     {t->chain[SIDE_A] != NULL, "in a row"},
		     {t->exact[SIDE_A] != NULL, "of integer inputs"},
		     {t->guard[SIDE_A] != NULL, "guarded"}};
	int n = snprintf(out, size, "the same bits in %" PRIu32 " repeats of A, %" PRIu32 " of B",
			 t->repeat_count[SIDE_A], t->repeat_count[SIDE_B]);
	const char *last = " and no other pair";

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		if (!kinds[i].count || n < 0 || (size_t)n >= size)
			continue;
		n += snprintf(out + n, size - (size_t)n, ", %" PRIu32 " %s", kinds[i].count,
			      kinds[i].what);
		last = " pairs";
	}
	if (n >= 0 && (size_t)n < size)
		snprintf(out + n, size - (size_t)n, "%s", last);
}

/* The case's outcome is its worst output's, unless rule 0 fired for the whole case. */
static void take_worst(struct case_verdict *v, const struct trials *t)
{
	v->worst_output = v->output_count;
	for (size_t i = 0; i < v->output_count; i++) {
		const struct outcome *o = &v->outputs[i].outcome;

		if (v->outcome.bucket && outcome_compare(o, &v->outcome) <= 0)
			continue;
		v->outcome = *o;
		v->worst_output = i;
	}
	if (v->outcome.bucket == 1)
		say_equal(t, v->outcome.evidence, sizeof(v->outcome.evidence));
}

/* ptxas does not run on the software device: it cannot show what only machine code differs in. */
static void mark_unexecuted(const struct result *r, const struct record_config *config,
			    struct case_verdict *v)
{
	struct outcome o = {
		.bucket = 3, .unproven = true, .rule = RULE_UNPROVEN, .tag = "needs a GPU"};

	if (!r->software || !config->same_ptx || config->same_code)
		return;
	snprintf(o.evidence, sizeof(o.evidence),
		 "PTX is equal and machine code differs, which the software device does not "
		 "execute: "
		 "replay it on a GPU");
	if (outcome_compare(&o, &v->outcome) <= 0)
		return;
	v->chain.steps[RULE_UNPROVEN] = step_of(1, 0, "machine code differs and was not executed");
	v->outcome = o;
	v->worst_output = v->output_count;
}

static int take_times(struct case_verdict *v, const struct trials *t)
{
	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		v->repeats[s] = t->repeat_count[s];
		if (timing_take(v, s, t->repeats[s], t->repeat_count[s]))
			return -ENOMEM;
	}
	v->poisons = t->poison_count;
	return 0;
}

int case_decide(const struct result *r, const struct result_config *config,
		const struct result_case *c, struct contents_buffers *buffers,
		struct case_verdict *v, struct error *err)
{
	struct trials t;
	int e = 0;

	*v = (struct case_verdict){.result = r, .record = c->record};
	if (trials_sort(c, &t))
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	if (take_times(v, &t)) {
		free(t.memory);
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	}
	if (valid_testable(config, c, &t, &v->outcome)) {
		v->chain.steps[RULE_VALID] = valid_judge(config->family, c, &t, &v->outcome);
		determinism_race(&t, v);
		e = decide_outputs(r, config, c, &t, buffers, v, err);
		take_worst(v, &t);
		mark_unexecuted(r, config->record, v);
	} else {
		v->chain.steps[RULE_UNPROVEN] = step_of(1, 0, "the launch could not be tested");
	}
	free(t.memory);
	if (e)
		case_verdict_clear(v);
	return e;
}

void case_verdict_clear(struct case_verdict *v)
{
	free(v->outputs);
	v->outputs = NULL;
	v->output_count = 0;
}

const struct chain *case_chain(const struct case_verdict *v)
{
	return v->worst_output < v->output_count ? &v->outputs[v->worst_output].chain : &v->chain;
}
