/* SPDX-License-Identifier: MIT */
/* From a row of the opcode table and parsed operands to one instruction: everything but memory. */
#include "softgpu/decode.h"

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/lanes.h"

int append_instruction(struct parser *p, const struct instruction *i)
{
	struct ptx_program *g = p->program;

	if (g->code_count >= INSTRUCTIONS_MAX)
		return parser_error(p, E2BIG, "more than %u instructions", INSTRUCTIONS_MAX);
	if (array_reserve(&g->code, g->code_count, &g->code_capacity, sizeof(*g->code)))
		return parser_no_memory(p);
	g->code[g->code_count++] = *i;
	return 0;
}

int append_extra(struct parser *p, uint32_t value)
{
	struct ptx_program *g = p->program;

	if (array_reserve(&g->extras, g->extra_count, &g->extra_capacity, sizeof(*g->extras)))
		return parser_no_memory(p);
	g->extras[g->extra_count++] = value;
	return 0;
}

/* ---- single operands ---- */

static float double_to_single(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, 8);
	return (float)x;
}

/* The literal's bits as a value of the type. */
static int number_bits(struct parser *p, struct number n, enum type t, uint64_t *bits)
{
	float single;
	double wide;

	*bits = n.bits;
	if (t == TYPE_F32 && n.kind == NUMBER_F64) {
		uint32_t u;

		single = double_to_single(n.bits);
		memcpy(&u, &single, 4);
		*bits = u;
	} else if (t == TYPE_F64 && n.kind == NUMBER_F32) {
		uint32_t u = (uint32_t)n.bits;

		memcpy(&single, &u, 4);
		wide = single;
		memcpy(bits, &wide, 8);
	} else if ((t == TYPE_F32 || t == TYPE_F64) && n.kind == NUMBER_INTEGER) {
		return parser_error(p, EINVAL, "integer literal for .%s", type_name(t));
	} else if (n.kind == NUMBER_F64 && type_bytes(t) < 8) {
		return parser_error(p, EINVAL, "double literal for .%s", type_name(t));
	}
	if (type_bytes(t) == 2)
		*bits &= 0xffff;
	else if (type_bytes(t) == 1)
		*bits &= 0xff;
	return 0;
}

static bool width_fits(enum type reg, enum type t)
{
	unsigned have = type_bytes(reg), want = type_bytes(t);

	return want == 1 ? have == 2 || have == 4 : have == want;
}

int decode_source(struct parser *p, const struct operand *o, enum type t, uint32_t *out)
{
	uint64_t bits;
	int r;

	if (o->kind == OPERAND_REGISTER && !o->negated && !o->has_second) {
		if (!width_fits(o->reg.type, t))
			return parser_error(p, EINVAL, "a .%s register where .%s is needed",
					    type_name(o->reg.type), type_name(t));
		*out = o->reg.slot << 1;
		return 0;
	}
	if (o->kind != OPERAND_NUMBER)
		return parser_error(p, EINVAL, "register or number expected");
	r = number_bits(p, o->number, t, &bits);
	if (r)
		return r;
	*out = constant_operand(p, bits, type_bytes(t) == 8);
	return *out == OPERAND_NONE ? parser_no_memory(p) : 0;
}

int decode_destination(struct parser *p, const struct operand *o, enum type t, uint32_t *out)
{
	if (o->kind == OPERAND_SINK) {
		*out = SLOT_SINK << 1;
		return 0;
	}
	if (o->kind != OPERAND_REGISTER || o->negated)
		return parser_error(p, EINVAL, "the destination must be a register");
	if (!width_fits(o->reg.type, t))
		return parser_error(p, EINVAL, "a .%s register where .%s is needed",
				    type_name(o->reg.type), type_name(t));
	*out = o->reg.slot << 1;
	return 0;
}

int decode_predicate(struct parser *p, const struct operand *o, uint32_t *out)
{
	if (o->kind == OPERAND_NUMBER && o->number.kind == NUMBER_INTEGER) {
		*out = PREDICATE_TRUE << 1 | (o->number.bits == 0);
		return 0;
	}
	if (o->kind != OPERAND_REGISTER || o->reg.type != TYPE_PRED || o->has_second)
		return parser_error(p, EINVAL, "predicate expected");
	*out = o->reg.slot << 1 | o->negated;
	return 0;
}

