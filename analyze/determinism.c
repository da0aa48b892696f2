/* SPDX-License-Identifier: MIT */
/* Rules 0 and 2 on one output: results that vary by themselves, or with what memory holds. */
#include "analyze/determinism.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/valid.h"
#include "lib/base.h"
#include "lib/fisher.h"

/* Runs that differ from what a run of their own setting should give. */
struct variation {
	uint32_t runs, different;
	const char *what;
};

/* Of the runs that replay made to settle a dispute; even indices have the first pattern. */
static struct variation again_variation(const struct trials *t, uint32_t side, uint32_t kind,
					size_t extent, const struct record_content *expected)
{
	struct variation v = {0};

	for (uint32_t i = 0; i < t->again_count[side]; i++) {
		const struct record_trial *x = t->again[side][i];

		if (x->kind != kind)
			continue;
		v.runs++;
		v.different += !contents_equal(content_of(x, extent), expected);
	}
	return v;
}

/*
 * Whether the results with the one pattern are not those with the other, beyond chance: those that
 * are what the first of them is, which itself is not counted.
 */
static bool fills_differ(const struct trials *t, uint32_t side, uint32_t kind, size_t extent)
{
	const struct record_content *first = NULL;
	uint64_t runs[2] = {0}, same[2] = {0};

	for (uint32_t i = 0; i < t->again_count[side]; i++) {
		const struct record_trial *x = t->again[side][i];

		if (x->kind != kind)
			continue;
		if (!first) {
			if (x->index % 2)
				return false;
			first = content_of(x, extent);
			continue;
		}
		runs[x->index % 2]++;
		same[x->index % 2] += contents_equal(content_of(x, extent), first);
	}
	return first && fisher_chance(runs[0], same[0], runs[1], same[1]) <= FISHER_LIMIT;
}

static struct variation repeat_variation(const struct trials *t, uint32_t side, size_t extent)
{
	struct variation v = {t->repeat_count[side], 0, "repeats differ from the first"};

	for (uint32_t i = 1; i < t->repeat_count[side]; i++)
		v.different += !contents_equal(content_of(t->repeats[side][0], extent),
					       content_of(t->repeats[side][i], extent));
	return v;
}

static struct variation guard_variation(const struct trials *t, uint32_t side, size_t extent)
{
	const struct record_content *expected = content_of(t->repeats[side][0], extent);
	struct variation v = {0};

	if (!t->guard[side] || fills_differ(t, side, TRIAL_GUARD, extent))
		return v;
	v = again_variation(t, side, TRIAL_GUARD, extent, expected);
	v.runs++;
	v.different += !contents_equal(content_of(t->guard[side], extent), expected);
	v.what = "runs with a pattern around what is touched differ from the plain ones";
	return v;
}

static struct variation disturbed_variation(const struct trials *t, uint32_t side, size_t extent)
{
	struct variation v = again_variation(t, side, TRIAL_DISTURBED, extent,
					     content_of(t->repeats[side][0], extent));

	v.what = "runs with disturbed timing differ from the plain ones";
	return v;
}

/* Replay makes the further runs only where the first two differ. */
static struct variation poison_variation(const struct trials *t, uint32_t side, size_t extent)
{
	const struct record_content *expected;
	struct variation v = {0};

	if (!t->poison_count || fills_differ(t, side, TRIAL_POISON, extent))
		return v;
	expected = content_of(t->poisons[side][0], extent);
	v = again_variation(t, side, TRIAL_POISON, extent, expected);
	v.runs += t->poison_count;
	for (uint32_t i = 1; i < t->poison_count; i++)
		v.different += !contents_equal(content_of(t->poisons[side][i], extent), expected);
	v.what = "poisoned runs differ from the first";
	return v;
}

static struct variation chain_variation(const struct trials *t, uint32_t side, size_t extent)
{
	struct variation v = {0};

	if (!t->chain[side])
		return v;
	v = again_variation(t, side, TRIAL_BACK_TO_BACK, extent,
			    content_of(t->chain[side], extent));
	v.runs++;
	v.what = "runs of several launches in a row differ from the first";
	return v;
}

