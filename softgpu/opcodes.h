/* SPDX-License-Identifier: MIT */
/* The opcode table: the one place that knows which spellings exist and what they mean. */
#ifndef SOFTGPU_OPCODES_H
#define SOFTGPU_OPCODES_H

#include <stdint.h>

#include "softgpu/program.h"
#include "softgpu/spelling.h"

struct parser;
struct opcode;
struct operand;

/* Turns a matched spelling and its operands into *out (code, guard and line are filled already). */
typedef int opcode_builder(struct parser *p, const struct opcode *o, const struct spelling *s,
			   const struct operand *operands, unsigned count, struct instruction *out);

struct opcode {
	const char *base, *grammar; /* see spelling_match */
	/*
	 * Operands in order, the first the destination: 0, 1, 2: of the spelling's type of that
	 * number; w: twice as wide as type 0; u: 32 bits; l: 64 bits; h: 16 bits; p: predicate;
	 * i: a literal for LANE_IMMEDIATE. "" where the builder looks for itself.
	 */
	const char *operands;
	opcode_builder *build;
	uint16_t code, function;
	uint32_t flags;
	uint8_t mode;
};

extern const struct opcode opcodes[];
extern const unsigned opcode_count;

/* The row that matches, or NULL; *base_known tells whether at least the base is there. */
const struct opcode *opcode_find(struct slice name, struct spelling *s, bool *base_known);

opcode_builder build_lanes, build_move, build_compare, build_set, build_select, build_slct,
	build_test, build_predicate, build_load, build_store, build_atomic, build_convert,
	build_address, build_is_space, build_branch, build_call, build_plain, build_barrier,
	build_warp_barrier, build_shuffle, build_vote, build_match, build_reduce, build_elect,
	build_active_mask, build_load_matrix, build_store_matrix, build_mma, build_copy_async,
	build_copy_wait, build_ignored, build_constant;

#endif
