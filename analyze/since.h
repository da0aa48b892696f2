/* SPDX-License-Identifier: MIT */
/* What has changed since an earlier verdict. */
#ifndef ANALYZE_SINCE_H
#define ANALYZE_SINCE_H

#include "analyze/analyze.h"

/*
 * Reads the JSON report of an earlier analyze or diff ("kernelab-verdict/1"), and sets of every
 * family what it was then (family_verdict.before), and a->since. A family is found by its key, or,
 * if its source has moved, by its name where that is the only one on both sides. 0, or -errno with
 * err that names the file.
 */
int since_apply(struct analysis *a, const char *path, struct error *err);

/* Negative: better now, positive: worse now, 0: in the same bucket. f->before.known must hold. */
int since_compare(const struct family_verdict *f);

#endif
