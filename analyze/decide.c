/* SPDX-License-Identifier: MIT */
/* The decision procedure on one case: which trials count, rules 0 to 2, and the worst output. */
#include "analyze/decide.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyze/case_trials.h"
#include "analyze/noise_judge.h"
#include "analyze/shape_rule.h"
#include "analyze/ties.h"
#include "analyze/valid.h"
#include "analyze/timing.h"
#include "lib/base.h"

/* A run of A, and its runs on the same inputs moved by a small step. */
struct vicinity {
	const struct record_trial *plain, *const *moved;
	uint32_t moved_count;
};

/* One output under judgement. */
struct job {
	const struct result *result;
	const struct result_config *config;
	const struct result_case *test_case;
	const struct trials *trials;
	size_t extent;
	struct contents_buffers *buffers;
	const struct record_content **a_all; /* room for all contents of A */
	size_t a_count;                      /* 0 where A is deterministic */
	struct duo *duos;
	size_t duo_count;
	struct noise_input input; /* moved_count 0: rules 5 to 8 have no ground */
	struct vicinity around;   /* of the pairs under comparison */
	struct noise noise;
	struct noise_pair *figures; /* a duo each */
};

enum purpose {
	PURPOSE_PLAIN,
	PURPOSE_POISON,
	PURPOSE_MOVED,
	PURPOSE_SCALED,
	PURPOSE_CHAIN,
	PURPOSE_EXACT
};

/* A pair of trials to be compared. */
struct duo {
	const struct record_trial *a, *b;
	enum purpose purpose;
};

static const struct record_content *content_of(const struct record_trial *t, size_t extent)
{
	return &t->contents.items[extent];
}

static bool all_equal(const struct record_trial *const *t, uint32_t count, size_t extent)
{
	for (uint32_t i = 1; i < count; i++)
		if (!contents_equal(content_of(t[0], extent), content_of(t[i], extent)))
			return false;
	return true;
}

static bool poisons_equal(const struct trials *t, uint32_t side, size_t extent)
{
	return all_equal(t->poisons[side], t->poison_count, extent);
}

/* Different results among repeats of one side, compared with the first only: at least 2. */
static uint32_t repeats_different(const struct trials *t, uint32_t side, size_t extent)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->repeat_count[side]; i++)
		n += !contents_equal(content_of(t->repeats[side][0], extent),
				     content_of(t->repeats[side][i], extent));
	return n;
}

/* The text of a scaled pair is kept in `text`. */
static const char *inputs_of(const struct duo *d, char *text, size_t size)
{
	static const char *const texts[] = {
		[PURPOSE_PLAIN] = "recorded inputs",
		[PURPOSE_POISON] = "recorded inputs with poisoned outputs",
		[PURPOSE_MOVED] = "perturbed inputs",
		[PURPOSE_CHAIN] = "recorded inputs, launched several times",
		[PURPOSE_EXACT] = "integer inputs",
	};

	if (d->purpose != PURPOSE_SCALED)
		return texts[d->purpose];
	snprintf(text, size, "inputs times 2^%d%s", ilogb(d->a->scale),
		 d->a->zeroed ? ", in-place state at zero" : "");
	return text;
}

/* True where numbers differ and the class of none: what rules 5 to 8 are about. */
static bool numbers_differ(const struct metrics *m)
{
	return dtype_is_float(m->dtype) && !m->class_changes &&
	       m->payload + m->zero_sign < m->differing;
}

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
			       .inputs = inputs_of(&j->duos[index], text, sizeof(text))};

	/* small outputs: the perturbed pairs are more of the same */
	for (size_t i = 0; j->noise.elements <= NOISE_FEW && i < j->duo_count; i++) {
		if (j->duos[i].purpose != PURPOSE_MOVED || i == index)
			continue;
		c.pooled += j->figures[i].compared;
		c.pooled_flips += j->figures[i].flips;
	}
	noise_judge(&c, m, chain, o);
}

