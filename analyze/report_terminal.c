/* SPDX-License-Identifier: MIT */
/* The table on the terminal: verdict first, then one line a family, then what to look into. */
#include "analyze/report.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/lines.h"
#include "analyze/phrase.h"
#include "analyze/remark.h"
#include "analyze/timing.h"
#include "lib/base.h"

#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define GREEN  "\033[32m"
#define BOLD   "\033[1m"
#define RESET  "\033[0m"

/* Width of the columns; with their gaps they fill REPORT_COLUMNS. */
enum {
	WIDTH_RULE = 4,
	WIDTH_CONFIGS = 5,
	WIDTH_FAMILY = 27,
	WIDTH_CONFIG = 17,
	WIDTH_OUTPUT = 10,
	WIDTH_FIGURES = 30
};

_Static_assert(2 + WIDTH_RULE + 1 + WIDTH_CONFIGS + 1 + WIDTH_FAMILY + 1 + WIDTH_CONFIG + 1 +
			       WIDTH_OUTPUT + 1 + WIDTH_FIGURES <=
		       REPORT_COLUMNS,
	       "a line of the table fits");

#define UNTESTED_SHOWN 5u

struct terminal {
	FILE *out;
	bool colour;
};

static const char *style(const struct terminal *t, const char *code)
{
	return t->colour ? code : "";
}

static const char *bucket_style(const struct terminal *t, const struct outcome *o)
{
	if (o->bucket == 1)
		return style(t, GREEN);
	return style(t, o->bucket == 2 || o->unproven ? YELLOW : RED);
}

static void put_remark(void *data, int level, const char *text)
{
	const struct terminal *t = data;

	lines_wrap(t->out, 2 * level, text);
}

static void put_head(const struct terminal *t, const struct analysis *a)
{
	char text[PHRASE_BYTES], line[2 * PHRASE_BYTES];

	fprintf(t->out, "%sVerdict: %s%s\n", style(t, BOLD), phrase_counts(text, a),
		style(t, RESET));
	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		snprintf(line, sizeof(line), "%s: %s", side_name(s),
			 phrase_side(text, a->sides[s]));
		lines_wrap(t->out, 0, line);
		if (phrase_made_by(a->sides[s])) {
			snprintf(line, sizeof(line), "%.*s", PHRASE_BYTES,
				 phrase_made_by(a->sides[s]));
			lines_wrap(t->out, 2, phrase_clean(line));
		}
	}
	snprintf(text, sizeof(text), "Replayed on %.200s", a->device);
	fprintf(t->out, "%s\n", phrase_clean(text));
	if (a->mark) {
		snprintf(text, sizeof(text), "%.300s", a->mark);
		fprintf(t->out,
			"%s%s%s: every verdict below is about PTX, not about machine code\n",
			style(t, YELLOW), phrase_clean(text), style(t, RESET));
	}
	for (size_t i = 0; i < a->incomplete_count; i++) {
		snprintf(line, sizeof(line), "INCOMPLETE %.900s", a->incomplete[i]);
		lines_wrap(t->out, 0, phrase_clean(line));
	}
	if (a->question_count)
		fprintf(t->out, "Open questions about the model (kernelab context):\n");
	for (size_t i = 0; i < a->question_count; i++) {
		snprintf(line, sizeof(line), "%.60s: %.800s", a->questions[i].name,
			 a->questions[i].text);
		lines_wrap(t->out, 2, phrase_clean(line));
	}
	remarks(a, put_remark, (void *)t);
	fputc('\n', t->out);
}

static void put_cell(const struct terminal *t, const char *text, int width)
{
	lines_cell(t->out, text, width, LINES_CUT_END, 1);
	fputc(' ', t->out);
}

/* Of equal families none of configs and outputs is the worst: what there is of them. */
static void put_equal(const struct terminal *t, const struct family_verdict *f)
{
	const struct case_verdict *c = NULL;
	char text[PHRASE_BYTES] = "-";

	if (f->coverage.configs_tested == 1)
		phrase_config_short(text, &f->configs[0]);
	else
		snprintf(text, sizeof(text), "all %" PRIu32, f->coverage.configs_tested);
	put_cell(t, text, WIDTH_CONFIG);
	for (size_t i = 0; !c && i < f->config_count; i++)
		if (f->configs[i].case_count)
			c = &f->configs[i].cases[0];
	snprintf(text, sizeof(text), "-");
	if (c && c->output_count == 1)
		snprintf(text, sizeof(text), "%s", c->outputs[0].name);
	else if (c)
		snprintf(text, sizeof(text), "all %zu", c->output_count);
	put_cell(t, phrase_clean(text), WIDTH_OUTPUT);
}

