/* SPDX-License-Identifier: MIT */
/* Whether what lies in some memory changes a result, or the result changes by itself. */
#include "replay/dispute.h"

#include <string.h>

#include "lib/fisher.h"

/* Runs of one pattern, and how many of them give what the first run of all gave. */
struct tally {
	uint64_t runs, same;
};

/*
 * One run, sent. *ok: it went well. The first that did is kept in *first, which holds zeros until
 * then; *differ: the result is not that of the first.
 */
static int run_once(struct trials *t, const struct twin *w, enum side side, struct outcome *first,
		    bool *ok, bool *differ, struct error *err)
{
	struct outcome o;
	int rc = twin_launch(t, w, side, &o, err);

	if (!rc)
		rc = twin_send(t, w, side, &o);
	*ok = !rc && o.status == TRIAL_STATUS_OK;
	*differ = false;
	if (*ok && !first->after.chunks) {
		*first = o;
		return 0;
	}
	if (*ok)
		rc = twin_differ(t, &first->after, &o.after, NULL, differ);
	outcome_free(&o);
	return rc;
}

/* The chance of such tallies; the run that the others are compared with is not counted. */
static double chance_of(const struct tally *x)
{
	return fisher_chance(x[0].runs - 1, x[0].same - 1, x[1].runs, x[1].same);
}

int dispute_run(struct trials *t, const struct twin *w, enum side side, uint8_t other,
		bool *by_fill, struct error *err)
{
	uint32_t most = (uint32_t)trials_most_repeats(t);
	struct outcome first = {0};
	struct tally tally[2] = {0};
	int rc = 0;

	*by_fill = false;
	for (uint32_t k = 0; k < 2 * most && !t->r->parent_gone; k++) {
		struct twin one = *w;
		bool ok, differ;

		one.note.index = DISPUTE_FIRST + k;
		if (k % 2)
			one.setting.fill = other;
		rc = run_once(t, &one, side, &first, &ok, &differ, err);
		if (rc || !ok)
			break;
		tally[k % 2].runs++;
		tally[k % 2].same += !differ;
		if (k % 2 == 0)
			continue;
		*by_fill = chance_of(tally) <= FISHER_LIMIT;
		if (*by_fill ||
		    (tally[1].runs >= DISPUTE_ROUNDS && chance_of(tally) > FISHER_HOPELESS))
			break;
	}
	outcome_free(&first);
	return rc;
}

int dispute_vary_a(struct trials *t, const struct twin *w, struct error *err)
{
	size_t most = trials_most_repeats(t);
	struct outcome first = {0};
	bool ok = true, differ = false;
	int rc = 0;

	if (t->a_runs.count < most)
		rc = trials_more_of_a(t, err);
	if (rc || !w || !byteset_is_empty(&t->a_runs.noise))
		return rc < 0 ? rc : 0;
	for (uint32_t k = 0; !rc && ok && !differ && k < most && !t->r->parent_gone; k++) {
		struct twin one = *w;

		one.note.index += (w->stride ? w->stride : DISPUTE_FIRST) * (k + 1);
		rc = run_once(t, &one, SIDE_A, &first, &ok, &differ, err);
	}
	outcome_free(&first);
	return rc;
}
