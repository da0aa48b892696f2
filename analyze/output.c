/* SPDX-License-Identifier: MIT */
/* The decision procedure on one output of a case: each pair of trials, and the worst of them. */
#include "analyze/output.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/determinism.h"
#include "analyze/duo.h"
#include "analyze/noise_judge.h"
#include "analyze/ties.h"
#include "analyze/vicinity.h"
#include "lib/base.h"

static void judge_noise(const struct job *j, size_t index, const struct metrics *m,
			struct chain *chain, struct outcome *o)
{
	const struct noise_pair *p = &j->figures[index];
	enum purpose purpose = j->duos[index].purpose;
	char text[64];
	struct noise_case c = {.input = &j->input,
			       .noise = &j->noise,
			       .pair = p,
			       .plain = purpose <= PURPOSE_POISON,
			       .pooled = p->compared,
			       .pooled_flips = p->flips,
			       .inputs = duo_inputs(&j->duos[index], text, sizeof(text))};

	/* small outputs: the perturbed pairs are more of the same */
	for (size_t i = 0; j->noise.elements <= NOISE_FEW && i < j->duo_count; i++) {
		if (j->duos[i].purpose != PURPOSE_MOVED || i == index)
			continue;
		c.pooled += j->figures[i].compared;
		c.pooled_flips += j->figures[i].flips;
	}
	noise_judge(&c, m, chain, o);
}

/* What the output shows of all its pairs on recorded inputs. */
static void take_noise(const struct job *j, const struct chain *chain, struct output_verdict *v)
{
	for (size_t i = 0; i < RECORDED_STEPS; i++) {
		const struct step *now = &chain->steps[recorded_rules[i]];
		struct step *kept = &v->recorded[i];

		if (now->state != STEP_UNASKED &&
		    (kept->state == STEP_UNASKED ||
		     now->figure * kept->limit > kept->figure * now->limit))
			*kept = *now;
	}
	v->predicted = j->noise.predicted;
	v->distribution = j->noise.distribution;
}

static void judge_exact(const struct metrics *m, struct chain *chain, struct outcome *o)
{
	bool differs = m->payload + m->zero_sign < m->differing;

	chain->steps[RULE_EXACT] = step_of(differs ? (double)m->differing : 0, 0, NULL);
	if (!differs)
		return;
	*o = (struct outcome){.bucket = 3,
			      .rule = RULE_EXACT,
			      .severity = (double)m->differing / (double)m->elements};
	snprintf(o->evidence, sizeof(o->evidence),
		 "%" PRIu64 " of %" PRIu64
		 " elements differ on integer inputs, where sums and products are exact in every "
		 "order; first element %" PRIu64 ": A %.9g, B %.9g",
		 m->differing, m->elements, m->first_difference.index, m->first_difference.a,
		 m->first_difference.b);
}

/* Integers that differ may be near ties, or a quantiser's neighbours. */
static int judge_ties(const struct job *j, const struct duo *d, const struct output_verdict *v,
		      const struct metrics *m, struct chain *chain, struct outcome *o,
		      struct error *err)
{
	const struct vicinity *n = &j->around;
	const struct record_content *moved[NOISE_MOVED];
	struct ties_input in = {.bundle = j->result->bundle,
				.extent = v->extent,
				.dtype = v->dtype,
				.plain = content_of(n->plain, j->extent),
				.moved = moved};
	uint32_t count = trials_stored(n->moved, n->moved_count);
	struct ties ties;
	int e;

	if (count < 2 || !(n->moved[0]->step > 0) || d->purpose > PURPOSE_SCALED)
		return 0;
	in.h = n->moved[0]->step;
	for (; in.moved_count < count && in.moved_count < NOISE_MOVED; in.moved_count++)
		moved[in.moved_count] = content_of(n->moved[in.moved_count], j->extent);
	e = ties_measure(&in, content_of(d->a, j->extent), content_of(d->b, j->extent), &ties, err);
	if (!e)
		ties_judge(&ties, m, chain, o);
	return e;
}

/* Compares one pair of trials, and keeps it if it is worse than what v holds. */
static int compare_pair(const struct job *j, size_t index, struct output_verdict *v,
			struct error *err)
{
	const struct duo *d = &j->duos[index];
	bool recorded = d->purpose <= PURPOSE_POISON;
	struct metrics m;
	struct outcome o;
	struct chain chain = v->chain;
	int e = contents_compare(j->result->bundle, v->extent, v->dtype,
				 content_of(d->a, j->extent), content_of(d->b, j->extent), j->a_all,
				 recorded ? j->a_count : 0, j->buffers, &m, err);

	if (e)
		return e;
	metrics_judge(&m, v->note, j->a_count > 0, &chain, &o);
	if (d->purpose == PURPOSE_EXACT)
		judge_exact(&m, &chain, &o);
	else if (j->input.moved_count && noise_judges(&m))
		judge_noise(j, index, &m, &chain, &o);
	if (recorded && j->input.moved_count && noise_judges(&m))
		take_noise(j, &chain, v);
	else if (o.bucket == 3 && o.rule == RULE_INTEGER)
		e = judge_ties(j, d, v, &m, &chain, &o, err);
	if (e)
		return e;
	if (v->outcome.bucket && outcome_compare(&o, &v->outcome) <= 0) {
		if (d->purpose == PURPOSE_EXACT)
			v->chain.steps[RULE_EXACT] = chain.steps[RULE_EXACT];
		return 0;
	}
	v->metrics = m;
	v->outcome = o;
	v->chain = chain;
	v->pair[SIDE_A] = content_of(d->a, j->extent);
	v->pair[SIDE_B] = content_of(d->b, j->extent);
	return 0;
}

