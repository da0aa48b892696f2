/* SPDX-License-Identifier: MIT */
/* A family's scope in words, with what outputs, types, trials and places tell besides. */
#ifndef ANALYZE_SCOPE_TEXT_H
#define ANALYZE_SCOPE_TEXT_H

#include "analyze/trait.h"

/* Sets outputs, types, trials, place and text of f->scope, whose counts and clauses stand. 0 or
 * -ENOMEM. */
int scope_text(const struct analysis *a, struct family_verdict *f, const struct traits *t);

#endif
