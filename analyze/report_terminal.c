/* SPDX-License-Identifier: MIT */
/* The table on the terminal: verdict first, then one line a family, then what to look into. */
#include "analyze/report.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/phrase.h"
#include "lib/base.h"

#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define GREEN  "\033[32m"
#define BOLD   "\033[1m"
#define RESET  "\033[0m"

/* Width of the columns; with their gaps they fill REPORT_COLUMNS. */
enum {
	WIDTH_CONFIGS = 5,
	WIDTH_FAMILY = 27,
	WIDTH_CONFIG = 17,
	WIDTH_OUTPUT = 10,
	WIDTH_FIGURES = 30
};

_Static_assert(2 + 5 + WIDTH_CONFIGS + 1 + WIDTH_FAMILY + 1 + WIDTH_CONFIG + 1 + WIDTH_OUTPUT + 1 +
			       WIDTH_FIGURES <=
		       REPORT_COLUMNS,
	       "a line of the table fits");

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

/* Prints text in exactly `width` columns (a code point counts as one), cut with "…"; unpadded if <
 * 0. */
static void put_cell(const struct terminal *t, const char *text, int width)
{
	const char *p = text, *cut = text;
	int columns = 0;
	bool pad = width > 0;

	width = abs(width);
	for (; *p; p++) {
		if (((unsigned char)*p & 0xc0) == 0x80)
			continue;
		if (columns == width - 1)
			cut = p;
		if (++columns > width)
			break;
	}
	if (columns > width)
		fprintf(t->out, "%.*s…", (int)(cut - text), text);
	else
		fprintf(t->out, "%s%*s", text, pad ? width - columns : 0, "");
}

/* Wraps text at blanks into lines of REPORT_COLUMNS, each indented. */
static void put_wrapped(const struct terminal *t, int indent, const char *text)
{
	const char *p = text;

	while (*p) {
		const char *end = p, *blank = NULL;
		int columns = 0;

		for (; *end && columns <= REPORT_COLUMNS - indent; end++) {
			if (*end == ' ')
				blank = end;
			columns += ((unsigned char)*end & 0xc0) != 0x80;
		}
		if (!*end && columns <= REPORT_COLUMNS - indent)
			blank = end;
		if (!blank) /* one long word: to the next blank, whole */
			blank = p + strcspn(p, " ");
		fprintf(t->out, "%*s%.*s\n", indent, "", (int)(blank - p), p);
		p = *blank ? blank + 1 : blank;
	}
}

static void put_head(const struct terminal *t, const struct analysis *a)
{
	char text[PHRASE_BYTES], line[2 * PHRASE_BYTES];

	fprintf(t->out, "%sVerdict: %s%s\n", style(t, BOLD), phrase_counts(text, a),
		style(t, RESET));
	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		snprintf(line, sizeof(line), "%s: %s", side_name(s),
			 phrase_side(text, a->sides[s]));
		put_wrapped(t, 0, line);
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
		put_wrapped(t, 0, phrase_clean(line));
	}
	if (a->question_count)
		fprintf(t->out, "Open questions about the model (kernelab context):\n");
	for (size_t i = 0; i < a->question_count; i++) {
		snprintf(line, sizeof(line), "%.60s: %.800s", a->questions[i].name,
			 a->questions[i].text);
		put_wrapped(t, 2, phrase_clean(line));
	}
	fputc('\n', t->out);
}

static void put_row(const struct terminal *t, const struct family_verdict *f)
{
	const struct output_verdict *o = family_worst_output(f);
	bool differs = f->outcome.bucket > 1; /* of equal ones none is the worst */
	char text[PHRASE_BYTES];

	fprintf(t->out, "%s%d%s %-4s ", bucket_style(t, &f->outcome), f->outcome.bucket,
		style(t, RESET), rule_number(f->outcome.rule));
	snprintf(text, sizeof(text), "%" PRIu32 "/%" PRIu32, f->coverage.configs_tested,
		 f->coverage.configs);
	put_cell(t, text, WIDTH_CONFIGS);
	fputc(' ', t->out);
	snprintf(text, sizeof(text), "%s", f->record->name ? f->record->name : "?");
	put_cell(t, phrase_clean(text), WIDTH_FAMILY);
	fputc(' ', t->out);
	put_cell(t,
		 differs && f->worst_config < f->config_count
			 ? phrase_config_short(text, &f->configs[f->worst_config])
			 : "-",
		 WIDTH_CONFIG);
	fputc(' ', t->out);
	snprintf(text, sizeof(text), "%s", o && differs ? o->name : "-");
	put_cell(t, phrase_clean(text), WIDTH_OUTPUT);
	fputc(' ', t->out);
	put_cell(t, phrase_figures(text, f), -WIDTH_FIGURES);
	fputc('\n', t->out);
}