const enum rule recorded_rules[RECORDED_STEPS] = {RULE_RESIDUAL, RULE_FLIPS, RULE_BIAS, RULE_SHIFT,
						  RULE_PLACE};

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
	struct ties ties;
	int e;

	if (n->moved_count < 2 || !(n->moved[0]->step > 0) || d->purpose > PURPOSE_SCALED)
		return 0;
	in.h = n->moved[0]->step;
	for (; in.moved_count < n->moved_count && in.moved_count < NOISE_MOVED; in.moved_count++)
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
	else if (j->input.moved_count && numbers_differ(&m))
		judge_noise(j, index, &m, &chain, &o);
	if (recorded && j->input.moved_count && numbers_differ(&m))
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

/* True if repeat i of B has the same contents as an earlier one. */
static bool repeat_seen(const struct job *j, uint32_t i)
{
	const struct trials *t = j->trials;

	for (uint32_t k = 0; k < i; k++)
		if (contents_equal(content_of(t->repeats[SIDE_B][k], j->extent),
				   content_of(t->repeats[SIDE_B][i], j->extent)))
			return true;
	return false;
}

static void add_duo(struct job *j, const struct record_trial *a, const struct record_trial *b,
		    enum purpose purpose)
{
	j->duos[j->duo_count++] = (struct duo){a, b, purpose};
}

/* The pair of repeats, seen again. */
static bool as_repeats(const struct job *j, const struct record_trial *a,
		       const struct record_trial *b)
{
	const struct trials *t = j->trials;

	return t->repeat_count[SIDE_B] &&
	       contents_equal(content_of(a, j->extent),
			      content_of(t->repeats[SIDE_A][0], j->extent)) &&
	       contents_equal(content_of(b, j->extent),
			      content_of(t->repeats[SIDE_B][0], j->extent));
}

/* Repeats of B against A's first; the others by index, those that are poisoned or launched in a row
 * where they differ from the repeats. */
static void list_duos(struct job *j, bool poison)
{
	const struct trials *t = j->trials;

	j->duo_count = 0;
	for (uint32_t i = 0; i < t->repeat_count[SIDE_B]; i++)
		if (!repeat_seen(j, i))
			add_duo(j, t->repeats[SIDE_A][0], t->repeats[SIDE_B][i], PURPOSE_PLAIN);
	for (uint32_t i = 0; poison && i < t->poison_count; i++) {
		const struct record_trial *a = t->poisons[SIDE_A][i], *b = t->poisons[SIDE_B][i];

		if (!as_repeats(j, a, b))
			add_duo(j, a, b, PURPOSE_POISON);
	}
	for (uint32_t i = 0; i < t->moved_count; i++)
		add_duo(j, t->moved[SIDE_A][i], t->moved[SIDE_B][i], PURPOSE_MOVED);
	if (t->chain[SIDE_A] && !as_repeats(j, t->chain[SIDE_A], t->chain[SIDE_B]))
		add_duo(j, t->chain[SIDE_A], t->chain[SIDE_B], PURPOSE_CHAIN);
}

/* ---- the noise floor ---- */

static bool same_extent(const struct record_case *x, const struct record_case *y, size_t i)
{
	return i < x->extents.count && i < y->extents.count &&
	       x->extents.items[i].address == y->extents.items[i].address &&
	       x->extents.items[i].size == y->extents.items[i].size &&
	       x->extents.items[i].dtype == y->extents.items[i].dtype;
}

/* Another config's launch on the same inputs, with an ok trial of a side and kind; or NULL. */
static const struct record_trial *sibling_trial(const struct job *j, const struct result_case *c,
						uint32_t side, uint32_t kind, uint32_t index)
{
	const struct record_trial *t;

	if (hash_is_zero(c->record->inputs) ||
	    !hash_equal(c->record->inputs, j->test_case->record->inputs) ||
	    !same_extent(c->record, j->test_case->record, j->extent) || !valid_fidelity(c->record))
		return NULL;
	t = trials_find(c, side, kind, index);
	return t && t->status == TRIAL_STATUS_OK ? t : NULL;
}

