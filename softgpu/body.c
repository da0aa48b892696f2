/* SPDX-License-Identifier: MIT */
/* The body of an entry or function: scopes, declarations, labels, guards, instructions. */
#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/decode.h"

static int push_scope(struct parser *p)
{
	if (array_reserve(&p->scope_parents, p->scope_count, &p->scope_capacity,
			  sizeof(*p->scope_parents)))
		return parser_no_memory(p);
	p->scope_parents[p->scope_count] = p->scope;
	p->scope = (uint32_t)p->scope_count++;
	return 0;
}

static int declare_register(struct parser *p, enum type type, struct slice name, uint64_t count)
{
	struct register_declaration *d;
	uint64_t needed = count ? count : 1;

	if (p->slot_count + needed > REGISTERS_MAX)
		return parser_error(p, E2BIG, "more than %u registers", REGISTERS_MAX);
	if (array_reserve(&p->declarations, p->declaration_count, &p->declaration_capacity,
			  sizeof(*p->declarations)))
		return parser_no_memory(p);
	if (p->slot_count + needed > p->slot_capacity) {
		size_t capacity = (p->slot_count + needed) * 2;
		uint32_t *more = realloc(p->slots, capacity * sizeof(*more));

		if (!more)
			return parser_no_memory(p);
		p->slots = more;
		p->slot_capacity = capacity;
	}
	memset(p->slots + p->slot_count, 0, needed * sizeof(*p->slots));
	d = &p->declarations[p->declaration_count++];
	*d = (struct register_declaration){name, (uint32_t)count, (uint32_t)p->slot_count, p->scope,
					   type};
	p->slot_count += needed;
	return 0;
}

static enum type type_named(struct slice name)
{
	for (unsigned t = 1; t < TYPE_COUNT; t++)
		if (name.size &&
		    slice_is((struct slice){name.text + 1, name.size - 1}, type_name((enum type)t)))
			return (enum type)t;
	return TYPE_NONE;
}

/* .reg .b32 %r<10>, %x; */
static int parse_registers(struct parser *p)
{
	struct slice name = scan_name(&p->scan, true);
	enum type type = type_named(name);

	if (type == TYPE_NONE || (type != TYPE_PRED && type_bytes(type) < 2 && type != TYPE_B8 &&
				  type != TYPE_U8 && type != TYPE_S8))
		return parser_error(p, ENOTSUP, "registers of type %.*s", (int)name.size,
				    name.text);
	do {
		struct number count = {NUMBER_INTEGER, 0};
		int r;

		name = scan_name(&p->scan, false);
		if (!name.size)
			return parser_error(p, EINVAL, "register name expected");
		if (scan_take(&p->scan, '<')) {
			count = scan_number(&p->scan);
			if (count.kind != NUMBER_INTEGER || count.bits > REGISTERS_MAX ||
			    !count.bits || !scan_take(&p->scan, '>'))
				return parser_error(p, EINVAL, "bad register count");
		}
		r = declare_register(p, type, name, count.bits);
		if (r)
			return r;
	} while (scan_take(&p->scan, ','));
	return scan_take(&p->scan, ';') ? 0 : parser_error(p, EINVAL, "missing ;");
}

static int parse_directive(struct parser *p)
{
	struct slice name = scan_name(&p->scan, false);

	if (slice_is(name, ".reg"))
		return parse_registers(p);
	if (slice_is(name, ".shared"))
		return parse_variables(p, SPACE_SHARED, false);
	if (slice_is(name, ".local") || slice_is(name, ".param"))
		return parse_variables(p, SPACE_LOCAL, false);
	if (slice_is(name, ".const"))
		return parse_variables(p, SPACE_CONST, false);
	if (slice_is(name, ".global"))
		return parse_variables(p, SPACE_GLOBAL, false);
	if (slice_is(name, ".loc") || slice_is(name, ".file") || slice_is(name, ".pragma")) {
		scan_rest_of_line(&p->scan);
		return 0;
	}
	return parser_error(p, ENOTSUP, "the directive %.*s", (int)name.size, name.text);
}

