/* SPDX-License-Identifier: MIT */
/* One family of the HTML report: evidence, pictures, elements, configs, coverage, repro. */
#include "analyze/html/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/phrase.h"
#include "analyze/shape_rule.h"
#include "analyze/timing.h"
#include "lib/base.h"

/* A row of a definition list; nothing where the text is empty. */
static int put_item(FILE *out, const char *name, const char *text)
{
	int e;

	if (!text || !*text)
		return 0;
	fprintf(out, "<dt>%s<dd>", name);
	e = html_text(out, text);
	fputc('\n', out);
	return e;
}

/* Red where it speaks against B, green where not. Rule 1 fires where all is equal; that it does
 * not, or that only rule 9 does, is neither. */
static const char *step_class(enum rule r, enum step_state s)
{
	if (s == STEP_UNASKED)
		return "unasked";
	if (r == RULE_BITS)
		return s == STEP_FIRED ? "passed" : "open";
	if (r == RULE_OTHERWISE)
		return "open";
	return s == STEP_FIRED ? "fired" : "passed";
}

static int put_chain(FILE *out, const struct chain *c, const struct outcome *o)
{
	int e = 0;

	fputs("<h4>Evidence, rule by rule</h4>\n<div class=\"wide\"><table class=\"chain\"><thead>"
	      "<tr><th scope=\"col\">Rule<th scope=\"col\">Name<th scope=\"col\">Looked at"
	      "<th scope=\"col\">Figure<th scope=\"col\">Limit<th scope=\"col\">Result</tr></thead>"
	      "<tbody>\n",
	      out);
	for (unsigned r = 0; !e && r < RULE_COUNT; r++) {
		const struct step *s = &c->steps[r];

		fprintf(out, "<tr class=\"%s\"><td>%s<td>", r == o->rule ? "decides" : "rule",
			rule_number(r));
		e = html_text(out, rule_name(r));
		fputs("<td>", out);
		if (!e)
			e = html_text(out, rule_what(r));
		if (s->state == STEP_UNASKED)
			fputs("<td>–<td>–<td>", out);
		else
			fprintf(out, "<td>%.4g<td>%.4g<td>", s->figure, s->limit);
		fprintf(out, "<span class=\"step %s\">%s</span>", step_class(r, s->state),
			step_state_name(s->state));
		if (r == o->rule)
			fputs(" <strong>decides</strong>", out);
		if (!e && s->note)
			e = html_format(out, " (%s)", s->note);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	return e;
}

static int put_value(FILE *out, enum dtype t, double value, uint64_t bits)
{
	if (t == DTYPE_I64)
		return html_format(out, "%" PRId64, (int64_t)bits);
	if (number_class(value) != NUMBER_FINITE)
		return html_text(out, number_class_name(number_class(value)));
	return html_format(out, "%.9g", value);
}

static int put_elements(FILE *out, const struct output_verdict *o, const struct shape *shape)
{
	const struct metrics *m = &o->metrics;
	int digits = (int)dtype_bytes(m->dtype) * 2, e = 0;

	if (!m->top_count)
		return 0;
	fprintf(out,
		"<h4>Worst elements</h4>\n<div class=\"wide\"><table class=\"elements\"><thead><tr>"
		"<th scope=\"col\">Element<th scope=\"col\">Row, column<th scope=\"col\">A"
		"<th scope=\"col\">B<th scope=\"col\">Bits of A<th scope=\"col\">Bits of B"
		"<th scope=\"col\">Ulp<th scope=\"col\">%s</tr></thead><tbody>\n",
		dtype_is_float(m->dtype) ? "|d| / allowance" : "|d|");
	for (uint32_t i = 0; !e && i < m->top_count; i++) {
		const struct metric_element *x = &m->top[i];

		fprintf(out, "<tr><td>%" PRIu64 "<td>%" PRIu64 ", %" PRIu64 "<td>", x->index,
			x->index / shape->columns, x->index % shape->columns);
		e = put_value(out, m->dtype, x->a, x->bits_a);
		fputs("<td>", out);
		if (!e)
			e = put_value(out, m->dtype, x->b, x->bits_b);
		fprintf(out, "<td><code>0x%0*" PRIx64 "</code><td><code>0x%0*" PRIx64 "</code><td>",
			digits, x->bits_a, digits, x->bits_b);
		if (x->ulp == UINT64_MAX)
			fputs("–", out);
		else
			fprintf(out, "%" PRIu64, x->ulp);
		fprintf(out, "<td>%.4g</tr>\n", x->severity);
	}
	fputs("</tbody></table></div>\n", out);
	return e;
}

/* Pictures only where something differs: of equal outputs there is nothing to see. */
static int put_pictures(FILE *out, const struct case_verdict *c, const struct output_verdict *o,
			const struct shape *shape)
{
	_cleanup_free_ struct picture *p = NULL;
	struct error err;
	int e;

	if (!o->pair[SIDE_A] || !o->pair[SIDE_B] || !o->metrics.differing)
		return 0;
	e = picture_take(&p, c->result->bundle, o->extent, o->dtype, o->pair[SIDE_A],
			 o->pair[SIDE_B], shape, &err);
	if (e == -ENOMEM)
		return e;
	if (e) {
		fputs("<p class=\"missing\">No pictures: ", out);
		e = html_text(out, err.message);
		fputs("</p>\n", out);
		return e;
	}
	fputs("<h4>Pictures of the output</h4>\n<div class=\"pictures\">"
	      "<p class=\"missing\">Pictures need JavaScript.</p></div>\n",
	      out);
	return html_picture(out, o, p);
}

static int put_outputs(FILE *out, const struct case_verdict *c)
{
	int e = 0;

	if (!c->output_count)
		return 0;
	fputs("<h4>Outputs of that launch</h4>\n<div class=\"wide\"><table "
	      "class=\"outputs\"><thead>"
	      "<tr><th scope=\"col\">Output<th scope=\"col\">Type<th scope=\"col\">Elements"
	      "<th scope=\"col\">Bucket<th scope=\"col\">Rule<th scope=\"col\">Differ"
	      "<th scope=\"col\">max |d|<th scope=\"col\">max ulp<th scope=\"col\">mean d"
	      "<th scope=\"col\">rms d<th scope=\"col\">rms A</tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; !e && i < c->output_count; i++) {
		const struct output_verdict *o = &c->outputs[i];
		const struct metrics *m = &o->metrics;

		fputs("<tr><td>", out);
		e = html_text(out, o->name);
		fprintf(out,
			"<td>%s<td>%" PRIu64 "<td><span class=\"%s\">%s</span><td>%s<td>%" PRIu64
			"<td>%.3g<td>%" PRIu64 "<td>%.3g<td>%.3g<td>%.3g</tr>\n",
			dtype_name(o->dtype), m->elements, html_bucket_class(&o->outcome),
			html_bucket_words(&o->outcome), rule_number(o->outcome.rule), m->differing,
			m->max_abs, m->max_ulp, metrics_mean(m), metrics_rms(m), metrics_rms_a(m));
	}
	fputs("</tbody></table></div>\n", out);
	return e;
}

static size_t launches_tested(const struct config_verdict *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->case_count; i++)
		n += c->cases[i].outcome.bucket > 0;
	return n;
}

