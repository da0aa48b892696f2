/* SPDX-License-Identifier: MIT */
/* The table of families, and the matrix of families and configs. */
#include "analyze/html/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/phrase.h"
#include "analyze/timing.h"
#include "lib/base.h"

#define MATRIX_COLUMNS 48 /* with more distinct configs than this, cells stand without columns */

static const char *const columns[] = {"Bucket",       "Rule",     "Family",
				      "Worst config", "Output",   "What differs",
				      "Configs",      "Launches", "Time B/A"};

static int put_row(FILE *out, const struct analysis *a, size_t index)
{
	const struct family_verdict *f = &a->families[index];
	const struct output_verdict *o = family_worst_output(f);
	bool differs = f->outcome.bucket > 1;
	struct timing t = family_timing(f);
	char text[PHRASE_BYTES];
	int e;

	fprintf(out,
		"<tr class=\"%s\" data-bucket=\"%d%s\"><td data-sort=\"%zu\"><span class=\"%s\">%s"
		"</span><td>%s<td class=\"name\"><a href=\"#f%zu\">",
		f->outcome.unproven ? "row unproven" : "row", f->outcome.bucket,
		f->outcome.unproven ? "u" : "", index, html_bucket_class(&f->outcome),
		html_bucket_words(&f->outcome), phrase_rule(text, f), index);
	e = html_text(out, phrase_family(text, a, f));
	fputs("</a><td>", out);
	if (!e && differs && f->worst_config < f->config_count)
		e = html_text(out, phrase_config(text, &f->configs[f->worst_config]));
	fputs("<td>", out);
	if (!e && o && differs)
		e = html_text(out, o->name);
	fputs("<td>", out);
	if (!e)
		e = html_text(out, phrase_figures(text, f));
	fprintf(out,
		"<td data-sort=\"%" PRIu32 "\">%" PRIu32 " of %" PRIu32 "<td data-sort=\"%" PRIu32
		"\">%" PRIu32 " of %" PRIu32,
		f->coverage.configs_tested, f->coverage.configs_tested, f->coverage.configs,
		f->coverage.tested, f->coverage.tested, f->coverage.cases);
	if (t.launches && !a->mark) /* the software device's times mean nothing */
		fprintf(out, "<td data-sort=\"%.4f\">%.2f</tr>\n", timing_ratio(&t),
			timing_ratio(&t));
	else
		fputs("<td data-sort=\"-1\">–</tr>\n", out);
	return e;
}

static void put_filter(FILE *out, const char *value, const char *class, const char *words, size_t n)
{
	fprintf(out,
		"<button type=\"button\" class=\"filter\" data-bucket=\"%s\" aria-pressed=\"true\">"
		"<span class=\"bucket %s\">%s</span> %zu</button>\n",
		value, class, words, n);
}

int html_table(FILE *out, const struct analysis *a)
{
	int e = 0;

	fputs("<section id=\"families\"><h2>Families</h2>\n<div class=\"controls\">"
	      "<label>Filter <input type=\"search\" id=\"filter\" placeholder=\"name, rule, "
	      "config, "
	      "output\"></label>\n",
	      out);
	put_filter(out, "3", "b3", "3 suspicious", a->buckets[3] - a->unproven);
	put_filter(out, "3u", "unproven", "3 unproven", a->unproven);
	put_filter(out, "2", "b2", "2 small", a->buckets[2]);
	put_filter(out, "1", "b1", "1 bitwise", a->buckets[1]);
	fputs("<output id=\"shown\"></output></div>\n<div class=\"wide\"><table "
	      "id=\"table\"><thead>"
	      "<tr>",
	      out);
	for (size_t i = 0; i < ARRAY_LENGTH(columns); i++)
		fprintf(out, "<th scope=\"col\"%s><button type=\"button\">%s</button>",
			i ? "" : " aria-sort=\"ascending\"", columns[i]);
	fputs("</tr></thead><tbody>\n", out);
	for (size_t i = 0; !e && i < a->family_count; i++)
		e = put_row(out, a, i);
	fputs("</tbody></table></div></section>\n", out);
	return e;
}

