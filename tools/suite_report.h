/* SPDX-License-Identifier: MIT */
/* The kernel suite as text, CSV, Markdown and JSON. */
#ifndef TOOLS_SUITE_REPORT_H
#define TOOLS_SUITE_REPORT_H

#include <stdio.h>

#include "tools/capture_set.h"

/*
 * Each writes all of it; 0 or -ENOMEM; errors of the stream are the caller's to see (ferror). Names
 * come from bundles: control characters and bytes that are no UTF-8 are shown as '?'.
 */

/* For a terminal: what was captured, one family a paragraph, what was not recorded. */
int suite_report_text(FILE *f, const struct capture_set *set);
/* The same as Markdown tables. */
int suite_report_markdown(FILE *f, const struct capture_set *set);
/* One line a config (RFC 4180), with a head line. */
int suite_report_csv(FILE *f, const struct capture_set *set);
/* docs/suite.schema.json. */
int suite_report_json(FILE *f, const struct capture_set *set);

/* "A *bf16, M i32": a descriptor's own sizes and strides are left out. malloc'ed; NULL without
 * memory. */
char *suite_signature(const struct record_arg *args, size_t count);

/* A copy that is fit for a terminal; malloc'ed; NULL without memory. */
char *suite_clean(const char *text);

#endif
