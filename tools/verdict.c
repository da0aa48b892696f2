/* SPDX-License-Identifier: MIT */
/* What analyze and diff share: report options, running the analysis, exit status. */
#include "tools/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/analyze.h"
#include "analyze/baseline.h"
#include "analyze/document.h"
#include "analyze/policy.h"
#include "analyze/report.h"
#include "analyze/since.h"
#include "lib/base.h"
#include "lib/log.h"
#include "tools/listed.h"

#define MARKDOWN_DETAILS                                                        \
	20 /* families with details: GitHub cuts a comment at 65,536 characters \
	    */

enum { FILE_JSON, FILE_MARKDOWN, FILE_HTML, FILE_BASELINE };

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int file_open(const struct verb *verb, struct verdict_file *f, const char *path)
{
	struct stat st;

	f->path = path;
	if (!path)
		return 0;
	if (is_stdout(path)) {
		f->stream = stdout;
		return 0;
	}
	/* Not after hours of replay, when the report is to take this name. */
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		log_error("%s: %s: %s", verb->name, path, strerror(EISDIR));
		return 2;
	}
	/* A device or a pipe is written to, never replaced: rename would put a file at /dev/null.
	 */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		f->stream = fopen(path, "we");
	} else {
		f->temporary = text_format("%s.%ld.tmp", path, (long)getpid());
		f->stream = f->temporary ? fopen(f->temporary, "wx") : NULL;
	}
	if (f->stream)
		return 0;
	log_error("%s: %s: %s", verb->name, path, strerror(errno));
	free(steal_pointer(f->temporary));
	return 2;
}

/* Puts a whole report under its name; 2 if it could not be written. */
static int file_finish(const struct verb *verb, struct verdict_file *f, int error)
{
	bool bad = error || ferror(f->stream);

	if (f->stream == stdout)
		bad |= fflush(stdout) != 0;
	else
		bad |= fclose(f->stream) != 0 ||
		       (f->temporary && rename(f->temporary, f->path) != 0);
	if (bad)
		log_error("%s: cannot write %s: %s", verb->name,
			  is_stdout(f->path) ? "standard output" : f->path,
			  strerror(error ? -error : errno));
	if (bad && f->temporary)
		unlink(f->temporary);
	free(steal_pointer(f->temporary));
	f->stream = NULL;
	return bad ? 2 : 0;
}

void verdict_abandon(struct verdict_options *v)
{
	if (v->explain_compiled)
		regfree(&v->explained);
	v->explain_compiled = false;
	shape_rules_free(&v->shapes);
	option_texts_free(&v->shape);
	for (size_t i = 0; i < ARRAY_LENGTH(v->files); i++) {
		struct verdict_file *f = &v->files[i];

		if (f->stream && f->stream != stdout) {
			fclose(f->stream);
			if (f->temporary)
				unlink(f->temporary);
		}
		free(steal_pointer(f->temporary));
		f->stream = NULL;
	}
}

static int compile_explain(const struct verb *verb, struct verdict_options *v)
{
	char why[128];
	int e = regcomp(&v->explained, v->explain, REG_EXTENDED | REG_NOSUB);

	if (!e) {
		v->explain_compiled = true;
		return 0;
	}
	regerror(e, &v->explained, why, sizeof(why));
	log_error("%s: --explain %s: %s", verb->name, v->explain, why);
	return 2;
}

/* Before a long replay: files that are wrong. The policy holds from here on. */
static int read_inputs(const struct verb *verb, const struct verdict_options *v)
{
	json_t *document = NULL;
	struct error err;
	int e = 0;

	if (v->policy)
		e = policy_apply(v->policy, &err);
	if (!e && v->baseline)
		e = document_load(&document, v->baseline, "baseline", BASELINE_VERSION, &err);
	json_decref(document);
	document = NULL;
	for (uint32_t s = 0; !e && s < SIDE_COUNT; s++) {
		struct junit unused;

		if (!v->junit[s])
			continue;
		e = junit_read(&unused, v->junit[s], &err);
		junit_clear(&unused);
	}
	if (!e && v->since)
		e = document_load(&document, v->since, "schema", "kernelab-verdict/1", &err);
	json_decref(document);
	if (e)
		log_error("%s: %s", verb->name, err.message);
	return e ? 2 : 0;
}

static int read_shapes(const struct verb *verb, struct verdict_options *v)
{
	struct error err;

	if (!shape_rules_parse(&v->shapes, v->shape.items, v->shape.count, &err))
		return 0;
	log_error("%s: %s", verb->name, err.message);
	return 2;
}

