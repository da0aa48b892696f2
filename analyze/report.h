/* SPDX-License-Identifier: MIT */
/* Verdicts for people and programs: terminal, JSON, Markdown, HTML. */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include <regex.h>
#include <stdio.h>

#include "analyze/analyze.h"
#include "analyze/lines.h"

/*
 * All write to `out` and leave it open; the caller checks ferror. Contents of bundles are
 * trusted nowhere: control characters are shown as '?'. Threads: any, one stream each.
 */

/* Verdict first, one line a family (at most REPORT_COLUMNS wide), then what concerns bucket 3. */
void report_terminal(const struct analysis *a, FILE *out, bool colour);

void report_head(const struct analysis *a, FILE *out, bool colour); /* its first lines alone */

/*
 * The whole chain of evidence of the families whose name matches: every rule with what it looked
 * at, its figure, its limit and whether it fired; of every output of the worst launch, the worst
 * first, and a line a config. *explained: how many matched. 0 or -ENOMEM.
 */
int report_explain(const struct analysis *a, const regex_t *names, FILE *out, size_t *explained);

/* docs/report.schema.json ("kernelab-verdict/1"), keys in a fixed order. 0 or -ENOMEM. */
int report_json(const struct analysis *a, FILE *out);

/* A comment for a pull request: bucket 1 folded away, details of the worst `details` families. */
void report_markdown(const struct analysis *a, FILE *out, size_t details);

/*
 * One self-contained page: table, matrix, and every family with its evidence and pictures. Reads
 * the outputs of families that differ once more, one at a time. 0 or -ENOMEM.
 */
int report_html(const struct analysis *a, FILE *out);

#endif
