/* SPDX-License-Identifier: MIT */
/* Declarations of variables and parameters: types, alignment, arrays, initialisers, layout. */
#include "softgpu/variables.h"

#include <errno.h>
#include <string.h>

#include "lib/base.h"

#define ALIGN_MAX        4096u
#define ENTRY_PARAMS_MAX 4096u /* number of them; their bytes are limited to 32,764 */
#define ENTRY_BYTES_MAX  32764u

struct declaration {
	struct slice name;
	enum type type;
	uint64_t align, size;
	bool unsized; /* name[] */
};

static uint64_t align_up(uint64_t x, uint64_t align)
{
	return (x + align - 1) & ~(align - 1);
}

static int parse_align(struct parser *p, uint64_t *align)
{
	struct number n = scan_number(&p->scan);

	if (n.kind != NUMBER_INTEGER || !n.bits || n.bits & (n.bits - 1) || n.bits > ALIGN_MAX)
		return parser_error(p, EINVAL, "bad alignment");
	*align = n.bits;
	return 0;
}

static int parse_dimensions(struct parser *p, struct declaration *d)
{
	while (scan_take(&p->scan, '[')) {
		struct number n;

		if (scan_take(&p->scan, ']')) {
			d->unsized = true;
			d->size = 0;
			continue;
		}
		n = scan_number(&p->scan);
		if (n.kind != NUMBER_INTEGER || __builtin_mul_overflow(d->size, n.bits, &d->size) ||
		    d->size > VARIABLE_BYTES_MAX || !scan_take(&p->scan, ']'))
			return parser_error(p, EINVAL, "bad array size");
	}
	return 0;
}

/* Everything of "‹.align 4 .v2 .b32›" before the name. */
static int parse_type(struct parser *p, struct declaration *d)
{
	unsigned vector = 1;
	bool pointer = false;
	uint64_t ignored;
	int r;

	*d = (struct declaration){.align = 0};
	while (scan_peek(&p->scan) == '.') {
		struct slice s = scan_name(&p->scan, false);

		if (slice_is(s, ".align")) {
			r = parse_align(p, pointer ? &ignored : &d->align);
			if (r)
				return r;
		} else if (slice_is(s, ".ptr")) {
			pointer = true; /* a space and an alignment of what it points to follow */
		} else if (slice_is(s, ".v2") || slice_is(s, ".v4")) {
			vector = s.text[2] == '2' ? 2 : 4;
		} else if (!pointer) {
			for (unsigned t = 1; t < TYPE_COUNT && d->type == TYPE_NONE; t++)
				if (slice_is((struct slice){s.text + 1, s.size - 1},
					     type_name((enum type)t)))
					d->type = (enum type)t;
			if (d->type == TYPE_NONE)
				return parser_error(p, ENOTSUP, "%.*s here", (int)s.size, s.text);
		}
	}
	d->size = (uint64_t)type_bytes(d->type) * vector;
	if (!d->size)
		return parser_error(p, EINVAL, "a variable without a type");
	if (!d->align)
		d->align = d->size;
	return 0;
}

static int parse_name(struct parser *p, struct declaration *d)
{
	d->name = scan_name(&p->scan, false);
	if (!d->name.size)
		return parser_error(p, EINVAL, "variable name expected");
	return parse_dimensions(p, d);
}

static int add_symbol(struct parser *p, const struct symbol *s)
{
	if (array_reserve(&p->symbols, p->symbol_count, &p->symbol_capacity, sizeof(*p->symbols)))
		return parser_no_memory(p);
	p->symbols[p->symbol_count++] = *s;
	return 0;
}

const struct symbol *find_symbol(const struct parser *p, struct slice name)
{
	for (size_t i = p->symbol_count; i-- > 0;) {
		const struct symbol *s = &p->symbols[i];

		if (!slice_equal(s->name, name))
			continue;
		for (uint32_t scope = p->scope;; scope = p->scope_parents[scope]) {
			if (scope == s->scope)
				return s;
			if (!scope)
				break;
		}
	}
	return NULL;
}

/* ---- initialisers of .global and .const ---- */

static int store_number(struct parser *p, struct number n, const struct declaration *d,
			uint8_t *data, uint64_t at)
{
	unsigned bytes = type_bytes(d->type);

	if (n.kind == NUMBER_NONE)
		return parser_error(p, ENOTSUP, "an initialiser that is no number");
	if (at + bytes > d->size)
		return parser_error(p, EINVAL, "too many initialisers");
	if (d->type == TYPE_F32 && n.kind == NUMBER_F64) {
		double wide;
		float single;

		memcpy(&wide, &n.bits, 8);
		single = (float)wide;
		memcpy(data + at, &single, 4);
		return 0;
	}
	memcpy(data + at, &n.bits, bytes); /* little-endian */
	return 0;
}

static int parse_initialiser(struct parser *p, const struct declaration *d, uint8_t *data)
{
	unsigned depth = 0;
	uint64_t at = 0;
	int r = 0;

	if (d->unsized)
		return parser_error(p, ENOTSUP, "an initialiser of an array without size");
	do {
		while (scan_take(&p->scan, '{'))
			depth++;
		r = store_number(p, scan_number(&p->scan), d, data, at);
		at += type_bytes(d->type);
		while (depth && scan_take(&p->scan, '}'))
			depth--;
	} while (!r && depth && scan_take(&p->scan, ','));
	if (!r && depth)
		return parser_error(p, EINVAL, "missing }");
	return r;
}

