/* SPDX-License-Identifier: MIT */
/* Cells and wrapped text of the terminal reports. */
#include "analyze/lines.h"

#include <string.h>

static int is_start(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static int columns_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += is_start(*text);
	return n;
}

/* Where the code point number n begins. */
static const char *at_column(const char *text, int n)
{
	for (; *text; text++)
		if (is_start(*text) && !n--)
			break;
	return text;
}

void lines_cell(FILE *out, const char *text, int width, enum lines_cut cut, int pad)
{
	int columns = columns_of(text), tail;

	if (columns <= width) {
		fprintf(out, "%s%*s", text, pad ? width - columns : 0, "");
		return;
	}
	tail = cut == LINES_CUT_MIDDLE ? (width - 1) * 3 / 5 : 0;
	fprintf(out, "%.*s…%s", (int)(at_column(text, width - 1 - tail) - text), text,
		at_column(text, columns - tail));
}

void lines_wrap(FILE *out, int indent, const char *text)
{
	const char *p = text;

	while (*p) {
		const char *end = p, *blank = NULL;
		int columns = 0;

		for (; *end && columns <= REPORT_COLUMNS - indent; end++) {
			if (*end == ' ')
				blank = end;
			columns += is_start(*end);
		}
		if (!*end && columns <= REPORT_COLUMNS - indent)
			blank = end;
		if (!blank) /* one long word: to the next blank, whole */
			blank = p + strcspn(p, " ");
		fprintf(out, "%*s%.*s\n", indent, "", (int)(blank - p), p);
		p = *blank ? blank + 1 : blank;
	}
}
