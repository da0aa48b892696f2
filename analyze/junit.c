/* SPDX-License-Identifier: MIT */
/* Results of a test run as pytest --junit-xml writes them: which tests passed and which did not. */
#include "analyze/junit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define FILE_MAX (64u << 20)

/* One tag or run of text; comments, CDATA and declarations are passed over. */
struct tag {
	const char *name;
	size_t name_length;
	const char *attributes, *end; /* end: its '>' */
	bool closes, empty;           /* </x>, <x/> */
};

/* Past one <!-- -->, <![CDATA[ ]]>, <? ?> or <! >; NULL where it does not end. */
static const char *skip_special(const char *p)
{
	static const struct {
		const char *from, *to;
	} forms[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}};

	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++)
		if (!strncmp(p, forms[i].from, strlen(forms[i].from))) {
			const char *end = strstr(p + strlen(forms[i].from), forms[i].to);

			return end ? end + strlen(forms[i].to) : NULL;
		}
	return p;
}

/* The '>' of a tag; quoted ones do not count. NULL where there is none. */
static const char *tag_end(const char *p)
{
	char quote = 0;

	for (; *p; p++) {
		if (quote)
			quote = *p == quote ? 0 : quote;
		else if (*p == '"' || *p == '\'')
			quote = *p;
		else if (*p == '>')
			return p;
	}
	return NULL;
}

/* The next tag from *at on, which moves behind it. 1: there is one; 0: the end; -EINVAL. */
static int next_tag(const char **at, struct tag *t)
{
	const char *p = *at;

	while ((p = strchr(p, '<')) && (p[1] == '!' || p[1] == '?')) {
		*at = p;
		p = skip_special(p);
		if (!p)
			return -EINVAL;
	}
	if (!p)
		return 0;
	*at = p;
	*t = (struct tag){.end = tag_end(p)};
	if (!t->end)
		return -EINVAL;
	t->closes = p[1] == '/';
	t->empty = t->end[-1] == '/';
	t->name = p + 1 + t->closes;
	t->name_length = strcspn(t->name, " \t\r\n/>");
	t->attributes = t->name + t->name_length;
	*at = t->end + 1;
	return 1;
}

static bool is_named(const struct tag *t, const char *name)
{
	return t->name_length == strlen(name) && !strncmp(t->name, name, t->name_length);
}

/* "&#9;" or "&#x9;": its length, 0 where it is none or no character below 128. */
static size_t character(const char *text, char *value)
{
	const char *digits;
	unsigned long v;
	size_t n;
	bool hex;

	if (strncmp(text, "&#", 2) != 0)
		return 0;
	hex = text[2] == 'x';
	digits = text + 2 + hex;
	n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
	if (!n || digits[n] != ';')
		return 0;
	v = strtoul(digits, NULL, hex ? 16 : 10);
	*value = (char)v;
	return v && v < 128 ? (size_t)(digits - text) + n + 1 : 0;
}

/* &amp; &lt; &gt; &quot; &apos; and characters below 128 by number, in place. */
static void unescape(char *text)
{
	static const struct {
		const char *name;
		char value;
	} known[] = {
		{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
	char *out = text;

	while (*text) {
		char value;
		size_t n = character(text, &value);

		for (size_t i = 0; !n && i < ARRAY_LENGTH(known); i++)
			if (!strncmp(text, known[i].name, strlen(known[i].name))) {
				value = known[i].value;
				n = strlen(known[i].name);
			}
		*out++ = n ? value : *text;
		text += n ? n : 1;
	}
	*out = '\0';
}

/* Value of an attribute; malloc'ed, "" where it is not there. NULL without memory. */
static char *attribute(const struct tag *t, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = t->attributes; p < t->end;) {
		size_t length;
		const char *value;

		p += strspn(p, " \t\r\n/");
		length = strcspn(p, "= \t\r\n/>");
		value = p + length + strspn(p + length, " \t\r\n=");
		if (p + length >= t->end || (*value != '"' && *value != '\''))
			break;
		const char *end = strchr(value + 1, *value);

		if (!end || end > t->end)
			break;
		if (length == n && !strncmp(p, name, n)) {
			char *text = strndup(value + 1, (size_t)(end - value - 1));

			if (text)
				unescape(text);
			return text;
		}
		p = end + 1;
	}
	return strdup("");
}

static int add_test(struct junit *j, const struct tag *t)
{
	_cleanup_free_ char *class = attribute(t, "classname"), *name = attribute(t, "name");
	char *text;

	if (!class || !name || array_reserve(&j->tests, j->count, &j->capacity, sizeof(*j->tests)))
		return -ENOMEM;
	text = text_format("%s%s%s", class, *class ? "::" : "", name);
	if (!text)
		return -ENOMEM;
	j->tests[j->count++] = (struct junit_test){.name = text};
	return 0;
}

static int parse(struct junit *j, const char *text, const char **at)
{
	struct junit_test *open = NULL;
	struct tag t;
	int r, e = 0;

	for (*at = text; !e && (r = next_tag(at, &t)) > 0;) {
		if (is_named(&t, "testcase") && !t.closes) {
			e = add_test(j, &t);
			open = e || t.empty ? NULL : &j->tests[j->count - 1];
		} else if (is_named(&t, "testcase")) {
			open = NULL;
		} else if (open && (is_named(&t, "failure") || is_named(&t, "error"))) {
			open->outcome = JUNIT_FAILED;
		} else if (open && is_named(&t, "skipped") && open->outcome == JUNIT_PASSED) {
			open->outcome = JUNIT_SKIPPED;
		}
	}
	return e ? e : r;
}

static int compare_tests(const void *x, const void *y)
{
	return strcmp(((const struct junit_test *)x)->name, ((const struct junit_test *)y)->name);
}

int junit_read(struct junit *j, const char *path, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	const char *at = NULL;
	size_t size;
	int e = file_read_all(path, FILE_MAX, &text, &size);

	*j = (struct junit){.path = path};
	if (e)
		return error_set(err, -e, ERROR_NO_OFFSET, "%s: %s", path, strerror(-e));
	e = parse(j, text, &at);
	if (!e && !j->count)
		e = error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: no <testcase> of a JUnit XML file",
			      path);
	else if (e == -EINVAL)
		error_set(err, EINVAL, (uint64_t)(at - text), "%s: no XML at offset %zu", path,
			  (size_t)(at - text));
	else if (e)
		error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	if (e) {
		junit_clear(j);
		return e;
	}
	qsort(j->tests, j->count, sizeof(*j->tests), compare_tests);
	for (size_t i = 0; i < j->count; i++)
		j->outcomes[j->tests[i].outcome]++;
	return 0;
}

void junit_clear(struct junit *j)
{
	for (size_t i = 0; i < j->count; i++)
		free(j->tests[i].name);
	free(j->tests);
	*j = (struct junit){0};
}

const struct junit_test *junit_find(const struct junit *j, const char *name)
{
	struct junit_test key = {.name = (char *)name};

	return j->count ? bsearch(&key, j->tests, j->count, sizeof(*j->tests), compare_tests)
			: NULL;
}