int verdict_prepare(const struct verb *verb, struct verdict_options *v)
{
	const char *const paths[] = {[FILE_JSON] = v->json,
				     [FILE_MARKDOWN] = v->markdown,
				     [FILE_HTML] = v->html,
				     [FILE_BASELINE] = v->write_baseline};
	unsigned on_stdout = 0;

	if (v->fail_on < 1 || v->fail_on > 3) {
		log_error("%s: --fail-on %" PRIu64 ": must be 1, 2 or 3", verb->name, v->fail_on);
		return 2;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(paths); i++)
		on_stdout += is_stdout(paths[i]);
	if (on_stdout > 1) {
		log_error("%s: only one report can be standard output", verb->name);
		return 2;
	}
	if (v->explain && on_stdout) {
		log_error("%s: --explain and a report cannot both be standard output", verb->name);
		return 2;
	}
	if ((v->suite && listed_check(verb, v->suite)) || read_inputs(verb, v) ||
	    read_shapes(verb, v) || (v->explain && compile_explain(verb, v)))
		return 2;
	for (size_t i = 0; i < ARRAY_LENGTH(paths); i++)
		if (file_open(verb, &v->files[i], paths[i])) {
			verdict_abandon(v);
			return 2;
		}
	return 0;
}

/* Counts on a terminal, at most one line that is overwritten. */
static void show_progress(void *data, size_t done, size_t total)
{
	fprintf(stderr, "\ranalyzing: %zu of %zu configs%s", done, total,
		done == total ? "\r\033[K" : "");
}

static bool want_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) &&
	       !(term && !strcmp(term, "dumb"));
}

/* In place of the table; 2 where no family is meant. */
static int explain(const struct verb *verb, struct verdict_options *v, const struct analysis *a)
{
	size_t explained;

	report_head(a, stdout, want_colour());
	if (report_explain(a, &v->explained, stdout, &explained)) {
		log_error("%s: out of memory", verb->name);
		return 2;
	}
	if (explained)
		return 0;
	log_error("%s: --explain %s: no family matches", verb->name, v->explain);
	return 2;
}

static bool reports_on_stdout(const struct verdict_options *v)
{
	return is_stdout(v->json) || is_stdout(v->markdown) || is_stdout(v->html) ||
	       is_stdout(v->write_baseline);
}

static int write_reports(const struct verb *verb, struct verdict_options *v,
			 const struct analysis *a)
{
	struct verdict_file *json = &v->files[FILE_JSON], *markdown = &v->files[FILE_MARKDOWN];
	struct verdict_file *html = &v->files[FILE_HTML];
	int status = 0;

	if (!reports_on_stdout(v)) {
		struct verdict_file terminal = {.path = "-", .stream = stdout};

		if (v->explain)
			status |= explain(verb, v, a);
		else
			report_terminal(a, stdout, want_colour());
		status |= file_finish(verb, &terminal, 0);
	}
	if (json->stream)
		status |= file_finish(verb, json, report_json(a, json->stream));
	if (markdown->stream) {
		report_markdown(a, markdown->stream, MARKDOWN_DETAILS);
		status |= file_finish(verb, markdown, 0);
	}
	if (v->files[FILE_BASELINE].stream)
		status |= file_finish(verb, &v->files[FILE_BASELINE],
				      baseline_write(a, (int)v->fail_on,
						     v->files[FILE_BASELINE].stream));
	if (html->stream)
		status |= file_finish(verb, html, report_html(a, html->stream));
	return status;
}

/* Baseline and earlier report, onto a finished analysis. */
static int apply_inputs(const struct verb *verb, const struct verdict_options *v,
			struct analysis *a)
{
	struct error err;
	char today[11];
	int e = 0;

	a->policy = v->policy;
	if (v->baseline)
		e = baseline_apply(a, v->baseline, baseline_today(today), &err);
	if (!e && v->since)
		e = since_apply(a, v->since, &err);
	for (uint32_t s = 0; !e && s < SIDE_COUNT; s++)
		if (v->junit[s])
			e = junit_read(&a->tests[s], v->junit[s], &err);
	if (e)
		log_error("%s: %s", verb->name, err.message);
	return e ? 2 : 0;
}

int verdict_analyze(const struct verb *verb, struct verdict_options *v, char *const *results,
		    size_t count, struct analysis **out)
{
	struct error err;

	for (size_t i = 0; i < v->shapes.count; i++) /* a second analysis counts anew */
		v->shapes.items[i].seen = v->shapes.items[i].fits = 0;
	if (!analysis_run_shaped(out, results, count, v->shapes.count ? &v->shapes : NULL,
				 isatty(STDERR_FILENO) ? show_progress : NULL, NULL, &err))
		return 0;
	log_error("%s: %s", verb->name, err.message);
	return 2;
}

int verdict_report(const struct verb *verb, struct verdict_options *v, char *const *results,
		   size_t count)
{
	struct analysis *a;

	if (!verdict_analyze(verb, v, results, count, &a))
		return verdict_finish(verb, v, a);
	verdict_abandon(v);
	return 2;
}

int verdict_finish(const struct verb *verb, struct verdict_options *v, struct analysis *a)
{
	int status = apply_inputs(verb, v, a);

	if (status) {
		analysis_free(a);
		verdict_abandon(v);
		return status;
	}
	status = write_reports(verb, v, a);
	for (size_t i = 0; i < a->incomplete_count; i++)
		log_warning("%s: %s", verb->name, a->incomplete[i]);
	if (a->incomplete_count || (v->suite && listed_report(verb, v->suite, a)))
		status = 2;
	if (!status && analysis_at_least(a, (int)v->fail_on))
		status = 1;
	analysis_free(a);
	verdict_abandon(v);
	return status;
}