static int add_global(struct parser *p, const struct declaration *d, struct symbol *s)
{
	struct ptx_module *m = p->module;
	struct ptx_global *g;
	uint8_t *data = NULL;
	int r = 0;

	if (array_reserve(&m->globals, m->global_count, &p->global_capacity, sizeof(*m->globals)))
		return parser_no_memory(p);
	if (scan_take(&p->scan, '=')) {
		data = calloc(1, d->size);
		if (!data)
			return parser_no_memory(p);
		r = parse_initialiser(p, d, data);
	}
	g = &m->globals[m->global_count];
	*g = (struct ptx_global){.name = strndup(d->name.text, d->name.size),
				 .size = d->size,
				 .align = d->align,
				 .initial = data};
	s->offset = m->global_count++;
	return r ? r : g->name ? 0 : parser_no_memory(p);
}

static int place(struct parser *p, const struct declaration *d, uint64_t *bytes, struct symbol *s)
{
	s->offset = align_up(*bytes, d->align);
	*bytes = s->offset + d->size;
	if (*bytes > VARIABLE_BYTES_MAX)
		return parser_error(p, E2BIG, "variables of more than %llu bytes",
				    VARIABLE_BYTES_MAX);
	return 0;
}

int parse_variables(struct parser *p, enum space space, bool is_extern)
{
	struct declaration d;
	uint64_t element;
	int r = parse_type(p, &d);

	if (r)
		return r;
	element = d.size;
	do {
		struct symbol s = {.space = space, .scope = p->scope};

		d.size = element;
		d.unsized = false;
		r = parse_name(p, &d);
		if (r)
			return r;
		s.name = d.name;
		s.size = d.size;
		if (space == SPACE_SHARED && d.unsized) {
			s.dynamic_shared = true;
			if (d.align > p->program->dynamic_base)
				p->program->dynamic_base =
					(uint32_t)d.align; /* so far: alignment */
		} else if (is_extern || d.unsized) {
			return parser_error(p, ENOTSUP, "a variable of another module");
		} else if (space == SPACE_SHARED) {
			r = place(p, &d, &p->shared_bytes, &s);
		} else if (space == SPACE_LOCAL) {
			r = place(p, &d, &p->local_bytes, &s);
		} else {
			r = add_global(p, &d, &s);
		}
		if (!r)
			r = add_symbol(p, &s);
		if (r)
			return r;
	} while (scan_take(&p->scan, ','));
	return scan_take(&p->scan, ';') ? 0 : parser_error(p, EINVAL, "missing ;");
}

/* ---- parameters ---- */

static int parse_parameter(struct parser *p, struct declaration *d)
{
	int r;

	if (!slice_is(scan_name(&p->scan, false), ".param"))
		return parser_error(p, ENOTSUP, "a parameter that is no .param");
	r = parse_type(p, d);
	return r ? r : parse_name(p, d);
}

int parse_entry_parameters(struct parser *p, struct ptx_entry *e)
{
	struct record_param *params = NULL;
	size_t capacity = 0;
	uint64_t bytes = 0;

	if (scan_take(&p->scan, ')'))
		return 0;
	do {
		struct symbol s = {.space = SPACE_PARAM, .scope = p->scope};
		struct declaration d;
		int r = parse_parameter(p, &d);

		if (!r && e->param_count == ENTRY_PARAMS_MAX)
			r = parser_error(p, E2BIG, "more than %u parameters", ENTRY_PARAMS_MAX);
		if (!r)
			r = place(p, &d, &bytes, &s);
		if (!r && bytes > ENTRY_BYTES_MAX)
			r = parser_error(p, E2BIG, "parameters of more than %u bytes",
					 ENTRY_BYTES_MAX);
		if (!r && array_reserve(&params, e->param_count, &capacity, sizeof(*params)))
			r = parser_no_memory(p);
		e->params = params; /* the module owns it from here on */
		if (r)
			return r;
		s.name = d.name;
		s.size = d.size;
		params[e->param_count++] = (struct record_param){.offset = (uint32_t)s.offset,
								 .size = (uint32_t)d.size};
		r = add_symbol(p, &s);
		if (r)
			return r;
	} while (scan_take(&p->scan, ','));
	e->params_bytes = (uint32_t)bytes;
	return scan_take(&p->scan, ')') ? 0 : parser_error(p, EINVAL, "missing )");
}

int parse_formals(struct parser *p, struct function_parameters *f, bool results)
{
	if (scan_take(&p->scan, ')'))
		return 0;
	do {
		struct symbol s = {.space = SPACE_LOCAL, .scope = p->scope};
		struct declaration d;
		uint32_t n = f->result_count + f->count;
		int r = parse_parameter(p, &d);

		if (!r && n == ARRAY_LENGTH(f->offset))
			r = parser_error(p, E2BIG, "more than %zu parameters",
					 ARRAY_LENGTH(f->offset));
		if (!r)
			r = place(p, &d, &p->local_bytes, &s);
		s.name = d.name;
		s.size = d.size;
		if (!r)
			r = add_symbol(p, &s);
		if (r)
			return r;
		f->offset[n] = (uint32_t)s.offset;
		f->size[n] = (uint32_t)d.size;
		if (results)
			f->result_count++;
		else
			f->count++;
	} while (scan_take(&p->scan, ','));
	return scan_take(&p->scan, ')') ? 0 : parser_error(p, EINVAL, "missing )");
}
