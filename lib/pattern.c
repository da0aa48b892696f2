/* SPDX-License-Identifier: MIT */
/* Extended regular expressions that match one text. */
#include "lib/pattern.h"

#include <string.h>

void pattern_put(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr(".[]()*+?{}|^$\\", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}
