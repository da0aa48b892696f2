/* SPDX-License-Identifier: MIT */
/* A reviewed suite (ls --json) against a verdict: every kernel that it lists must have a result. */
#ifndef TOOLS_LISTED_H
#define TOOLS_LISTED_H

#include "analyze/analyze.h"
#include "tools/options.h"

/* Checks that the file is a suite. 0, or 2 after one line on stderr. */
int listed_check(const struct verb *verb, const char *path);

/*
 * Looks for each config of each listed family among the tested ones of the analysis, by entry name
 * and config key; says on stderr which are missing and why (the first few one by one). 0; 2 if one
 * is missing or the file cannot be read.
 */
int listed_report(const struct verb *verb, const char *path, const struct analysis *a);

#endif
