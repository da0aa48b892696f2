/* SPDX-License-Identifier: MIT */
/* Lines of at most REPORT_COLUMNS columns: cells and wrapped text. A code point is a column. */
#ifndef ANALYZE_LINES_H
#define ANALYZE_LINES_H

#include <stdio.h>

#define REPORT_COLUMNS 100

enum lines_cut {
	LINES_CUT_END,   /* "triton_per_fused_add_na…" */
	LINES_CUT_MIDDLE /* "triton_per_…backward_20": the tail is what tells names apart */
};

/* text in `width` columns, cut where it is longer, padded where `pad`. */
void lines_cell(FILE *out, const char *text, int width, enum lines_cut cut, int pad);

/* Wraps text at blanks, each line indented; one long word stays whole. */
void lines_wrap(FILE *out, int indent, const char *text);

#endif
