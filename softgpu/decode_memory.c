/* SPDX-License-Identifier: MIT */
/* Builders of loads, stores, atomics and everything else with an address. */
#include <errno.h>

#include "softgpu/decode.h"
#include "softgpu/lanes.h"

static enum space spelled_space(const struct spelling *s)
{
	switch (spelling_find(s, MODIFIER_GLOBAL, MODIFIER_PARAM)) {
	case MODIFIER_GLOBAL:
		return SPACE_GLOBAL;
	case MODIFIER_SHARED:
	case MODIFIER_SHARED_CTA:
		return SPACE_SHARED;
	case MODIFIER_LOCAL:
		return SPACE_LOCAL;
	case MODIFIER_CONST:
		return SPACE_CONST;
	case MODIFIER_PARAM:
		return SPACE_PARAM;
	default:
		return SPACE_GENERIC;
	}
}

int decode_address(struct parser *p, const struct operand *o, enum space space,
		   struct instruction *out)
{
	if (o->kind != OPERAND_ADDRESS)
		return parser_error(p, EINVAL, "address expected");
	out->space = (uint8_t)space;
	out->offset = o->offset;
	out->base = BASE_OPERAND;
	out->wide_address = true;
	if (o->has_register) {
		if (type_bytes(o->reg.type) < 4)
			return parser_error(p, EINVAL, "address register of less than 32 bits");
		out->a = o->reg.slot << 1;
		out->wide_address = type_bytes(o->reg.type) == 8;
		return 0;
	}
	if (o->symbol && (o->symbol->space == SPACE_GLOBAL || o->symbol->space == SPACE_CONST)) {
		out->base = BASE_GLOBAL;
		out->a = (uint32_t)o->symbol->offset;
		return 0;
	}
	if (o->symbol && o->symbol->dynamic_shared) {
		out->base = BASE_DYNAMIC;
		if (space == SPACE_GENERIC)
			out->space = SPACE_SHARED;
		return 0;
	}
	if (o->symbol) {
		/* Parameters of functions live in local memory. A name says its space. */
		if (space == SPACE_PARAM || space == SPACE_GENERIC)
			out->space = (uint8_t)o->symbol->space;
		out->offset += (int64_t)o->symbol->offset;
	} else {
		out->offset += (int64_t)o->number.bits;
	}
	out->a = constant_operand(p, 0, true);
	return out->a == OPERAND_NONE ? parser_no_memory(p) : 0;
}

/* One or several registers into extras. The registers may be wider than the element. */
static int decode_elements(struct parser *p, const struct operand *o, enum type t, bool destination,
			   unsigned *count, bool *wide)
{
	struct operand single = *o;
	unsigned n = o->kind == OPERAND_VECTOR ? o->count : 1;
	bool have_width = false, have_number = false;

	*count = n;
	*wide = type_bytes(t) == 8;
	for (unsigned i = 0; i < n; i++) {
		enum type as = t;
		uint32_t slot;
		int r;

		if (o->kind == OPERAND_VECTOR)
			single = (struct operand){.kind = o->items[i].kind,
						  .reg = o->items[i].reg,
						  .number = o->items[i].number};
		if (single.kind == OPERAND_REGISTER) {
			bool w = type_bytes(single.reg.type) == 8;

			if (type_bytes(single.reg.type) < type_bytes(t) ||
			    single.reg.type == TYPE_PRED || (have_width && w != *wide))
				return parser_error(p, EINVAL, "register does not fit .%s",
						    type_name(t));
			*wide = w;
			have_width = true;
			as = single.reg.type;
		} else if (single.kind == OPERAND_NUMBER) {
			have_number = true;
		}
		r = destination ? decode_destination(p, &single, as, &slot)
				: decode_source(p, &single, as, &slot);
		if (!r)
			r = append_extra(p, slot);
		if (r)
			return r;
	}
	if (have_number && *wide != (type_bytes(t) == 8))
		return parser_error(p, ENOTSUP, "a number beside wider registers");
	return 0;
}

