/* SPDX-License-Identifier: MIT */
/* Which integer arguments of a Triton kernel bound its masks, read from its IR. */
#include "replay/bounds.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/hash.h"
#include "lib/base.h"
#include "lib/ir.h"

#define MAX_OPERANDS 8

/* What is known of an SSA value. */
struct value {
	struct span name;
	uint64_t below; /* arguments that are at least as great as it */
	uint64_t masks; /* of a mask: arguments that bound it */
	uint32_t range; /* greatest make_range that it is made of */
};

/* Open addressing; a name that is defined again (in a sibling region) gets its new value. */
struct values {
	struct value *items;
	size_t count, capacity;
};

struct line {
	struct span result, op;
	struct span operands[MAX_OPERANDS];
	size_t operand_count;
	struct span rest; /* behind the operation's name */
};

static size_t slot_of(const struct values *v, struct span name)
{
	size_t i = hash_bytes(name.data, name.size).low & (v->capacity - 1);

	while (v->items[i].name.data && (v->items[i].name.size != name.size ||
					 memcmp(v->items[i].name.data, name.data, name.size)))
		i = (i + 1) & (v->capacity - 1);
	return i;
}

static int values_set(struct values *v, const struct value *x)
{
	size_t i;

	if (2 * (v->count + 1) > v->capacity) {
		struct values bigger = {.capacity = v->capacity ? 2 * v->capacity : 256};

		bigger.items = calloc(bigger.capacity, sizeof(*bigger.items));
		if (!bigger.items)
			return -ENOMEM;
		for (i = 0; i < v->capacity; i++)
			if (v->items[i].name.data)
				bigger.items[slot_of(&bigger, v->items[i].name)] = v->items[i];
		bigger.count = v->count;
		free(v->items);
		*v = bigger;
	}
	i = slot_of(v, x->name);
	v->count += !v->items[i].name.data;
	v->items[i] = *x;
	return 0;
}

/* All zero for a name that is not known. */
static struct value values_get(const struct values *v, struct span name)
{
	return v->capacity ? v->items[slot_of(v, name)] : (struct value){0};
}

static bool span_is(struct span s, const char *text)
{
	return s.size == strlen(text) && !memcmp(s.data, text, s.size);
}

static bool one_of(struct span s, const char *const *texts)
{
	while (*texts)
		if (span_is(s, *texts++))
			return true;
	return false;
}

/* "%name", moving *at behind it. */
static struct span take_name(const char *text, size_t size, size_t *at)
{
	size_t start = (*at)++;

	while (*at < size && ir_identifier_char(text[*at]))
		(*at)++;
	return (struct span){text + start, *at - start};
}

/* "%r = op %x, %y {…} : types". False for what has no operation. */
static bool read_line(struct line *l, const char *text, size_t size)
{
	size_t at = 0, start;

	*l = (struct line){0};
	while (at < size && isspace((unsigned char)text[at]))
		at++;
	if (at < size && text[at] == '%') {
		l->result = take_name(text, size, &at);
		while (at < size && text[at] != '=')
			at++;
		at++;
		while (at < size && text[at] == ' ')
			at++;
	}
	start = at;
	while (at < size && ir_identifier_char(text[at]))
		at++;
	l->op = (struct span){text + start, at - start};
	l->rest = (struct span){text + at, size - at};
	while (at < size && text[at] != ':' && text[at] != '{') {
		if (text[at] != '%')
			at++;
		else if (l->operand_count < MAX_OPERANDS)
			l->operands[l->operand_count++] = take_name(text, size, &at);
		else
			return false;
	}
	return l->op.size != 0;
}

