/* SPDX-License-Identifier: MIT */
/* Writes Triton IR without locations, SSA names and specialisation. */
#include "lib/image/canonical.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "kernelab/hash.h"
#include "lib/base.h"
#include "lib/ir.h"

/* Open addressing; a slot is free where name.data is NULL. */
struct name {
	struct span name;
	unsigned int number;
};

struct names {
	struct name *slots;
	size_t size, used; /* size is a power of two */
	unsigned int next;
};

struct writer {
	char *data;
	size_t size, capacity;
};

static int put(struct writer *w, const char *data, size_t n)
{
	if (w->capacity - w->size <= n) {
		size_t capacity = w->capacity ? w->capacity : 4096;
		char *grown;

		while (capacity - w->size <= n) {
			if (!size_multiply(capacity, 2, &capacity))
				return -ENOMEM;
		}
		grown = realloc(w->data, capacity);
		if (!grown)
			return -ENOMEM;
		w->data = grown;
		w->capacity = capacity;
	}
	memcpy(w->data + w->size, data, n);
	w->size += n;
	w->data[w->size] = 0;
	return 0;
}

static void names_clear(struct names *n)
{
	if (n->slots)
		memset(n->slots, 0, n->size * sizeof(*n->slots));
	n->used = 0;
	n->next = 0;
}

static struct name *names_slot(const struct names *n, struct span key)
{
	size_t i = (size_t)hash_bytes(key.data, key.size).low & (n->size - 1);

	while (n->slots[i].name.data && (n->slots[i].name.size != key.size ||
					 memcmp(n->slots[i].name.data, key.data, key.size) != 0))
		i = (i + 1) & (n->size - 1);
	return &n->slots[i];
}

static int names_grow(struct names *n)
{
	struct names bigger = {
		.size = n->size ? n->size * 2 : 1024, .used = n->used, .next = n->next};

	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < n->size; i++) {
		if (n->slots[i].name.data)
			*names_slot(&bigger, n->slots[i].name) = n->slots[i];
	}
	free(n->slots);
	*n = bigger;
	return 0;
}

/* Number of a name; a definition gets a new one, for names may be used again in sibling regions. */
static int names_number(struct names *n, struct span key, bool define, unsigned int *number)
{
	struct name *slot;

	if (n->used * 2 >= n->size && names_grow(n) < 0)
		return -ENOMEM;
	slot = names_slot(n, key);
	if (!slot->name.data) {
		slot->name = key;
		n->used++;
		define = true;
	}
	if (define)
		slot->number = n->next++;
	*number = slot->number;
	return 0;
}

static int put_number(struct writer *w, unsigned int v)
{
	char digits[12], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	*--p = '%';
	return put(w, p, (size_t)(digits + sizeof(digits) - p));
}

/* Cursor on '%'. */
static int name(struct ir *ir, struct writer *w, struct names *names, bool define)
{
	size_t start = ++ir->at;
	unsigned int number;

	while (ir_identifier_char(ir_peek(ir)))
		ir->at++;
	if (names_number(names, (struct span){ir->text + start, ir->at - start}, define, &number) <
	    0)
		return -ENOMEM;
	return put_number(w, number);
}

/*
 * Cursor on the '{' of an argument's attributes: writes those that are no specialisation. What a
 * Triton front end puts there is a flat list, so a comma outside brackets ends an entry.
 */