static unsigned vector_size(const struct spelling *s)
{
	return spelling_has(s, MODIFIER_V2)   ? 2
	       : spelling_has(s, MODIFIER_V4) ? 4
	       : spelling_has(s, MODIFIER_V8) ? 8
					      : 1;
}

static int check_access(struct parser *p, enum type t, unsigned count)
{
	if (type_bytes(t) * count > ACCESS_BYTES_MOST)
		return parser_error(p, EINVAL, "an access of more than %u bytes",
				    ACCESS_BYTES_MOST);
	return 0;
}

/* Orders what other warps see. */
static bool spelled_strong(const struct spelling *s)
{
	return spelling_find(s, MODIFIER_VOLATILE, MODIFIER_MMIO) != MODIFIER_NONE;
}

static int build_access(struct parser *p, const struct spelling *s, const struct operand *registers,
			const struct operand *address, bool load, struct instruction *out)
{
	enum type t = (enum type)s->types[0];
	unsigned n;
	int r = decode_address(p, address, spelled_space(s), out);

	if (r)
		return r;
	out->element = (uint8_t)t;
	out->strong = spelled_strong(s);
	out->extras = (uint32_t)p->program->extra_count;
	r = decode_elements(p, registers, t, load, &n, &out->wide);
	out->count = (uint8_t)n;
	/* A narrow signed element is extended to the register's width: 32 bits if LANE_WRAP. */
	if (type_bytes(registers->kind == OPERAND_VECTOR ? registers->items[0].reg.type
							 : registers->reg.type) == 4)
		out->flags = LANE_WRAP;
	if (!r && n != vector_size(s))
		return parser_error(p, EINVAL, "%u registers for .v%u", n, vector_size(s));
	return r ? r : check_access(p, t, n);
}

int build_load(struct parser *p, const struct opcode *o, const struct spelling *s,
	       const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 2, 3); /* the third is a cache policy */

	return r ? r : build_access(p, s, &operands[0], &operands[1], true, out);
}

int build_store(struct parser *p, const struct opcode *o, const struct spelling *s,
		const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 2, 3);

	if (!r)
		r = build_access(p, s, &operands[1], &operands[0], false, out);
	if (!r && (out->space == SPACE_PARAM || out->space == SPACE_CONST))
		return parser_error(p, EINVAL, "a store to read-only memory");
	return r;
}

static bool atomic_fits(enum atomic_mode m, enum type t, bool cas_narrow)
{
	switch (m) {
	case ATOMIC_ADD:
		return t == TYPE_U32 || t == TYPE_S32 || t == TYPE_U64 || t == TYPE_S64 ||
		       type_is_float(t);
	case ATOMIC_MIN:
	case ATOMIC_MAX:
		return t == TYPE_U32 || t == TYPE_S32 || t == TYPE_U64 || t == TYPE_S64 ||
		       (type_is_float(t) && t != TYPE_F32 && t != TYPE_F64);
	case ATOMIC_INC:
	case ATOMIC_DEC:
		return t == TYPE_U32;
	default:
		return t == TYPE_B32 || t == TYPE_B64 || (cas_narrow && t == TYPE_B16);
	}
}

static enum atomic_mode atomic_mode(const struct spelling *s)
{
	switch (spelling_find(s, MODIFIER_AND, MODIFIER_DEC)) {
	case MODIFIER_ADD:
		return ATOMIC_ADD;
	case MODIFIER_MIN:
		return ATOMIC_MIN;
	case MODIFIER_MAX:
		return ATOMIC_MAX;
	case MODIFIER_AND:
		return ATOMIC_AND;
	case MODIFIER_OR:
		return ATOMIC_OR;
	case MODIFIER_XOR:
		return ATOMIC_XOR;
	case MODIFIER_EXCH:
		return ATOMIC_EXCH;
	case MODIFIER_CAS:
		return ATOMIC_CAS;
	case MODIFIER_INC:
		return ATOMIC_INC;
	default:
		return ATOMIC_DEC;
	}
}