static int add_label(struct parser *p, struct slice name)
{
	for (size_t i = 0; i < p->label_count; i++)
		if (p->labels[i].scope == p->scope && slice_equal(p->labels[i].name, name))
			return parser_error(p, EINVAL, "label %.*s stands twice", (int)name.size,
					    name.text);
	if (array_reserve(&p->labels, p->label_count, &p->label_capacity, sizeof(*p->labels)))
		return parser_no_memory(p);
	p->labels[p->label_count++] = (struct label){name, p->scope, p->program->code_count};
	return 0;
}

/* Labels are looked up from the use's scope outwards. */
static const struct label *find_label(const struct parser *p, const struct label_use *use)
{
	for (uint32_t s = use->scope; s; s = p->scope_parents[s])
		for (size_t i = 0; i < p->label_count; i++)
			if (p->labels[i].scope == s && slice_equal(p->labels[i].name, use->name))
				return &p->labels[i];
	return NULL;
}

static int resolve_labels(struct parser *p)
{
	for (size_t i = 0; i < p->label_use_count; i++) {
		const struct label_use *use = &p->label_uses[i];
		const struct label *l = find_label(p, use);

		if (!l) {
			p->statement_line = use->line;
			return parser_error(p, EINVAL, "unknown label %.*s", (int)use->name.size,
					    use->name.text);
		}
		p->program->code[use->pc].target = l->pc;
	}
	return 0;
}

static int parse_guard(struct parser *p, uint32_t *guard)
{
	struct operand o;
	int r = parse_operand(p, &o);

	return r ? r : decode_predicate(p, &o, guard);
}

static int parse_statement(struct parser *p)
{
	uint32_t guard = PREDICATE_TRUE << 1;
	struct slice name;
	int r;

	if (scan_take(&p->scan, '@')) {
		r = parse_guard(p, &guard);
		if (r)
			return r;
		p->statement_line = (scan_blank(&p->scan), p->scan.line);
	}
	name = scan_name(&p->scan, true);
	if (!name.size)
		return parser_error(p, EINVAL, "instruction expected");
	if (guard == PREDICATE_TRUE << 1 && scan_take(&p->scan, ':'))
		return add_label(p, name);
	return decode_instruction(p, name, guard);
}

static int parse_block(struct parser *p)
{
	unsigned depth = 0;
	int r = 0;

	do {
		char c = scan_peek(&p->scan);

		p->statement_line = p->scan.line;
		if (!c)
			return parser_error(p, EINVAL, "end of file inside a body");
		if (c == '{') {
			p->scan.at++;
			if (++depth > 256)
				return parser_error(p, E2BIG, "blocks nested too deeply");
			r = push_scope(p);
		} else if (c == '}') {
			p->scan.at++;
			depth--;
			p->scope = p->scope_parents[p->scope];
		} else if (c == ';') {
			p->scan.at++;
		} else if (c == '.') {
			r = parse_directive(p);
		} else {
			r = parse_statement(p);
		}
	} while (!r && depth);
	return r;
}

int parse_body(struct parser *p)
{
	struct ptx_program *g = p->program;
	struct instruction last = {.code = CODE_RETURN, .guard = PREDICATE_TRUE << 1};
	struct program_function *f;
	uint32_t start = g->code_count;
	int r;

	if (scan_peek(&p->scan) != '{')
		return parser_error(p, EINVAL, "{ expected");
	r = parse_block(p);
	last.line = p->scan.line;
	if (!r)
		r = append_instruction(p, &last);
	if (!r)
		r = resolve_labels(p);
	if (r)
		return r;
	f = &g->functions[p->function];
	f->start = start;
	f->end = g->code_count;
	f->slots = p->next_slot;
	f->predicates = p->next_predicate;
	f->defined = true;
	return 0;
}
