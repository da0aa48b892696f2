/* SPDX-License-Identifier: MIT */
/* A PTX module from its text: directives, entries, functions; and the module's life. */
#include "softgpu/ptx.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/link.h"
#include "softgpu/parser.h"
#include "softgpu/variables.h"

#define TEXT_MAX (256ull << 20)

int parser_error(struct parser *p, int code, const char *format, ...)
{
	char text[160], message[200];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	program_line_text(p->program, p->statement_line, text, sizeof(text));
	return error_set(p->err, code, p->statement_line, "PTX line %u: %s: \"%s\"",
			 p->statement_line, message, text);
}

int parser_no_memory(struct parser *p)
{
	return error_set(p->err, ENOMEM, p->statement_line, "no memory for PTX line %u",
			 p->statement_line);
}

void program_line_text(const struct ptx_program *p, uint32_t line, char *out, size_t out_size)
{
	const char *at = p->text, *end = p->text + p->text_size, *stop;
	size_t n;

	for (uint32_t i = 1; i < line && at < end; i++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));

		at = next ? next + 1 : end;
	}
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	stop = memchr(at, '\n', (size_t)(end - at));
	n = (size_t)((stop ? stop : end) - at);
	while (n && (at[n - 1] == '\r' || at[n - 1] == ' '))
		n--;
	if (n >= out_size)
		n = out_size - 1;
	for (size_t i = 0; i < n; i++)
		out[i] = at[i] == '\t' ? ' ' : at[i];
	out[n] = 0;
}

/* ---- entries and functions ---- */

static void begin_function(struct parser *p)
{
	p->declaration_count = p->slot_count = p->label_count = p->label_use_count = 0;
	p->next_slot = SLOT_FIRST;
	p->next_predicate = PREDICATE_FIRST;
	p->scope_count = 2;
	p->scope_parents[0] = p->scope_parents[1] = 0;
	p->scope = 1;
}

static int find_function(struct parser *p, struct slice name, uint32_t *index)
{
	struct ptx_program *g = p->program;
	char *copy;

	for (size_t i = 0; i < g->function_count; i++) {
		if (slice_is(name, g->functions[i].name)) {
			*index = (uint32_t)i;
			return 0;
		}
	}
	copy = strndup(name.text, name.size);
	if (!copy || array_reserve(&g->functions, g->function_count, &g->function_capacity,
				   sizeof(*g->functions))) {
		free(copy);
		return parser_no_memory(p);
	}
	*index = (uint32_t)g->function_count;
	g->functions[g->function_count++] = (struct program_function){.name = copy};
	return 0;
}

static int parse_dimensions(struct parser *p, uint32_t out[3])
{
	out[0] = out[1] = out[2] = 1;
	for (unsigned i = 0; i < 3; i++) {
		struct number n = scan_number(&p->scan);

		if (n.kind != NUMBER_INTEGER || !n.bits || n.bits > UINT32_MAX)
			return parser_error(p, EINVAL, "bad dimension");
		out[i] = (uint32_t)n.bits;
		if (!scan_take(&p->scan, ','))
			return 0;
	}
	return parser_error(p, EINVAL, "more than three dimensions");
}

/* What stands between the parameters and the body. */
static int parse_attributes(struct parser *p, struct ptx_entry *e)
{
	uint32_t d[3];
	int r = 0;

	while (!r && scan_peek(&p->scan) == '.') {
		struct slice name = scan_name(&p->scan, false);

		if (slice_is(name, ".noreturn") || slice_is(name, ".blocksareclusters"))
			continue;
		if (slice_is(name, ".explicitcluster") || slice_is(name, ".reqnctapercluster"))
			return parser_error(p, ENOTSUP, "clusters");
		if (slice_is(name, ".pragma")) {
			scan_rest_of_line(&p->scan);
			continue;
		}
		r = parse_dimensions(p, d);
		if (r || !e)
			continue;
		if (slice_is(name, ".reqntid") || slice_is(name, ".maxntid")) {
			uint64_t threads = (uint64_t)d[0] * d[1];

			if (threads > 1024 || threads * d[2] > 1024)
				return parser_error(p, EINVAL, "more than 1024 threads");
			e->max_threads = (uint32_t)(threads * d[2]);
			if (slice_is(name, ".reqntid"))
				memcpy(e->required_block, d, sizeof(d));
		} else if (!slice_is(name, ".minnctapersm") && !slice_is(name, ".maxnreg") &&
			   !slice_is(name, ".maxnctapersm") && !slice_is(name, ".maxclusterrank")) {
			return parser_error(p, ENOTSUP, "the directive %.*s", (int)name.size,
					    name.text);
		}
	}
	return r;
}