/* extras: destinations (sinks for red), then operands; c: the new value of cas. */
int build_atomic(struct parser *p, const struct opcode *o, const struct spelling *s,
		 const struct operand *operands, unsigned count, struct instruction *out)
{
	static const struct operand sink = {.kind = OPERAND_SINK};
	bool has_result = o->mode;
	enum type t = (enum type)s->types[0];
	unsigned n, first = has_result ? 1 : 0, results = vector_size(s);
	bool wide;
	int r;

	out->mode = (uint8_t)atomic_mode(s);
	out->element = (uint8_t)t;
	out->flags = spelling_flags(s);
	if (!atomic_fits((enum atomic_mode)out->mode, t, out->mode >= ATOMIC_EXCH))
		return parser_error(p, ENOTSUP, "this atomic operation on .%s", type_name(t));
	r = decode_count(p, count, first + (out->mode == ATOMIC_CAS ? 3 : 2), first + 4);
	if (!r)
		r = decode_address(p, &operands[first], spelled_space(s), out);
	out->extras = (uint32_t)p->program->extra_count;
	for (unsigned i = 0; i < (has_result ? 0 : results) && !r; i++) {
		uint32_t slot;

		r = decode_destination(p, &sink, t, &slot);
		if (!r)
			r = append_extra(p, slot);
	}
	if (has_result && !r) {
		const struct operand *d = &operands[0];
		unsigned have = d->kind == OPERAND_VECTOR ? d->count : 1;

		if (have != results && d->kind == OPERAND_SINK) {
			for (unsigned i = 0; i < results && !r; i++)
				r = append_extra(p, SLOT_SINK << 1);
		} else {
			r = decode_elements(p, d, t, true, &n, &wide);
			if (!r && (n != results || wide != (type_bytes(t) == 8)))
				return parser_error(p, EINVAL, "destinations do not fit .%s",
						    type_name(t));
		}
	}
	if (!r)
		r = decode_elements(p, &operands[first + 1], t, false, &n, &out->wide);
	if (!r && (n != results || out->wide != (type_bytes(t) == 8)))
		return parser_error(p, EINVAL, "%u operands for .v%u", n, results);
	out->count = (uint8_t)results;
	if (!r)
		r = check_access(p, t, results);
	if (!r && out->mode == ATOMIC_CAS)
		r = decode_source(p, &operands[first + 2], t, &out->c);
	return r;
}

static int wide_operand(struct parser *p, const struct operand *o, enum type t,
			struct instruction *out)
{
	if (o->kind == OPERAND_SYMBOL)
		return parser_error(p, ENOTSUP, "cvta of a name");
	return decode_source(p, o, t, &out->a);
}

/* cvta of a name becomes its address (a mov) with the window added. */
static int symbol_to_generic(struct parser *p, const struct operand *o, enum space space,
			     struct instruction *out)
{
	const struct symbol *s = o->symbol;

	if (!s)
		return parser_error(p, EINVAL, "unknown name %.*s", (int)o->name.size,
				    o->name.text);
	out->code = CODE_SYMBOL;
	out->offset = o->offset;
	out->space = SPACE_GENERIC;
	if (s->space == SPACE_GLOBAL || s->space == SPACE_CONST) {
		out->base = BASE_GLOBAL;
		out->a = (uint32_t)s->offset;
		return 0;
	}
	out->offset += (int64_t)(space == SPACE_SHARED  ? WINDOW_SHARED
				 : space == SPACE_LOCAL ? WINDOW_LOCAL
							: WINDOW_PARAM);
	if (s->dynamic_shared) {
		out->base = BASE_DYNAMIC;
		return 0;
	}
	out->code = CODE_LANES;
	out->function = LANE_copy_64;
	out->a = constant_operand(p, s->offset + (uint64_t)out->offset, true);
	return out->a == OPERAND_NONE ? parser_no_memory(p) : 0;
}