/* Calls for each sibling; ends where it returns false. */
static void for_siblings(const struct job *j, uint32_t side, uint32_t kind, uint32_t index,
			 bool (*call)(void *data, const struct record_content *c), void *data)
{
	for (size_t i = 0; i < j->result->config_count; i++) {
		const struct result_config *other = &j->result->configs[i];

		if (other == j->config || other->family != j->config->family)
			continue;
		for (size_t k = 0; k < other->case_count; k++) {
			const struct record_trial *t =
				sibling_trial(j, &other->cases[k], side, kind, index);

			if (!t)
				continue;
			if (!call(data, content_of(t, j->extent)))
				return;
			break; /* one a config */
		}
	}
}

static bool add_other(void *data, const struct record_content *c)
{
	struct noise_input *in = data;

	in->others[in->other_count++] = c;
	return in->other_count < NOISE_OTHERS;
}

static bool add_fellow(void *data, const struct record_content *c)
{
	struct noise_input *in = data;

	in->fellows[in->fellow_count++] = c;
	return in->fellow_count < NOISE_OTHERS;
}

struct agreement {
	const struct record_content *own;
	bool broken;
};

static bool compare_exact(void *data, const struct record_content *c)
{
	struct agreement *a = data;

	a->broken = !contents_equal(a->own, c);
	return !a->broken;
}

/*
 * What rules 5 to 8 need around one run of A: perturbed runs of A there, and its configs' trials of
 * the same kind and index. input.moved_count stays 0 where some of it is missing.
 */
static void gather_noise(struct job *j, const struct output_verdict *v,
			 const struct record_trial *plain, const struct record_trial *const *moved,
			 uint32_t moved_count)
{
	struct noise_input *in = &j->input;
	struct shape shape;

	*in = (struct noise_input){.bundle = j->result->bundle,
				   .extent = v->extent,
				   .dtype = v->dtype,
				   .u = v->extent->roundoff,
				   .function = v->extent->function,
				   .serial = v->extent->serial,
				   .plain = content_of(plain, j->extent)};
	if (!dtype_is_float(v->dtype) || moved_count < 2 || !(moved[0]->step > 0))
		return;
	if (!(in->u > 0))
		in->u = v->dtype == DTYPE_F64 ? 0x1p-53 : 0x1p-24;
	in->h = moved[0]->step;
	for (; in->moved_count < moved_count && in->moved_count < NOISE_MOVED; in->moved_count++)
		in->moved[in->moved_count] = content_of(moved[in->moved_count], j->extent);
	for_siblings(j, SIDE_A, plain->kind, plain->index, add_other, in);
	for_siblings(j, SIDE_B, plain->kind, plain->index, add_fellow, in);
	output_shape(j->result, j->config->family, j->test_case->record, j->config->record->options,
		     v->extent, v->dtype, &shape);
	if (shape.rows > 1 && shape.rows * shape.columns == v->extent->size / dtype_bytes(v->dtype))
		in->columns = shape.columns;
}

/* Around the recorded inputs; where A varies its repeats are legitimate results too. */
static void gather_recorded(struct job *j, const struct output_verdict *v)
{
	const struct trials *t = j->trials;

	gather_noise(j, v, t->repeats[SIDE_A][0], t->moved[SIDE_A], t->moved_count);
	if (t->chain[SIDE_A] && !j->a_count) {
		j->input.chain = content_of(t->chain[SIDE_A], j->extent);
		j->input.chain_launches = t->chain[SIDE_A]->launches;
	}
	for (uint32_t i = 1; j->input.moved_count && j->a_count && i < t->repeat_count[SIDE_A]; i++)
		if (j->input.other_count < NOISE_OTHERS)
			add_other(&j->input, content_of(t->repeats[SIDE_A][i], j->extent));
}

