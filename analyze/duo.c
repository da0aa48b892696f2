/* SPDX-License-Identifier: MIT */
/* The pairs of trials of one output that are compared. */
#include "analyze/duo.h"

#include <math.h>
#include <stdio.h>

const char *duo_inputs(const struct duo *d, char *text, size_t size)
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

void duo_add(struct job *j, const struct record_trial *a, const struct record_trial *b,
	     enum purpose purpose)
{
	if (a->unstored || b->unstored) /* equal, as replay saw */
		return;
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

void duos_list(struct job *j, bool poison)
{
	const struct trials *t = j->trials;

	j->duo_count = 0;
	for (uint32_t i = 0; i < t->repeat_count[SIDE_B]; i++)
		if (!repeat_seen(j, i))
			duo_add(j, t->repeats[SIDE_A][0], t->repeats[SIDE_B][i], PURPOSE_PLAIN);
	for (uint32_t i = 0; poison && i < t->poison_count; i++) {
		const struct record_trial *a = t->poisons[SIDE_A][i], *b = t->poisons[SIDE_B][i];

		if (!as_repeats(j, a, b))
			duo_add(j, a, b, PURPOSE_POISON);
	}
	for (uint32_t i = 0; i < t->moved_count; i++)
		duo_add(j, t->moved[SIDE_A][i], t->moved[SIDE_B][i], PURPOSE_MOVED);
	if (t->chain[SIDE_A] && !as_repeats(j, t->chain[SIDE_A], t->chain[SIDE_B]))
		duo_add(j, t->chain[SIDE_A], t->chain[SIDE_B], PURPOSE_CHAIN);
}

size_t duos_most(const struct trials *t)
{
	/* launched in a row, and integer inputs */
	return t->repeat_count[SIDE_B] + t->poison_count + t->moved_count + 2;
}
