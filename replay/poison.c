/* SPDX-License-Identifier: MIT */
/* Trials with poisoned outputs: what is left unwritten, and results that depend on the pattern. */
#include "replay/poison.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "replay/dispute.h"
#include "replay/spare.h"

#define PROBE_SECONDS 5.0 /* of a probing launch, on top of 50 times A's plain one */

int poison_run(void *data, const struct byteset *poison, unsigned pattern, bool probe,
	       struct snapshot *after, struct error *err)
{
	struct trials *t = data;
	struct moment when =
		trials_moment(t, probe ? PHASE_PROBE : PHASE_POISON, SIDE_A, TRIAL_POISON, pattern);
	struct setting setting = {.poison = poison, .fill = POISON_BYTE(pattern)};
	struct outcome o;
	int rc;

	if (probe) { /* garbage may send a kernel into a long loop: wait for it less */
		double plain = (double)t->a_runs.items[0].wall_ns * 1e-9;
		double enough = PROBE_SECONDS + 50.0 * plain;

		if (enough < when.seconds)
			when.seconds = enough;
	}
	rc = runner_launch(t->r, &t->a, &when, &setting, &o, err);
	if (rc)
		return rc;
	if (o.status != TRIAL_STATUS_OK) {
		error_set(err, ECANCELED, ERROR_NO_OFFSET, "%s", o.reason);
		outcome_free(&o);
		return -ECANCELED;
	}
	*after = o.after;
	return 0;
}

int poison_a(struct trials *t, struct error *err)
{
	const struct byteset *poison = &t->written.poisonable;

	for (unsigned k = 0; k < 2; k++) {
		struct byteset differ = {0};
		int rc;

		if (!(t->r->options->trials & TRIALS_POISON))
			snprintf(t->void_reason[k], sizeof(t->void_reason[k]),
				 "not asked for (--trials)");
		else if (t->caution == CAUTION_NO_POISON)
			snprintf(t->void_reason[k], sizeof(t->void_reason[k]),
				 "A fails or hangs on poisoned outputs");
		else if (byteset_is_empty(poison))
			snprintf(t->void_reason[k], sizeof(t->void_reason[k]), "%s",
				 t->written.extents.count ? "every output is read as well"
							  : "no output known");
		if (t->void_reason[k][0])
			continue;
		rc = poison_run(t, poison, k, false, &t->a_poison[k].after, err);
		if (rc)
			return rc;
		rc = byteset_init(&differ, &t->contents.pieces);
		if (!rc)
			rc = snapshot_differ(&differ, &t->a_runs.items[0].after,
					     &t->a_poison[k].after);
		if (!rc)
			rc = byteset_and(&differ, &t->written.bytes);
		if (!rc)
			rc = byteset_minus(&differ, &t->a_runs.noise);
		if (!rc && !byteset_is_empty(&differ))
			snprintf(t->void_reason[k], sizeof(t->void_reason[k]),
				 "A's own result is another one with the pattern (%llu bytes)",
				 (unsigned long long)byteset_count(&differ));
		byteset_free(&differ);
		if (rc)
			return error_set(err, -rc, ERROR_NO_OFFSET, "no memory for poison trials");
	}
	return 0;
}

int poison_a_ship(struct trials *t)
{
	for (unsigned k = 0; k < 2; k++) {
		struct trial_note n = {.side = SIDE_A, .kind = TRIAL_POISON, .index = k};
		int rc;

		if (t->void_reason[k][0])
			rc = trials_send_status(t, SIDE_A, TRIAL_POISON, k, TRIAL_STATUS_VOID,
						t->void_reason[k]);
		else
			rc = trials_send_whole(t, &n, &t->a_poison[k]);
		if (rc)
			return rc;
	}
	return 0;
}

/* Bytes that hold the pattern in this run; intersected with those of the run before. */
static int still_poisoned(struct trials *t, const struct outcome *o, unsigned k,
			  struct byteset *still)
{
	struct byteset now;
	int rc = byteset_init(&now, &t->contents.pieces);

	if (!rc)
		rc = snapshot_match(&now, &o->after, &t->written.poisonable, POISON_BYTE(k), true);
	if (!rc && !k)
		rc = byteset_or(still, &now);
	else if (!rc)
		rc = byteset_and(still, &now);
	byteset_free(&now);
	return rc;
}

/* B's two results differ: because of the patterns, or by themselves. */
static int settle_b(struct trials *t, struct error *err)
{
	struct twin w = {
		.note = {.kind = TRIAL_POISON},
		.setting = {.poison = &t->written.poisonable, .fill = POISON_BYTE(0)},
		.whole = true,
	};
	bool by_fill;
	int rc = dispute_run(t, &w, SIDE_B, POISON_BYTE(1), &by_fill, err);

	return !rc && !by_fill && !t->r->lost ? dispute_vary_a(t, &w, err) : rc;
}

/* One pattern; *o is the caller's to free. */
static int poison_b_once(struct trials *t, unsigned k, struct byteset *still, struct outcome *o,
			 struct error *err)
{
	struct trial_note n = {.side = SIDE_B, .kind = TRIAL_POISON, .index = k};
	struct moment when = trials_moment(t, PHASE_B, SIDE_B, TRIAL_POISON, k);
	struct setting setting = {.poison = &t->written.poisonable, .fill = POISON_BYTE(k)};
	int rc = runner_launch(t->r, &t->b, &when, &setting, o, err);

	if (rc)
		return rc;
	if (o->status != TRIAL_STATUS_OK)
		return trials_send(t, &n, o);
	rc = still_poisoned(t, o, k, still);
	if (!rc && k)
		byteset_first(still, &n.unwritten_bytes, &n.unwritten_address);
	return rc ? rc : trials_send_whole(t, &n, o);
}

int poison_b(struct trials *t, struct error *err)
{
	struct outcome o[2] = {0};
	struct byteset still;
	bool differ = false;
	int rc = byteset_init(&still, &t->contents.pieces);

	for (unsigned k = 0; !rc && !t->r->lost && k < 2; k++)
		rc = t->void_reason[k][0] ? trials_send_status(t, SIDE_B, TRIAL_POISON, k,
							       TRIAL_STATUS_VOID, t->void_reason[k])
					  : poison_b_once(t, k, &still, &o[k], err);
	if (!rc && o[0].after.chunks && o[1].after.chunks && byteset_is_empty(&t->b_runs.noise))
		rc = twin_differ(t, &o[0].after, &o[1].after, NULL, &differ);
	for (unsigned k = 0; !rc && k < 2; k++)
		if (o[k].after.chunks)
			rc = spare_compare(t, &t->a_poison[k].after, &o[k].after);
		else
			t->needed |= !t->void_reason[k][0];
	for (unsigned k = 0; k < 2; k++)
		outcome_free(&o[k]);
	byteset_free(&still);
	return !rc && differ && t->judged && !t->r->lost ? settle_b(t, err) : rc;
}
