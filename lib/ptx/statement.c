/* SPDX-License-Identifier: MIT */
/* Cuts PTX text into statements and their operands. */
#include "lib/ptx/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool name_begin(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool name_char(char c)
{
	return name_begin(c) || digit(c);
}

char *ptx_without_comments(const char *text, size_t size)
{
	char *out = malloc(size + 1);
	enum { CODE, STRING, LINE, BLOCK } state = CODE;

	if (!out)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		char c = text[i] ? text[i] : '\n', next = i + 1 < size ? text[i + 1] : 0;

		out[i] = c;
		if (state == CODE && c == '/' && (next == '/' || next == '*')) {
			state = next == '/' ? LINE : BLOCK;
			out[i++] = ' ';
			out[i] = ' ';
		} else if (state == LINE && c == '\n') {
			state = CODE;
		} else if (state == BLOCK && c == '*' && next == '/') {
			state = CODE;
			out[i++] = ' ';
			out[i] = ' ';
		} else if (state == LINE || state == BLOCK) {
			out[i] = c == '\n' ? c : ' ';
		} else if (c == '"') {
			state = state == STRING ? CODE : STRING;
		} else if (c == '\n') {
			state = CODE; /* a string ends with its line */
		}
	}
	out[size] = 0;
	return out;
}

/* ---- pieces ---- */

bool piece_is(struct piece p, const char *word)
{
	return p.size == strlen(word) && !memcmp(p.at, word, p.size);
}

bool piece_equal(struct piece a, struct piece b)
{
	return a.size == b.size && !memcmp(a.at, b.at, a.size);
}

struct piece piece_trim(struct piece p)
{
	while (p.size && blank(*p.at)) {
		p.at++;
		p.size--;
	}
	while (p.size && blank(p.at[p.size - 1]))
		p.size--;
	return p;
}

bool opcode_begins(const struct statement *s, const char *words)
{
	size_t n = strlen(words);

	return s->opcode.size >= n && !memcmp(s->opcode.at, words, n) &&
	       (s->opcode.size == n || s->opcode.at[n] == '.');
}

bool opcode_is(const struct statement *s, const char *base)
{
	return opcode_begins(s, base);
}

bool opcode_has(const struct statement *s, const char *modifier)
{
	size_t n = strlen(modifier);

	for (size_t i = 0; i + n < s->opcode.size; i++)
		if (s->opcode.at[i] == '.' && !memcmp(s->opcode.at + i + 1, modifier, n) &&
		    (i + 1 + n == s->opcode.size || s->opcode.at[i + 1 + n] == '.'))
			return true;
	return false;
}

struct piece name_next(struct piece p, size_t *at)
{
	size_t i = *at, start;

	while (i < p.size && !name_begin(p.at[i])) {
		/* A number with its letters (0x10, 0f3F800000), or a suffix (%tid.x). */
		if (digit(p.at[i]) || p.at[i] == '.')
			for (i++; i < p.size && name_char(p.at[i]);)
				i++;
		else
			i++;
	}
	start = i;
	while (i < p.size && name_char(p.at[i]))
		i++;
	*at = i;
	return (struct piece){p.at + start, i - start};
}

/* ---- statements ---- */

static void skip_blank(struct statement_cursor *c)
{
	while (c->at < c->size && blank(c->text[c->at]))
		c->at++;
}

static bool word_here(const struct statement_cursor *c, const char *word)
{
	size_t n = strlen(word);

	return c->size - c->at >= n && !memcmp(c->text + c->at, word, n) &&
	       (c->at + n == c->size || !name_char(c->text[c->at + n]));
}

static void to_line_end(struct statement_cursor *c)
{
	while (c->at < c->size && c->text[c->at] != '\n')
		c->at++;
}

/* Up to behind the character, which must come. */
static int to(struct statement_cursor *c, char end)
{
	while (c->at < c->size && c->text[c->at] != end)
		c->at++;
	if (c->at == c->size)
		return -EBADMSG;
	c->at++;
	return 0;
}

