/* SPDX-License-Identifier: MIT */
/* Escaping: everything that comes from a bundle passes through here. */
#include "analyze/html/page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/phrase.h"
#include "lib/base.h"

/* A clean copy of text; NULL without memory. Free it. */
static char *clean_copy(const char *text)
{
	char *copy = strdup(text);

	return copy ? phrase_clean(copy) : NULL;
}

int html_text(FILE *out, const char *text)
{
	_cleanup_free_ char *copy = text ? clean_copy(text) : NULL;

	if (!text)
		return 0;
	if (!copy)
		return -ENOMEM;
	for (const char *p = copy; *p; p++) {
		switch (*p) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*p, out);
		}
	}
	return 0;
}

int html_format(FILE *out, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return html_text(out, text);
}

/* Beside JSON's own, <, > and & are written as \u…: "</script>" cannot appear. */
int html_json_text(FILE *out, const char *text)
{
	_cleanup_free_ char *copy = clean_copy(text ? text : "");

	if (!copy)
		return -ENOMEM;
	fputc('"', out);
	for (const char *p = copy; *p; p++) {
		if (strchr("\"\\<>&", *p))
			fprintf(out, "\\u%04x", (unsigned)*p);
		else
			fputc(*p, out);
	}
	fputc('"', out);
	return 0;
}

const char *html_bucket_class(const struct outcome *o)
{
	static const char *const classes[] = {"bucket b0", "bucket b1", "bucket b2", "bucket b3"};

	if (o->bucket == 3 && o->unproven)
		return "bucket unproven";
	return o->bucket >= 0 && o->bucket <= 3 ? classes[o->bucket] : "bucket";
}

const char *html_bucket_words(const struct outcome *o)
{
	static const char *const words[] = {"untested", "1 bitwise", "2 small", "3 suspicious"};

	if (o->bucket == 3 && o->unproven)
		return "3 unproven";
	return o->bucket >= 0 && o->bucket <= 3 ? words[o->bucket] : "?";
}