bool poisons_equal(const struct trials *t, uint32_t side, size_t extent)
{
	for (uint32_t i = 1; i < t->poison_count; i++)
		if (!contents_equal(content_of(t->poisons[side][0], extent),
				    content_of(t->poisons[side][i], extent)))
			return false;
	return true;
}

bool determinism_a_varies(const struct trials *t, size_t extent)
{
	if (!t->repeat_count[SIDE_A])
		return false;
	/* Poisoned results that differ tell that the memory is read too: no run of A varies there.
	 */
	return repeat_variation(t, SIDE_A, extent).different ||
	       guard_variation(t, SIDE_A, extent).different ||
	       disturbed_variation(t, SIDE_A, extent).different ||
	       chain_variation(t, SIDE_A, extent).different ||
	       (t->poison_count && again_variation(t, SIDE_A, TRIAL_POISON, extent,
						   content_of(t->poisons[SIDE_A][0], extent))
					   .different);
}

size_t determinism_most(const struct trials *t)
{
	uint32_t most = 0;

	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		uint32_t n = t->repeat_count[s] + t->poison_count + t->again_count[s] + 1;

		most = n > most ? n : most;
	}
	return most;
}

size_t determinism_results(const struct trials *t, uint32_t side, size_t extent,
			   const struct record_content **out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->repeat_count[side]; i++)
		out[n++] = content_of(t->repeats[side][i], extent);
	for (uint32_t i = 0; i < t->poison_count; i++)
		out[n++] = content_of(t->poisons[side][i], extent);
	for (uint32_t i = 0; i < t->again_count[side]; i++) {
		uint32_t kind = t->again[side][i]->kind;

		if (kind == TRIAL_POISON || kind == TRIAL_DISTURBED ||
		    (kind == TRIAL_GUARD && t->guard[side]))
			out[n++] = content_of(t->again[side][i], extent);
	}
	if (t->guard[side])
		out[n++] = content_of(t->guard[side], extent);
	return n;
}

static void found_race(struct output_verdict *v, const struct step *step, double severity)
{
	v->outcome = (struct outcome){
		.bucket = 3, .rule = RULE_DETERMINISM, .tag = "race", .severity = severity};
	v->chain.steps[RULE_DETERMINISM] = *step;
}

static bool found_memory(struct output_verdict *v, const char *note, const char *tag,
			 const char *evidence)
{
	v->chain.steps[RULE_VALID] = step_of(1, 0, note);
	valid_found(&v->outcome, tag, 1, "%s", evidence);
	return true;
}

/* Launched in a row, A gives the same as once, and B does not although it is deterministic. */
static bool chain_races(const struct trials *t, size_t extent)
{
	return t->chain[SIDE_A] &&
	       contents_equal(content_of(t->chain[SIDE_A], extent),
			      content_of(t->repeats[SIDE_A][0], extent)) &&
	       !contents_equal(content_of(t->chain[SIDE_B], extent),
			       content_of(t->repeats[SIDE_B][0], extent));
}

/* How B varies, worst first. */
static struct variation b_variation(const struct trials *t, size_t extent, bool poison)
{
	struct variation v = repeat_variation(t, SIDE_B, extent);

	if (!v.different && poison)
		v = poison_variation(t, SIDE_B, extent);
	if (!v.different)
		v = guard_variation(t, SIDE_B, extent);
	if (!v.different)
		v = disturbed_variation(t, SIDE_B, extent);
	return v;
}

/* All runs of A on the recorded inputs, which are equal. */
static uint32_t a_runs(const struct trials *t)
{
	return t->repeat_count[SIDE_A] + t->poison_count + t->again_count[SIDE_A] +
	       (t->guard[SIDE_A] != NULL);
}

/* Both sides add floats in no promised order: that A was seen to give one result is no promise
 * either, and how far B's are from it is for the rules on figures. */
static bool added_by_both(const struct record_extent *e)
{
	const uint32_t both = EXTENT_ADDED_A | EXTENT_ADDED_B;

	return (e->flags & both) == both;
}

