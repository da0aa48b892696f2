/* SPDX-License-Identifier: MIT */
/* What analyze and diff share: report options, running the analysis, exit status. */
#ifndef TOOLS_VERDICT_H
#define TOOLS_VERDICT_H

#include <regex.h>
#include <stdio.h>

#include "analyze/analyze.h"
#include "analyze/shape_rule.h"
#include "tools/options.h"

/* One report: "-" is standard output; a file appears under its name when it is whole. */
struct verdict_file {
	const char *path; /* as given; NULL: not wanted */
	char *temporary;
	FILE *stream;
};

struct verdict_options {
	const char *json, *markdown, *html, *explain;
	const char *junit[SIDE_COUNT];
	const char *policy, *baseline, *write_baseline, *since, *suite;
	uint64_t fail_on;          /* 1 … 3 */
	struct option_texts shape; /* --shape */
	struct shape_rules shapes; /* compiled by verdict_prepare */
	struct verdict_file files[4];
	regex_t explained; /* compiled by verdict_prepare where explain is given */
	bool explain_compiled;
};

#define VERDICT_OPTIONS_DEFAULT \
	{                       \
		.fail_on = 3    \
	}

/* Rows for options_parse; v is a struct verdict_options. */
// clang-format off
#define VERDICT_OPTION_ROWS(v)                                                                     \
	{OPTION_TEXT, "json", 0, "FILE",                                                           \
	 "write the verdict as JSON (docs/report.schema.json); - is standard output", &(v).json},  \
	{OPTION_TEXT, "markdown", 0, "FILE",                                                       \
	 "write it as Markdown for a pull request; - is standard output", &(v).markdown},          \
	{OPTION_TEXT, "html", 0, "FILE",                                                           \
	 "write it as one HTML page with pictures; - is standard output", &(v).html},              \
	{OPTION_TEXT, "explain", 0, "REGEX",                                                       \
	 "print the whole chain of evidence of the families it matches", &(v).explain},            \
	{OPTION_TEXTS, "shape", 0, "KERNEL.ARG=MxN",                                               \
	 "rows and columns of an output, e.g. matmul.c=500x300 or matmul.c=*x300", &(v).shape},     \
	{OPTION_TEXT, "a-junit", 0, "FILE",                                                        \
	 "outcomes of existing tests under A, as pytest --junit-xml writes them",                  \
	 &(v).junit[SIDE_A]},                                                                      \
	{OPTION_TEXT, "b-junit", 0, "FILE", "the same under B", &(v).junit[SIDE_B]},               \
	{OPTION_TEXT, "policy", 0, "FILE",                                                         \
	 "take thresholds from FILE (docs/report.md)", &(v).policy},                               \
	{OPTION_TEXT, "baseline", 0, "FILE",                                                       \
	 "accept the differences that FILE lists: they do not count for --fail-on",                \
	 &(v).baseline},                                                                           \
	{OPTION_TEXT, "write-baseline", 0, "FILE",                                                 \
	 "write a baseline that accepts what --fail-on would fail on; - is standard output",       \
	 &(v).write_baseline},                                                                     \
	{OPTION_TEXT, "since", 0, "FILE",                                                          \
	 "compare with the JSON report of an earlier run: what is new, worse, better, gone",       \
	 &(v).since},                                                                              \
	{OPTION_TEXT, "suite", 0, "FILE",                                                          \
	 "a reviewed kernelab ls --json: exit with status 2 if a kernel of it has no result",      \
	 &(v).suite},                                                                              \
	{OPTION_COUNT, "fail-on", 0, "N",                                                          \
	 "exit with status 1 if a family is in bucket N or above: 1, 2 or 3 (default)",            \
	 &(v).fail_on}
// clang-format on

/*
 * Checks the options and opens the reports, before any work is done. 0, or 2 after one line on
 * stderr. Then either verdict_report or verdict_abandon must follow.
 */
int verdict_prepare(const struct verb *verb, struct verdict_options *v);

/*
 * Analyzes the results, prints the table on standard output (unless a report goes there) and writes
 * the reports. Exit status: 0 nothing at or above fail_on, 1 something, 2 it could not do its work,
 * or not all of it (what is missing stands in the reports).
 */
int verdict_report(const struct verb *verb, struct verdict_options *v, char *const *results,
		   size_t count);

/* Its first half: analysis of the results, with progress on a terminal. 0, or 2 after one line on
 * stderr; verdict_abandon stays to be called. */
int verdict_analyze(const struct verb *verb, struct verdict_options *v, char *const *results,
		    size_t count, struct analysis **out);
/* Its second half; frees the analysis. */
int verdict_finish(const struct verb *verb, struct verdict_options *v, struct analysis *a);

/* Removes what verdict_prepare opened, frees what options hold. May be called again. */
void verdict_abandon(struct verdict_options *v);

#endif
