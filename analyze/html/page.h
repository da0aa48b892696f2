/* SPDX-License-Identifier: MIT */
/* Parts of the HTML report, one function a part of the page. */
#ifndef ANALYZE_HTML_PAGE_H
#define ANALYZE_HTML_PAGE_H

#include <stdio.h>

#include "analyze/analyze.h"
#include "analyze/picture.h"

/* Style and script of the page, from style.css and page.js; static storage. */
extern const char html_style[], html_script[];

/*
 * Around what page.js puts in its place after the first paint, or when it is looked at. To a
 * browser that runs scripts <noscript> is one text, without a node for each of its elements; to one
 * that does not it is markup like any other. None may stand within another.
 */
#define HTML_LATER_BEGIN "<noscript class=\"later\">"
#define HTML_LATER_END   "</noscript>"

/*
 * Writes text with what has a meaning in HTML escaped, in text and in double-quoted attributes;
 * control characters and what is no UTF-8 become '?'. NULL: nothing. 0 or -ENOMEM.
 */
int html_text(FILE *out, const char *text);

/* The same for a printf-like text. */
__attribute__((format(printf, 2, 3))) int html_format(FILE *out, const char *format, ...);

/* A JSON string, quotes included, that is safe within a <script> element. 0 or -ENOMEM. */
int html_json_text(FILE *out, const char *text);

/* "bucket b3 unproven" and "3 unproven": class names and words of an outcome. Static storage. */
const char *html_bucket_class(const struct outcome *o);
const char *html_bucket_words(const struct outcome *o);

/* Table of families, and which config of which family did how. 0 or -ENOMEM. */
int html_table(FILE *out, const struct analysis *a);
int html_matrix(FILE *out, const struct analysis *a);

/* Everything about family `index`, its pictures' data included. 0 or -ENOMEM. */
int html_family(FILE *out, const struct analysis *a, size_t index);

/* <script type="application/json"> of one picture. 0 or -ENOMEM. */
int html_picture(FILE *out, const struct output_verdict *o, const struct picture *p);

#endif
