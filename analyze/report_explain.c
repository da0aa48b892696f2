/* SPDX-License-Identifier: MIT */
/* The whole chain of evidence of some families, rule by rule, in words and figures. */
#include "analyze/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/lines.h"
#include "analyze/phrase.h"
#include "analyze/shape_rule.h"
#include "analyze/timing.h"
#include "lib/base.h"

static const char *bucket_words(const struct outcome *o)
{
	static const char *const words[] = {"untested", "1 bitwise", "2 small", "3 suspicious"};

	return o->unproven ? "3 unproven" : words[o->bucket & 3];
}

/* Cleans, wraps and frees text. */
static int put_line(FILE *out, int indent, char *text)
{
	if (!text)
		return -ENOMEM;
	lines_wrap(out, indent, phrase_clean(text));
	free(text);
	return 0;
}

static int put_step(FILE *out, unsigned r, const struct step *s, bool decides)
{
	char head[128], figures[80] = "";

	snprintf(head, sizeof(head), "rule %-3s %-32s %s%s", rule_number(r), rule_name(r),
		 step_state_name(s->state), decides ? ": decides" : "");
	fprintf(out, "    %s\n", head);
	if (s->state != STEP_UNASKED)
		snprintf(figures, sizeof(figures), ": %.6g, limit %.6g", s->figure, s->limit);
	return put_line(out, 13,
			text_format("%s%s%s%s%s", rule_what(r), figures, s->note ? " (" : "",
				    s->note ? s->note : "", s->note ? ")" : ""));
}

static int put_chain(FILE *out, const struct chain *c, const struct outcome *o)
{
	int e = 0;

	for (unsigned r = 0; !e && r < RULE_COUNT; r++)
		e = put_step(out, r, &c->steps[r], r == (unsigned)o->rule);
	return e;
}

static int put_shape(FILE *out, const struct family_verdict *f, const struct case_verdict *c,
		     const struct output_verdict *o)
{
	_cleanup_free_ char *tile = NULL;
	struct shape s;

	output_shape(c->result, f->record, c->record, f->configs[f->worst_config].record->options,
		     o->extent, o->dtype, &s);
	tile = s.tile_rows ? text_format("; tiles of %" PRIu64 " × %" PRIu64, s.tile_rows,
					 s.tile_columns)
			   : strdup("; tiles not known");
	if (!tile)
		return -ENOMEM;
	return put_line(out, 4,
			text_format("taken as %" PRIu64 " rows of %" PRIu64 " (%s)%s", s.rows,
				    s.columns, s.how, tile));
}

static int put_output(FILE *out, const struct family_verdict *f, const struct case_verdict *c,
		      const struct output_verdict *o)
{
	const struct metrics *m = &o->metrics;
	char reference[PHRASE_BYTES];
	int e = put_line(out, 2,
			 text_format("output %s (%s, %" PRIu64 " elements): %s", o->name,
				     dtype_name(o->dtype), m->elements, bucket_words(&o->outcome)));

	if (!e && o->note)
		e = put_line(out, 4, text_format("%s", o->note));
	if (!e)
		e = put_shape(out, f, c, o);
	if (!e && m->differing)
		e = put_line(out, 4,
			     text_format("%" PRIu64
					 " differ; max |d| %.6g, max |d|/max(|a|, |b|) %.6g, "
					 "max ulp %" PRIu64 "; mean d %.6g, rms d %.6g, rms a %.6g",
					 m->differing, m->max_abs, m->max_rel, m->max_ulp,
					 metrics_mean(m), metrics_rms(m), metrics_rms_a(m)));
	if (!e && *reference_text(&o->reference, reference, sizeof(reference)))
		e = put_line(out, 4, text_format("reference in double precision: %s", reference));
	return e ? e : put_chain(out, &o->chain, &o->outcome);
}

/* Every output of the launch that decided, the worst among them first. */
static int put_worst(FILE *out, const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);
	const char *reason = c ? c->record->fidelity_reason : NULL;
	char place[PHRASE_BYTES], fidelity[PHRASE_BYTES];
	int e;

	if (!c)
		return 0;
	e = put_line(out, 2, text_format("worst: %s", phrase_place(place, f)));
	if (!e && c->record->params && *c->record->params)
		e = put_line(out, 2, text_format("launched with %s", c->record->params));
	if (!e)
		e = put_line(out, 2,
			     text_format("%" PRIu32 " repeats of A, %" PRIu32 " of B, %" PRIu32
					 " poisoned pairs; %s%s%s",
					 c->repeats[SIDE_A], c->repeats[SIDE_B], c->poisons,
					 phrase_fidelity(fidelity, c->record),
					 reason && *reason ? ": " : "", reason ? reason : ""));
	if (!e && c->worst_output >= c->output_count) {
		fprintf(out, "  the launch as a whole:\n");
		e = put_chain(out, &c->chain, &c->outcome);
	}
	if (!e && c->worst_output < c->output_count)
		e = put_output(out, f, c, &c->outputs[c->worst_output]);
	for (size_t i = 0; !e && i < c->output_count; i++)
		if (i != c->worst_output)
			e = put_output(out, f, c, &c->outputs[i]);
	return e;
}

static int put_config(FILE *out, const struct analysis *a, const struct config_verdict *c)
{
	struct timing t = config_timing(c);
	char config[PHRASE_BYTES], time[128] = "";

	if (t.launches && !a->mark) /* the software device's times mean nothing */
		snprintf(time, sizeof(time), "; A %.3g us, B %.3g us (B/A %.2f%s)", t.us[SIDE_A],
			 t.us[SIDE_B], timing_ratio(&t), timing_remark(&t));
	return put_line(out, 4,
			text_format("%s: %s, rule %s: %s%s", phrase_config(config, c),
				    bucket_words(&c->outcome), rule_number(c->outcome.rule),
				    c->outcome.evidence, time));
}

static int explain(FILE *out, const struct analysis *a, const struct family_verdict *f)
{
	char name[PHRASE_BYTES], origin[PHRASE_BYTES];
	int e = put_line(out, 0,
			 text_format("%s (%s): %s", phrase_family(name, a, f),
				     phrase_origin(origin, f->record), bucket_words(&f->outcome)));

	if (!e)
		e = put_line(out, 2,
			     text_format("rule %s, %s: %s%s%s", rule_number(f->outcome.rule),
					 rule_name(f->outcome.rule), f->outcome.evidence,
					 f->outcome.provisional ? "; provisional limit" : "",
					 f->outcome.nondeterministic ? "; A varies from run to run"
								     : ""));
	if (!e && f->scope.text)
		e = put_line(out, 2, text_format("scope: %s", f->scope.text));
	if (!e && f->stage.text)
		e = put_line(out, 2, text_format("stage: %s", f->stage.text));
	if (!e)
		e = put_worst(out, f);
	fprintf(out, "  configs:\n");
	for (size_t i = 0; !e && i < f->config_count; i++)
		e = put_config(out, a, &f->configs[i]);
	for (size_t i = 0; !e && i < f->note_count; i++)
		e = put_line(out, 2, text_format("note: %s", f->notes[i]));
	fputc('\n', out);
	return e;
}

int report_explain(const struct analysis *a, const regex_t *names, FILE *out, size_t *explained)
{
	int e = 0;

	*explained = 0;
	for (size_t i = 0; !e && i < a->family_count; i++) {
		const struct family_verdict *f = &a->families[i];

		if (regexec(names, f->record->name ? f->record->name : "", 0, NULL, 0))
			continue;
		e = explain(out, a, f);
		++*explained;
	}
	return e;
}
