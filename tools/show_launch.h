/* SPDX-License-Identifier: MIT */
/* One recorded launch in words: geometry, parameters by name, memory, what it changed. */
#ifndef TOOLS_SHOW_LAUNCH_H
#define TOOLS_SHOW_LAUNCH_H

#include <stdio.h>

#include "lib/image/suite.h"

/* Writes launch l of member m, recorded in b. 0 or -ENOMEM; never any contents of memory. */
int show_launch(FILE *f, const struct bundle *b, const struct suite_member *m,
		const struct record_launch *l);

/*
 * Writes " M=64 n=7": the integer scalars of a launch, what a shape class is made of besides the
 * grid. Names come from the bundle as they are. Nothing without metadata.
 */
void show_scalars(FILE *f, const struct suite_member *m, const struct record_launch *l);

#endif