static int directive(struct statement_cursor *c, struct statement *s)
{
	static const char *const lines[] = {".version", ".target", ".address_size"};
	bool quoted = false;

	if (word_here(c, ".loc") || word_here(c, ".file")) {
		s->kind = STATEMENT_DEBUG;
		to_line_end(c);
		return 0;
	}
	if (word_here(c, ".section")) {
		s->kind = STATEMENT_DEBUG;
		return to(c, '{') < 0 ? -EBADMSG : to(c, '}');
	}
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		if (!word_here(c, lines[i]))
			continue;
		s->kind = STATEMENT_LINE;
		to_line_end(c);
		return 0;
	}
	s->kind = STATEMENT_DECLARATION;
	for (; c->at < c->size; c->at++) {
		char x = c->text[c->at];

		if (x == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		if (x == '.' && (word_here(c, ".entry") || word_here(c, ".func")))
			s->kind = STATEMENT_FUNCTION;
		if (x == '{' && s->kind == STATEMENT_FUNCTION)
			return 0; /* the brace is a statement of its own */
		if (x == ';') {
			c->at++;
			return 0;
		}
	}
	return -EBADMSG;
}

static int split_operands(struct statement *s, struct piece p)
{
	size_t start = 0;
	int depth = 0;

	p = piece_trim(p);
	for (size_t i = 0; i <= p.size && p.size; i++) {
		char x = i < p.size ? p.at[i] : ',';

		depth += x == '{' || x == '[' || x == '(';
		depth -= x == '}' || x == ']' || x == ')';
		if (x != ',' || (depth && i < p.size))
			continue;
		if (depth || s->operand_count == PTX_OPERANDS_MAX)
			return -EBADMSG;
		s->operands[s->operand_count++] =
			piece_trim((struct piece){p.at + start, i - start});
		start = i + 1;
	}
	return 0;
}

static int instruction(struct statement_cursor *c, struct statement *s)
{
	size_t begin, end;
	int r;

	s->kind = STATEMENT_INSTRUCTION;
	if (c->text[c->at] == '@') {
		c->at++;
		skip_blank(c);
		s->negated = c->at < c->size && c->text[c->at] == '!';
		c->at += s->negated;
		skip_blank(c);
		begin = c->at;
		while (c->at < c->size && name_char(c->text[c->at]))
			c->at++;
		s->guard = (struct piece){c->text + begin, c->at - begin};
		if (!s->guard.size)
			return -EBADMSG;
		skip_blank(c);
	}
	begin = c->at;
	while (c->at < c->size && !blank(c->text[c->at]) && c->text[c->at] != ';')
		c->at++;
	s->opcode = (struct piece){c->text + begin, c->at - begin};
	begin = c->at;
	r = s->opcode.size ? to(c, ';') : -EBADMSG;
	end = c->at;
	return r < 0 ? r : split_operands(s, (struct piece){c->text + begin, end - 1 - begin});
}

static int label_or_instruction(struct statement_cursor *c, struct statement *s)
{
	size_t i = c->at;

	if (name_begin(c->text[i])) {
		while (i < c->size && name_char(c->text[i]))
			i++;
		while (i < c->size && blank(c->text[i]))
			i++;
		if (i < c->size && c->text[i] == ':') {
			s->kind = STATEMENT_LABEL;
			c->at = i + 1;
			return 0;
		}
	} else if (c->text[i] != '@') {
		return -EBADMSG;
	}
	return instruction(c, s);
}

int statement_next(struct statement_cursor *c, struct statement *s)
{
	size_t start;
	int r = 0;

	*s = (struct statement){.kind = STATEMENT_END};
	skip_blank(c);
	start = c->at;
	if (c->at == c->size)
		return 0;
	if (c->text[c->at] == '{' || c->text[c->at] == '}') {
		s->kind = c->text[c->at] == '{' ? STATEMENT_OPEN : STATEMENT_CLOSE;
		c->at++;
	} else if (c->text[c->at] == '.') {
		r = directive(c, s);
	} else {
		r = label_or_instruction(c, s);
	}
	s->text = (struct piece){c->text + start, c->at - start};
	return r;
}
