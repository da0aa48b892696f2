/* SPDX-License-Identifier: MIT */
/* Builders of branches, calls, barriers, and exchanges between lanes. */
#include <errno.h>

#include "lib/base.h"
#include "softgpu/decode.h"

int build_plain(struct parser *p, const struct opcode *o, const struct spelling *s,
		const struct operand *operands, unsigned count, struct instruction *out)
{
	return decode_count(p, count, 0, 0);
}

/* Without effect on this device: hints, and orderings that it always keeps. */
int build_ignored(struct parser *p, const struct opcode *o, const struct spelling *s,
		  const struct operand *operands, unsigned count, struct instruction *out)
{
	return 0;
}

int build_branch(struct parser *p, const struct opcode *o, const struct spelling *s,
		 const struct operand *operands, unsigned count, struct instruction *out)
{
	struct label_use use;
	int r = decode_count(p, count, 1, 1);

	if (r)
		return r;
	if (operands[0].kind != OPERAND_SYMBOL || operands[0].symbol)
		return parser_error(p, EINVAL, "label expected");
	if (array_reserve(&p->label_uses, p->label_use_count, &p->label_use_capacity,
			  sizeof(*p->label_uses)))
		return parser_no_memory(p);
	use = (struct label_use){operands[0].name, p->scope, p->program->code_count,
				 p->statement_line};
	p->label_uses[p->label_use_count++] = use;
	return 0;
}

/* "(a, b)": names of .param variables, whose place and size go into extras. */
static int call_list(struct parser *p, uint32_t *count)
{
	*count = 0;
	if (scan_take(&p->scan, ')'))
		return 0;
	do {
		struct slice name = scan_name(&p->scan, true);
		const struct symbol *s = find_symbol(p, name);
		int r;

		if (!s || s->space != SPACE_LOCAL)
			return parser_error(p, ENOTSUP, "a call argument that is no .param");
		r = append_extra(p, (uint32_t)s->offset);
		if (!r)
			r = append_extra(p, (uint32_t)s->size);
		if (r)
			return r;
		++*count;
	} while (scan_take(&p->scan, ','));
	return scan_take(&p->scan, ')') ? 0 : parser_error(p, EINVAL, "missing )");
}

/* extras: number of results and arguments, then their places and sizes. Resolved by finish_calls.
 */
int build_call(struct parser *p, const struct opcode *o, const struct spelling *s,
	       const struct operand *operands, unsigned count, struct instruction *out)
{
	struct call_use use = {.pc = p->program->code_count, .line = p->statement_line};
	uint32_t results = 0, arguments = 0;
	int r;

	out->extras = (uint32_t)p->program->extra_count;
	r = append_extra(p, 0);
	if (!r)
		r = append_extra(p, 0);
	if (!r && scan_take(&p->scan, '(')) {
		r = call_list(p, &results);
		if (!r && !scan_take(&p->scan, ','))
			return parser_error(p, EINVAL, "missing ,");
	}
	if (r)
		return r;
	use.name = scan_name(&p->scan, true);
	if (!use.name.size || use.name.text[0] == '%')
		return parser_error(p, ENOTSUP, "indirect call");
	if (scan_take(&p->scan, ',')) {
		if (!scan_take(&p->scan, '('))
			return parser_error(p, ENOTSUP, "indirect call");
		r = call_list(p, &arguments);
	}
	if (r)
		return r;
	p->program->extras[out->extras] = results;
	p->program->extras[out->extras + 1] = arguments;
	if (array_reserve(&p->calls, p->call_count, &p->call_capacity, sizeof(*p->calls)))
		return parser_no_memory(p);
	p->calls[p->call_count++] = use;
	return 0;
}

int build_barrier(struct parser *p, const struct opcode *o, const struct spelling *s,
		  const struct operand *operands, unsigned count, struct instruction *out)
{
	bool reduces = o->mode >= BARRIER_POPC;
	unsigned first = reduces ? 1 : 0, last = count - (reduces ? 1 : 0);
	int r = decode_count(p, count,
			     reduces                     ? 3
			     : o->mode == BARRIER_ARRIVE ? 2
							 : 1,
			     reduces ? 4 : 2);

	out->mode = o->mode;
	out->b = OPERAND_NONE;
	out->c = PREDICATE_TRUE << 1;
	if (!r)
		r = decode_source(p, &operands[first], TYPE_U32, &out->a);
	if (!r && last - first == 2)
		r = decode_source(p, &operands[first + 1], TYPE_U32, &out->b);
	if (!r && reduces)
		r = decode_predicate(p, &operands[count - 1], &out->c);
	if (!r && o->mode == BARRIER_POPC)
		r = decode_destination(p, &operands[0], TYPE_U32, &out->d);
	else if (!r && reduces)
		r = decode_predicate_destination(p, &operands[0], &out->d, &out->e);
	return r;
}

int build_warp_barrier(struct parser *p, const struct opcode *o, const struct spelling *s,
		       const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 1, 1);

	return r ? r : decode_source(p, &operands[0], TYPE_B32, &out->b);
}

