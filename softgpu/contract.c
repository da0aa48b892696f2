/* SPDX-License-Identifier: MIT */
/*
 * Fuses mul + add (and mul + sub) of f32 and f64 into fma as ptxas does by default. What ptxas 13.0
 * was seen to do for sm_90a, and what is done here:
 *  - neither has a rounding modifier; .ftz is equal; no .sat and no guard on the product
 *  - the product is written once, in the add's basic block, and its factors are unchanged since
 *  - every use of the product is such an add: one other use, and none is fused
 *  - of two products under one add a singly used one is taken first, then the first operand
 * Not done here: fusion through a neg between them. ptxas may differ where it rearranges blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/lanes.h"
#include "softgpu/program.h"

struct use {
	uint32_t writes, reads;
	uint32_t last_write; /* instruction + 1 of the latest write so far */
};

static void note(struct use *uses, uint32_t operand, bool write, uint32_t pc)
{
	struct use *u;

	if (operand == OPERAND_NONE || operand & 1)
		return;
	u = &uses[operand >> 1];
	if (write) {
		u->writes++;
		u->last_write = pc + 1;
	} else {
		u->reads++;
	}
}

enum { READS_A = 1, READS_B = 2, READS_C = 4, READS_E = 8, READS_D = 16, WRITES_D = 32 };

/* Which fields of an instruction name registers (and not predicates). */
static unsigned register_fields(const struct instruction *i)
{
	switch (i->code) {
	case CODE_LANES:
		return READS_A | READS_B | READS_C | READS_E | WRITES_D;
	case CODE_SELECT:
	case CODE_SET:
	case CODE_MATCH:
	case CODE_REDUCE:
		return READS_A | READS_B | WRITES_D;
	case CODE_COMPARE:
		return READS_A | READS_B;
	case CODE_TEST:
	case CODE_UNPACK:
	case CODE_IS_SPACE:
		return READS_A;
	case CODE_SPECIAL:
	case CODE_PACK:
	case CODE_SYMBOL:
	case CODE_ACTIVE_MASK:
		return WRITES_D;
	case CODE_LOAD:
	case CODE_STORE:
	case CODE_LOAD_MATRIX:
	case CODE_STORE_MATRIX:
		return i->base == BASE_OPERAND ? READS_A : 0;
	case CODE_ATOMIC:
		return (i->base == BASE_OPERAND ? READS_A : 0) |
		       (i->mode == ATOMIC_CAS ? READS_C : 0);
	case CODE_COPY_ASYNC:
		return (i->base == BASE_OPERAND ? READS_A : 0) |
		       (i->mode == BASE_OPERAND ? READS_D : 0) | READS_C;
	case CODE_TO_GENERIC:
	case CODE_FROM_GENERIC:
		return READS_A | WRITES_D;
	case CODE_BARRIER:
		return READS_A | READS_B | (i->mode == BARRIER_POPC ? WRITES_D : 0);
	case CODE_WARP_BARRIER:
		return READS_B;
	case CODE_SHUFFLE:
		return READS_A | READS_B | READS_C | WRITES_D;
	case CODE_VOTE:
		return READS_B | (i->mode == VOTE_BALLOT ? WRITES_D : 0);
	case CODE_ELECT:
		return READS_B | WRITES_D;
	default:
		return 0;
	}
}

static unsigned extra_registers(const struct instruction *i)
{
	switch (i->code) {
	case CODE_PACK:
	case CODE_UNPACK:
	case CODE_LOAD:
	case CODE_STORE:
	case CODE_LOAD_MATRIX:
	case CODE_STORE_MATRIX:
	case CODE_MMA:
		return i->count;
	case CODE_ATOMIC:
		return 2u * i->count;
	case CODE_SHUFFLE:
		return 1;
	default:
		return 0;
	}
}

static void note_all(const struct ptx_program *g, struct use *uses, const struct instruction *i,
		     uint32_t pc)
{
	const uint32_t fields[] = {i->a, i->b, i->c, i->e, i->d};
	unsigned which = register_fields(i), extras = extra_registers(i);

	for (unsigned k = 0; k < ARRAY_LENGTH(fields); k++)
		if (which >> k & 1 && fields[k]) /* 0: the field is not used */
			note(uses, fields[k], false, pc);
	for (unsigned k = 0; k < extras; k++) {
		bool writes = i->code == CODE_LOAD || i->code == CODE_UNPACK ||
			      i->code == CODE_LOAD_MATRIX || (i->code == CODE_MMA && k < i->mode) ||
			      (i->code == CODE_ATOMIC && k < i->count);

		note(uses, g->extras[i->extras + k], writes, pc);
	}
	if (which & WRITES_D)
		note(uses, i->d, true, pc);
}