/* Figures of all pairs, if any of them differs. */
static int measure_noise(struct job *j, struct error *err)
{
	bool differs = false;

	for (size_t i = 0; i < j->duo_count; i++) {
		const struct duo *d = &j->duos[i];

		j->figures[i] = (struct noise_pair){
			.a = content_of(d->a, j->extent),
			.b = content_of(d->b, j->extent),
			.launches =
				d->purpose == PURPOSE_CHAIN && d->a->launches ? d->a->launches : 1};
		differs |= !contents_equal(j->figures[i].a, j->figures[i].b);
	}
	if (!j->input.moved_count || !differs)
		return 0;
	return noise_measure(&j->input, j->figures, j->duo_count, &j->noise, err);
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
	if (!dtype_is_float(j->input.dtype) || j->input.moved_count)
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

		if (contents_equal(content_of(a, j->extent),
				   content_of(t->scaled[SIDE_B][i], j->extent)))
			continue;
		while (count < NOISE_MOVED) {
			const struct record_trial *m = trials_find(
				j->test_case, SIDE_A, TRIAL_SCALED, a->index + 1 + count);

			if (!m || m->status != TRIAL_STATUS_OK || !(m->step > 0))
				break;
			moved[count++] = m;
		}
		j->duo_count = 0;
		add_duo(j, a, t->scaled[SIDE_B][i], PURPOSE_SCALED);
		gather_noise(j, v, a, moved, count);
		j->around = (struct vicinity){a, moved, count};
		e = measure_noise(j, err);
		if (!e)
			e = compare_pair(j, 0, v, err);
	}
	j->input = recorded;
	return e;
}

static int compare_trials(struct job *j, bool poison, struct output_verdict *v, struct error *err)
{
	const struct trials *t = j->trials;
	struct agreement agreement = {0};
	int e;

	list_duos(j, poison);
	j->around = (struct vicinity){t->repeats[SIDE_A][0], t->moved[SIDE_A], t->moved_count};
	gather_recorded(j, v);
	note_missing(j, &v->chain);
	e = measure_noise(j, err);
	for (size_t i = 0; !e && i < j->duo_count; i++)
		e = compare_pair(j, i, v, err);
	if (!e)
		e = compare_scaled(j, v, err);
	if (e || !t->exact[SIDE_A])
		return e;
	agreement.own = content_of(t->exact[SIDE_A], j->extent);
	for_siblings(j, SIDE_A, TRIAL_EXACT_INTEGER, 0, compare_exact, &agreement);
	if (agreement.broken) {
		v->chain.steps[RULE_EXACT] =
			(struct step){.note = "A's own configs disagree on integer inputs"};
		return 0;
	}
	add_duo(j, t->exact[SIDE_A], t->exact[SIDE_B], PURPOSE_EXACT);
	return compare_pair(j, j->duo_count - 1, v, err);
}

static void collect_hull(struct job *j)
{
	const struct trials *t = j->trials;

	for (uint32_t i = 0; i < t->repeat_count[SIDE_A]; i++)
		j->a_all[j->a_count++] = content_of(t->repeats[SIDE_A][i], j->extent);
	for (uint32_t i = 0; i < t->poison_count; i++)
		j->a_all[j->a_count++] = content_of(t->poisons[SIDE_A][i], j->extent);
}

static struct step ask_determinism(const struct trials *t, bool a_varies, uint32_t different)
{
	if (a_varies)
		return (struct step){.note = "A itself varies from run to run"};
	if (t->repeat_count[SIDE_A] < 2 || t->repeat_count[SIDE_B] < 2)
		return (struct step){.note = "a single repeat"};
	return step_of(different, 0, NULL);
}

/* Launched in a row, A gives the same as once, and B does not although it is deterministic. */
static bool chain_races(const struct job *j)
{
	const struct trials *t = j->trials;

	return !j->a_count && t->chain[SIDE_A] &&
	       contents_equal(content_of(t->chain[SIDE_A], j->extent),
			      content_of(t->repeats[SIDE_A][0], j->extent)) &&
	       !contents_equal(content_of(t->chain[SIDE_B], j->extent),
			       content_of(t->repeats[SIDE_B][0], j->extent));
}

