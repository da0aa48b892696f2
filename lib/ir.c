/* SPDX-License-Identifier: MIT */
/* Reading MLIR text: strings, brackets and locations. */
#include "lib/ir.h"

#include <string.h>

/* Locations nest a few deep in practice; the budget bounds rings and bushes of aliases. */
#define LOCATION_BUDGET 512u
#define BRACKET_DEPTH   256u

bool ir_identifier_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '.' || c == '-';
}

bool ir_begins(const struct ir *ir, size_t at, const char *word)
{
	size_t n = strlen(word);

	return at <= ir->size && n <= ir->size - at && !memcmp(ir->text + at, word, n);
}

void ir_skip_space(struct ir *ir)
{
	while (!ir_end(ir) && strchr(" \t\r\n", ir->text[ir->at]) && ir->text[ir->at])
		ir->at++;
}

bool ir_take(struct ir *ir, const char *word)
{
	size_t start = ir->at;

	ir_skip_space(ir);
	if (!ir_begins(ir, ir->at, word)) {
		ir->at = start;
		return false;
	}
	ir->at += strlen(word);
	return true;
}

bool ir_string(struct ir *ir, struct span *content)
{
	if (ir_peek(ir) != '"')
		return false;
	for (size_t i = ir->at + 1; i < ir->size; i++) {
		if (ir->text[i] == '\\') {
			i++;
		} else if (ir->text[i] == '"') {
			if (content)
				*content = (struct span){ir->text + ir->at + 1, i - ir->at - 1};
			ir->at = i + 1;
			return true;
		}
	}
	return false;
}

static char closing(char open)
{
	switch (open) {
	case '(':
		return ')';
	case '[':
		return ']';
	case '{':
		return '}';
	case '<':
		return '>';
	}
	return 0;
}

/*
 * Comparisons are spelled out in MLIR ("slt"), so '<' is a bracket wherever it stands outside a
 * string; only "->" holds a '>' that is none.
 */
bool ir_bracket(struct ir *ir)
{
	char stack[BRACKET_DEPTH];
	size_t depth = 0, start = ir->at;

	while (!ir_end(ir)) {
		char c = ir->text[ir->at];

		if (c == '"') {
			if (!ir_string(ir, NULL))
				break;
			continue;
		}
		if (closing(c)) {
			if (depth == BRACKET_DEPTH)
				break;
			stack[depth++] = closing(c);
		} else if (depth && c == stack[depth - 1] &&
			   !(c == '>' && ir->text[ir->at - 1] == '-')) {
			depth--;
		}
		ir->at++;
		if (!depth)
			return ir->at > start + 1;
	}
	ir->at = start;
	return false;
}

static bool location_body(struct ir *ir, struct ir_place *place, uint32_t *budget);

/* Cursor on '#': a named location; its definition "#name = loc(…)" starts a line. */
static bool location_alias(struct ir *ir, struct ir_place *place, uint32_t *budget)
{
	size_t start = ir->at, n;
	const char *line = ir->text, *end = ir->text + ir->size;

	ir->at++;
	while (ir_identifier_char(ir_peek(ir)))
		ir->at++;
	n = ir->at - start;
	if (n < 2)
		return false;
	while (line && (size_t)(end - line) > n) {
		struct ir there = {ir->text, ir->size, (size_t)(line - ir->text) + n};

		if (line[0] == '#' && !memcmp(line, ir->text + start, n) && ir_take(&there, "=") &&
		    ir_take(&there, "loc(")) {
			(void)location_body(&there, place,
					    budget); /* a bad one is an unknown one */
			return true;
		}
		line = memchr(line, '\n', (size_t)(end - line));
		if (line)
			line++;
	}
	return true; /* an alias without definition: unknown, but still a location */
}

static uint32_t number(struct ir *ir)
{
	uint64_t v = 0;

	while (ir_peek(ir) >= '0' && ir_peek(ir) <= '9') {
		v = v * 10 + (uint64_t)(ir_peek(ir) - '0');
		if (v > UINT32_MAX)
			v = UINT32_MAX;
		ir->at++;
	}
	return (uint32_t)v;
}

/* "file":line:column, or a range of them; or "name", "name"(location). */
static bool location_text(struct ir *ir, struct ir_place *place, uint32_t *budget)
{
	struct span text;

	if (!ir_string(ir, &text))
		return false;
	if (ir_peek(ir) == ':') {
		ir->at++;
		if (!place->file.data) {
			place->file = text;
			place->line = number(ir);
		}
		return true;
	}
	if (!place->name.data)
		place->name = text;
	if (ir_peek(ir) == '(') {
		struct ir inner = *ir;

		inner.at++;
		if (!location_body(&inner, place, budget))
			return false;
		return ir_bracket(ir);
	}
	return true;
}

/* fused<attribute>[location, …]: the first that is known. */
static bool location_fused(struct ir *ir, struct ir_place *place, uint32_t *budget)
{
	struct ir inner;

	ir_skip_space(ir);
	if (ir_peek(ir) == '<' && !ir_bracket(ir))
		return false;
	ir_skip_space(ir);
	inner = *ir;
	if (ir_peek(ir) != '[' || !ir_bracket(ir))
		return false;
	inner.size = ir->at - 1; /* aliases were defined outside: see location_body */
	inner.at++;
	while (inner.at < inner.size && !place->file.data) {
		struct ir one = {ir->text, ir->size, inner.at};

		if (!location_body(&one, place, budget))
			return false;
		inner.at = one.at;
		while (inner.at < inner.size && ir_peek(&inner) != ',') {
			if (closing(ir_peek(&inner)) ? !ir_bracket(&inner) : (inner.at++, false))
				return false;
		}
		inner.at++;
	}
	return true;
}

/* What stands inside loc(…), up to but not including the closing bracket. */
static bool location_body(struct ir *ir, struct ir_place *place, uint32_t *budget)
{
	if (!*budget)
		return false;
	(*budget)--;
	ir_skip_space(ir);
	if (ir_peek(ir) == '#')
		return location_alias(ir, place, budget);
	if (ir_peek(ir) == '"')
		return location_text(ir, place, budget);
	if (ir_take(ir, "unknown"))
		return true;
	if (ir_take(ir, "loc(")) /* older printers nest the word */
		return location_body(ir, place, budget);
	if (ir_take(ir, "callsite("))
		return location_body(ir, place, budget);
	if (ir_take(ir, "fused"))
		return location_fused(ir, place, budget);
	return false;
}

bool ir_location(struct ir *ir, struct ir_place *place)
{
	uint32_t budget = LOCATION_BUDGET;
	struct ir_place found = {0};
	struct ir inner = *ir;
	size_t start = ir->at;

	if (!ir_take(ir, "loc"))
		return false;
	inner.at = ir->at + 1;
	if (ir_peek(ir) != '(' || !location_body(&inner, &found, &budget) || !ir_bracket(ir)) {
		ir->at = start;
		return false;
	}
	*place = found;
	return true;
}
