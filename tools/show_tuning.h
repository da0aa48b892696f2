/* SPDX-License-Identifier: MIT */
/* What the Python glue noted of Triton's autotuner: configs, those left out, winners. */
#ifndef TOOLS_SHOW_TUNING_H
#define TOOLS_SHOW_TUNING_H

#include <stdio.h>

#include "lib/image/suite.h"

/*
 * Prints the notes about the family's function (same name and file) in all bundles of the suite;
 * nothing where there are none. A line that is no note is told as unreadable. 0 or -ENOMEM.
 */
int show_tuning(FILE *f, const struct suite *s, const struct suite_family *k);

#endif