static uint32_t range_end(struct span rest)
{
	static const char key[] = "end = ";
	const char *at = memmem(rest.data, rest.size, key, sizeof(key) - 1);
	uint64_t n = 0;

	if (!at)
		return 0;
	for (at += sizeof(key) - 1; at < rest.data + rest.size && isdigit((unsigned char)*at); at++)
		n = n < UINT32_MAX ? n * 10 + (uint64_t)(*at - '0') : n;
	return n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* The comparison holds for indices below (or not above) the bound. */
static void compare(struct bounds *b, const struct line *l, struct value x, struct value y,
		    struct value *out)
{
	static const char *const less[] = {"slt", "ult", "sle", "ule", NULL};
	static const char *const more[] = {"sgt", "ugt", "sge", "uge", NULL};
	const char *at = l->rest.data, *end = at + l->rest.size;
	struct span how;

	while (at < end && *at == ' ')
		at++;
	for (how = (struct span){at, 0}; at < end && ir_identifier_char(*at); at++)
		how.size++;
	if (one_of(how, more)) {
		struct value swap = x;

		x = y;
		y = swap;
	} else if (!one_of(how, less)) {
		return;
	}
	if (!x.range || x.below)
		return;
	out->masks = y.below;
	for (uint64_t w = y.below; w; w &= w - 1) {
		uint32_t *block = &b->block[__builtin_ctzll(w)];

		*block = x.range > *block ? x.range : *block;
	}
}

static void use_mask(struct bounds *b, const struct values *v, const struct line *l, size_t operand)
{
	if (operand < l->operand_count)
		b->bounding |= values_get(v, l->operands[operand]).masks;
}

static int read_operation(struct bounds *b, struct values *v, const struct line *l)
{
	static const char *const same[] = {"arith.extsi",        "arith.extui", "arith.trunci",
					   "arith.index_cast",   "tt.splat",    "tt.broadcast",
					   "tt.expand_dims",     "tt.reshape",  "tt.trans",
					   "ttg.convert_layout", NULL};
	struct value x = {0}, y = {0}, out = {.name = l->result};

	if (l->operand_count > 0)
		x = values_get(v, l->operands[0]);
	if (l->operand_count > 1)
		y = values_get(v, l->operands[1]);
	if (span_is(l->op, "tt.load"))
		use_mask(b, v, l, 1);
	else if (span_is(l->op, "tt.store") || span_is(l->op, "tt.atomic_rmw"))
		use_mask(b, v, l, 2);
	if (!l->result.data)
		return 0;
	if (one_of(l->op, same)) {
		out.below = x.below;
		out.masks = x.masks;
		out.range = x.range;
	} else if (span_is(l->op, "tt.make_range")) {
		out.range = range_end(l->rest);
	} else if (span_is(l->op, "arith.addi") || span_is(l->op, "arith.muli")) {
		out.range = x.range > y.range ? x.range : y.range;
	} else if (span_is(l->op, "arith.subi")) {
		out.range = x.range;
		out.below = x.below;
	} else if (span_is(l->op, "arith.minsi") || span_is(l->op, "arith.minui")) {
		out.below = x.below | y.below;
	} else if (span_is(l->op, "arith.andi")) {
		out.masks = x.masks | y.masks;
	} else if (span_is(l->op, "arith.cmpi")) {
		compare(b, l, x, y, &out);
	}
	return values_set(v, &out);
}

/* "@k(%a: !tt.ptr<f32> {…} loc(…), %n: i32 …)": integers by value are their own bound. */
static int read_arguments(struct bounds *b, struct values *v, const char *text, size_t size)
{
	int depth = 0;

	for (size_t at = 0; at < size; at++) {
		struct value x = {0};

		depth += (text[at] == '(') - (text[at] == ')');
		if (text[at] == ')' && !depth)
			return 0;
		if (text[at] == '"') /* a location's name or file */
			for (at++; at < size && text[at] != '"'; at++)
				at += text[at] == '\\';
		if (at >= size || depth != 1 || text[at] != '%')
			continue;
		x.name = take_name(text, size, &at);
		if (b->arg_count < BOUNDS_MAX_ARGS && at + 5 < size &&
		    (!memcmp(text + at, ": i32", 5) || !memcmp(text + at, ": i64", 5)))
			x.below = 1ull << b->arg_count;
		b->arg_count++;
		if (values_set(v, &x))
			return -ENOMEM;
		at--;
	}
	return 0;
}

int bounds_find(struct bounds *out, const char *text, size_t size, struct error *err)
{
	static const char head[] = "tt.func public @";
	struct values v = {0};
	const char *at = memmem(text, size, head, sizeof(head) - 1), *end = text + size;
	int rc = 0;

	*out = (struct bounds){0};
	if (!at)
		return error_set(err, ENOENT, ERROR_NO_OFFSET, "no public function in the IR");
	rc = read_arguments(out, &v, at, (size_t)(end - at));
	while (!rc && at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		struct line l;

		if (!next)
			break;
		at = next + 1;
		next = memchr(at, '\n', (size_t)(end - at));
		if (read_line(&l, at, (size_t)((next ? next : end) - at)))
			rc = read_operation(out, &v, &l);
		if (span_is(l.op, "tt.return")) /* functions that it calls are others */
			break;
	}
	free(v.items);
	return rc ? error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the IR's values") : 0;
}