static int put_configs(FILE *out, const struct analysis *a, size_t index)
{
	const struct family_verdict *f = &a->families[index];
	char text[PHRASE_BYTES];
	int e = 0;

	fputs("<h4>Configs</h4>\n<div class=\"wide\"><table class=\"configs\"><thead><tr>"
	      "<th scope=\"col\">Config<th scope=\"col\">Bucket<th scope=\"col\">Rule"
	      "<th scope=\"col\">Launches tested<th scope=\"col\">A, µs<th scope=\"col\">B, µs"
	      "<th scope=\"col\">B/A<th scope=\"col\">Evidence</tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; !e && i < f->config_count; i++) {
		const struct config_verdict *c = &f->configs[i];
		struct timing t = config_timing(c);

		fprintf(out, "<tr id=\"f%zuc%zu\" tabindex=\"-1\"><td>", index, i);
		e = html_text(out, phrase_config(text, c));
		fprintf(out, "<td><span class=\"%s\">%s</span><td>%s<td>%zu of %zu",
			html_bucket_class(&c->outcome), html_bucket_words(&c->outcome),
			rule_number(c->outcome.rule), launches_tested(c), c->case_count);
		if (t.launches && !a->mark)
			fprintf(out, "<td>%.2f<td>%.2f<td>%.2f%s<td>", t.us[SIDE_A], t.us[SIDE_B],
				timing_ratio(&t), timing_remark(&t));
		else
			fputs("<td>–<td>–<td>–<td>", out);
		if (!e)
			e = html_text(out, c->outcome.evidence);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	return e;
}

static int put_use(FILE *out, const struct analysis *a, const struct use *u)
{
	_cleanup_free_ char *tests = use_tests_text(a, u);
	int e = tests ? 0 : -ENOMEM;

	if (tests && *tests) {
		fputs("<li>", out);
		e = html_text(out, tests);
		fputc('\n', out);
	}

	for (int d = 0; d < USE_DIMENSION_COUNT; d++)
		if (u->counts[d].used)
			fprintf(out,
				"<li>of what the model uses, %zu of %zu %s tested: by its own "
				"launches %zu, by existing tests %zu, by derived launches %zu\n",
				u->counts[d].tested, u->counts[d].used,
				use_dimension_name((enum use_dimension)d), u->counts[d].by_model,
				u->counts[d].by_tests, u->counts[d].by_derived);
	for (size_t i = 0; !e && i < u->count; i++) {
		_cleanup_free_ char *text = NULL;

		if (!use_untested(&u->items[i]))
			continue;
		text = use_text(&u->items[i]);
		fputs("<li><strong>not tested</strong>: ", out);
		e = text ? html_text(out, text) : -ENOMEM;
		fputc('\n', out);
	}
	return e;
}

static int put_coverage(FILE *out, const struct analysis *a, const struct family_verdict *f)
{
	const struct family_coverage *c = &f->coverage;
	int e = 0;

	fprintf(out,
		"<h4>Coverage</h4>\n<ul><li>%" PRIu32 " of %" PRIu32 " configs, %" PRIu32
		" of %" PRIu32 " shape classes, %" PRIu32 " of %" PRIu32
		" launches tested\n<li>replay of the recorded kernel: %" PRIu32
		" faithful, %" PRIu32 " nondeterministic, %" PRIu32 " unfaithful, %" PRIu32
		" untested\n<li>%" PRIu32 " of %" PRIu32 " derived boundary launches tested\n",
		c->configs_tested, c->configs, c->classes_tested, c->classes, c->tested, c->cases,
		c->faithful, c->nondeterministic, c->unfaithful, c->fidelity_untested,
		c->derived_tested, c->derived);
	e = put_use(out, a, &f->use);
	for (size_t i = 0; !e && i < f->note_count; i++) {
		fputs("<li>", out);
		e = html_text(out, f->notes[i]);
		fputc('\n', out);
	}
	fputs("</ul>\n", out);
	return e;
}

static int put_repro(FILE *out, const char *repro)
{
	int e;

	if (!repro || !*repro)
		return 0;
	fputs("<h4>Show it again</h4>\n<div class=\"repro\"><pre><code>", out);
	e = html_text(out, repro);
	fputs("</code></pre><button type=\"button\" class=\"copy\">Copy</button></div>\n", out);
	return e;
}

/* The launch that the family's verdict rests on. */
static int put_launch(FILE *out, const struct family_verdict *f, const struct case_verdict *c,
		      const struct output_verdict *o, const struct shape *shape)
{
	char text[2 * PHRASE_BYTES], config[PHRASE_BYTES];
	int e;

	fputs("<dl>\n", out);
	e = put_item(out, "Config", phrase_config(config, &f->configs[f->worst_config]));
	snprintf(text, sizeof(text), "%" PRIu64 " of %.200s", c->record->seq,
		 c->record->bundle ? c->record->bundle : "?");
	if (!e)
		e = put_item(out, "Launch", text);
	snprintf(text, sizeof(text), "%" PRIu32 " × %" PRIu32 " × %" PRIu32, c->record->grid[0],
		 c->record->grid[1], c->record->grid[2]);
	if (!e)
		e = put_item(out, "Grid", text);
	if (!e)
		e = put_item(out, "Parameters", c->record->params);
	snprintf(text, sizeof(text),
		 "%" PRIu32 " repeats of A, %" PRIu32 " of B, %" PRIu32 " poisoned pairs; %s",
		 c->repeats[SIDE_A], c->repeats[SIDE_B], c->poisons,
		 phrase_fidelity(config, c->record));
	if (!e)
		e = put_item(out, "Trials", text);
	if (!e && f->outcome.bucket > 1)
		e = put_item(out, "Shown by",
			     f->scope.trials ? f->scope.trials : "the recorded inputs");
	if (o)
		snprintf(text, sizeof(text),
			 "%.80s, %s, %" PRIu64 " × %" PRIu64 " (%.150s)%s%.120s", o->name,
			 dtype_name(o->dtype), shape->rows, shape->columns, shape->how,
			 o->note ? "; " : "", o->note ? o->note : "");
	if (!e && o)
		e = put_item(out, "Output", text);
	if (!e && o)
		e = put_item(out, "Reference in double precision",
			     reference_text(&o->reference, text, sizeof(text)));
	fputs("</dl>\n", out);
	return e;
}

static int put_worst(FILE *out, const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);
	const struct output_verdict *o = family_worst_output(f);
	struct shape shape = {.rows = 1, .columns = 1};
	int e;

	if (!c)
		return 0;
	if (o)
		output_shape(c->result, f->record, c->record,
			     f->configs[f->worst_config].record->options, o->extent, o->dtype,
			     &shape);
	e = put_launch(out, f, c, o, &shape);
	if (!e)
		e = put_chain(out, case_chain(c), &f->outcome);
	if (!e && o)
		e = put_pictures(out, c, o, &shape);
	if (!e && o)
		e = put_elements(out, o, &shape);
	if (!e)
		e = put_outputs(out, c);
	return e ? e : put_repro(out, c->record->repro);
}

