/* SPDX-License-Identifier: MIT */
/* The statements of a PTX entry, and which parameters each register depends on. */
#include "replay/flow.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/stores.h"

bool token_starts(struct token t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t.size >= n && !memcmp(t.text, prefix, n);
}

bool token_contains(struct token t, const char *part)
{
	return memmem(t.text, t.size, part, strlen(part)) != NULL;
}

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* The next name in *t (register or identifier, numbers excluded), moving *t behind it. */
bool next_name(struct token *t, struct token *name)
{
	while (t->size) {
		size_t n = 0;
		bool number = isdigit((unsigned char)*t->text);

		while (n < t->size && name_char(t->text[n]))
			n++;
		if (n && !number) {
			*name = (struct token){t->text, n};
			t->text += n;
			t->size -= n;
			return true;
		}
		n = n ? n : 1;
		t->text += n;
		t->size -= n;
	}
	return false;
}

static size_t token_hash(struct token t)
{
	size_t h = 14695981039346656037ull;

	for (size_t i = 0; i < t.size; i++)
		h = (h ^ (unsigned char)t.text[i]) * 1099511628211ull;
	return h;
}

static struct name *names_slot(struct names *n, struct token t)
{
	size_t i = token_hash(t) & (n->capacity - 1);

	while (n->items[i].token.text &&
	       (n->items[i].token.size != t.size || memcmp(n->items[i].token.text, t.text, t.size)))
		i = (i + 1) & (n->capacity - 1);
	return &n->items[i];
}

static int names_grow(struct names *n)
{
	struct names bigger = {.capacity = n->capacity ? 2 * n->capacity : 256};

	bigger.items = calloc(bigger.capacity, sizeof(*bigger.items));
	if (!bigger.items)
		return -ENOMEM;
	for (size_t i = 0; i < n->capacity; i++)
		if (n->items[i].token.text)
			*names_slot(&bigger, n->items[i].token) = n->items[i];
	bigger.count = n->count;
	free(n->items);
	*n = bigger;
	return 0;
}

/* Adds dependences to a name. */
static int names_add(struct flow *f, struct token t, uint64_t params)
{
	struct name *slot;

	if (2 * (f->names.count + 1) > f->names.capacity) {
		int rc = names_grow(&f->names);

		if (rc)
			return rc;
	}
	slot = names_slot(&f->names, t);
	if (!slot->token.text) {
		slot->token = t;
		f->names.count++;
	}
	if (params & ~slot->params) {
		slot->params |= params;
		f->changed = true;
	}
	return 0;
}

static uint64_t names_get(struct flow *f, struct token t)
{
	return f->names.capacity ? names_slot(&f->names, t)->params : 0;
}

/* Union over all names in a text. */
uint64_t params_of(struct flow *f, struct token text)
{
	struct token name;
	uint64_t sum = 0;

	while (next_name(&text, &name))
		sum |= names_get(f, name);
	return sum;
}

/* Splits off the first operand: "{a, b}", "[…]" or up to a comma. */
struct token first_operand(struct token *rest)
{
	struct token t = {rest->text, 0};
	int depth = 0;

	while (t.size < rest->size) {
		char c = rest->text[t.size];

		if (c == '{' || c == '[' || c == '(')
			depth++;
		else if (c == '}' || c == ']' || c == ')')
			depth--;
		else if (c == ',' && depth <= 0)
			break;
		t.size++;
	}
	rest->text += t.size + (t.size < rest->size);
	rest->size -= t.size + (t.size < rest->size);
	return t;
}

/* What stands in the first [ … ]; empty if there is none. A TMA's coordinates are cut off. */
struct token address_of(struct token rest)
{
	const char *from = memchr(rest.text, '[', rest.size), *to;

	if (!from)
		return (struct token){rest.text, 0};
	from++;
	to = memchr(from, ']', rest.size - (size_t)(from - rest.text));
	if (!to)
		return (struct token){rest.text, 0};
	const char *comma = memchr(from, ',', (size_t)(to - from));

	return (struct token){from, (size_t)((comma ? comma : to) - from)};
}

bool is_global_store(struct token op)
{
	static const char *const elsewhere[] = {".shared", ".local", ".param", ".async"};
	bool store =
		token_starts(op, "st.") || token_starts(op, "red.") || token_starts(op, "atom.");

	if (token_starts(op, "cp.async.bulk.") || token_starts(op, "cp.reduce.async.bulk"))
		return token_contains(op, ".global.shared") && !token_contains(op, "prefetch");
	if (token_starts(op, "multimem.red") || token_starts(op, "multimem.st"))
		return true;
	for (size_t i = 0; store && i < ARRAY_LENGTH(elsewhere); i++)
		if (token_contains(op, elsewhere[i]))
			return false;
	return store;
}

