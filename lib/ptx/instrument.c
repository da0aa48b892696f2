/* SPDX-License-Identifier: MIT */
/* Makes the address-recording variant of PTX. */
#include "lib/ptx/instrument.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/ptx/access.h"
#include "lib/ptx/dependence.h"
#include "lib/ptx/note.h"
#include "lib/ptx/statement.h"

#define PARAMS_MAX     4096u
#define STATEMENTS_MAX (4u << 20)
#define TEXT_MAX       (64u << 20)

/* ---- one function ---- */

struct function {
	struct piece header, name;
	bool entry;
	struct piece *params;
	size_t param_count;
	struct statement *body;
	size_t count, capacity;
};

static void function_free(struct function *f)
{
	free(f->params);
	free(f->body);
	*f = (struct function){0};
}

static size_t find_word(struct piece p, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= p.size; i++)
		if (!memcmp(p.at + i, word, n))
			return i;
	return SIZE_MAX;
}

/* Name and parameters: the last name of each comma-separated item between the parentheses. */
static int read_header(struct function *f, struct piece header)
{
	size_t at = find_word(header, ".entry"), capacity = 0;
	struct piece last = {0};

	*f = (struct function){.header = header, .entry = at != SIZE_MAX};
	if (!f->entry)
		return 0;
	at += strlen(".entry");
	f->name = name_next(header, &at);
	while (at < header.size && header.at[at] != '(')
		at++;
	if (at < header.size && !memchr(header.at + at, ')', header.size - at))
		return -EBADMSG;
	while (at < header.size && header.at[at] != ')') {
		size_t end = ++at, in = 0;
		struct piece item;

		while (end < header.size && header.at[end] != ',' && header.at[end] != ')')
			end++;
		item = (struct piece){header.at + at, end - at};
		last.size = 0;
		for (struct piece n; (n = name_next(item, &in)).size;)
			last = n;
		at = end;
		if (!last.size)
			continue;
		if (f->param_count == PARAMS_MAX ||
		    array_reserve(&f->params, f->param_count, &capacity, sizeof(*f->params)) < 0)
			return -ENOMEM;
		f->params[f->param_count++] = last;
	}
	return f->name.size ? 0 : -EBADMSG;
}

/* The statements from the opening brace to the closing one. */
static int read_body(struct function *f, struct statement_cursor *c)
{
	int depth = 0;

	do {
		struct statement s;
		int r = statement_next(c, &s);

		if (r >= 0 && (s.kind == STATEMENT_END || s.kind == STATEMENT_FUNCTION ||
			       f->count == STATEMENTS_MAX))
			r = -EBADMSG;
		if (r >= 0)
			r = array_reserve(&f->body, f->count, &f->capacity, sizeof(*f->body));
		if (r < 0)
			return r;
		depth += s.kind == STATEMENT_OPEN;
		depth -= s.kind == STATEMENT_CLOSE;
		f->body[f->count++] = s;
	} while (depth > 0);
	return 0;
}

/* ---- module variables ---- */

struct names {
	struct piece *items;
	size_t count, capacity;
};

/* ".visible .global .align 4 .f32 acc[64] = …": the first name. */
static int add_variable(struct names *names, struct piece declaration)
{
	size_t at = 0;
	int r;

	if (find_word(declaration, ".global") == SIZE_MAX &&
	    find_word(declaration, ".const") == SIZE_MAX)
		return 0;
	r = array_reserve(&names->items, names->count, &names->capacity, sizeof(*names->items));
	if (r >= 0)
		names->items[names->count++] = name_next(declaration, &at);
	return r;
}

static bool statement_names(const struct statement *s, const struct names *names)
{
	struct piece name;
	size_t at = 0;

	if (s->kind != STATEMENT_INSTRUCTION || !names->count)
		return false;
	while ((name = name_next(s->text, &at)).size)
		for (size_t i = 0; i < names->count; i++)
			if (piece_equal(name, names->items[i]))
				return true;
	return false;
}

