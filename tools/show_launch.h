/* SPDX-License-Identifier: MIT */
/* One recorded launch in words: geometry, parameters by name, memory, what it changed. */
#ifndef TOOLS_SHOW_LAUNCH_H
#define TOOLS_SHOW_LAUNCH_H

#include <stdio.h>

#include "lib/image/suite.h"

/* Writes launch l of member m, recorded in b. 0 or -ENOMEM; never any contents of memory. */
int show_launch(FILE *f, const struct bundle *b, const struct suite_member *m,
		const struct record_launch *l);

#endif