int decode_predicate_destination(struct parser *p, const struct operand *o, uint32_t *first,
				 uint32_t *second)
{
	*first = *second = PREDICATE_SINK << 1;
	if (o->kind != OPERAND_SINK) {
		if (o->kind != OPERAND_REGISTER || o->reg.type != TYPE_PRED || o->negated)
			return parser_error(p, EINVAL, "predicate expected");
		*first = o->reg.slot << 1;
	}
	if (o->has_second && !o->second_sink) {
		if (o->second.type != TYPE_PRED)
			return parser_error(p, EINVAL, "predicate expected");
		*second = o->second.slot << 1;
	}
	return 0;
}

int decode_count(struct parser *p, unsigned count, unsigned least, unsigned most)
{
	if (count < least || count > most)
		return parser_error(p, EINVAL, "%u operands where %u to %u are needed", count,
				    least, most);
	return 0;
}

/* ---- lane functions ---- */

static enum type twice(enum type t)
{
	return type_bytes(t) == 2 ? TYPE_B32 : TYPE_B64;
}

uint32_t spelling_flags(const struct spelling *s)
{
	static const struct {
		enum modifier m;
		uint32_t flag;
	} flags[] = {
		{MODIFIER_RZ, LANE_RZ},
		{MODIFIER_RM, LANE_RM},
		{MODIFIER_RP, LANE_RP},
		{MODIFIER_RNA, LANE_RNA},
		{MODIFIER_RNI, LANE_INTEGRAL},
		{MODIFIER_RZI, LANE_INTEGRAL | LANE_RZ},
		{MODIFIER_RMI, LANE_INTEGRAL | LANE_RM},
		{MODIFIER_RPI, LANE_INTEGRAL | LANE_RP},
		{MODIFIER_FTZ, LANE_FTZ},
		{MODIFIER_SAT, LANE_SAT},
		{MODIFIER_SATFINITE, LANE_SATFINITE},
		{MODIFIER_RELU, LANE_RELU},
		{MODIFIER_NAN_, LANE_NAN},
		{MODIFIER_XORSIGN, LANE_XORSIGN},
		{MODIFIER_WRAP, LANE_WRAP},
	};
	uint32_t out = 0;

	for (unsigned i = 0; i < ARRAY_LENGTH(flags); i++)
		if (spelling_has(s, flags[i].m))
			out |= flags[i].flag;
	return out;
}

static enum type pattern_type(char c, const struct spelling *s)
{
	switch (c) {
	case '0':
	case '1':
	case '2':
		return (enum type)s->types[c - '0'];
	case 'w':
		return twice((enum type)s->types[0]);
	case 'h':
		return TYPE_B16;
	case 'l':
		return TYPE_B64;
	default:
		return TYPE_B32;
	}
}

int build_lanes(struct parser *p, const struct opcode *o, const struct spelling *s,
		const struct operand *operands, unsigned count, struct instruction *out)
{
	uint32_t *const sources[] = {&out->a, &out->b, &out->c, &out->e};
	unsigned want = (unsigned)strlen(o->operands);
	int r = decode_count(p, count, want, want);

	out->function = o->function;
	out->flags = o->flags | spelling_flags(s);
	for (unsigned i = 0; i < want && !r; i++) {
		char c = o->operands[i];
		enum type t = pattern_type(c, s);

		if (i == 0) {
			r = decode_destination(p, &operands[0], t, &out->d);
			out->wide = type_bytes(t) == 8;
		} else if (c == 'i') {
			if (operands[i].kind != OPERAND_NUMBER || operands[i].number.bits > 255)
				return parser_error(p, EINVAL, "a literal below 256 is needed");
			out->flags |= (uint32_t)operands[i].number.bits << LANE_IMMEDIATE_SHIFT;
		} else {
			r = decode_source(p, &operands[i], t, sources[i - 1]);
		}
	}
	if (s->type_count) {
		enum type t = (enum type)s->types[0];

		out->element = (uint8_t)t;
		if (t == TYPE_F16 || t == TYPE_BF16 || t == TYPE_F16X2 || t == TYPE_BF16X2)
			if (o->build == build_lanes)
				out->flags |= (uint32_t)t << LANE_TO_SHIFT;
		out->contracts = (t == TYPE_F32 || t == TYPE_F64) &&
				 !spelling_find(s, MODIFIER_RN, MODIFIER_RP);
	}
	return r;
}