static int put_named(FILE *out, const char *name, const char *text)
{
	int e;

	if (!text)
		return 0;
	fprintf(out, "<p class=\"scope\"><strong>%s</strong>: ", name);
	e = html_text(out, text);
	fputs("</p>\n", out);
	return e;
}

int html_family(FILE *out, const struct analysis *a, size_t index)
{
	const struct family_verdict *f = &a->families[index];
	char text[PHRASE_BYTES];
	int e;

	fprintf(out,
		"<details class=\"family\" id=\"f%zu\"%s%s><summary><span class=\"%s\">%s</span> "
		"<h3>",
		index, f->outcome.bucket == 3 ? " data-print" : "",
		!index && f->outcome.bucket == 3 && !f->outcome.unproven ? " open" : "",
		html_bucket_class(&f->outcome), html_bucket_words(&f->outcome));
	e = html_text(out, phrase_family(text, a, f));
	fputs("</h3> <span class=\"origin\">", out);
	if (!e)
		e = html_text(out, phrase_origin(text, f->record));
	fputs("</span></summary>\n" HTML_LATER_BEGIN "<p class=\"evidence\">", out);
	if (!e)
		e = html_format(out, "Rule %s, %s: %s", rule_number(f->outcome.rule),
				rule_name(f->outcome.rule), f->outcome.evidence);
	if (!e && f->accepted)
		e = html_format(out, " — accepted by the baseline: %s", f->accepted);
	if (f->outcome.provisional)
		fputs(" <em>(provisional limit)</em>", out);
	if (f->outcome.nondeterministic)
		fputs(" <em>(A varies from run to run)</em>", out);
	fputs("</p>\n", out);
	if (!e)
		e = put_named(out, "Scope", f->scope.text);
	if (!e)
		e = put_named(out, "Stage", f->stage.text);
	if (!e)
		e = put_worst(out, f);
	if (!e)
		e = put_configs(out, a, index);
	if (!e)
		e = put_coverage(out, a, f);
	fputs(HTML_LATER_END "</details>\n", out);
	return e;
}
