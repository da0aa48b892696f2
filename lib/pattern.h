/* SPDX-License-Identifier: MIT */
/* Extended regular expressions that match one text. */
#ifndef LIB_PATTERN_H
#define LIB_PATTERN_H

#include <stdio.h>

/* Writes the text with a backslash before every character that means something else than itself. */
void pattern_put(FILE *out, const char *text);

#endif