int build_slct(struct parser *p, const struct opcode *o, const struct spelling *s,
	       const struct operand *operands, unsigned count, struct instruction *out)
{
	return build_lanes(p, o, s, operands, count, out);
}

static int check_convert(struct parser *p, const struct spelling *s, enum type to, enum type from)
{
	bool integral = spelling_find(s, MODIFIER_RNI, MODIFIER_RPI) != MODIFIER_NONE;
	bool rounding = spelling_find(s, MODIFIER_RN, MODIFIER_RP) != MODIFIER_NONE;
	bool to_float = type_is_float(to), from_float = type_is_float(from);

	if (!to_float && !from_float && (integral || rounding))
		return parser_error(p, EINVAL, "rounding between integers");
	if (!to_float && from_float && !integral)
		return parser_error(p, EINVAL, "float to integer needs .rni, .rzi, .rmi or .rpi");
	if (to_float && !from_float && !rounding)
		return parser_error(p, EINVAL, "integer to float needs .rn, .rz, .rm or .rp");
	if (to_float && from_float && type_bytes(to) < type_bytes(from) && !rounding &&
	    !spelling_has(s, MODIFIER_RNA))
		return parser_error(p, EINVAL, "a narrower float needs a rounding");
	return 0;
}

/* A 64-bit register as the source of a narrower type: its low 32 bits in a register of their own.
 */
static int narrow_source(struct parser *p, struct operand *o)
{
	struct instruction low = {.guard = PREDICATE_TRUE << 1,
				  .line = p->statement_line,
				  .code = CODE_LANES,
				  .function = LANE_cvt_u32_u64,
				  .a = o->reg.slot << 1,
				  .element = TYPE_U32};
	int r = new_slot(p, false, &o->reg.slot);

	low.d = o->reg.slot << 1;
	o->reg.type = TYPE_B32;
	return r ? r : append_instruction(p, &low);
}

int build_convert(struct parser *p, const struct opcode *o, const struct spelling *s,
		  const struct operand *operands, unsigned count, struct instruction *out)
{
	enum type to = (enum type)s->types[0], from = (enum type)s->types[1];
	struct operand single[3];
	bool extend = false;
	int r = check_convert(p, s, to, from);

	if (r)
		return r;
	if (from == TYPE_F32 && type_bytes(to) == 2 && o->function == LANE_cvt_pair &&
	    o->operands[0] == '0')
		return parser_error(p, EINVAL, "bad conversion");
	if (count > ARRAY_LENGTH(single))
		return parser_error(p, EINVAL, "too many operands");
	memcpy(single, operands, sizeof(*single) * count);
	/* cvt alone takes wider registers: 64 bits for 32 or 16 (sources), 32 bits for 16. */
	for (unsigned i = 1; i < count; i++) {
		if (single[i].kind != OPERAND_REGISTER || type_bytes(single[i].reg.type) != 8 ||
		    type_bytes(from) == 8 || type_is_float(from))
			continue;
		r = narrow_source(p, &single[i]);
		if (r)
			return r;
	}
	for (unsigned i = 0; i < count; i++) {
		if (single[i].kind != OPERAND_REGISTER || type_bytes(single[i].reg.type) != 4 ||
		    type_bytes(i ? from : to) != 2 || o->operands[i] == 'u')
			continue;
		single[i].reg.type = TYPE_B16;
		extend |= i == 0;
	}
	r = build_lanes(p, o, s, single, count, out);
	out->flags |= (uint32_t)to << LANE_TO_SHIFT | (uint32_t)from << LANE_FROM_SHIFT;
	/* A narrow signed result is extended to the register's width: 32 bits if LANE_WRAP. */
	if (!r && type_bytes(to) == 1 && operands[0].kind == OPERAND_REGISTER &&
	    type_bytes(operands[0].reg.type) == 4)
		extend = true;
	if (extend && type_is_signed(to)) {
		out->flags |= LANE_WRAP;
		out->function = LANE_cvt_any;
	}
	return r;
}