static void ask(const struct trials *t, bool a_varies, uint32_t different, struct output_verdict *v)
{
	struct step *s = &v->chain.steps[RULE_DETERMINISM];

	if (a_varies)
		*s = (struct step){.note = "A itself varies from run to run"};
	else if (different && added_by_both(v->extent))
		*s = (struct step){.note = "A and B add floats atomically: no order is promised"};
	else if (t->repeat_count[SIDE_A] < 2 || t->repeat_count[SIDE_B] < 2)
		*s = (struct step){.note = "a single repeat"};
	else
		*s = step_of(different, 0, NULL);
}

/* A has one answer. True where rule 0 or 2 fired. */
static bool judge_steady(const struct job *j, const struct variation *b, bool poison,
			 struct output_verdict *v)
{
	const struct trials *t = j->trials;
	struct step step = step_of(b->different, 0, NULL);

	if (!b->different && poison && fills_differ(t, SIDE_B, TRIAL_POISON, j->extent))
		return found_memory(
			v, "B's result depends on poison", "depends on poison",
			"B's result depends on what the output held before, A's does not");
	if (!b->different && t->guard[SIDE_B] && fills_differ(t, SIDE_B, TRIAL_GUARD, j->extent))
		return found_memory(v, "B's result depends on memory around what is touched",
				    "reads outside",
				    "B's result depends on memory around what the launch touches, "
				    "A's does not: a read out of bounds");
	if (added_by_both(v->extent))
		return false;
	if (b->different) {
		found_race(v, &step, (double)b->different / b->runs);
		snprintf(v->outcome.evidence, sizeof(v->outcome.evidence),
			 "B is not deterministic: %" PRIu32 " of %" PRIu32 " %s, while %" PRIu32
			 " runs of A are equal (%" PRIu32
			 " of them plain): a race, or unordered atomics",
			 b->different, b->runs, b->what, a_runs(t), t->repeat_count[SIDE_A]);
		return true;
	}
	if (!chain_races(t, j->extent))
		return false;
	step = step_of(1, 0, "launches in a row change B's result, not A's");
	found_race(v, &step, 1);
	snprintf(v->outcome.evidence, sizeof(v->outcome.evidence),
		 "launched several times in a row B gives another result than once, A does not: a "
		 "race, or state that outlives the launch");
	return true;
}

void determinism_judge(const struct job *j, bool poison, struct output_verdict *v)
{
	bool a_varies = j->a_count > 0;
	struct variation b = {0};

	if (!a_varies)
		b = b_variation(j->trials, j->extent, poison);
	ask(j->trials, a_varies, b.different, v);
	if (!a_varies && judge_steady(j, &b, poison, v))
		return;
	v->outcome.nondeterministic |= b.different > 0;
	if ((!a_varies && !b.different) || v->outcome.bucket != 1)
		return;
	/* Equal by luck in one pair; a side itself has no one answer. */
	v->chain.steps[RULE_BITS] =
		(struct step){STEP_PASSED, 0, 0,
			      a_varies ? "equal by chance: A varies" : "equal by chance: B varies"};
	v->outcome.bucket = 2;
	v->outcome.rule = j->input.moved_count ? RULE_OTHERWISE : RULE_MAGNITUDE;
	v->outcome.provisional = !j->input.moved_count;
	v->outcome.tag = "nondeterministic";
	snprintf(v->outcome.evidence, sizeof(v->outcome.evidence), "%s",
		 a_varies ? "A varies from run to run, B gives one of its results"
			  : "B varies from run to run and gave A's result; both add floats "
			    "atomically");
}

void determinism_race(const struct trials *t, struct case_verdict *v)
{
	const struct record_trial *a = t->race[SIDE_A], *b = t->race[SIDE_B];
	struct outcome o = {
		.bucket = 3, .rule = RULE_DETERMINISM, .tag = "race in PTX", .severity = 1};

	if (!a || !b || a->races || !b->races)
		return;
	snprintf(o.evidence, sizeof(o.evidence), "B's PTX has a race that A's has not: %s",
		 b->race && *b->race ? b->race : "in shared memory");
	v->chain.steps[RULE_DETERMINISM] =
		step_of((double)b->races, 0, "accesses to shared memory that nothing orders");
	if (!v->outcome.bucket || outcome_compare(&o, &v->outcome) > 0)
		v->outcome = o;
}
