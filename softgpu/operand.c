/* SPDX-License-Identifier: MIT */
/* Operands: registers, literals, vectors, addresses, special registers; slots and constants. */
#include "softgpu/parser.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "lib/base.h"

static const struct {
	const char *name;
	enum special special;
} special_names[] = {
	{"%tid.x", SPECIAL_TID_X},
	{"%tid.y", SPECIAL_TID_Y},
	{"%tid.z", SPECIAL_TID_Z},
	{"%ntid.x", SPECIAL_NTID_X},
	{"%ntid.y", SPECIAL_NTID_Y},
	{"%ntid.z", SPECIAL_NTID_Z},
	{"%ctaid.x", SPECIAL_CTAID_X},
	{"%ctaid.y", SPECIAL_CTAID_Y},
	{"%ctaid.z", SPECIAL_CTAID_Z},
	{"%nctaid.x", SPECIAL_NCTAID_X},
	{"%nctaid.y", SPECIAL_NCTAID_Y},
	{"%nctaid.z", SPECIAL_NCTAID_Z},
	{"%laneid", SPECIAL_LANEID},
	{"%warpid", SPECIAL_WARPID},
	{"%nwarpid", SPECIAL_NWARPID},
	{"%smid", SPECIAL_SMID},
	{"%nsmid", SPECIAL_NSMID},
	{"%gridid", SPECIAL_GRIDID},
	{"%lanemask_eq", SPECIAL_LANEMASK_EQ},
	{"%lanemask_lt", SPECIAL_LANEMASK_LT},
	{"%lanemask_le", SPECIAL_LANEMASK_LE},
	{"%lanemask_gt", SPECIAL_LANEMASK_GT},
	{"%lanemask_ge", SPECIAL_LANEMASK_GE},
	{"%clock", SPECIAL_CLOCK},
	{"%clock_hi", SPECIAL_CLOCK_HI},
	{"%clock64", SPECIAL_CLOCK64},
	{"%globaltimer", SPECIAL_GLOBALTIMER},
	{"%globaltimer_lo", SPECIAL_GLOBALTIMER_LO},
	{"%globaltimer_hi", SPECIAL_GLOBALTIMER_HI},
	{"%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM},
	{"%total_smem_size", SPECIAL_TOTAL_SMEM},
	/* A launch without clusters: each block is a cluster of its own. */
	{"%cluster_ctaid.x", SPECIAL_ZERO},
	{"%cluster_ctaid.y", SPECIAL_ZERO},
	{"%cluster_ctaid.z", SPECIAL_ZERO},
	{"%cluster_ctarank", SPECIAL_ZERO},
	{"%cluster_nctaid.x", SPECIAL_ONE},
	{"%cluster_nctaid.y", SPECIAL_ONE},
	{"%cluster_nctaid.z", SPECIAL_ONE},
	{"%cluster_nctarank", SPECIAL_ONE},
	{"%clusterid.x", SPECIAL_CTAID_X},
	{"%clusterid.y", SPECIAL_CTAID_Y},
	{"%clusterid.z", SPECIAL_CTAID_Z},
	{"%nclusterid.x", SPECIAL_NCTAID_X},
	{"%nclusterid.y", SPECIAL_NCTAID_Y},
	{"%nclusterid.z", SPECIAL_NCTAID_Z},
};

static bool find_special(struct slice name, enum special *out)
{
	for (unsigned i = 0; i < ARRAY_LENGTH(special_names); i++) {
		if (slice_is(name, special_names[i].name)) {
			*out = special_names[i].special;
			return true;
		}
	}
	return false;
}

int new_slot(struct parser *p, bool wide, uint32_t *slot)
{
	*slot = p->next_slot;
	p->next_slot += wide ? 2 : 1;
	return 0;
}

static bool scope_visible(const struct parser *p, uint32_t scope)
{
	for (uint32_t s = p->scope;; s = p->scope_parents[s]) {
		if (s == scope)
			return true;
		if (s == 0)
			return false;
	}
}

/* Splits "%r12" after its prefix; false if the rest is no plain number below count. */
static bool register_index(const struct register_declaration *d, struct slice name, uint32_t *index)
{
	uint64_t n = 0;

	if (name.size < d->prefix.size || memcmp(name.text, d->prefix.text, d->prefix.size) != 0)
		return false;
	*index = 0;
	if (!d->count)
		return name.size == d->prefix.size;
	if (name.size == d->prefix.size || name.size > d->prefix.size + 9 ||
	    (name.text[d->prefix.size] == '0' && name.size > d->prefix.size + 1))
		return false;
	for (size_t i = d->prefix.size; i < name.size; i++) {
		if (!isdigit((unsigned char)name.text[i]))
			return false;
		n = n * 10 + (uint64_t)(name.text[i] - '0');
	}
	*index = (uint32_t)n;
	return n < d->count;
}

bool find_register(struct parser *p, struct slice name, struct parsed_register *out)
{
	for (size_t i = p->declaration_count; i-- > 0;) {
		const struct register_declaration *d = &p->declarations[i];
		uint32_t index, *slot;

		if (!register_index(d, name, &index) || !scope_visible(p, d->scope))
			continue;
		slot = &p->slots[d->first + index];
		if (!*slot && d->type == TYPE_PRED)
			*slot = p->next_predicate++;
		else if (!*slot)
			new_slot(p, type_bytes(d->type) == 8, slot);
		out->slot = *slot;
		out->type = d->type;
		return true;
	}
	return false;
}

/* ---- constants ---- */

static int grow_constant_table(struct parser *p)
{
	size_t capacity = p->constant_capacity ? p->constant_capacity * 2 : 256;
	uint64_t *keys = calloc(capacity, sizeof(*keys));
	uint32_t *slots = calloc(capacity, sizeof(*slots));

	if (!keys || !slots) {
		free(keys);
		free(slots);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->constant_capacity; i++) {
		size_t h;

		if (!p->constant_slots[i])
			continue;
		h = (p->constant_keys[i] * 0x9e3779b97f4a7c15ull >> 20) & (capacity - 1);
		while (slots[h])
			h = (h + 1) & (capacity - 1);
		keys[h] = p->constant_keys[i];
		slots[h] = p->constant_slots[i];
	}
	free(p->constant_keys);
	free(p->constant_slots);
	p->constant_keys = keys;
	p->constant_slots = slots;
	p->constant_capacity = capacity;
	return 0;
}

static int grow_constants(struct parser *p)
{
	struct ptx_program *g = p->program;
	size_t capacity = p->constant_slot_capacity ? p->constant_slot_capacity * 2 : 64;
	uint8_t *more;

	if (g->constant_slots + 2 <= p->constant_slot_capacity)
		return 0;
	more = aligned_alloc(64, capacity * SLOT_BYTES);
	if (!more)
		return -ENOMEM;
	if (g->constants)
		memcpy(more, g->constants, g->constant_slots * (size_t)SLOT_BYTES);
	free(g->constants);
	g->constants = more;
	p->constant_slot_capacity = capacity;
	return 0;
}

/* 32-bit and 64-bit constants share one table: of a wide one the slot has bit 31 set. */
uint32_t constant_operand(struct parser *p, uint64_t bits, bool wide)
{
	struct ptx_program *g = p->program;
	uint32_t mark = wide ? 0x80000000u : 0, slot;
	uint8_t *at;
	size_t h;

	if (!wide)
		bits = (uint32_t)bits;
	if (p->constant_count * 2 >= p->constant_capacity && grow_constant_table(p))
		return OPERAND_NONE;
	h = (bits * 0x9e3779b97f4a7c15ull >> 20) & (p->constant_capacity - 1);
	for (; p->constant_slots[h]; h = (h + 1) & (p->constant_capacity - 1)) {
		slot = p->constant_slots[h];
		if (p->constant_keys[h] == bits && (slot & 0x80000000u) == mark)
			return ((slot & 0x7fffffffu) - 1) << 1 | 1;
	}
	if (grow_constants(p))
		return OPERAND_NONE;
	slot = g->constant_slots;
	at = g->constants + slot * (size_t)SLOT_BYTES;
	for (unsigned l = 0; l < WARP_LANES; l++)
		memcpy(at + l * (wide ? 8 : 4), &bits, wide ? 8 : 4);
	g->constant_slots += wide ? 2 : 1;
	p->constant_keys[h] = bits;
	p->constant_slots[h] = (slot + 1) | mark;
	p->constant_count++;
	return slot << 1 | 1;
}

/* ---- operands ---- */

static int parse_item(struct parser *p, struct operand *out)
{
	struct slice name;
	char c = scan_peek(&p->scan);

	if (out->count == VECTOR_MAX)
		return parser_error(p, ENOTSUP, "vector of more than %d elements", VECTOR_MAX);
	if (c == '-' || isdigit((unsigned char)c)) {
		out->items[out->count].kind = OPERAND_NUMBER;
		out->items[out->count].number = scan_number(&p->scan);
		if (out->items[out->count].number.kind == NUMBER_NONE)
			return parser_error(p, EINVAL, "bad number");
		out->count++;
		return 0;
	}
	name = scan_name(&p->scan, true);
	if (slice_is(name, "_"))
		out->items[out->count].kind = OPERAND_SINK;
	else if (find_register(p, name, &out->items[out->count].reg))
		out->items[out->count].kind = OPERAND_REGISTER;
	else
		return parser_error(p, EINVAL, "unknown register %.*s", (int)name.size, name.text);
	out->count++;
	return 0;
}

static int parse_vector(struct parser *p, struct operand *out)
{
	int r;

	out->kind = OPERAND_VECTOR;
	do {
		r = parse_item(p, out);
		if (r)
			return r;
	} while (scan_take(&p->scan, ','));
	return scan_take(&p->scan, '}') ? 0 : parser_error(p, EINVAL, "missing }");
}

static int parse_offset(struct parser *p, struct operand *out)
{
	bool minus = false;
	struct number n;

	if (!scan_take(&p->scan, '+')) {
		if (scan_peek(&p->scan) != '-')
			return 0;
		scan_take(&p->scan, '-');
		minus = true;
	}
	n = scan_number(&p->scan);
	if (n.kind != NUMBER_INTEGER)
		return parser_error(p, EINVAL, "bad address offset");
	out->offset = (int64_t)(minus ? -n.bits : n.bits);
	return 0;
}

static int parse_address(struct parser *p, struct operand *out)
{
	char c = scan_peek(&p->scan);
	int r;

	out->kind = OPERAND_ADDRESS;
	if (isdigit((unsigned char)c)) {
		out->number = scan_number(&p->scan);
		if (out->number.kind != NUMBER_INTEGER)
			return parser_error(p, EINVAL, "bad address");
	} else {
		struct slice name = scan_name(&p->scan, true);

		out->has_register = find_register(p, name, &out->reg);
		if (!out->has_register)
			out->symbol = find_symbol(p, name);
		if (!out->has_register && !out->symbol)
			return parser_error(p, EINVAL, "unknown name %.*s in an address",
					    (int)name.size, name.text);
		if (out->has_register && out->reg.type == TYPE_PRED)
			return parser_error(p, EINVAL, "a predicate is no address");
	}
	r = parse_offset(p, out);
	if (r)
		return r;
	return scan_take(&p->scan, ']') ? 0 : parser_error(p, EINVAL, "missing ]");
}

static int parse_second(struct parser *p, struct operand *out)
{
	struct slice name;

	if (!scan_take(&p->scan, '|'))
		return 0;
	name = scan_name(&p->scan, true);
	out->has_second = true;
	out->second_sink = slice_is(name, "_");
	if (!out->second_sink && !find_register(p, name, &out->second))
		return parser_error(p, EINVAL, "unknown register %.*s", (int)name.size, name.text);
	return 0;
}

static int parse_named(struct parser *p, struct operand *out)
{
	struct slice name = scan_name(&p->scan, true);

	if (!name.size)
		return parser_error(p, EINVAL, "operand expected");
	if (slice_is(name, "_")) {
		out->kind = OPERAND_SINK;
		return parse_second(p, out);
	}
	if (find_register(p, name, &out->reg)) {
		out->kind = OPERAND_REGISTER;
		return parse_second(p, out);
	}
	if (slice_is(name, "WARP_SZ")) {
		out->kind = OPERAND_NUMBER;
		out->number = (struct number){NUMBER_INTEGER, WARP_LANES};
		return 0;
	}
	if (find_special(name, &out->special)) {
		out->kind = OPERAND_SPECIAL;
		return 0;
	}
	if (name.text[0] == '%')
		return parser_error(p, ENOTSUP, "unknown register %.*s", (int)name.size, name.text);
	out->kind = OPERAND_SYMBOL;
	out->symbol = find_symbol(p, name);
	out->name = name;
	return parse_offset(p, out);
}

int parse_operand(struct parser *p, struct operand *out)
{
	char c = scan_peek(&p->scan);

	memset(out, 0, sizeof(*out));
	if (scan_take(&p->scan, '{'))
		return parse_vector(p, out);
	if (scan_take(&p->scan, '['))
		return parse_address(p, out);
	if (scan_take(&p->scan, '!')) {
		int r = parse_named(p, out);

		out->negated = true;
		if (!r && out->kind != OPERAND_REGISTER)
			return parser_error(p, EINVAL, "! stands before predicates only");
		return r;
	}
	if (c == '-' || isdigit((unsigned char)c)) {
		out->kind = OPERAND_NUMBER;
		out->number = scan_number(&p->scan);
		return out->number.kind == NUMBER_NONE ? parser_error(p, EINVAL, "bad number") : 0;
	}
	return parse_named(p, out);
}
