/* SPDX-License-Identifier: MIT */
/* Differences that were accepted earlier, by family and rule, until a day. */
#ifndef ANALYZE_BASELINE_H
#define ANALYZE_BASELINE_H

#include <stdio.h>

#include "analyze/analyze.h"

#define BASELINE_VERSION "kernelab-baseline/1"

/* A difference may grow to this many times the severity it was accepted with. */
#define BASELINE_GROWTH 1.5

/*
 * Marks the families whose verdict the file at path accepts, sets a->baseline, counts a->accepted,
 * and lists in a->baseline_notes entries that have expired (day `today`, "2027-01-31", is after
 * theirs), that match no family, or whose family is worse than what was accepted. An entry
 * accepts a family with its key (or, without a key, its name) if bucket and rule are the same and
 * severity has not grown beyond BASELINE_GROWTH. 0, or -errno with err that names the file and
 * entry.
 */
int baseline_apply(struct analysis *a, const char *path, const char *today, struct error *err);

/* Writes a baseline that accepts every family in bucket `level` or above. 0 or -ENOMEM. */
int baseline_write(const struct analysis *a, int level, FILE *out);

/* Today's UTC date as "2027-01-31" into out (11 bytes); returns out. */
char *baseline_today(char out[11]);

#endif
