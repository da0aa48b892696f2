/* SPDX-License-Identifier: MIT */
/* Runs of A's synthetic siblings: other orders of A's own sums, for the noise floor alone. */
#include <errno.h>
#include <stdio.h>

#include "replay/trial_state.h"
#include "replay/twin.h"

/* Whether B differs from A on the recorded inputs. */
static int find_difference(struct trials *t)
{
	if (t->differ || !t->a_runs.count || !t->b_runs.count)
		return 0;
	return twin_differ(t, &t->a_runs.items[0].after, &t->b_runs.items[0].after, NULL,
			   &t->differ);
}

static int send_void(struct trials *t, uint32_t index, const char *why)
{
	return trials_send_status(t, SIDE_A, TRIAL_SIBLING, index, TRIAL_STATUS_VOID, why);
}

static int run_sibling(struct trials *t, uint32_t index, struct error *err)
{
	struct moment when = trials_moment(t, PHASE_FURTHER, SIDE_A, TRIAL_SIBLING, index);
	const struct trial_note note = {.side = SIDE_A,
					.kind = TRIAL_SIBLING,
					.index = index,
					.how = t->c->siblings[index].how};
	const struct setting setting = {.read = &t->written.bytes};
	struct ready ready;
	struct error why;
	struct outcome o;
	int rc = ready_make(&ready, t->r, &t->c->siblings[index].bound, &why);

	if (rc == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s", why.message);
	if (rc)
		return send_void(t, index, why.message);
	rc = runner_launch(t->r, &ready, &when, &setting, &o, err);
	if (!rc)
		rc = o.status == TRIAL_STATUS_OK ? trials_send(t, &note, &o)
						 : send_void(t, index, o.reason);
	outcome_free(&o);
	ready_free(&ready, t->r);
	return rc;
}

int trials_siblings(struct trials *t, struct error *err)
{
	int rc = t->c->sibling_count ? find_difference(t) : 0;

	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "no memory for siblings");
	for (uint32_t i = 0; !rc && t->differ && i < t->c->sibling_count && !t->r->lost; i++)
		rc = run_sibling(t, i, err);
	return rc;
}
