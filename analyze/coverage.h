/* SPDX-License-Identifier: MIT */
/* What a family's verdict rests on: counts of what was tested, and notes on what was not. */
#ifndef ANALYZE_COVERAGE_H
#define ANALYZE_COVERAGE_H

#include "analyze/analyze.h"

/* Fills f->coverage and f->notes from its configs and cases. 0 or -ENOMEM. */
int family_cover(struct family_verdict *f);

/* Adds a note (printf-like). 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) int family_note(struct family_verdict *f, const char *format,
						      ...);

#endif
