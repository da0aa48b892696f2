/* SPDX-License-Identifier: MIT */
/* Verdicts as a comment for a pull request: GitHub's Markdown, names escaped. */
#include "analyze/report.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/phrase.h"
#include "analyze/remark.h"

/* Text in running Markdown or a table cell: nothing in it is markup. */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>#|~&@", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* Text in a code span: backticks would end it, a bar would end a table cell. */
static void put_code(FILE *out, const char *text)
{
	fputc('`', out);
	for (; *text; text++)
		fputc(*text == '`' ? '\'' : *text == '|' ? '/' : *text, out);
	fputc('`', out);
}

static void put_name(FILE *out, const struct analysis *a, const struct family_verdict *f)
{
	char name[PHRASE_BYTES];

	put_code(out, phrase_family(name, a, f));
}

/* Headings as items of the head's list, what is below them as items of theirs. */
static void put_remark(void *data, int level, const char *text)
{
	FILE *out = data;

	fputs(level ? "  - " : "- ", out);
	put_text(out, text);
	fputc('\n', out);
}

static void put_head(FILE *out, const struct analysis *a)
{
	char text[2 * PHRASE_BYTES];

	fprintf(out, "## kernelab: %s\n\n", phrase_counts(text, a));
	for (uint32_t s = 0; s < SIDE_COUNT; s++) {
		fprintf(out, "- **%s**: ", side_name(s));
		put_text(out, phrase_side(text, a->sides[s]));
		if (phrase_made_by(a->sides[s])) {
			snprintf(text, sizeof(text), "%s", phrase_made_by(a->sides[s]));
			fputs("; ", out);
			put_text(out, phrase_clean(text));
		}
		fputc('\n', out);
	}
	snprintf(text, sizeof(text), "replayed on %.200s%s%.300s", a->device, a->mark ? "; " : "",
		 a->mark ? a->mark : "");
	fputs("- ", out);
	put_text(out, phrase_clean(text));
	fputc('\n', out);
	for (size_t i = 0; i < a->incomplete_count; i++) {
		snprintf(text, sizeof(text), "%.900s", a->incomplete[i]);
		fputs("- **INCOMPLETE** ", out);
		put_text(out, phrase_clean(text));
		fputc('\n', out);
	}
	for (size_t i = 0; i < a->question_count; i++) {
		snprintf(text, sizeof(text), "%.900s", a->questions[i].text);
		fputs("- open question: ", out);
		put_text(out, phrase_clean(text));
		fputc('\n', out);
	}
	remarks(a, put_remark, out);
	fputc('\n', out);
}

static void put_table_head(FILE *out)
{
	fputs("| bucket | rule | configs tested | family | worst config | output | figures |\n"
	      "|---|---|---|---|---|---|---|\n",
	      out);
}

static void put_row(FILE *out, const struct analysis *a, const struct family_verdict *f)
{
	const struct output_verdict *o = family_worst_output(f);
	char text[PHRASE_BYTES];

	fprintf(out, "| %d%s | %s%s | %" PRIu32 "/%" PRIu32 " | ", f->outcome.bucket,
		f->outcome.unproven ? " unproven" : "", phrase_rule(text, f),
		f->outcome.provisional ? " (provisional)" : "", f->coverage.configs_tested,
		f->coverage.configs);
	put_name(out, a, f);
	fputs(" | ", out);
	put_text(out, f->worst_config < f->config_count
			      ? phrase_config(text, &f->configs[f->worst_config])
			      : "-");
	fputs(" | ", out);
	snprintf(text, sizeof(text), "%s", o ? o->name : "-");
	put_text(out, phrase_clean(text));
	fputs(" | ", out);
	put_text(out, phrase_figures(text, f));
	fputs(" |\n", out);
}

static void put_named(FILE *out, const char *name, const char *text)
{
	if (!text)
		return;
	fprintf(out, "- %s: ", name);
	put_text(out, text);
	fputc('\n', out);
}

static void put_details(FILE *out, const struct analysis *a, const struct family_verdict *f)
{
	const struct case_verdict *c = family_worst_case(f);
	char text[2 * PHRASE_BYTES];

	fputs("\n**", out);
	put_name(out, a, f);
	fputs("** ", out);
	put_text(out, phrase_origin(text, f->record));
	fputs("  \n", out);
	snprintf(text, sizeof(text), "%s", f->outcome.evidence);
	put_text(out, phrase_clean(text));
	phrase_place(text, f);
	if (*text) {
		fputs(" (", out);
		put_text(out, text);
		fputs(")", out);
	}
	fputc('\n', out);
	put_named(out, "scope", f->scope.text);
	put_named(out, "stage", f->stage.text);
	for (size_t i = 0; i < f->note_count; i++) {
		snprintf(text, sizeof(text), "%.900s", f->notes[i]);
		fputs("- ", out);
		put_text(out, phrase_clean(text));
		fputc('\n', out);
	}
	if (!c || !c->record->repro || !*c->record->repro)
		return;
	fputs("\n    ", out); /* an indented block needs no fence that a name could end */
	for (const char *p = c->record->repro; *p; p++)
		fputc((unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p, out);
	fputc('\n', out);
}

void report_markdown(const struct analysis *a, FILE *out, size_t details)
{
	size_t shown = 0, equal = a->buckets[1], i;

	put_head(out, a);
	if (equal < a->family_count) {
		put_table_head(out);
		for (i = 0; i < a->family_count && a->families[i].outcome.bucket > 1; i++)
			put_row(out, a, &a->families[i]);
	}
	for (i = 0; i < a->family_count && a->families[i].outcome.bucket == 3; i++)
		if (shown++ < details)
			put_details(out, a, &a->families[i]);
	if (shown > details)
		fprintf(out,
			"\nDetails of %zu more suspicious families: see the table and the JSON "
			"report.\n",
			shown - details);
	if (analysis_provisional(a))
		fputs("\nRules 9m and 9f rest on provisional limits: the noise floor was not "
		      "measured"
		      ".\n",
		      out);
	if (!equal)
		return;
	fprintf(out, "\n<details><summary>%zu bitwise equal</summary>\n\n", equal);
	put_table_head(out);
	for (i = a->family_count - equal; i < a->family_count; i++)
		put_row(out, a, &a->families[i]);
	fputs("\n</details>\n", out);
}