/* Calls that write no memory of the program: device asserts and printf. */
bool is_harmless_call(struct token rest)
{
	return token_contains(rest, "__assertfail") || token_contains(rest, "vprintf");
}

/* One statement's effect on the names. */
static int flow_step(struct flow *f, const struct statement *s)
{
	struct token rest = s->rest, destination, name;
	uint64_t sources;

	if (is_global_store(s->opcode)) {
		uint64_t params = params_of(f, address_of(rest));

		f->stored |= params;
		return 0;
	}
	if (token_starts(s->opcode, "st.") || token_starts(s->opcode, "atom") ||
	    token_starts(s->opcode, "red") || token_starts(s->opcode, "setp") ||
	    token_starts(s->opcode, "bra") || token_starts(s->opcode, "cp."))
		return 0;
	destination = first_operand(&rest);
	if (token_starts(s->opcode, "ld.") && !token_starts(s->opcode, "ld.param"))
		return 0; /* what memory holds depends on no parameter that we follow */
	sources = params_of(f, rest);
	if (!sources)
		return 0;
	while (next_name(&destination, &name)) {
		int rc = names_add(f, name, sources);

		if (rc)
			return rc;
	}
	return 0;
}

/* A copy without comments; string literals are kept. */
static char *strip_comments(const char *ptx, size_t size, size_t *out_size)
{
	char *text = malloc(size + 1);
	size_t n = 0;

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		if (ptx[i] == '/' && i + 1 < size && ptx[i + 1] == '/') {
			while (i < size && ptx[i] != '\n')
				i++;
			text[n++] = '\n';
		} else if (ptx[i] == '/' && i + 1 < size && ptx[i + 1] == '*') {
			const char *end = memmem(ptx + i + 2, size - i - 2, "*/", 2);

			i = end ? (size_t)(end - ptx) + 1 : size;
			text[n++] = ' ';
		} else {
			text[n++] = ptx[i];
		}
	}
	text[n] = 0;
	*out_size = n;
	return text;
}

/* Finds ".entry NAME" followed by its parameters and body. */
static const char *find_entry(const char *text, size_t size, const char *entry)
{
	const char *at = text, *end = text + size;
	size_t n = strlen(entry);

	while ((at = memmem(at, (size_t)(end - at), ".entry", 6))) {
		at += 6;
		while (at < end && isspace((unsigned char)*at))
			at++;
		if ((size_t)(end - at) > n && !memcmp(at, entry, n) && !name_char(at[n]))
			return at + n;
	}
	return NULL;
}

/* The parameters' names, each with its own bit. Returns behind the list, or NULL with err. */
static const char *read_params(struct flow *f, const char *at, const char *end, struct error *err,
			       int *rc)
{
	const char *brace = memchr(at, '{', (size_t)(end - at));
	const char *open = memchr(at, '(', (size_t)(end - at));
	const char *close;
	unsigned index = 0;

	*rc = 0;
	if (!brace || !open || open > brace)
		return at;
	close = memchr(open, ')', (size_t)(end - open));
	if (!close) {
		*rc = error_set(err, EINVAL, ERROR_NO_OFFSET, "parameter list without end");
		return NULL;
	}
	for (at = open + 1; at < close;) {
		const char *comma = memchr(at, ',', (size_t)(close - at));
		struct token text = {at, (size_t)((comma ? comma : close) - at)}, name, last = {0};

		while (next_name(&text, &name))
			last = name; /* ".param .u64 .ptr .global .align 1 name" or "name[128]" */
		if (last.text) {
			if (index >= STORES_MAX_PARAMS) {
				*rc = error_set(err, E2BIG, ERROR_NO_OFFSET,
						"more than %d parameters", STORES_MAX_PARAMS);
				return NULL;
			}
			*rc = names_add(f, last, 1ull << index++);
			if (*rc)
				return NULL;
		}
		at = comma ? comma + 1 : close;
	}
	return close + 1;
}

