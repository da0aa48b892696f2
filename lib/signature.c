/* SPDX-License-Identifier: MIT */
/* Reads entry name, arguments and source location out of Triton IR text. */
#include "lib/signature.h"

#include <errno.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "lib/ir.h"

/* A kernel's parameters fill at most 32,764 bytes (CUDA 12.1 and later), so no more can be real. */
#define MAX_ARGS 32764u

static bool function_word(const struct ir *ir)
{
	return ir_begins(ir, ir->at, "tt.func") && !ir_identifier_char(ir->text[ir->at + 7]) &&
	       (!ir->at || !ir_identifier_char(ir->text[ir->at - 1]));
}

/* To behind the first "tt.func" that is not private: the kernel; helpers are private. */
static bool find_function(struct ir *ir)
{
	while (!ir_end(ir)) {
		if (ir_peek(ir) == '"') {
			if (!ir_string(ir, NULL))
				return false;
			continue;
		}
		if (ir->size - ir->at > 7 && function_word(ir)) {
			ir->at += 7;
			if (!ir_take(ir, "private") && !ir_take(ir, "nested")) {
				ir_take(ir, "public");
				return true;
			}
		}
		ir->at++;
	}
	return false;
}

static bool identifier(struct ir *ir, struct span *out)
{
	size_t start = ir->at;

	if (ir_peek(ir) == '"')
		return ir_string(ir, out);
	while (ir_identifier_char(ir_peek(ir)))
		ir->at++;
	*out = (struct span){ir->text + start, ir->at - start};
	return out->size > 0;
}

/* Up to the next ',' or ')', " loc(" or " {" outside brackets; blank space at the end is cut. */
static bool read_type(struct ir *ir, struct span *out)
{
	size_t start;

	ir_skip_space(ir);
	start = ir->at;
	while (!ir_end(ir)) {
		char c = ir_peek(ir);

		if (c == ',' || c == ')' || c == '{' || c == '%' ||
		    (c == 'l' && ir_begins(ir, ir->at, "loc(")))
			break;
		if (c == '"'                             ? !ir_string(ir, NULL)
		    : (c == '<' || c == '(' || c == '[') ? !ir_bracket(ir)
							 : (ir->at++, false))
			return false;
	}
	*out = (struct span){ir->text + start, ir->at - start};
	while (out->size && strchr(" \t\r\n", out->data[out->size - 1]))
		out->size--;
	return out->size > 0;
}

/* Cursor on '{': looks for tt.divisibility, quoted or not, inside; steps behind the '}'. */
static bool read_attributes(struct ir *ir, uint32_t *divisibility)
{
	static const char key[] = "tt.divisibility";
	struct ir inner = *ir;

	if (!ir_bracket(ir))
		return false;
	inner.size = ir->at;
	for (; inner.at < inner.size; inner.at++) {
		uint64_t v = 0;

		if (!ir_begins(&inner, inner.at, key) ||
		    ir_identifier_char(inner.text[inner.at - 1]))
			continue;
		inner.at += sizeof(key) - 1;
		ir_take(&inner, "\"");
		if (!ir_take(&inner, "="))
			continue;
		if (!ir_take(&inner, "dense<")) /* an array form: its first element */
			ir_skip_space(&inner);
		ir_take(&inner, "[");
		while (ir_peek(&inner) >= '0' && ir_peek(&inner) <= '9' && v <= UINT32_MAX)
			v = v * 10 + (uint64_t)(inner.text[inner.at++] - '0');
		*divisibility = v <= UINT32_MAX ? (uint32_t)v : 0;
		break;
	}
	return true;
}

/* Element type of a pointer or descriptor, or the scalar itself. */
static enum dtype element_type(struct span type)
{
	static const char *const wrappers[] = {"!tt.ptr<", "!tt.tensordesc<", "tensor<"};
	char word[16];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(wrappers); i++) {
		size_t w = strlen(wrappers[i]);

		if (type.size > w && !memcmp(type.data, wrappers[i], w)) {
			type.data += w;
			type.size -= w;
		}
	}
	for (;;) { /* dimensions: 64x64x */
		size_t d = 0;

		while (d < type.size && type.data[d] >= '0' && type.data[d] <= '9')
			d++;
		if (!d || d == type.size || type.data[d] != 'x')
			break;
		type.data += d + 1;
		type.size -= d + 1;
	}
	while (n < type.size && n + 1 < sizeof(word) && ir_identifier_char(type.data[n])) {
		word[n] = type.data[n];
		n++;
	}
	word[n] = 0;
	return n ? dtype_parse(word) : DTYPE_UNKNOWN;
}

static bool starts(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.size >= n && !memcmp(s.data, prefix, n);
}

/* %name: type {attributes} loc(…). The function's own place is kept where the argument knows it. */
static int read_argument(struct ir *ir, struct record_arg *arg, struct ir_place *place,
			 struct error *err)
{
	struct span ssa = {0}, type;

