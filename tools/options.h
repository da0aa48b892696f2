/* SPDX-License-Identifier: MIT */
/* Options of the commands: one row an option drives parsing, --help and the man page check. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_END,    /* last row */
	OPTION_FLAG,   /* target: bool, set to true */
	OPTION_TEXT,   /* target: const char *; the last one wins */
	OPTION_TEXTS,  /* target: struct option_texts; every one is kept, in order */
	OPTION_COUNT,  /* target: uint64_t; decimal, with optional K M G (1024-based) suffix */
	OPTION_SECONDS /* target: double > 0, at most OPTION_SECONDS_MOST */
};
#define OPTION_SECONDS_MOST 1e9 /* in nanoseconds it is added to a 64-bit clock */

struct option_texts {
	const char **items;
	size_t count, capacity;
};

struct option_row {
	enum option_kind kind;
	const char *name;     /* long name without dashes */
	char letter;          /* 0: none */
	const char *argument; /* "FILE"; NULL for a flag */
	const char *help;     /* one line */
	void *target;
};

/* What a verb is: one row of the table in tools/main.c. */
struct verb {
	const char *name;
	const char *operands; /* "BUNDLE…" */
	const char *summary;  /* one line for kernelab --help */
	int (*run)(const struct verb *verb, int argc, char **argv); /* argv[0] is the verb's name */
	int usage_status; /* exit status of a wrong command line: 2, for capture 125 */
};

enum options_outcome { OPTIONS_GO, OPTIONS_EXIT };

/*
 * Parses argv[1 … argc) by rows (ended by OPTION_END); --help is always there. Options and operands
 * may mix; "--" ends options; with stop_at_operand the first operand ends them too (capture).
 * OPTIONS_GO: *operands points into argv (reordered), *operand_count is set.
 * OPTIONS_EXIT: --help was printed (*status = 0), or the line was wrong: one line on stderr that
 * names the option ("kernelab replay: unknown option --foo"), *status = verb->usage_status.
 */
enum options_outcome options_parse(const struct verb *verb, const struct option_row *rows, int argc,
				   char **argv, bool stop_at_operand, char ***operands,
				   int *operand_count, int *status);

/*
 * Gives one option its value, as the command line would (value NULL: a flag that is given). Texts
 * stay the caller's. 0, or -EINVAL after one line on stderr that names the option.
 */
int options_store(const struct verb *verb, const struct option_row *row, const char *value);

void option_texts_free(struct option_texts *t);

#endif