static void put_row(const struct terminal *t, const struct analysis *a,
		    const struct family_verdict *f)
{
	const struct output_verdict *o = family_worst_output(f);
	char text[PHRASE_BYTES];

	fprintf(t->out, "%s%d%s ", f->accepted ? "" : bucket_style(t, &f->outcome),
		f->outcome.bucket, f->accepted ? "" : style(t, RESET));
	put_cell(t, phrase_rule(text, f), WIDTH_RULE);
	snprintf(text, sizeof(text), "%" PRIu32 "/%" PRIu32, f->coverage.configs_tested,
		 f->coverage.configs);
	put_cell(t, text, WIDTH_CONFIGS);
	lines_cell(t->out, phrase_family(text, a, f), WIDTH_FAMILY, LINES_CUT_MIDDLE, 1);
	fputc(' ', t->out);
	if (f->outcome.bucket == 1) {
		put_equal(t, f);
	} else {
		put_cell(t,
			 f->worst_config < f->config_count
				 ? phrase_config_short(text, &f->configs[f->worst_config])
				 : "-",
			 WIDTH_CONFIG);
		snprintf(text, sizeof(text), "%s", o ? o->name : "-");
		put_cell(t, phrase_clean(text), WIDTH_OUTPUT);
	}
	lines_cell(t->out, phrase_figures(text, f), WIDTH_FIGURES, LINES_CUT_END, 0);
	fputc('\n', t->out);
}

static void put_table(const struct terminal *t, const struct analysis *a)
{
	fprintf(t->out, "%sB %-4s ", style(t, BOLD), "rule");
	put_cell(t, "cfgs", WIDTH_CONFIGS);
	put_cell(t, "family", WIDTH_FAMILY);
	put_cell(t, "worst config", WIDTH_CONFIG);
	put_cell(t, "output", WIDTH_OUTPUT);
	fprintf(t->out, "figures%s\n", style(t, RESET));
	for (size_t i = 0; i < a->family_count; i++)
		put_row(t, a, &a->families[i]);
	fputs("B: bucket (1 bitwise, 2 small, 3 suspicious); rule: docs/numerics.md; cfgs: configs "
	      "tested/known;\n"
	      "w: num_warps, s: num_stages, 64x32: shape of its tiles, BLOCK=64: constexpr, where "
	      "recorded;\n"
	      "figures: greatest |d| and ulp, share that differs\n",
	      t->out);
	if (analysis_provisional(a))
		fprintf(t->out,
			"Rules 9m and 9f: provisional limits, no noise floor in this result "
			"(docs/numerics.md)\n");
}

/* Where B is slower: never part of a verdict, and meaningless on the software device. */
static void put_time(const struct terminal *t, const struct family_verdict *f)
{
	const struct config_verdict *slowest = family_slowest(f);
	struct timing all = family_timing(f), one;
	char config[PHRASE_BYTES], line[2 * PHRASE_BYTES];
	int n;

	if (!all.launches)
		return;
	n = snprintf(line, sizeof(line), "kernel time: A %.3g us, B %.3g us (B/A %.2f%s)",
		     all.us[SIDE_A], all.us[SIDE_B], timing_ratio(&all), timing_remark(&all));
	if (slowest && n > 0) {
		one = config_timing(slowest);
		snprintf(line + n, sizeof(line) - (size_t)n, "; B %.1f times slower in %.300s",
			 timing_ratio(&one), phrase_config(config, slowest));
	}
	lines_wrap(t->out, 2, line);
}

static void put_coverage(const struct terminal *t, const struct family_verdict *f)
{
	const struct family_coverage *c = &f->coverage;

	fprintf(t->out,
		"  tested: %" PRIu32 " of %" PRIu32 " configs, %" PRIu32 " of %" PRIu32
		" shape classes, %" PRIu32 " of %" PRIu32 " launches",
		c->configs_tested, c->configs, c->classes_tested, c->classes, c->tested, c->cases);
	if (c->derived)
		fprintf(t->out, ", %" PRIu32 " of %" PRIu32 " derived", c->derived_tested,
			c->derived);
	if (c->nondeterministic)
		fprintf(t->out, ", %" PRIu32 " nondeterministic", c->nondeterministic);
	if (c->unfaithful)
		fprintf(t->out, ", %" PRIu32 " unfaithful", c->unfaithful);
	fputc('\n', t->out);
}

/* "scope: …"; nothing where text is NULL. */
static void put_named(const struct terminal *t, const char *name, const char *text)
{
	_cleanup_free_ char *line = text ? text_format("%s: %s", name, text) : NULL;

	if (line)
		lines_wrap(t->out, 2, line);
}

/* What of the model's uses no launch stands for: the first few. */
static void put_untested(const struct terminal *t, const struct family_verdict *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->use.count; i++) {
		_cleanup_free_ char *text = NULL;

		if (!use_untested(&f->use.items[i]))
			continue;
		if (n++ == UNTESTED_SHOWN)
			break;
		text = use_text(&f->use.items[i]);
		put_named(t, "not tested", text ? phrase_clean(text) : NULL);
	}
	if (n > UNTESTED_SHOWN)
		lines_wrap(t->out, 2, "not tested: more, see the JSON or HTML report");
}