	if (!ir_take(ir, "%") || !identifier(ir, &ssa) || !ir_take(ir, ":") ||
	    !read_type(ir, &type))
		return error_set(err, EINVAL, ir->at, "argument without name or type in Triton IR");
	ir_skip_space(ir);
	if (ir_peek(ir) == '{' && !read_attributes(ir, &arg->divisibility))
		return error_set(err, EINVAL, ir->at, "attributes without end in Triton IR");
	*place = (struct ir_place){0};
	ir_skip_space(ir);
	if (ir_begins(ir, ir->at, "loc(") && !ir_location(ir, place))
		return error_set(err, EINVAL, ir->at, "location without end in Triton IR");
	if (!place->name.data)
		place->name = ssa;
	arg->dtype = element_type(type);
	arg->pointer = starts(type, "!tt.ptr<");
	arg->name = strndup(place->name.data, place->name.size);
	arg->type = strndup(type.data, type.size);
	if (!arg->name || !arg->type)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a signature");
	return 0;
}

static int read_arguments(struct ir *ir, struct signature *s, struct ir_place *place,
			  struct error *err)
{
	size_t capacity = 0;

	if (!ir_take(ir, "("))
		return error_set(err, EINVAL, ir->at, "function without arguments in Triton IR");
	while (!ir_take(ir, ")")) {
		struct ir_place its;
		int r;

		if (s->arg_count && !ir_take(ir, ","))
			return error_set(err, EINVAL, ir->at,
					 "no comma between arguments in Triton IR");
		if (s->arg_count == MAX_ARGS)
			return error_set(err, EINVAL, ir->at, "more than %u arguments in Triton IR",
					 MAX_ARGS);
		r = array_reserve(&s->args, s->arg_count, &capacity, sizeof(*s->args));
		if (r)
			return error_set(err, -r, ERROR_NO_OFFSET, "no memory for a signature");
		memset(&s->args[s->arg_count], 0, sizeof(*s->args));
		s->arg_count++;
		r = read_argument(ir, &s->args[s->arg_count - 1], &its, err);
		if (r)
			return r;
		if (!place->file.data)
			*place = its;
	}
	return 0;
}

/* Behind the arguments: results, attributes, the body, and the function's own location. */
static void read_function_place(struct ir *ir, struct ir_place *place)
{
	struct ir_place own = {0};

	while (!ir_end(ir) && ir_peek(ir) != '{') { /* -> (results) attributes {…} */
		if (ir_take(ir, "attributes")) {
			ir_skip_space(ir);
			if (!ir_bracket(ir))
				return;
		} else if (ir_peek(ir) == '"' ? !ir_string(ir, NULL) : (ir->at++, false)) {
			return;
		}
	}
	if (ir_peek(ir) != '{' || !ir_bracket(ir))
		return;
	ir_skip_space(ir);
	if (ir_location(ir, &own) && own.file.data)
		*place = own;
}

bool signature_readable(const char *text, size_t size)
{
	struct ir ir = {text, size, 0};

	return text && find_function(&ir);
}

int signature_parse(struct signature **out, const char *text, size_t size, struct error *err)
{
	struct ir ir = {text, size, 0};
	struct ir_place place = {0};
	struct signature *s;
	struct span entry;
	int r;

	if (!find_function(&ir))
		return error_set(err, ENOENT, ERROR_NO_OFFSET, "no public tt.func in the text");
	if (!ir_take(&ir, "@") || !identifier(&ir, &entry))
		return error_set(err, EINVAL, ir.at, "tt.func without a name");
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a signature");
	r = read_arguments(&ir, s, &place, err);
	if (r) {
		signature_free(s);
		return r;
	}
	read_function_place(&ir, &place);
	s->entry = strndup(entry.data, entry.size);
	s->source_file = strndup(place.file.data ? place.file.data : "", place.file.size);
	s->source_line = place.line;
	if (!s->entry || !s->source_file) {
		signature_free(s);
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a signature");
	}
	*out = s;
	return 0;
}

void signature_free(struct signature *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->arg_count; i++) {
		free((char *)s->args[i].name);
		free((char *)s->args[i].type);
	}
	free(s->args);
	free(s->entry);
	free(s->source_file);
	free(s);
}

bool signature_has_names(const struct signature *s)
{
	return s && s->arg_count && strcmp(s->args[0].name, "arg0") != 0;
}

bool signature_is_descriptor(const char *type)
{
	return !strncmp(type, "!tt.tensordesc<", strlen("!tt.tensordesc<"));
}

uint32_t signature_type_bytes(const char *type)
{
	enum dtype t;

	if (!strncmp(type, "!tt.ptr<", strlen("!tt.ptr<")))
		return 8;
	if (signature_is_descriptor(type))
		return 128;
	if (!strncmp(type, "tensor<", strlen("tensor<")))
		return 0; /* a block is no kernel parameter */
	t = dtype_parse(type);
	return t == DTYPE_UNKNOWN ? 0 : dtype_bytes(t);
}
