/* SPDX-License-Identifier: MIT */
/* What the head of a suite says of one capture: versions and how they were found, ptxas, questions.
 */
#ifndef TOOLS_SUITE_HEAD_H
#define TOOLS_SUITE_HEAD_H

#include <stddef.h>

#include "lib/image/suite.h"

/* One line "name: value (how)". Strings are malloc'ed or static as told. */
struct head_line {
	const char *name; /* static, or of the bundle */
	char *value;      /* malloc'ed */
	const char *how;  /* static, or of the bundle; "" */
};

struct head {
	struct head_line *lines;
	size_t count, capacity;
	const char **open; /* names of the context's open questions */
	size_t open_count;
};

/* Collects for bundle `index` of s; 0 or -ENOMEM. head_free frees, also after a failure. */
int head_make(struct head *h, const struct suite *s, size_t index);
void head_free(struct head *h);

#endif
