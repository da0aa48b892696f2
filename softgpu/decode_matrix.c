/* SPDX-License-Identifier: MIT */
/* Builders of ldmatrix, stmatrix and mma.sync. */
#include <errno.h>

#include "softgpu/decode.h"

/* Exactly n 32-bit (or f64) registers into extras. */
static int decode_registers(struct parser *p, const struct operand *o, unsigned n, bool destination)
{
	struct operand one = *o;
	unsigned have = o->kind == OPERAND_VECTOR ? o->count : 1;
	int r = 0;

	if (have != n)
		return parser_error(p, EINVAL, "%u registers where %u are needed", have, n);
	for (unsigned i = 0; i < n && !r; i++) {
		uint32_t slot;

		if (o->kind == OPERAND_VECTOR)
			one = (struct operand){.kind = o->items[i].kind,
					       .reg = o->items[i].reg,
					       .number = o->items[i].number};
		r = destination ? decode_destination(p, &one, TYPE_B32, &slot)
				: decode_source(p, &one, TYPE_B32, &slot);
		if (!r)
			r = append_extra(p, slot);
	}
	return r;
}

static int build_matrix(struct parser *p, const struct spelling *s, const struct operand *registers,
			const struct operand *address, bool load, struct instruction *out)
{
	bool named = spelling_has(s, MODIFIER_SHARED) || spelling_has(s, MODIFIER_SHARED_CTA);
	int r = decode_address(p, address, named ? SPACE_SHARED : SPACE_GENERIC, out);

	out->mode = spelling_has(s, MODIFIER_TRANS);
	out->count = spelling_has(s, MODIFIER_X4) ? 4 : spelling_has(s, MODIFIER_X2) ? 2 : 1;
	out->extras = (uint32_t)p->program->extra_count;
	return r ? r : decode_registers(p, registers, out->count, load);
}

int build_load_matrix(struct parser *p, const struct opcode *o, const struct spelling *s,
		      const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 2, 2);

	return r ? r : build_matrix(p, s, &operands[0], &operands[1], true, out);
}

int build_store_matrix(struct parser *p, const struct opcode *o, const struct spelling *s,
		       const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 2, 2);

	return r ? r : build_matrix(p, s, &operands[1], &operands[0], false, out);
}

/* extras: d, a, b, c registers; mode: how many d are; flags: k; element: type of a and b. */
int build_mma(struct parser *p, const struct opcode *o, const struct spelling *s,
	      const struct operand *operands, unsigned count, struct instruction *out)
{
	unsigned k = spelling_has(s, MODIFIER_M16N8K4)   ? 4
		     : spelling_has(s, MODIFIER_M16N8K8) ? 8
							 : 16;
	unsigned d = s->types[0] == TYPE_F32 ? 4 : 2;
	unsigned per_register = s->types[1] == TYPE_TF32 ? 1 : 2;
	unsigned a = 16 * k / 32 / per_register, b = 8 * k / 32 / per_register;
	int r = decode_count(p, count, 4, 4);

	out->element = s->types[1];
	out->function = s->types[0];
	out->flags = k;
	out->mode = (uint8_t)d;
	out->count = (uint8_t)(2 * d + a + b);
	out->extras = (uint32_t)p->program->extra_count;
	if (!r)
		r = decode_registers(p, &operands[0], d, true);
	if (!r)
		r = decode_registers(p, &operands[1], a, false);
	if (!r)
		r = decode_registers(p, &operands[2], b, false);
	return r ? r : decode_registers(p, &operands[3], d, false);
}