/* Drops directives that end with their line (.loc, .file, .section): they have no semicolon. */
static struct token drop_lines(struct token t)
{
	for (;;) {
		const char *newline;

		while (t.size && isspace((unsigned char)*t.text))
			t.text++, t.size--;
		if (!token_starts(t, ".loc") && !token_starts(t, ".file") &&
		    !token_starts(t, ".pragma") && !token_starts(t, ".section"))
			return t;
		newline = memchr(t.text, '\n', t.size);
		if (!newline)
			return (struct token){t.text, 0};
		t.size -= (size_t)(newline - t.text);
		t.text = newline;
	}
}

/* Opcode and operands of one statement; false for labels, directives and empty ones. */
static bool parse_statement(struct token t, struct statement *s)
{
	for (;;) {
		const char *colon;

		t = drop_lines(t);
		if (t.size && (*t.text == '{' || *t.text == '}')) {
			t.text++, t.size--;
			continue;
		}
		if (!t.size || *t.text == '.')
			return false;
		colon = memchr(t.text, ':', t.size);
		if (colon && colon > t.text) { /* a label in front */
			size_t n = 0;

			while (n < t.size && name_char(t.text[n]))
				n++;
			if (t.text + n == colon) {
				s->label = (struct token){t.text, n};
				t.size -= n + 1;
				t.text += n + 1;
				continue;
			}
		}
		if (*t.text != '@')
			break;
		while (t.size && !isspace((unsigned char)*t.text))
			t.text++, t.size--;
	}
	s->opcode.text = t.text;
	s->opcode.size = 0;
	while (s->opcode.size < t.size && !isspace((unsigned char)t.text[s->opcode.size]))
		s->opcode.size++;
	s->rest = (struct token){t.text + s->opcode.size, t.size - s->opcode.size};
	return true;
}

/* Collects the statements between the body's braces. */
static int read_body(struct flow *f, const char *at, const char *end, struct error *err)
{
	const char *brace = memchr(at, '{', (size_t)(end - at)), *start;
	int depth = 1;

	if (!brace)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "entry without a body");
	start = brace + 1;
	for (at = start; at < end && depth; at++) {
		struct statement s = {0};
		struct token t;
		int rc;

		depth += *at == '{';
		depth -= *at == '}';
		if (*at != ';' && depth)
			continue;
		t = (struct token){start, (size_t)(at - start)};
		start = at + 1;
		if (!parse_statement(t, &s))
			continue;
		rc = array_reserve(&f->statements, f->count, &f->capacity, sizeof(*f->statements));
		if (rc)
			return rc;
		f->statements[f->count++] = s;
	}
	return depth ? error_set(err, EINVAL, ERROR_NO_OFFSET, "body without end") : 0;
}

/* Steps over all statements until nothing changes, then looks for stores that were not followed. */
static int flow_run(struct flow *f)
{
	do {
		f->changed = false;
		for (size_t i = 0; i < f->count; i++) {
			int rc = flow_step(f, &f->statements[i]);

			if (rc)
				return rc;
		}
	} while (f->changed);
	for (size_t i = 0; i < f->count; i++) {
		const struct statement *s = &f->statements[i];

		if ((token_starts(s->opcode, "call") && !is_harmless_call(s->rest)) ||
		    (is_global_store(s->opcode) && !params_of(f, address_of(s->rest))))
			f->unknown = true;
	}
	return 0;
}

/* A float among the parameters, between the entry's name and its body. */
static bool has_float_params(const char *at, const char *end)
{
	const char *brace = memchr(at, '{', (size_t)(end - at));
	struct token t = {at, (size_t)((brace ? brace : end) - at)};

	return token_contains(t, ".param .f32") || token_contains(t, ".param .f64") ||
	       token_contains(t, ".param .f16");
}

int flow_open(struct flow *f, const char *ptx, size_t size, const char *entry, struct error *err)
{
	size_t text_size;
	const char *at;
	int rc = -ENOMEM;

	*f = (struct flow){.text = strip_comments(ptx, size, &text_size)};
	if (!f->text)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", entry);
	at = find_entry(f->text, text_size, entry);
	if (!at) {
		flow_close(f);
		return error_set(err, ENOENT, ERROR_NO_OFFSET, "no entry %s in the PTX", entry);
	}
	f->float_params = has_float_params(at, f->text + text_size);
	at = read_params(f, at, f->text + text_size, err, &rc);
	if (at)
		rc = read_body(f, at, f->text + text_size, err);
	if (!rc)
		rc = flow_run(f);
	if (rc)
		flow_close(f);
	return rc;
}

void flow_close(struct flow *f)
{
	free(f->names.items);
	free(f->statements);
	free(f->text);
	*f = (struct flow){0};
}
