/* SPDX-License-Identifier: MIT */
/* The statements of a PTX entry, and which parameters each register depends on. */
#ifndef REPLAY_FLOW_H
#define REPLAY_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"

struct token {
	const char *text;
	size_t size;
};

/* A register or parameter name with the parameters that its value depends on. */
struct name {
	struct token token;
	uint64_t params;
};

struct names { /* open addressing, power of two */
	struct name *items;
	size_t count, capacity;
};

struct statement {
	struct token label; /* the last one in front of it; text NULL: none */
	struct token opcode;
	struct token rest; /* operands */
};

struct flow {
	char *text;        /* without comments; the tokens point into it */
	bool float_params; /* takes a float by value */
	struct names names;
	struct statement *statements;
	size_t count, capacity;
	uint64_t stored;
	bool unknown, changed;
};

/*
 * Reads one entry of PTX text and follows its parameters through the registers. -ENOENT no such
 * entry, -EINVAL unreadable, -E2BIG more than STORES_MAX_PARAMS parameters. flow_close frees.
 */
int flow_open(struct flow *f, const char *ptx, size_t size, const char *entry, struct error *err);
void flow_close(struct flow *f);

bool token_starts(struct token t, const char *prefix);
bool token_contains(struct token t, const char *part);
/* The next name in *t (register or identifier, numbers excluded), moving *t behind it. */
bool next_name(struct token *t, struct token *name);
/* Splits off the first operand: "{a, b}", "[…]" or up to a comma. */
struct token first_operand(struct token *rest);
/* What stands in the first [ … ]; empty if there is none. A TMA's coordinates are cut off. */
struct token address_of(struct token rest);
/* st, red, atom and bulk copies that write global memory. */
bool is_global_store(struct token op);
/* Calls that write no memory of the program: device asserts and printf. */
bool is_harmless_call(struct token rest);
/* Parameters that the names in a text depend on. */
uint64_t params_of(struct flow *f, struct token text);

#endif
