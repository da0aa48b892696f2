/* SPDX-License-Identifier: MIT */
/* A cursor over MLIR text: strings, brackets, locations. Just what metadata needs; no IR is built.
 */
#ifndef LIB_IR_H
#define LIB_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a longer text; not NUL-terminated. */
struct span {
	const char *data;
	size_t size;
};

struct ir {
	const char *text;
	size_t size;
	size_t at; /* next byte, <= size */
};

static inline bool ir_end(const struct ir *ir)
{
	return ir->at >= ir->size;
}

/* The byte at the cursor; 0 at the end. */
static inline char ir_peek(const struct ir *ir)
{
	return ir->at < ir->size ? ir->text[ir->at] : 0;
}

/* Letters, digits, '_', '$', '.', '-': what MLIR identifiers consist of. */
bool ir_identifier_char(char c);

/* True if the text at `at` begins with `word`. */
bool ir_begins(const struct ir *ir, size_t at, const char *word);
/* Steps over blank space and line ends. */
void ir_skip_space(struct ir *ir);
/* If `word` stands at the cursor (after blank space): steps over it, true. */
bool ir_take(struct ir *ir, const char *word);

/*
 * Cursor on '"': steps behind the closing one; *content (may be NULL) gets what is between, escapes
 * as they stand. False (cursor unmoved) if there is no closing quote.
 */
bool ir_string(struct ir *ir, struct span *content);

/*
 * Cursor on one of ( [ { <: steps behind the matching closing bracket, over strings and nested
 * brackets; "->" closes nothing. False (cursor unmoved) if there is none.
 */
bool ir_bracket(struct ir *ir);

/* Where something stands in its source. */
struct ir_place {
	struct span name; /* outermost name of a loc("name"(…)); data NULL if none */
	struct span file; /* data NULL if unknown */
	uint32_t line;
};

/*
 * Cursor on "loc(" : reads it and steps behind. Follows #aliases defined anywhere in the text,
 * names, callsite (the callee's place), fused (its first known place). Unknown parts stay NULL. The
 * work is bounded, so a text whose aliases form a ring ends, too. False if it is no location
 * (cursor unmoved).
 */
bool ir_location(struct ir *ir, struct ir_place *place);

#endif
