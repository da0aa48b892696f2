/* SPDX-License-Identifier: MIT */
/* A result that was stopped before its end: what of it counts in the one that goes on. */
#include "replay/resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "replay/reference.h"

int resume_open(struct resume *r, const struct plan *plan, const struct replay_options *options,
		struct error *err)
{
	char hex[HASH_TEXT_BYTES];
	const char *made;
	int rc;

	*r = (struct resume){0};
	rc = bundle_open(&r->old, options->result, err);
	if (rc)
		return rc;
	made = bundle_fact(r->old, "replay.plan");
	if (r->old->kind != BUNDLE_RESULT)
		rc = error_set(err, EINVAL, ERROR_NO_OFFSET, "--resume: %s is not a result",
			       options->result);
	else if (!made || strcmp(made, hash_text(plan_hash(plan, options), hex)) != 0)
		rc = error_set(err, EINVAL, ERROR_NO_OFFSET,
			       "--resume: %s is the result of another replay (other kernels, "
			       "launches, shard or trials)",
			       options->result);
	r->path = text_format("%s.resumed", options->result);
	r->done = calloc(plan->count ? plan->count : 1, sizeof(*r->done));
	if (!rc && (!r->path || !r->done))
		rc = error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory to go on with %s",
			       options->result);
	if (!rc)
		unlink(r->path); /* of a process that was killed while it copied */
	if (rc)
		resume_close(r);
	return rc;
}

void resume_close(struct resume *r)
{
	bundle_close(r->old);
	free(r->path);
	free(r->done);
	*r = (struct resume){0};
}

const struct record_device *resume_device(const struct resume *r)
{
	return r->old && r->old->devices.count ? &r->old->devices.items[0] : NULL;
}

/* The case's number in the plan is its number in the result: both come from the same plan. */
static bool counts(const struct plan *plan, const struct record_case *c)
{
	return c->number < plan->count && plan->cases[c->number].launch->seq == c->seq &&
	       !(c->fidelity == FIDELITY_UNTESTED && c->fidelity_reason &&
		 !strcmp(c->fidelity_reason, "interrupted"));
}

static int copy_device(const struct resume *r, struct ledger *ledger)
{
	static const char *const names[] = {"replay.device", "replay.level"};
	int rc = 0;

	if (resume_device(r))
		rc = bundle_put_device(ledger->writer, resume_device(r));
	for (size_t i = 0; i < r->old->facts.count; i++)
		for (size_t j = 0; !rc && j < ARRAY_LENGTH(names); j++)
			if (!strcmp(r->old->facts.items[i].name, names[j]))
				rc = bundle_put_fact(ledger->writer, &r->old->facts.items[i]);
	return rc;
}

int resume_copy(struct resume *r, struct ledger *ledger, struct error *err)
{
	const char *result = ledger->options->result;
	int rc = copy_device(r, ledger);

	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "writing %s: %s", r->path,
				 strerror(-rc));
	for (size_t i = 0; i < r->old->cases.count; i++) {
		const struct record_case *c = &r->old->cases.items[i];

		if (!counts(ledger->plan, c) || r->done[c->number])
			continue;
		rc = reference_keep(ledger, r->old, c->number);
		if (rc)
			return error_set(err, -rc, ERROR_NO_OFFSET, "--resume %s: %s", result,
					 strerror(-rc));
		rc = ledger_keep(ledger, r->old, c, err);
		if (rc)
			return error_prefix(err, "--resume %s", result);
		r->done[c->number] = true;
	}
	if (rename(r->path, result))
		return error_set(err, errno, ERROR_NO_OFFSET, "cannot rename %s to %s: %s", r->path,
				 result, strerror(errno));
	return 0;
}