int build_address(struct parser *p, const struct opcode *o, const struct spelling *s,
		  const struct operand *operands, unsigned count, struct instruction *out)
{
	enum type t = (enum type)s->types[0];
	enum space space = spelled_space(s);
	int r = decode_count(p, count, 2, 2);

	if (spelling_find(s, MODIFIER_GENERIC, MODIFIER_PARAM) == MODIFIER_NONE)
		space = SPACE_PARAM; /* param::entry */
	out->space = (uint8_t)space;
	out->wide = type_bytes(t) == 8;
	if (!r && !out->wide && space != SPACE_GLOBAL && space != SPACE_CONST)
		return parser_error(p, ENOTSUP, "32-bit generic addresses");
	if (!r)
		r = decode_destination(p, &operands[0], t, &out->d);
	if (!r && operands[1].kind == OPERAND_SYMBOL && o->code == CODE_TO_GENERIC)
		return symbol_to_generic(p, &operands[1], space, out);
	return r ? r : wide_operand(p, &operands[1], t, out);
}

int build_is_space(struct parser *p, const struct opcode *o, const struct spelling *s,
		   const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 2, 2);

	out->space = (uint8_t)spelled_space(s);
	if (out->space == SPACE_GENERIC)
		out->space = SPACE_PARAM;
	if (!r)
		r = decode_predicate_destination(p, &operands[0], &out->d, &out->e);
	return r ? r : decode_source(p, &operands[1], TYPE_B64, &out->a);
}

/*
 * cp.async [shared], [global], size{, bytes to read or ignore-predicate}{, policy}. The global
 * address stands in a..offset; the shared one in d, with its offset in e and its base in mode.
 */
int build_copy_async(struct parser *p, const struct opcode *o, const struct spelling *s,
		     const struct operand *operands, unsigned count, struct instruction *out)
{
	struct instruction shared = {0};
	uint64_t size;
	int r = decode_count(p, count, 3, 5);

	if (!r)
		r = decode_address(p, &operands[0], SPACE_SHARED, &shared);
	if (!r)
		r = decode_address(p, &operands[1], SPACE_GLOBAL, out);
	if (r)
		return r;
	if (shared.offset != (int32_t)shared.offset)
		return parser_error(p, EINVAL, "shared offset out of range");
	out->d = shared.a;
	out->e = (uint32_t)shared.offset;
	out->mode = shared.base;
	out->wide = shared.wide_address;
	out->c = OPERAND_NONE;
	size = operands[2].kind == OPERAND_NUMBER ? operands[2].number.bits : 0;
	if (!(size == 16 || (spelling_has(s, MODIFIER_CA) && (size == 4 || size == 8))))
		return parser_error(p, EINVAL, "bad copy size");
	out->count = (uint8_t)size;
	out->flags = OPERAND_NONE;
	if (count > 3 && operands[3].kind == OPERAND_REGISTER && operands[3].reg.type == TYPE_PRED)
		return decode_predicate(p, &operands[3], &out->flags);
	if (count > 3 &&
	    !(operands[3].kind == OPERAND_REGISTER && type_bytes(operands[3].reg.type) == 8))
		return decode_source(p, &operands[3], TYPE_U32, &out->c);
	return 0;
}

/* o->mode: all of them, the groups that are not committed too. */
int build_copy_wait(struct parser *p, const struct opcode *o, const struct spelling *s,
		    const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, o->mode ? 0 : 1, o->mode ? 0 : 1);

	out->count = o->mode;
	if (r || o->mode)
		return r;
	if (operands[0].kind != OPERAND_NUMBER)
		return parser_error(p, EINVAL, "cp.async.wait_group takes a number");
	out->mode =
		operands[0].number.bits < UINT8_MAX ? (uint8_t)operands[0].number.bits : UINT8_MAX;
	return 0;
}