/* The metrics stay; rule 0 or 2 replaces what the figures alone would say. */
static void judge_trials(const struct job *j, bool poison, struct output_verdict *v)
{
	const struct trials *t = j->trials;
	uint32_t different = repeats_different(t, SIDE_B, j->extent);

	v->chain.steps[RULE_DETERMINISM] = ask_determinism(t, j->a_count > 0, different);
	if (poison && !j->a_count && !different && !poisons_equal(t, SIDE_B, j->extent)) {
		v->chain.steps[RULE_VALID] = step_of(1, 0, "B's result depends on poison");
		valid_found(&v->outcome, "depends on poison", 1,
			    "B's result depends on what the output held before, A's does not");
		return;
	}
	if (!j->a_count && !different && t->guard[SIDE_B] &&
	    !contents_equal(content_of(t->guard[SIDE_B], j->extent),
			    content_of(t->repeats[SIDE_B][0], j->extent))) {
		v->chain.steps[RULE_VALID] =
			step_of(1, 0, "B's result depends on memory around what is touched");
		valid_found(&v->outcome, "reads outside", 1,
			    "B's result depends on memory around what the launch touches, A's does "
			    "not: a read out of bounds");
		return;
	}
	if (!j->a_count && different) {
		struct outcome *o = &v->outcome;

		*o = (struct outcome){
			.bucket = 3,
			.rule = RULE_DETERMINISM,
			.tag = "race",
			.severity = (double)different / t->repeat_count[SIDE_B],
		};
		snprintf(o->evidence, sizeof(o->evidence),
			 "B is not deterministic: %" PRIu32 " of %" PRIu32
			 " repeats differ from the first, while %" PRIu32
			 " repeats of A are equal: a race, or unordered atomics",
			 different, t->repeat_count[SIDE_B], t->repeat_count[SIDE_A]);
		return;
	}
	if (chain_races(j)) {
		v->outcome = (struct outcome){
			.bucket = 3, .rule = RULE_DETERMINISM, .tag = "race", .severity = 1};
		v->chain.steps[RULE_DETERMINISM] =
			step_of(1, 0, "launches in a row change B's result, not A's");
		snprintf(v->outcome.evidence, sizeof(v->outcome.evidence),
			 "launched several times in a row B gives another result than once, A does "
			 "not: a race, or state that outlives the launch");
		return;
	}
	if (j->a_count && v->outcome.bucket == 1) {
		/* Equal by luck in one pair; A itself has no one answer. */
		v->chain.steps[RULE_BITS] =
			(struct step){STEP_PASSED, 0, 0, "equal by chance: A varies"};
		v->outcome.bucket = 2;
		v->outcome.rule = j->input.moved_count ? RULE_OTHERWISE : RULE_MAGNITUDE;
		v->outcome.provisional = !j->input.moved_count;
		v->outcome.tag = "nondeterministic";
		snprintf(v->outcome.evidence, sizeof(v->outcome.evidence),
			 "A varies from run to run, B gives one of its results");
	}
}

static int output_decide(struct job *j, struct output_verdict *v, struct error *err)
{
	const struct trials *t = j->trials;
	bool poison,
		a_deterministic = all_equal(t->repeats[SIDE_A], t->repeat_count[SIDE_A], j->extent);
	int e;

	j->a_count = 0;
	if (!a_deterministic)
		collect_hull(j);
	/* A's poisoned results differ: the memory is read too, the pair says nothing here. */
	poison = !a_deterministic || poisons_equal(t, SIDE_A, j->extent);
	e = compare_trials(j, poison, v, err);
	if (!e)
		judge_trials(j, poison, v);
	return e;
}

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
		calloc(t->repeat_count[SIDE_A] + t->poison_count + 1, sizeof(*a_all));
	size_t duos = t->repeat_count[SIDE_B] + t->poison_count + t->moved_count + 2;
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
		     {t->exact[SIDE_A] != NULL, "of integer inputs"}};
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