static bool is_add(const struct instruction *i)
{
	return i->code == CODE_LANES && i->contracts &&
	       (i->function == LANE_add_f32 || i->function == LANE_add_f64);
}
static bool is_product(const struct instruction *i, const struct instruction *add)
{
	uint32_t function = add->function == LANE_add_f32 ? LANE_mul_f32 : LANE_mul_f64;

	return i->code == CODE_LANES && i->contracts && !i->guard && i->function == function &&
	       !(i->flags & LANE_SAT) && (i->flags & LANE_FTZ) == (add->flags & LANE_FTZ);
}

/* add = product +- other, or other +- product. */
static void fuse(struct instruction *add, struct instruction *product, bool product_first)
{
	uint32_t other = product_first ? add->b : add->a;
	uint32_t flags = add->flags & ~LANE_NEG_C;

	if (add->flags & LANE_NEG_C)
		flags |= product_first ? LANE_NEG_C : LANE_NEG_A;
	add->function = add->function == LANE_add_f32 ? LANE_fma_f32 : LANE_fma_f64;
	add->flags = flags;
	add->a = product->a;
	add->b = product->b;
	add->c = other;
	product->code = CODE_NOP;
}

struct contraction {
	struct ptx_program *program;
	const bool *targets; /* of branches */
	struct use *totals, *uses;
	uint32_t *chosen; /* of an add: its product's instruction + 1; of a product: how many chose
			     it */
};

static bool unchanged(const struct use *uses, uint32_t operand, uint32_t since)
{
	return operand & 1 || uses[operand >> 1].last_write <= since + 1;
}

/* The instruction + 1 of the product behind an add's operand, 0 if there is none to fuse. */
static uint32_t product_behind(const struct contraction *c, const struct instruction *add,
			       uint32_t operand, uint32_t block)
{
	const struct instruction *product;
	uint32_t at;

	if (operand & 1 || add->a == add->b || c->totals[operand >> 1].writes != 1)
		return 0;
	at = c->uses[operand >> 1].last_write;
	if (!at || at - 1 < block)
		return 0;
	product = &c->program->code[at - 1];
	return is_product(product, add) && product->d == operand &&
			       unchanged(c->uses, product->a, at - 1) &&
			       unchanged(c->uses, product->b, at - 1)
		       ? at
		       : 0;
}

static void choose(struct contraction *c, uint32_t pc, uint32_t block)
{
	const struct instruction *add = &c->program->code[pc];
	uint32_t first = product_behind(c, add, add->a, block);
	uint32_t second = product_behind(c, add, add->b, block);
	bool take_second =
		second &&
		(!first || (c->totals[add->a >> 1].reads > 1 && c->totals[add->b >> 1].reads == 1));
	uint32_t product = take_second ? second : first;

	c->chosen[pc] = product;
	if (product)
		c->chosen[product - 1]++;
}

static void contract_function(struct contraction *c, const struct program_function *f)
{
	struct ptx_program *g = c->program;
	uint32_t block = f->start;

	for (uint32_t pc = f->start; pc < f->end; pc++)
		note_all(g, c->totals, &g->code[pc], pc);
	for (uint32_t pc = f->start; pc < f->end; pc++) {
		const struct instruction *i = &g->code[pc];

		if (c->targets[pc])
			block = pc;
		if (is_add(i))
			choose(c, pc, block);
		note_all(g, c->uses, i, pc);
		if (i->code == CODE_BRANCH || i->code == CODE_CALL)
			block = pc + 1;
	}
	for (uint32_t pc = f->start; pc < f->end; pc++) {
		const struct instruction *add = &g->code[pc];
		const struct instruction *product;

		if (!is_add(add) || !c->chosen[pc])
			continue;
		product = &g->code[c->chosen[pc] - 1];
		if (c->chosen[c->chosen[pc] - 1] == c->totals[product->d >> 1].reads)
			fuse(&g->contracted[pc], &g->contracted[c->chosen[pc] - 1],
			     add->a == product->d);
	}
}

int program_contract(struct ptx_program *g)
{
	_cleanup_free_ bool *targets = calloc(g->code_count + 1, sizeof(*targets));
	_cleanup_free_ uint32_t *chosen = calloc(g->code_count + 1, sizeof(*chosen));

	g->contracted = malloc((g->code_count + 1) * sizeof(*g->contracted));
	if (!targets || !chosen || !g->contracted)
		return -ENOMEM;
	if (g->code_count)
		memcpy(g->contracted, g->code, g->code_count * sizeof(*g->code));
	for (uint32_t pc = 0; pc < g->code_count; pc++)
		if (g->code[pc].code == CODE_BRANCH)
			targets[g->code[pc].target] = true;
	for (size_t i = 0; i < g->function_count; i++) {
		const struct program_function *f = &g->functions[i];
		_cleanup_free_ struct use *totals = NULL, *uses = NULL;
		struct contraction c = {.program = g, .targets = targets, .chosen = chosen};

		if (!f->defined)
			continue;
		c.totals = totals = calloc(f->slots + 1, sizeof(*totals));
		c.uses = uses = calloc(f->slots + 1, sizeof(*uses));
		if (!totals || !uses)
			return -ENOMEM;
		contract_function(&c, f);
	}
	return 0;
}