/* createpolicy: a cache policy's bits never reach a result. */
int build_constant(struct parser *p, const struct opcode *o, const struct spelling *s,
		   const struct operand *operands, unsigned count, struct instruction *out)
{
	int r = decode_count(p, count, 1, 2);

	out->function = LANE_copy_64;
	out->wide = true;
	if (!r)
		r = decode_destination(p, &operands[0], TYPE_B64, &out->d);
	out->a = constant_operand(p, 0, true);
	return r ? r : out->a == OPERAND_NONE ? parser_no_memory(p) : 0;
}

/* ---- mov ---- */

static int decode_items(struct parser *p, const struct operand *o, enum type t, bool destination,
			struct instruction *out)
{
	int r = 0;

	out->extras = (uint32_t)p->program->extra_count;
	out->count = (uint8_t)o->count;
	for (unsigned i = 0; i < o->count && !r; i++) {
		struct operand item = {.kind = o->items[i].kind,
				       .reg = o->items[i].reg,
				       .number = o->items[i].number};
		uint32_t slot = 0;

		r = destination ? decode_destination(p, &item, t, &slot)
				: decode_source(p, &item, t, &slot);
		if (!r)
			r = append_extra(p, slot);
	}
	return r;
}

static enum type bits_type(unsigned bytes)
{
	return bytes == 1   ? TYPE_B8
	       : bytes == 2 ? TYPE_B16
	       : bytes == 4 ? TYPE_B32
	       : bytes == 8 ? TYPE_B64
			    : TYPE_NONE;
}

static int move_vector(struct parser *p, enum type t, const struct operand *operands,
		       struct instruction *out)
{
	bool unpack = operands[0].kind == OPERAND_VECTOR;
	const struct operand *v = &operands[unpack ? 0 : 1];
	enum type item = bits_type(type_bytes(t) / v->count);
	int r;

	if (item == TYPE_NONE || type_bytes(item) * v->count != type_bytes(t))
		return parser_error(p, EINVAL, "bad vector size");
	out->code = unpack ? CODE_UNPACK : CODE_PACK;
	out->element = (uint8_t)item;
	out->wide = type_bytes(t) == 8;
	r = decode_items(p, v, item, unpack, out);
	if (!r)
		r = unpack ? decode_source(p, &operands[1], t, &out->a)
			   : decode_destination(p, &operands[0], t, &out->d);
	return r;
}

static int move_symbol(struct parser *p, enum type t, const struct operand *o,
		       struct instruction *out)
{
	const struct symbol *s = o->symbol;

	if (!s)
		return parser_error(p, ENOTSUP, "address of %.*s", (int)o->name.size, o->name.text);
	out->offset = o->offset;
	out->wide = type_bytes(t) == 8;
	out->code = CODE_SYMBOL;
	if (s->space == SPACE_GLOBAL || s->space == SPACE_CONST) {
		out->base = BASE_GLOBAL;
		out->a = (uint32_t)s->offset;
	} else if (s->dynamic_shared) {
		out->base = BASE_DYNAMIC;
	} else {
		out->code = CODE_LANES;
		out->function = out->wide ? LANE_copy_64 : LANE_copy_32;
		out->a = constant_operand(p, s->offset + (uint64_t)o->offset, out->wide);
		if (out->a == OPERAND_NONE)
			return parser_no_memory(p);
	}
	return 0;
}

static bool special_is_wide(enum special s)
{
	return s == SPECIAL_CLOCK64 || s == SPECIAL_GLOBALTIMER || s == SPECIAL_GRIDID;
}