static int compare_texts(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *options_of(const struct config_verdict *c)
{
	return c->record->options && *c->record->options ? c->record->options : "?";
}

/* Distinct options over all families, sorted. NULL without memory; free the array. */
static const char **distinct_options(const struct analysis *a, size_t *count)
{
	const char **list;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < a->family_count; i++)
		n += a->families[i].config_count;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return NULL;
	n = 0;
	for (size_t i = 0; i < a->family_count; i++)
		for (size_t k = 0; k < a->families[i].config_count; k++)
			list[n++] = options_of(&a->families[i].configs[k]);
	qsort(list, n, sizeof(*list), compare_texts);
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(list[kept - 1], list[i]))
			list[kept++] = list[i];
	*count = kept;
	return list;
}

static int put_cell(FILE *out, size_t family, size_t index, const struct config_verdict *c)
{
	char text[PHRASE_BYTES];
	int e;

	fprintf(out, "<a class=\"%s\" href=\"#f%zuc%zu\" title=\"", html_bucket_class(&c->outcome),
		family, index);
	e = html_text(out, phrase_config(text, c));
	if (!e)
		e = html_format(out, ": %s, %s", html_bucket_words(&c->outcome),
				rule_name(c->outcome.rule));
	if (c->outcome.bucket)
		fprintf(out, "\">%d%s</a>", c->outcome.bucket, c->outcome.unproven ? "?" : "");
	else
		fputs("\">·</a>", out);
	return e;
}

/* Worse specialisations of a config (argument divisibility) stand side by side in one cell. */
static int put_matrix_row(FILE *out, const struct analysis *a, size_t index,
			  const char *const *options, size_t option_count)
{
	const struct family_verdict *f = &a->families[index];
	char text[PHRASE_BYTES];
	int e;

	fprintf(out, "<tr><th scope=\"row\" class=\"name\"><a href=\"#f%zu\">", index);
	e = html_text(out, phrase_family(text, a, f));
	fputs("</a>", out);
	for (size_t k = 0; !e && k < option_count; k++) {
		fputs("<td>", out);
		for (size_t i = 0; !e && i < f->config_count; i++)
			if (!strcmp(options_of(&f->configs[i]), options[k]))
				e = put_cell(out, index, i, &f->configs[i]);
	}
	if (!option_count) {
		fputs("<td>", out);
		for (size_t i = 0; !e && i < f->config_count; i++)
			e = put_cell(out, index, i, &f->configs[i]);
	}
	fputs("</tr>\n", out);
	return e;
}

int html_matrix(FILE *out, const struct analysis *a)
{
	_cleanup_free_ const char **options = NULL;
	char text[PHRASE_BYTES];
	size_t count;
	int e = 0;

	options = distinct_options(a, &count);
	if (!options)
		return -ENOMEM;
	if (count > MATRIX_COLUMNS)
		count = 0;
	fputs("<section id=\"matrix\"><h2>Configs of each family</h2>\n<p class=\"hint\">One cell "
	      "a "
	      "config: 1 bitwise, 2 small, 3 suspicious, 3? unproven, · untested; w: num_warps, s: "
	      "num_stages, 64x32: shape of its tiles, BLOCK=64: constexpr, where "
	      "recorded.</p>" HTML_LATER_BEGIN "<div class=\"wide\"><table class=\"matrix\">",
	      out);
	if (count)
		fputs("<thead><tr><td>", out);
	for (size_t k = 0; !e && k < count; k++) {
		fputs("<th scope=\"col\"><span>", out);
		e = html_text(out, phrase_options_short(text, options[k]));
		fputs("</span>", out);
	}
	fputs(count ? "</tr></thead><tbody>\n" : "<tbody>\n", out);
	for (size_t i = 0; !e && i < a->family_count; i++)
		e = put_matrix_row(out, a, i, options, count);
	fputs("</tbody></table></div>" HTML_LATER_END "</section>\n", out);
	return e;
}