/* ---- one entry ---- */

/* A barrier that counts arrivals: threads that stop early would leave the others waiting. */
static bool counts_arrivals(const struct statement *s)
{
	if (opcode_is(s, "mbarrier"))
		return true;
	return (opcode_is(s, "bar") || opcode_is(s, "barrier")) &&
	       (s->operand_count > 1 || opcode_has(s, "cluster") || opcode_has(s, "arrive"));
}

static char *refusal(const struct function *f, bool *careful)
{
	struct dependence d;
	int r = dependence_find(&d, f->body, f->count, f->params, f->param_count);

	*careful = d.reach & DEPENDS_CONTENTS;
	if (r < 0)
		return text_format("no memory to follow its values");
	if (d.reach & DEPENDS_ATOMIC)
		return text_format("an address or a branch depends on the result of an atomic or "
				   "volatile access");
	for (size_t i = 0; *careful && i < f->count; i++)
		if (f->body[i].kind == STATEMENT_INSTRUCTION && counts_arrivals(&f->body[i]))
			return text_format("an address or a branch depends on memory, and its "
					   "barriers count arrivals");
	return NULL;
}

static void write_piece(FILE *out, struct piece p)
{
	fwrite(p.at, 1, p.size, out);
	fputc('\n', out);
}

static void write_plain(FILE *out, const struct function *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->body[i].kind != STATEMENT_DEBUG)
			write_piece(out, f->body[i].text);
}

/* Sets PTX_TABLE ran, from the first block of each row of the grid. */
static void write_ran(FILE *out)
{
	fputs("{\n.reg .b32 klab_x, klab_c;\n.reg .b64 klab_t;\n.reg .pred klab_f;\n"
	      "mov.u32 klab_x, %tid.x;\nmov.u32 klab_c, %ctaid.x;\n"
	      "or.b32 klab_x, klab_x, klab_c;\nsetp.eq.u32 klab_f, klab_x, 0;\n"
	      "mov.b32 klab_c, 1;\nld.global.b64 klab_t, [" PTX_TABLE_SYMBOL "];\n"
	      "@klab_f st.volatile.global.b32 [klab_t+4], klab_c;\n}\n",
	      out);
}

static int write_variant(FILE *out, const struct function *f, struct ptx_variant_entry *e)
{
	struct access_scope scope = {.body = f->body,
				     .count = f->count,
				     .params = f->params,
				     .param_count = f->param_count,
				     .careful = e->careful};
	bool begun = false;

	for (size_t i = 0; i < f->count; i++) {
		int r = 0;

		if (f->body[i].kind == STATEMENT_DEBUG)
			continue;
		if (f->body[i].kind == STATEMENT_INSTRUCTION && !begun) {
			write_ran(out);
			begun = true;
		}
		if (f->body[i].kind == STATEMENT_INSTRUCTION)
			r = access_write(out, &scope, &f->body[i], &e->reason);
		if (r < 0)
			return r;
		if (e->reason)
			return 0;
		if (!r)
			write_piece(out, f->body[i].text);
	}
	e->tensor_reads = scope.tensor_reads;
	e->tensor_writes = scope.tensor_writes;
	return 0;
}

static int write_entry(FILE *out, const struct function *f, const struct names *variables,
		       struct ptx_variant_entry *e)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *body;
	int r = 0;

	e->name = strndup(f->name.at, f->name.size);
	if (!e->name)
		return -ENOMEM;
	for (size_t i = 0; i < f->count && !e->names_variables; i++)
		e->names_variables = statement_names(&f->body[i], variables);
	e->reason = refusal(f, &e->careful);
	body = open_memstream(&text, &size);
	if (!body)
		return -ENOMEM;
	if (!e->reason)
		r = write_variant(body, f, e);
	if (fclose(body) && !r)
		r = -ENOMEM;
	write_piece(out, f->header);
	if (r >= 0 && !e->reason)
		fwrite(text, 1, size, out);
	else
		write_plain(out, f);
	return r;
}

