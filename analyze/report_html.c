/* SPDX-License-Identifier: MIT */
/* The HTML report: one file that needs nothing else. */
#include "analyze/report.h"

#include <errno.h>

#include "analyze/html/page.h"
#include "analyze/phrase.h"
#include "analyze/remark.h"
#include "analyze/thresholds.h"
#include "lib/base.h"

static int put_side(FILE *out, const struct analysis *a, uint32_t side)
{
	char text[PHRASE_BYTES];
	int e;

	fprintf(out, "<dt>%s<dd>", side_name(side));
	e = html_text(out, phrase_side(text, a->sides[side]));
	if (!e && phrase_made_by(a->sides[side])) {
		fputs("<br>", out);
		snprintf(text, sizeof(text), "%s", phrase_made_by(a->sides[side]));
		e = html_text(out, phrase_clean(text));
	}
	fputc('\n', out);
	return e;
}

/* A boxed list of what the reader must know before any figure. */
static int put_incomplete(FILE *out, const struct analysis *a)
{
	int e = 0;

	if (!a->incomplete_count)
		return 0;
	fputs("<div class=\"warning\" role=\"alert\"><strong>Incomplete.</strong><ul>\n", out);
	for (size_t i = 0; !e && i < a->incomplete_count; i++) {
		fputs("<li>", out);
		e = html_text(out, a->incomplete[i]);
	}
	fputs("</ul></div>\n", out);
	return e;
}

static int put_questions(FILE *out, const struct analysis *a)
{
	int e = 0;

	if (!a->question_count)
		return 0;
	fputs("<details class=\"questions\" open><summary>Open questions about the "
	      "model</summary><dl>\n",
	      out);
	for (size_t i = 0; !e && i < a->question_count; i++) {
		fputs("<dt>", out);
		e = html_text(out, a->questions[i].name);
		fputs("<dd>", out);
		if (!e)
			e = html_text(out, a->questions[i].text);
	}
	fputs("</dl></details>\n", out);
	return e;
}

/* Lines and whether one could not be written. */
struct remark_list {
	FILE *out;
	int error;
};

static void put_remark(void *data, int level, const char *text)
{
	struct remark_list *list = data;

	fprintf(list->out, "<li class=\"level%d\">", level);
	if (html_text(list->out, text))
		list->error = -ENOMEM;
	fputc('\n', list->out);
}

static int put_remarks(FILE *out, const struct analysis *a)
{
	struct remark_list list = {.out = out};
	int e;

	fputs("<ul class=\"remarks\">\n", out);
	e = remarks(a, put_remark, &list);
	fputs("</ul>\n", out);
	return e ? e : list.error;
}

static int put_head(FILE *out, const struct analysis *a)
{
	char text[PHRASE_BYTES];
	int e;

	fputs("<header><h1>", out);
	e = html_text(out, phrase_counts(text, a));
	fputs("</h1>\n", out);
	if (!e)
		e = put_incomplete(out, a);
	fputs("<dl class=\"head\">\n", out);
	for (uint32_t s = 0; !e && s < SIDE_COUNT; s++)
		e = put_side(out, a, s);
	fputs("<dt>Replayed on<dd>", out);
	if (!e)
		e = html_text(out, a->device);
	if (a->mark)
		fputs(" <strong class=\"mark\">", out);
	if (!e && a->mark)
		e = html_format(out, "%s: every verdict below is about PTX, not about machine code",
				a->mark);
	if (a->mark)
		fputs("</strong>", out);
	for (size_t i = 0; !e && i < a->result_count; i++) {
		fputs("<dt>Result<dd>", out);
		e = html_text(out, a->results_temporary
					   ? "not kept (kernelab diff -o FILE keeps it)"
					   : a->results[i]->path);
	}
	fputs("</dl>\n", out);
	if (!e)
		e = put_remarks(out, a);
	if (!e)
		e = put_questions(out, a);
	if (analysis_provisional(a))
		fputs("<p class=\"hint\">Rules 9m and 9f rest on provisional limits: the noise "
		      "floor "
		      "was not measured (docs/numerics.md).</p>\n",
		      out);
	fputs("</header>\n", out);
	return e;
}

static int put_thresholds(FILE *out)
{
	int e = 0;

	fputs("<details class=\"thresholds\"><summary>Thresholds</summary><div "
	      "class=\"wide\"><table>"
	      "<thead><tr><th scope=\"col\">Name<th scope=\"col\">Value<th "
	      "scope=\"col\">Reason</tr>"
	      "</thead><tbody>\n",
	      out);
	for (int i = 0; !e && i < THRESHOLD_COUNT; i++) {
		const struct threshold_row *t = threshold_row((enum threshold)i);

		fprintf(out, "<tr><td>%s<td>%.6g<td>%s", t->name, threshold((enum threshold)i),
			t->provisional ? "(provisional) " : "");
		e = html_text(out, t->reason);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div></details>\n", out);
	return e;
}

int report_html(const struct analysis *a, FILE *out)
{
	char text[PHRASE_BYTES];
	int e;

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"generator\" content=\"kernelab " KERNELAB_VERSION "\">\n<title>",
	      out);
	e = html_format(out, "kernelab: %s", phrase_counts(text, a));
	fprintf(out, "</title>\n<style>\n%s</style></head><body>\n", html_style);
	if (!e)
		e = put_head(out, a);
	fputs("<main>\n", out);
	if (!e)
		e = html_table(out, a);
	if (!e)
		e = html_matrix(out, a);
	fputs("<section id=\"details\"><h2>Family by family</h2>\n", out);
	for (size_t i = 0; !e && i < a->family_count; i++)
		e = html_family(out, a, i);
	fputs("</section>\n", out);
	if (!e)
		e = put_thresholds(out);
	fprintf(out, "</main>\n<script>\n%s</script></body></html>\n", html_script);
	return e;
}