int build_move(struct parser *p, const struct opcode *o, const struct spelling *s,
	       const struct operand *operands, unsigned count, struct instruction *out)
{
	enum type t = (enum type)s->types[0];
	int r = decode_count(p, count, 2, 2);

	if (r)
		return r;
	if (operands[0].kind == OPERAND_VECTOR || operands[1].kind == OPERAND_VECTOR)
		return operands[0].kind == operands[1].kind
			       ? parser_error(p, EINVAL, "mov between vectors")
			       : move_vector(p, t, operands, out);
	r = decode_destination(p, &operands[0], t, &out->d);
	if (r)
		return r;
	if (operands[1].kind == OPERAND_SPECIAL) {
		out->code = CODE_SPECIAL;
		out->mode = (uint8_t)operands[1].special;
		out->wide = type_bytes(t) == 8;
		if (type_bytes(t) < 4 || (special_is_wide(operands[1].special) && !out->wide))
			return parser_error(p, EINVAL, "special register of another width");
		return 0;
	}
	if (operands[1].kind == OPERAND_SYMBOL)
		return move_symbol(p, t, &operands[1], out);
	out->wide = type_bytes(t) == 8;
	out->function = out->wide ? LANE_copy_64 : LANE_copy_32;
	return decode_source(p, &operands[1], t, &out->a);
}

/* ---- predicates and comparisons ---- */

int build_predicate(struct parser *p, const struct opcode *o, const struct spelling *s,
		    const struct operand *operands, unsigned count, struct instruction *out)
{
	bool unary = o->mode == PREDICATE_NOT || o->mode == PREDICATE_MOVE;
	int r = decode_count(p, count, unary ? 2 : 3, unary ? 2 : 3);
	uint32_t unused;

	out->mode = o->mode;
	if (!r)
		r = decode_predicate_destination(p, &operands[0], &out->d, &unused);
	if (!r)
		r = decode_predicate(p, &operands[1], &out->a);
	if (!r && !unary)
		r = decode_predicate(p, &operands[2], &out->b);
	return r;
}

static int comparison(struct parser *p, const struct spelling *s, enum type t,
		      struct instruction *out)
{
	static const uint8_t functions[TYPE_COUNT] = {
		[TYPE_B16] = ID_compare_u16 + 1,  [TYPE_U16] = ID_compare_u16 + 1,
		[TYPE_S16] = ID_compare_s16 + 1,  [TYPE_B32] = ID_compare_u32 + 1,
		[TYPE_U32] = ID_compare_u32 + 1,  [TYPE_S32] = ID_compare_s32 + 1,
		[TYPE_B64] = ID_compare_u64 + 1,  [TYPE_U64] = ID_compare_u64 + 1,
		[TYPE_S64] = ID_compare_s64 + 1,  [TYPE_F32] = ID_compare_f32 + 1,
		[TYPE_F64] = ID_compare_f64 + 1,  [TYPE_F16] = ID_compare_f16 + 1,
		[TYPE_BF16] = ID_compare_bf16 + 1};
	enum modifier m = spelling_find(s, MODIFIER_EQ, MODIFIER_NAN);

	if (m == MODIFIER_NONE)
		m = spelling_has(s, MODIFIER_LO) ? MODIFIER_LO : MODIFIER_HI;
	if ((m >= MODIFIER_EQU && m <= MODIFIER_NAN) && !type_is_float(t))
		return parser_error(p, EINVAL, "float comparison of .%s", type_name(t));
	switch (m) {
	case MODIFIER_LO:
		out->flags = COMPARE_LT;
		break;
	case MODIFIER_LS:
		out->flags = COMPARE_LE;
		break;
	case MODIFIER_HI:
		out->flags = COMPARE_GT;
		break;
	case MODIFIER_HS:
		out->flags = COMPARE_GE;
		break;
	case MODIFIER_EQ ... MODIFIER_GE:
		out->flags = COMPARE_EQ + (m - MODIFIER_EQ);
		break;
	default:
		out->flags = COMPARE_EQU + (m - MODIFIER_EQU);
		break;
	}
	if (spelling_has(s, MODIFIER_FTZ))
		out->flags |= LANE_COMPARE_FTZ;
	out->function = (uint16_t)(functions[t] - 1);
	out->mode = spelling_has(s, MODIFIER_AND)   ? COMBINE_AND
		    : spelling_has(s, MODIFIER_OR)  ? COMBINE_OR
		    : spelling_has(s, MODIFIER_XOR) ? COMBINE_XOR
						    : COMBINE_NONE;
	return 0;
}

static int compare_sources(struct parser *p, const struct operand *operands, unsigned count,
			   enum type t, struct instruction *out)
{
	unsigned want = out->mode == COMBINE_NONE ? 3 : 4;
	int r = decode_count(p, count, want, want);