/* ---- the module ---- */

static int write_function(FILE *out, struct ptx_variant *v, size_t *capacity,
			  struct statement_cursor *c, struct piece header,
			  const struct names *variables, struct error *err)
{
	struct function f;
	int r = read_header(&f, header);

	if (r >= 0 && header.at[header.size - 1] == ';') /* a declaration */
		write_piece(out, header);
	else if (r >= 0)
		r = read_body(&f, c);
	if (r >= 0 && f.count && !f.entry)
		r = error_set(err, ENOTSUP, ERROR_NO_OFFSET, "it has functions beside its entries");
	if (r >= 0 && f.count) {
		r = array_reserve(&v->entries, v->count, capacity, sizeof(*v->entries));
		if (r >= 0) {
			v->entries[v->count] = (struct ptx_variant_entry){0};
			r = write_entry(out, &f, variables, &v->entries[v->count++]);
		}
	}
	function_free(&f);
	return r;
}

static int write_module(FILE *out, struct ptx_variant *v, const char *text, size_t size,
			struct error *err)
{
	struct statement_cursor c = {.text = text, .size = size};
	struct names variables = {0};
	size_t capacity = 0;
	bool noted = false;
	int r = 0;

	while (r >= 0) {
		size_t before = c.at;
		struct statement s;

		r = statement_next(&c, &s);
		if (r >= 0 && s.kind == STATEMENT_END)
			break;
		if (r >= 0 && !noted && s.kind != STATEMENT_LINE && s.kind != STATEMENT_DEBUG) {
			fputs(ptx_note_text, out);
			noted = true;
		}
		if (r >= 0 && s.kind == STATEMENT_FUNCTION)
			r = write_function(out, v, &capacity, &c, s.text, &variables, err);
		else if (r >= 0 && (s.kind == STATEMENT_LINE || s.kind == STATEMENT_DECLARATION))
			write_piece(out, s.text);
		else if (r >= 0 && s.kind != STATEMENT_DEBUG)
			r = -EBADMSG;
		if (r >= 0 && s.kind == STATEMENT_DECLARATION)
			r = add_variable(&variables, s.text);
		if (r == -EBADMSG)
			error_set(err, EBADMSG, before, "PTX that cannot be read at byte %zu",
				  before);
	}
	free(variables.items);
	return r;
}

int ptx_instrument(struct ptx_variant *out, const char *text, size_t size, struct error *err)
{
	_cleanup_free_ char *clean = NULL;
	FILE *stream;
	int r;

	*out = (struct ptx_variant){0};
	if (size > TEXT_MAX)
		return error_set(err, ENOTSUP, ERROR_NO_OFFSET, "PTX of more than %u bytes",
				 TEXT_MAX);
	clean = ptx_without_comments(text, size);
	stream = clean ? open_memstream(&out->text, &out->size) : NULL;
	if (!stream)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for PTX");
	r = write_module(stream, out, clean, size, err);
	if (fclose(stream) && r >= 0)
		r = -ENOMEM;
	if (r >= 0 && !out->count)
		r = error_set(err, ENOTSUP, ERROR_NO_OFFSET, "the PTX has no entry");
	if (r == -ENOMEM)
		error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for PTX");
	if (r < 0)
		ptx_variant_free(out);
	return r;
}

void ptx_variant_free(struct ptx_variant *v)
{
	for (size_t i = 0; i < v->count; i++) {
		free(v->entries[i].name);
		free(v->entries[i].reason);
	}
	free(v->entries);
	free(v->text);
	*v = (struct ptx_variant){0};
}

const struct ptx_variant_entry *ptx_variant_find(const struct ptx_variant *v, const char *name)
{
	for (size_t i = 0; i < v->count; i++)
		if (!strcmp(v->entries[i].name, name))
			return &v->entries[i];
	return NULL;
}