static void put_table(const struct terminal *t, const struct analysis *a)
{
	fprintf(t->out, "%sB %-4s ", style(t, BOLD), "rule");
	put_cell(t, "cfgs", WIDTH_CONFIGS + 1);
	put_cell(t, "family", WIDTH_FAMILY + 1);
	put_cell(t, "worst config", WIDTH_CONFIG + 1);
	put_cell(t, "output", WIDTH_OUTPUT + 1);
	put_cell(t, "figures", -WIDTH_FIGURES);
	fprintf(t->out, "%s\n", style(t, RESET));
	for (size_t i = 0; i < a->family_count; i++)
		put_row(t, &a->families[i]);
	fprintf(t->out, "B: bucket (1 bitwise, 2 small, 3 suspicious); rule: docs/numerics.md; "
			"cfgs: configs "
			"tested/known;\nw: num_warps, s: num_stages\n");
	if (analysis_provisional(a))
		fprintf(t->out, "Rules 9 and 9f: provisional limits, noise floor not measured yet "
				"(docs/numerics.md)\n");
}

static void put_coverage(const struct terminal *t, const struct family_verdict *f)
{
	const struct family_coverage *c = &f->coverage;

	fprintf(t->out,
		"  tested: %" PRIu32 " of %" PRIu32 " configs, %" PRIu32 " of %" PRIu32
		" shape classes, %" PRIu32 " of %" PRIu32 " launches",
		c->configs_tested, c->configs, c->classes_tested, c->classes, c->tested, c->cases);
	if (c->nondeterministic)
		fprintf(t->out, ", %" PRIu32 " nondeterministic", c->nondeterministic);
	if (c->unfaithful)
		fprintf(t->out, ", %" PRIu32 " unfaithful", c->unfaithful);
	fputc('\n', t->out);
}

static void put_details(const struct terminal *t, const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);
	char text[PHRASE_BYTES], line[2 * PHRASE_BYTES];

	snprintf(text, sizeof(text), "%.300s", f->record->name ? f->record->name : "?");
	fprintf(t->out, "\n%s%s%s", bucket_style(t, &f->outcome), phrase_clean(text),
		style(t, RESET));
	fprintf(t->out, " (%s)\n", phrase_origin(text, f->record));
	snprintf(line, sizeof(line), "%s%s %s: %s", f->outcome.unproven ? "" : "rule ",
		 f->outcome.unproven ? "" : rule_number(f->outcome.rule),
		 rule_name(f->outcome.rule), f->outcome.evidence);
	phrase_clean(line);
	put_wrapped(t, 2, line + strspn(line, " "));
	phrase_place(line, f);
	if (*line)
		put_wrapped(t, 2, line);
	if (c && c->record->params && *c->record->params) {
		snprintf(line, sizeof(line), "launched with %.900s", c->record->params);
		put_wrapped(t, 2, phrase_clean(line));
	}
	put_coverage(t, f);
	for (size_t i = 0; i < f->note_count; i++) {
		snprintf(line, sizeof(line), "note: %.900s", f->notes[i]);
		put_wrapped(t, 2, phrase_clean(line));
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
				put_wrapped(t, 0, phrase_clean(line));
		}
	}
}

void report_terminal(const struct analysis *a, FILE *out, bool colour)
{
	struct terminal t = {.out = out, .colour = colour};

	put_head(&t, a);
	put_table(&t, a);
	for (size_t i = 0; i < a->family_count; i++)
		if (a->families[i].outcome.bucket == 3)
			put_details(&t, &a->families[i]);
	put_notes(&t, a);
}
