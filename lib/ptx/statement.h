/* SPDX-License-Identifier: MIT */
/* Cuts PTX text into statements and their operands. Reads only; knows no opcode. */
#ifndef LIB_PTX_STATEMENT_H
#define LIB_PTX_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#define PTX_OPERANDS_MAX 12u /* more than any instruction has; a vector is one operand */

/* A part of the text, not terminated. */
struct piece {
	const char *at;
	size_t size;
};

enum statement_kind {
	STATEMENT_END,         /* of the text */
	STATEMENT_DEBUG,       /* .loc, .file, .section {…} */
	STATEMENT_LINE,        /* .version, .target, .address_size: to the end of the line */
	STATEMENT_DECLARATION, /* a directive up to its semicolon */
	STATEMENT_FUNCTION,    /* header of an .entry or .func, up to its brace or semicolon */
	STATEMENT_LABEL,
	STATEMENT_OPEN,
	STATEMENT_CLOSE,
	STATEMENT_INSTRUCTION
};

struct statement {
	enum statement_kind kind;
	struct piece text;  /* all of it, with the semicolon */
	struct piece guard; /* predicate register; size 0: none */
	bool negated;       /* @! */
	struct piece opcode;
	struct piece operands[PTX_OPERANDS_MAX];
	size_t operand_count;
};

struct statement_cursor {
	const char *text;
	size_t size, at;
};

/*
 * A malloc'ed copy, one NUL behind, in which comments are blanks, so that the other functions need
 * not know them. NUL bytes become newlines, as a cubin's debug section separates its lines. NULL
 * without memory.
 */
char *ptx_without_comments(const char *text, size_t size);

/* The next statement, STATEMENT_END at the end. -EBADMSG: no statement of PTX begins or ends here.
 */
int statement_next(struct statement_cursor *c, struct statement *s);

bool piece_is(struct piece p, const char *word);
bool piece_equal(struct piece a, struct piece b);
struct piece piece_trim(struct piece p);
/* Base name of the opcode ("ld"), and whether it has the modifier ("global"), whole. */
bool opcode_is(const struct statement *s, const char *base);
bool opcode_has(const struct statement *s, const char *modifier);
/* Whether the opcode begins with these words ("cp.async.bulk"). */
bool opcode_begins(const struct statement *s, const char *words);

/*
 * The next name in p from *at on (register, label, variable), numbers left out; size 0 at the end.
 */
struct piece name_next(struct piece p, size_t *at);

#endif
