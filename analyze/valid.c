/* SPDX-License-Identifier: MIT */
/* Rule 0: whether a case says anything about B, and what B did that no figures are needed for. */
#include "analyze/valid.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *text_or(const char *text, const char *other)
{
	return text && *text ? text : other;
}

const char *valid_output_name(const struct record_family *f, const struct record_extent *e)
{
	if (!e->arg || e->arg > f->args.count)
		return text_or(e->global, "?");
	return text_or(f->args.items[e->arg - 1].name, "?");
}

static const char *address_name(const struct record_family *f, const struct record_case *c,
				uint64_t address)
{
	for (size_t i = 0; i < c->extents.count; i++) {
		const struct record_extent *e = &c->extents.items[i];

		if (address - e->address < e->size)
			return valid_output_name(f, e);
	}
	return "?";
}

void valid_found(struct outcome *o, const char *tag, double severity, const char *format, ...)
{
	va_list args;

	*o = (struct outcome){.bucket = 3, .rule = RULE_VALID, .tag = tag, .severity = severity};
	va_start(args, format);
	vsnprintf(o->evidence, sizeof(o->evidence), format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void untested(struct outcome *o, const char *format,
							   ...)
{
	va_list args;

	*o = (struct outcome){.rule = RULE_UNPROVEN};
	va_start(args, format);
	vsnprintf(o->evidence, sizeof(o->evidence), format, args);
	va_end(args);
}

/* Greatest stray_bytes of a side over the trials that ran. */
static const struct record_trial *stray_trial(const struct result_case *c, uint32_t side)
{
	const struct record_trial *worst = NULL;

	for (size_t i = 0; i < c->trial_count; i++) {
		const struct record_trial *t = c->trials[i];

		if (t->side == side && t->status == TRIAL_STATUS_OK && t->stray_bytes &&
		    (!worst || t->stray_bytes > worst->stray_bytes))
			worst = t;
	}
	return worst;
}

/* The recorded launch that a derived one comes from; NULL if it is not there. */
static const struct record_case *origin_of(const struct result_config *config,
					   const struct record_case *c)
{
	for (size_t i = 0; i < config->case_count; i++) {
		const struct record_case *x = config->cases[i].record;

		if (x->fidelity != FIDELITY_DERIVED && x->seq == c->seq &&
		    !(x->derived && *x->derived) &&
		    !strcmp(text_or(x->bundle, ""), text_or(c->bundle, "")))
			return x;
	}
	return NULL;
}

bool valid_testable(const struct result_config *config, const struct result_case *c,
		    const struct trials *t, struct outcome *o)
{
	const struct record_trial *a = t->failed[SIDE_A];

	const struct record_case *origin = c->record->derived && *c->record->derived
						   ? origin_of(config, c->record)
						   : c->record;

	if (!origin || (origin != c->record && !valid_fidelity(origin)))
		untested(o, "derived from a launch that replay did not reproduce");
	else if (!valid_fidelity(c->record))
		untested(o, "replay of the recorded kernel is %s: %s",
			 fidelity_name(c->record->fidelity),
			 text_or(c->record->fidelity_reason, "no reason given"));
	else if (a)
		untested(o, "A fails itself: %s (%s)", trial_status_name(a->status),
			 text_or(a->reason, "no reason given"));
	else if (!t->repeat_count[SIDE_A])
		untested(o, "A was not run");
	else if (!t->repeat_count[SIDE_B] && !t->failed[SIDE_B])
		untested(o, "B was not run");
	else if (!c->record->extents.count && !t->failed[SIDE_B] && !stray_trial(c, SIDE_B))
		untested(o, "A writes nothing that was seen");
	else
		return true;
	return false;
}

struct step valid_judge(const struct record_family *f, const struct result_case *c,
			const struct trials *t, struct outcome *o)
{
	const struct record_trial *b = t->failed[SIDE_B], *worst = NULL;

	if (b) {
		valid_found(o, trial_status_name(b->status), 4,
			    "B ends with a %s where A runs through (%s trial %" PRIu32 "): %s",
			    trial_status_name(b->status), trial_kind_name(b->kind), b->index,
			    text_or(b->reason, "no reason given"));
		return step_of(1, 0, "a trial of B failed where A runs through");
	}
	for (uint32_t i = 0; i < t->poison_count; i++) {
		b = t->poisons[SIDE_B][i];
		if (b->unwritten_bytes > t->poisons[SIDE_A][i]->unwritten_bytes &&
		    !t->poisons[SIDE_A][i]->unwritten_bytes &&
		    (!worst || b->unwritten_bytes > worst->unwritten_bytes))
			worst = b;
	}
	if (worst) {
		valid_found(o, "unwritten", 3,
			    "B leaves %" PRIu64
			    " bytes unwritten that A writes, first at 0x%" PRIx64 " (output %s)",
			    worst->unwritten_bytes, worst->unwritten_address,
			    address_name(f, c->record, worst->unwritten_address));
		return step_of((double)worst->unwritten_bytes, 0, "bytes that B leaves unwritten");
	}
	worst = stray_trial(c, SIDE_B);
	if (worst && !stray_trial(c, SIDE_A)) {
		valid_found(o, "writes outside", 2,
			    "B changes %" PRIu64 " bytes outside A's outputs, first at 0x%" PRIx64,
			    worst->stray_bytes, worst->stray_address);
		return step_of((double)worst->stray_bytes, 0,
			       "bytes that B changes outside A's outputs");
	}
	return step_of(0, 0, t->poison_count ? NULL : "no poisoned pair of trials counted");
}