/* In all of the following b holds the mask of the lanes that take part, of shfl extras[0]. */
int build_shuffle(struct parser *p, const struct opcode *o, const struct spelling *s,
		  const struct operand *operands, unsigned count, struct instruction *out)
{
	struct operand value = operands[0];
	uint32_t members, unused;
	int r = decode_count(p, count, 5, 5);

	if (r)
		return r;
	out->mode =
		(uint8_t)(SHUFFLE_UP + (spelling_find(s, MODIFIER_UP, MODIFIER_IDX) - MODIFIER_UP));
	out->e = PREDICATE_SINK << 1;
	if (value.has_second) {
		value.kind = OPERAND_SINK;
		r = decode_predicate_destination(p, &value, &unused, &out->e);
		value = operands[0];
		value.has_second = false;
	}
	if (!r)
		r = decode_destination(p, &value, TYPE_B32, &out->d);
	if (!r)
		r = decode_source(p, &operands[1], TYPE_B32, &out->a);
	if (!r)
		r = decode_source(p, &operands[2], TYPE_B32, &out->b);
	if (!r)
		r = decode_source(p, &operands[3], TYPE_B32, &out->c);
	if (!r)
		r = decode_source(p, &operands[4], TYPE_B32, &members);
	out->extras = (uint32_t)p->program->extra_count;
	return r ? r : append_extra(p, members);
}

int build_vote(struct parser *p, const struct opcode *o, const struct spelling *s,
	       const struct operand *operands, unsigned count, struct instruction *out)
{
	enum modifier m = spelling_find(s, MODIFIER_ALL, MODIFIER_BALLOT);
	int r = decode_count(p, count, 3, 3);

	out->mode = (uint8_t)(VOTE_ALL + (m - MODIFIER_ALL));
	if (!r && out->mode == VOTE_BALLOT)
		r = decode_destination(p, &operands[0], TYPE_B32, &out->d);
	else if (!r)
		r = decode_predicate_destination(p, &operands[0], &out->d, &out->e);
	if (!r)
		r = decode_predicate(p, &operands[1], &out->a);
	return r ? r : decode_source(p, &operands[2], TYPE_B32, &out->b);
}

int build_match(struct parser *p, const struct opcode *o, const struct spelling *s,
		const struct operand *operands, unsigned count, struct instruction *out)
{
	struct operand value = operands[0];
	uint32_t unused;
	int r = decode_count(p, count, 3, 3);

	out->mode = spelling_has(s, MODIFIER_ALL);
	out->element = s->types[0];
	out->e = PREDICATE_SINK << 1;
	if (!r && value.has_second) {
		value.kind = OPERAND_SINK;
		r = decode_predicate_destination(p, &value, &unused, &out->e);
		value = operands[0];
		value.has_second = false;
	}
	if (!r)
		r = decode_destination(p, &value, TYPE_B32, &out->d);
	if (!r)
		r = decode_source(p, &operands[1], (enum type)s->types[0], &out->a);
	return r ? r : decode_source(p, &operands[2], TYPE_B32, &out->b);
}

int build_reduce(struct parser *p, const struct opcode *o, const struct spelling *s,
		 const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 3, 3);

	switch (spelling_find(s, MODIFIER_AND, MODIFIER_MAX)) {
	case MODIFIER_ADD:
		out->mode = REDUCE_ADD;
		break;
	case MODIFIER_MIN:
		out->mode = REDUCE_MIN;
		break;
	case MODIFIER_MAX:
		out->mode = REDUCE_MAX;
		break;
	case MODIFIER_AND:
		out->mode = REDUCE_AND;
		break;
	case MODIFIER_OR:
		out->mode = REDUCE_OR;
		break;
	default:
		out->mode = REDUCE_XOR;
		break;
	}
	out->element = s->types[0];
	if (!r)
		r = decode_destination(p, &operands[0], TYPE_B32, &out->d);
	if (!r)
		r = decode_source(p, &operands[1], TYPE_B32, &out->a);
	return r ? r : decode_source(p, &operands[2], TYPE_B32, &out->b);
}

/* elect.sync d|p, members: d may be the sink. */
int build_elect(struct parser *p, const struct opcode *o, const struct spelling *s,
		const struct operand *operands, unsigned count, struct instruction *out)
{
	struct operand value = operands[0];
	uint32_t unused;
	int r = decode_count(p, count, 2, 2);

	if (!r && !value.has_second)
		return parser_error(p, EINVAL, "elect.sync needs d|p");
	value.kind = OPERAND_SINK;
	if (!r)
		r = decode_predicate_destination(p, &value, &unused, &out->e);
	value = operands[0];
	value.has_second = false;
	if (!r)
		r = decode_destination(p, &value, TYPE_B32, &out->d);
	return r ? r : decode_source(p, &operands[1], TYPE_B32, &out->b);
}

int build_active_mask(struct parser *p, const struct opcode *o, const struct spelling *s,
		      const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 1, 1);

	return r ? r : decode_destination(p, &operands[0], TYPE_B32, &out->d);
}