static void put_tests(const struct terminal *t, const struct analysis *a,
		      const struct family_verdict *f)
{
	_cleanup_free_ char *text = use_tests_text(a, &f->use);

	if (!text)
		lines_wrap(t->out, 2, "existing tests: no memory to tell of them");
	else if (*text)
		lines_wrap(t->out, 2, phrase_clean(text));
}

static void put_details(const struct terminal *t, const struct analysis *a,
			const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);
	const struct output_verdict *o = family_worst_output(f);
	char text[PHRASE_BYTES], line[2 * PHRASE_BYTES];

	fprintf(t->out, "\n%s%s%s", bucket_style(t, &f->outcome), phrase_family(text, a, f),
		style(t, RESET));
	fprintf(t->out, " (%s)\n", phrase_origin(text, f->record));
	snprintf(line, sizeof(line), "%s%s %s: %s", f->outcome.unproven ? "" : "rule ",
		 f->outcome.unproven ? "" : rule_number(f->outcome.rule),
		 rule_name(f->outcome.rule), f->outcome.evidence);
	phrase_clean(line);
	lines_wrap(t->out, 2, line + strspn(line, " "));
	put_named(t, "scope", f->scope.text);
	put_named(t, "stage", f->stage.text);
	if (o && *reference_text(&o->reference, text, sizeof(text)))
		put_named(t, "reference in double precision", phrase_clean(text));
	phrase_place(line, f);
	if (*line)
		lines_wrap(t->out, 2, line);
	if (c && c->record->params && *c->record->params) {
		snprintf(line, sizeof(line), "launched with %.900s", c->record->params);
		lines_wrap(t->out, 2, phrase_clean(line));
	}
	put_coverage(t, f);
	put_untested(t, f);
	put_tests(t, a, f);
	if (!a->mark)
		put_time(t, f);
	for (size_t i = 0; i < f->note_count; i++) {
		snprintf(line, sizeof(line), "note: %.900s", f->notes[i]);
		lines_wrap(t->out, 2, phrase_clean(line));
	}
	if (c && c->record->repro && *c->record->repro) {
		_cleanup_free_ char *repro = strdup(c->record->repro); /* whole: to be copied */

		if (repro)
			fprintf(t->out, "  repro: %s\n", phrase_clean(repro));
	}
}

/* True if an earlier family that is not in bucket 3 has this note. */
static bool note_printed(const struct analysis *a, size_t before, const char *note)
{
	for (size_t i = 0; i < before; i++)
		for (size_t k = 0;
		     a->families[i].outcome.bucket < 3 && k < a->families[i].note_count; k++)
			if (!strcmp(a->families[i].notes[k], note))
				return true;
	return false;
}

/* Families that have this note, from `first` on: "a, b, c". NULL without memory; free it. */
static char *note_families(const struct analysis *a, size_t first, const char *note)
{
	char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	for (size_t i = first; out && i < a->family_count; i++)
		for (size_t k = 0; k < a->families[i].note_count; k++)
			if (!strcmp(a->families[i].notes[k], note))
				fprintf(out, "%s%s", i == first ? "" : ", ",
					a->families[i].record->name ? a->families[i].record->name
								    : "?");
	if (out)
		fclose(out);
	return list;
}

/* Notes on buckets 1 and 2, each once with the families that it is about. */
static void put_notes(const struct terminal *t, const struct analysis *a)
{
	const char *gap = "\n";

	for (size_t i = 0; i < a->family_count; i++) {
		const struct family_verdict *f = &a->families[i];

		for (size_t k = 0; f->outcome.bucket < 3 && k < f->note_count; k++) {
			_cleanup_free_ char *families = NULL, *line = NULL;

			if (note_printed(a, i, f->notes[k]))
				continue;
			families = note_families(a, i, f->notes[k]);
			line = families ? text_format("note: %s: %s", f->notes[k], families) : NULL;
			fputs(gap, t->out);
			gap = "";
			if (line)
				lines_wrap(t->out, 0, phrase_clean(line));
		}
	}
}

void report_head(const struct analysis *a, FILE *out, bool colour)
{
	struct terminal t = {.out = out, .colour = colour};

	put_head(&t, a);
}

void report_terminal(const struct analysis *a, FILE *out, bool colour)
{
	struct terminal t = {.out = out, .colour = colour};

	put_head(&t, a);
	put_table(&t, a);
	for (size_t i = 0; i < a->family_count; i++)
		if (a->families[i].outcome.bucket == 3)
			put_details(&t, a, &a->families[i]);
	put_notes(&t, a);
}