static int argument_attributes(struct ir *ir, struct writer *w)
{
	static const char *const specialisation[] = {"tt.divisibility", "tt.pointer_range"};
	struct ir inner = *ir;
	size_t kept = 0;
	int r = 0;

	if (!ir_bracket(ir)) {
		ir->at++;
		return put(w, "{", 1);
	}
	inner.size = ir->at - 1;
	inner.at++;
	while (!r && inner.at < inner.size) {
		bool drop = false;
		size_t start;

		ir_skip_space(&inner);
		start = inner.at;
		while (inner.at < inner.size && ir_peek(&inner) != ',') {
			char c = ir_peek(&inner);

			if (c == '"' ? !ir_string(&inner, NULL)
				     : !strchr("([{<", c) || !ir_bracket(&inner))
				inner.at++;
		}
		for (size_t i = 0; i < ARRAY_LENGTH(specialisation); i++)
			drop |= ir_begins(&inner, start, specialisation[i]) ||
				(inner.text[start] == '"' &&
				 ir_begins(&inner, start + 1, specialisation[i]));
		if (!drop) {
			const char *between = kept ? ", " : "{";

			r = put(w, between, strlen(between));
			if (!r)
				r = put(w, inner.text + start, inner.at - start);
			kept++;
		}
		inner.at++;
	}
	return r || !kept ? r : put(w, "}", 1);
}

struct state {
	bool line_start;   /* only blank space since the line's start */
	bool defines;      /* left of '=' of a line that began with '%' */
	bool in_arguments; /* between a tt.func and the '{' of its body */
	size_t depth;      /* round brackets of these arguments */
};

static void drop_blanks(struct writer *w)
{
	while (w->size && w->data[w->size - 1] == ' ')
		w->size--;
}

static bool word_here(const struct ir *ir, const char *word)
{
	return ir_begins(ir, ir->at, word) &&
	       (!ir->at || !ir_identifier_char(ir->text[ir->at - 1]));
}

/* One token that needs care, written or dropped; 1 if there is none: the byte is to be copied. */
static int token(struct ir *ir, struct writer *w, struct names *names, struct state *s)
{
	bool line_start = s->line_start;
	size_t start = ir->at;
	char c = ir_peek(ir);

	if (c == '#' && line_start && ir_begins(ir, ir->at, "#loc")) {
		while (!ir_end(ir) && ir_peek(ir) != '\n')
			ir->at++;
		ir->at += !ir_end(ir);
		drop_blanks(w);
		return 0;
	}
	if (c == 't' && word_here(ir, "tt.func")) {
		names_clear(names);
		s->in_arguments = true;
		s->depth = 0;
		return 1;
	}
	s->line_start = false;
	if (c == '"' && ir_string(ir, NULL))
		return put(w, ir->text + start, ir->at - start);
	if (c == '%') {
		s->defines |= line_start;
		return name(ir, w, names, s->defines || (s->in_arguments && s->depth == 1));
	}
	if (c == 'l' && word_here(ir, "loc(")) { /* what it says does not matter */
		ir->at += strlen("loc");
		if (!ir_bracket(ir))
			ir->at++;
		drop_blanks(w);
		return 0;
	}
	if (c == '{' && s->in_arguments && s->depth == 1) {
		drop_blanks(w);
		return argument_attributes(ir, w);
	}
	s->line_start = line_start;
	return 1;
}

static void follow(struct state *s, char c)
{
	if (s->in_arguments) {
		s->depth += c == '(';
		s->depth -= c == ')' && s->depth;
		if (c == ')' && !s->depth)
			s->in_arguments = false;
	}
	if (c == '=')
		s->defines = false;
	if (c == '\n') {
		s->line_start = true;
		s->defines = false;
	} else if (c != ' ' && c != '\t') {
		s->line_start = false;
	}
}

int canonical_source(const char *text, size_t size, char **out, size_t *out_size)
{
	struct ir ir = {text, size, 0};
	struct state s = {.line_start = true};
	struct names names = {0};
	struct writer w = {0};
	int r = put(&w, "", 0);

	while (!r && !ir_end(&ir)) {
		char c = ir_peek(&ir);

		r = token(&ir, &w, &names, &s);
		if (r == 1) {
			r = put(&w, &c, 1);
			ir.at++;
			follow(&s, c);
		}
	}
	free(names.slots);
	if (r < 0) {
		free(w.data);
		return r;
	}
	*out = w.data;
	*out_size = w.size;
	return 0;
}
