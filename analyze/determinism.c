/* SPDX-License-Identifier: MIT */
/* Rules 0 and 2 on one output: what repeats, poisoned, guarded and repeated launches show. */
#include "analyze/determinism.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/valid.h"

static bool all_equal(const struct record_trial *const *t, uint32_t count, size_t extent)
{
	for (uint32_t i = 1; i < count; i++)
		if (!contents_equal(content_of(t[0], extent), content_of(t[i], extent)))
			return false;
	return true;
}

bool repeats_equal(const struct trials *t, uint32_t side, size_t extent)
{
	return all_equal(t->repeats[side], t->repeat_count[side], extent);
}

bool poisons_equal(const struct trials *t, uint32_t side, size_t extent)
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

	return t->chain[SIDE_A] &&
	       contents_equal(content_of(t->chain[SIDE_A], j->extent),
			      content_of(t->repeats[SIDE_A][0], j->extent)) &&
	       !contents_equal(content_of(t->chain[SIDE_B], j->extent),
			       content_of(t->repeats[SIDE_B][0], j->extent));
}

struct dependence {
	const char *tag, *note, *evidence;
};

/* What B's result depends on although A's does not; NULL: nothing that was tried. */
static const struct dependence *depends_on(const struct job *j, bool poison)
{
	static const struct dependence on_poison = {
		"depends on poison", "B's result depends on poison",
		"B's result depends on what the output held before, A's does not"};
	static const struct dependence on_surroundings = {
		"reads outside", "B's result depends on memory around what is touched",
		"B's result depends on memory around what the launch touches, A's does not: a "
		"read out of bounds"};
	const struct trials *t = j->trials;

	if (poison && !poisons_equal(t, SIDE_B, j->extent))
		return &on_poison;
	if (t->guard[SIDE_B] && !contents_equal(content_of(t->guard[SIDE_B], j->extent),
						content_of(t->repeats[SIDE_B][0], j->extent)))
		return &on_surroundings;
	return NULL;
}

static void found_race(struct output_verdict *v, double severity)
{
	v->outcome = (struct outcome){
		.bucket = 3, .rule = RULE_DETERMINISM, .tag = "race", .severity = severity};
}

/* A has one answer. */
static void judge_steady(const struct job *j, bool poison, struct output_verdict *v)
{
	const struct trials *t = j->trials;
	uint32_t different = repeats_different(t, SIDE_B, j->extent);
	const struct dependence *on;

	v->chain.steps[RULE_DETERMINISM] = ask_determinism(t, false, different);
	if (different) {
		found_race(v, (double)different / t->repeat_count[SIDE_B]);
		snprintf(v->outcome.evidence, sizeof(v->outcome.evidence),
			 "B is not deterministic: %" PRIu32 " of %" PRIu32
			 " repeats differ from the first, while %" PRIu32
			 " repeats of A are equal: a race, or unordered atomics",
			 different, t->repeat_count[SIDE_B], t->repeat_count[SIDE_A]);
		return;
	}
	on = depends_on(j, poison);
	if (on) {
		v->chain.steps[RULE_VALID] = step_of(1, 0, on->note);
		valid_found(&v->outcome, on->tag, 1, "%s", on->evidence);
		return;
	}
	if (chain_races(j)) {
		found_race(v, 1);
		v->chain.steps[RULE_DETERMINISM] =
			step_of(1, 0, "launches in a row change B's result, not A's");
		snprintf(v->outcome.evidence, sizeof(v->outcome.evidence),
			 "launched several times in a row B gives another result than once, A does "
			 "not: a race, or state that outlives the launch");
	}
}

void determinism_judge(const struct job *j, bool poison, struct output_verdict *v)
{
	if (!j->a_count) {
		judge_steady(j, poison, v);
		return;
	}
	v->chain.steps[RULE_DETERMINISM] = ask_determinism(j->trials, true, 0);
	if (v->outcome.bucket != 1)
		return;
	/* Equal by luck in one pair; A itself has no one answer. */
	v->chain.steps[RULE_BITS] = (struct step){STEP_PASSED, 0, 0, "equal by chance: A varies"};
	v->outcome.bucket = 2;
	v->outcome.rule = j->input.moved_count ? RULE_OTHERWISE : RULE_MAGNITUDE;
	v->outcome.provisional = !j->input.moved_count;
	v->outcome.tag = "nondeterministic";
	snprintf(v->outcome.evidence, sizeof(v->outcome.evidence),
		 "A varies from run to run, B gives one of its results");
}