/* Why a kind of trial says nothing. The text is the result's. */
static const char *void_reason(const struct job *j, uint32_t kind)
{
	const struct record_trial *t = trials_find(j->test_case, SIDE_A, kind, 0);

	if (!t)
		return "the result has no such trial";
	if (t->status == TRIAL_STATUS_VOID && t->reason && *t->reason)
		return t->reason;
	return "the trial failed on one side";
}

/* What the rules that may not be asked say instead. */
static void note_missing(const struct job *j, struct chain *chain)
{
	static const enum rule rules[] = {RULE_RESIDUAL, RULE_FLIPS, RULE_BIAS,
					  RULE_SHIFT,    RULE_PLACE, RULE_CLUSTER};

	if (!j->trials->exact[SIDE_A])
		chain->steps[RULE_EXACT] =
			(struct step){.note = void_reason(j, TRIAL_EXACT_INTEGER)};
	/* Unstored ones are all equal: what they would be needed for is not asked. */
	if (!dtype_is_float(j->input.dtype) || j->input.moved_count ||
	    (j->trials->moved_count && j->trials->moved[SIDE_A][0]->unstored))
		return;
	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++)
		chain->steps[rules[i]] = (struct step){.note = void_reason(j, TRIAL_PERTURBED)};
}

/* Each scaled pair by the noise floor at its own point. */
static int compare_scaled(struct job *j, struct output_verdict *v, struct error *err)
{
	const struct trials *t = j->trials;
	const struct noise_input recorded = j->input;
	int e = 0;

	for (uint32_t i = 0; !e && i < t->scaled_count; i++) {
		const struct record_trial *a = t->scaled[SIDE_A][i], *moved[NOISE_MOVED];
		uint32_t count = 0;

		if (a->unstored || t->scaled[SIDE_B][i]->unstored ||
		    contents_equal(content_of(a, j->extent),
				   content_of(t->scaled[SIDE_B][i], j->extent)))
			continue;
		while (count < NOISE_MOVED) {
			const struct record_trial *m = trials_find(
				j->test_case, SIDE_A, TRIAL_SCALED, a->index + 1 + count);

			if (!m || m->unstored || m->status != TRIAL_STATUS_OK || !(m->step > 0))
				break;
			moved[count++] = m;
		}
		j->duo_count = 0;
		duo_add(j, a, t->scaled[SIDE_B][i], PURPOSE_SCALED);
		vicinity_gather(j, v, a, moved, count);
		j->around = (struct vicinity){a, moved, count};
		e = vicinity_measure(j, err);
		if (!e)
			e = compare_pair(j, 0, v, err);
	}
	j->input = recorded;
	return e;
}

static int compare_trials(struct job *j, bool poison, struct output_verdict *v, struct error *err)
{
	const struct trials *t = j->trials;
	int e;

	duos_list(j, poison);
	j->around = (struct vicinity){t->repeats[SIDE_A][0], t->moved[SIDE_A], t->moved_count};
	vicinity_recorded(j, v);
	note_missing(j, &v->chain);
	e = vicinity_measure(j, err);
	v->synthetic = (uint32_t)j->input.synthetic;
	v->synthetic_left_out = (uint32_t)j->input.left_out;
	for (size_t i = 0; !e && i < j->duo_count; i++)
		e = compare_pair(j, i, v, err);
	if (!e)
		e = compare_scaled(j, v, err);
	if (e || !t->exact[SIDE_A])
		return e;
	if (!siblings_agree(j, TRIAL_EXACT_INTEGER, 0, content_of(t->exact[SIDE_A], j->extent))) {
		v->chain.steps[RULE_EXACT] =
			(struct step){.note = "A's own configs disagree on integer inputs"};
		return 0;
	}
	if (t->exact[SIDE_A]->unstored || t->exact[SIDE_B]->unstored) {
		v->chain.steps[RULE_EXACT] = step_of(0, 0, NULL);
		return 0;
	}
	duo_add(j, t->exact[SIDE_A], t->exact[SIDE_B], PURPOSE_EXACT);
	return compare_pair(j, j->duo_count - 1, v, err);
}

int output_decide(struct job *j, struct output_verdict *v, struct error *err)
{
	const struct trials *t = j->trials;
	bool poison, a_varies = determinism_a_varies(t, j->extent);
	int e;

	j->a_count = a_varies ? determinism_results(t, SIDE_A, j->extent, j->a_all) : 0;
	/* A's poisoned results differ: the memory is read too, the pair says nothing here. */
	poison = a_varies || poisons_equal(t, SIDE_A, j->extent);
	e = compare_trials(j, poison, v, err);
	if (!e)
		determinism_judge(j, poison, v);
	if (!e)
		e = reference_measure(j->result->bundle, j->test_case->record, j->extent, v->dtype,
				      content_of(t->repeats[SIDE_A][0], j->extent),
				      content_of(t->repeats[SIDE_B][0], j->extent), &v->reference,
				      err);
	if (!e)
		reference_settle(&v->reference, v->extent, &v->metrics, &v->chain, &v->outcome);
	return e;
}
