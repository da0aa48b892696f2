/* SPDX-License-Identifier: MIT */
/* What policy, baseline, an earlier report, coverage and tests have to say: lines for every report.
 */
#ifndef ANALYZE_REMARK_H
#define ANALYZE_REMARK_H

#include "analyze/analyze.h"

/* Called with one cleaned line without newline; level 0 is a heading, 1 an item below it. */
typedef void remark_line(void *data, int level, const char *text);

/* Every line, in order; none where no such file was given. 0 or -ENOMEM. */
int remarks(const struct analysis *a, remark_line *line, void *data);

#endif