	if (!r)
		r = decode_source(p, &operands[1], t, &out->a);
	if (!r)
		r = decode_source(p, &operands[2], t, &out->b);
	if (!r && want == 4)
		r = decode_predicate(p, &operands[3], &out->c);
	return r;
}

int build_compare(struct parser *p, const struct opcode *o, const struct spelling *s,
		  const struct operand *operands, unsigned count, struct instruction *out)
{
	enum type t = (enum type)s->types[0];
	int r = comparison(p, s, t, out);

	if (!r)
		r = compare_sources(p, operands, count, t, out);
	return r ? r : decode_predicate_destination(p, &operands[0], &out->d, &out->e);
}

int build_set(struct parser *p, const struct opcode *o, const struct spelling *s,
	      const struct operand *operands, unsigned count, struct instruction *out)
{
	enum type t = (enum type)s->types[1];
	int r = comparison(p, s, t, out);

	out->element = s->types[0];
	if (!r)
		r = compare_sources(p, operands, count, t, out);
	return r ? r : decode_destination(p, &operands[0], TYPE_B32, &out->d);
}

int build_select(struct parser *p, const struct opcode *o, const struct spelling *s,
		 const struct operand *operands, unsigned count, struct instruction *out)
{
	enum type t = (enum type)s->types[0];
	int r = decode_count(p, count, 4, 4);

	out->wide = type_bytes(t) == 8;
	if (!r)
		r = decode_destination(p, &operands[0], t, &out->d);
	if (!r)
		r = decode_source(p, &operands[1], t, &out->a);
	if (!r)
		r = decode_source(p, &operands[2], t, &out->b);
	return r ? r : decode_predicate(p, &operands[3], &out->c);
}

int build_test(struct parser *p, const struct opcode *o, const struct spelling *s,
	       const struct operand *operands, unsigned count, struct instruction *out)
{
	enum modifier m = spelling_find(s, MODIFIER_FINITE, MODIFIER_SUBNORMAL);
	int r = decode_count(p, count, 2, 2);

	out->function = o->function;
	out->flags = TEST_FINITE + (m - MODIFIER_FINITE);
	if (!r)
		r = decode_source(p, &operands[1], (enum type)s->types[0], &out->a);
	return r ? r : decode_predicate_destination(p, &operands[0], &out->d, &out->e);
}

/* ---- the statement ---- */

static const struct opcode *look_up(struct parser *p, struct slice name, struct spelling *s,
				    bool *base_known)
{
	uint32_t h = 2166136261u;
	struct memo *m;

	for (size_t i = 0; i < name.size; i++)
		h = (h ^ (uint8_t)name.text[i]) * 16777619u;
	m = &p->memo[h % MEMO_SIZE];
	if (!m->opcode || !slice_equal(m->name, name)) {
		const struct opcode *o = opcode_find(name, s, base_known);

		if (!o)
			return NULL;
		*m = (struct memo){name, o, *s};
	}
	*s = m->spelling;
	return m->opcode;
}

int decode_instruction(struct parser *p, struct slice name, uint32_t guard)
{
	struct operand operands[OPERANDS_MAX];
	struct spelling s;
	struct instruction out = {.guard = guard, .line = p->statement_line};
	unsigned count = 0;
	bool base_known;
	const struct opcode *o = look_up(p, name, &s, &base_known);
	int r;

	if (!o)
		return parser_error(p, ENOTSUP, "%s %.*s is not supported",
				    base_known ? "this form of" : "the instruction", (int)name.size,
				    name.text);
	out.code = o->code;
	if (o->build != build_call && scan_peek(&p->scan) != ';') {
		do {
			if (count == OPERANDS_MAX)
				return parser_error(p, EINVAL, "too many operands");
			r = parse_operand(p, &operands[count++]);
			if (r)
				return r;
		} while (scan_take(&p->scan, ','));
	}
	r = o->build(p, o, &s, operands, count, &out);
	if (r)
		return r;
	if (!scan_take(&p->scan, ';'))
		return parser_error(p, EINVAL, "missing ;");
	return append_instruction(p, &out);
}