static int parse_entry(struct parser *p)
{
	struct ptx_module *m = p->module;
	struct slice name;
	struct ptx_entry *e;
	size_t symbols = p->symbol_count, capacity = p->entry_capacity;
	int r;

	name = scan_name(&p->scan, false);
	if (!name.size)
		return parser_error(p, EINVAL, "entry name expected");
	if (array_reserve(&m->entries, m->entry_count, &p->entry_capacity, sizeof(*m->entries)))
		return parser_no_memory(p);
	if (capacity != p->entry_capacity) {
		uint32_t *more =
			realloc(p->program->entry_functions, p->entry_capacity * sizeof(*more));

		if (!more)
			return parser_no_memory(p);
		p->program->entry_functions = more;
	}
	begin_function(p);
	r = find_function(p, name, &p->function);
	if (r)
		return r;
	if (p->program->functions[p->function].defined)
		return parser_error(p, EINVAL, "%.*s stands twice", (int)name.size, name.text);
	e = &m->entries[m->entry_count];
	*e = (struct ptx_entry){.name = p->program->functions[p->function].name,
				.max_threads = 1024};
	p->program->functions[p->function].is_entry = true;
	p->program->entry_functions[m->entry_count++] = p->function;
	if (scan_take(&p->scan, '('))
		r = parse_entry_parameters(p, e);
	if (!r)
		r = parse_attributes(p, e);
	if (!r && scan_take(&p->scan, ';'))
		return parser_error(p, ENOTSUP, "an entry without a body");
	if (!r)
		r = parse_body(p);
	p->symbol_count = symbols;
	return r;
}

static int parse_function(struct parser *p)
{
	struct function_parameters formal = {0};
	struct slice name;
	size_t symbols = p->symbol_count;
	int r = 0;

	begin_function(p);
	if (scan_take(&p->scan, '('))
		r = parse_formals(p, &formal, true);
	if (r)
		return r;
	name = scan_name(&p->scan, false);
	if (!name.size)
		return parser_error(p, EINVAL, "function name expected");
	r = find_function(p, name, &p->function);
	formal.name = name;
	formal.function = p->function;
	if (!r && scan_take(&p->scan, '('))
		r = parse_formals(p, &formal, false);
	if (!r)
		r = parse_attributes(p, NULL);
	if (!r && !scan_take(&p->scan, ';')) {
		if (p->program->functions[p->function].defined)
			return parser_error(p, EINVAL, "%.*s stands twice", (int)name.size,
					    name.text);
		if (array_reserve(&p->parameters, p->parameter_count, &p->parameter_capacity,
				  sizeof(*p->parameters)))
			return parser_no_memory(p);
		p->parameters[p->parameter_count++] = formal;
		r = parse_body(p);
	}
	p->symbol_count = symbols;
	return r;
}

/* ---- the module ---- */

static int parse_target(struct parser *p)
{
	struct slice name = scan_name(&p->scan, false);
	uint32_t target = 0;

	if (name.size < 4 || memcmp(name.text, "sm_", 3) != 0)
		return parser_error(p, ENOTSUP, "the target %.*s", (int)name.size, name.text);
	for (size_t i = 3; i < name.size && name.text[i] >= '0' && name.text[i] <= '9' && i < 8;
	     i++)
		target = target * 10 + (uint32_t)(name.text[i] - '0');
	p->module->target = target;
	scan_rest_of_line(&p->scan);
	return 0;
}

static int parse_section(struct parser *p)
{
	scan_name(&p->scan, true);
	return scan_skip_braces(&p->scan) ? 0 : parser_error(p, EINVAL, "unbalanced section");
}

