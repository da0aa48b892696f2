/* SPDX-License-Identifier: MIT */
/* Recovers and hashes PTX text. */
#include "lib/image/ptx_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

char *ptx_recover(const char *section, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i++)
		text[i] = section[i] ? section[i] : '\n';
	text[size] = 0;
	return text;
}

struct scan {
	const char *text;
	size_t size, at;
	char *out;
	size_t used;
	bool space; /* blank space stands before the next byte */
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '.' || c == '%';
}

static bool here(const struct scan *s, const char *word)
{
	size_t n = strlen(word);

	return s->size - s->at >= n && !memcmp(s->text + s->at, word, n);
}

/* A whole word, not the beginning of a longer one. */
static bool word_here(const struct scan *s, const char *word)
{
	size_t n = strlen(word);

	return here(s, word) && (s->at + n == s->size || !word_char(s->text[s->at + n])) &&
	       (!s->at || !word_char(s->text[s->at - 1]));
}

/* Blank space counts only between two words; elsewhere printers differ in it. */
static void emit(struct scan *s, char c)
{
	if (s->space && s->used && word_char(c) && word_char(s->out[s->used - 1]))
		s->out[s->used++] = ' ';
	s->space = false;
	s->out[s->used++] = c;
}

static void skip_line(struct scan *s)
{
	while (s->at < s->size && s->text[s->at] != '\n')
		s->at++;
	s->space = true;
}

static bool skip_comment(struct scan *s)
{
	if (here(s, "//")) {
		skip_line(s);
		return true;
	}
	if (!here(s, "/*"))
		return false;
	s->at += 2;
	while (s->at < s->size && !here(s, "*/"))
		s->at++;
	s->at = s->size - s->at > 2 ? s->at + 2 : s->size;
	s->space = true;
	return true;
}

static void copy_string(struct scan *s)
{
	do {
		emit(s, s->text[s->at++]);
	} while (s->at < s->size && s->text[s->at] != '"' && s->text[s->at] != '\n');
	if (s->at < s->size && s->text[s->at] == '"')
		emit(s, s->text[s->at++]);
}

/* .section name { … }: nothing but debug information stands in sections. */
static void skip_section(struct scan *s)
{
	while (s->at < s->size && s->text[s->at] != '{') {
		if (!skip_comment(s))
			s->at++;
	}
	while (s->at < s->size && s->text[s->at] != '}') {
		if (!skip_comment(s))
			s->at++;
	}
	s->at += s->at < s->size;
	s->space = true;
}

/* $L__tmp12: and the like, with the colon. */
static bool skip_label(struct scan *s)
{
	static const char *const labels[] = {"$L__tmp", "$L__func_begin", "$L__func_end"};

	for (size_t i = 0; i < ARRAY_LENGTH(labels); i++) {
		size_t at = s->at + strlen(labels[i]);

		if (!here(s, labels[i]) || (s->at && word_char(s->text[s->at - 1])))
			continue;
		while (at < s->size && s->text[at] >= '0' && s->text[at] <= '9')
			at++;
		if (at == s->size || s->text[at] != ':')
			return false;
		s->at = at + 1;
		s->space = true;
		return true;
	}
	return false;
}

/* assertFile_0[81] = {47, …}: the path of the source, as Triton lowers a device assert. */
static bool skip_assert_file(struct scan *s)
{
	size_t at = s->at + strlen("assertFile_");

	if (!here(s, "assertFile_") || (s->at && word_char(s->text[s->at - 1])))
		return false;
	while (at < s->size && s->text[at] >= '0' && s->text[at] <= '9')
		at++;
	if (at == s->size || s->text[at] != '[')
		return false;
	while (at < s->size && s->text[at] != ';')
		at++;
	s->at = at;
	return true;
}

struct hash128 ptx_canonical_hash(const char *ptx, size_t size)
{
	struct scan s = {.text = ptx, .size = size, .out = malloc(2 * size + 1)};
	struct hash128 hash = {0};

	if (!s.out)
		return hash;
	while (s.at < s.size) {
		char c = s.text[s.at];

		if (blank(c) || !c) {
			s.space = true;
			s.at++;
		} else if (c == '/' && skip_comment(&s)) {
			continue;
		} else if (c == '"') {
			copy_string(&s);
		} else if (c == '.' && (word_here(&s, ".loc") || word_here(&s, ".file") ||
					word_here(&s, ".version"))) {
			skip_line(&s);
		} else if (c == '.' && word_here(&s, ".section")) {
			skip_section(&s);
		} else if ((c != '$' || !skip_label(&s)) && (c != 'a' || !skip_assert_file(&s))) {
			emit(&s, c);
			s.at++;
		}
	}
	hash = hash_bytes(s.out, s.used);
	free(s.out);
	return hash;
}