static int parse_top(struct parser *p)
{
	bool is_extern = false;
	struct slice name;
	struct number n;

	for (;;) {
		name = scan_name(&p->scan, false);
		if (slice_is(name, ".extern"))
			is_extern = true;
		else if (!slice_is(name, ".visible") && !slice_is(name, ".weak") &&
			 !slice_is(name, ".common"))
			break;
	}
	if (slice_is(name, ".version") || slice_is(name, ".file") || slice_is(name, ".loc")) {
		scan_rest_of_line(&p->scan);
		return 0;
	}
	if (slice_is(name, ".target"))
		return parse_target(p);
	if (slice_is(name, ".address_size")) {
		n = scan_number(&p->scan);
		return n.bits == 64 ? 0 : parser_error(p, ENOTSUP, "32-bit addresses");
	}
	if (slice_is(name, ".section"))
		return parse_section(p);
	if (slice_is(name, ".pragma")) {
		scan_rest_of_line(&p->scan);
		return 0;
	}
	if (slice_is(name, ".entry"))
		return parse_entry(p);
	if (slice_is(name, ".func"))
		return parse_function(p);
	if (slice_is(name, ".shared"))
		return parse_variables(p, SPACE_SHARED, is_extern);
	if (slice_is(name, ".global"))
		return parse_variables(p, SPACE_GLOBAL, is_extern);
	if (slice_is(name, ".const"))
		return parse_variables(p, SPACE_CONST, is_extern);
	return parser_error(p, name.size ? ENOTSUP : EINVAL, "unexpected %.*s",
			    name.size ? (int)name.size : 1, name.size ? name.text : p->scan.at);
}

static int parse_module(struct parser *p)
{
	int r = 0;
	char c;

	if (array_reserve(&p->scope_parents, 2, &p->scope_capacity, sizeof(*p->scope_parents)))
		return parser_no_memory(p);
	while (!r && (c = scan_peek(&p->scan))) {
		p->statement_line = p->scan.line;
		p->scope = 0;
		if (c == '@' || c == ';') { /* @@DWARF of old PTX */
			p->scan.at++;
			if (c == '@')
				scan_rest_of_line(&p->scan);
			continue;
		}
		r = parse_top(p);
	}
	if (!r && !p->module->target)
		r = parser_error(p, EINVAL, "no .target: this is not PTX");
	return r ? r : link_program(p);
}

static void parser_free(struct parser *p)
{
	free(p->symbols);
	free(p->parameters);
	free(p->declarations);
	free(p->slots);
	free(p->scope_parents);
	free(p->labels);
	free(p->label_uses);
	free(p->calls);
	free(p->memo);
	free(p->constant_keys);
	free(p->constant_slots);
}

int ptx_module_parse(struct ptx_module **out, const char *text, size_t size, struct error *err)
{
	struct parser p = {.err = err, .statement_line = 1};
	int r;

	if (size > TEXT_MAX)
		return error_set(err, E2BIG, 0, "PTX of more than %llu bytes", TEXT_MAX);
	p.module = calloc(1, sizeof(*p.module));
	p.memo = calloc(MEMO_SIZE, sizeof(*p.memo));
	if (p.module)
		p.module->program = p.program = calloc(1, sizeof(*p.program));
	if (p.program)
		p.program->text = malloc(size + 1);
	if (!p.memo || !p.program || !p.program->text) {
		r = error_set(err, ENOMEM, 0, "no memory for a PTX module");
	} else {
		memcpy(p.program->text, text, size);
		p.program->text[size] = 0;
		p.program->text_size = size;
		p.scan = (struct scan){p.program->text, p.program->text + size, 1};
		r = parse_module(&p);
	}
	parser_free(&p);
	if (r) {
		ptx_module_free(p.module);
		return r;
	}
	*out = p.module;
	return 0;
}

static void program_free(struct ptx_program *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->function_count; i++)
		free((void *)g->functions[i].name);
	free(g->functions);
	free(g->text);
	free(g->code);
	free(g->contracted);
	free(g->constants);
	free(g->extras);
	free(g->entry_functions);
	free(g);
}

void ptx_module_free(struct ptx_module *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->entry_count; i++)
		free((void *)m->entries[i].params);
	free(m->entries);
	for (size_t i = 0; i < m->global_count; i++) {
		free((void *)m->globals[i].name);
		free((void *)m->globals[i].initial);
	}
	free(m->globals);
	program_free(m->program);
	free(m);
}

const struct ptx_entry *ptx_module_entry(const struct ptx_module *m, const char *name)
{
	for (size_t i = 0; i < m->entry_count; i++)
		if (!strcmp(m->entries[i].name, name))
			return &m->entries[i];
	return NULL;
}
