/* SPDX-License-Identifier: MIT */
/* How many additions one accumulator of a launch goes through, one after the other. */
#include "replay/serial.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/ir.h"

#define DEPTH_MAX    32u
#define OPERANDS_MAX 3u

/* An integer that is known. */
struct scalar {
	struct span name;
	int64_t value;
};

struct reader {
	const char *text, *end;
	const struct serial_argument *arguments;
	size_t argument_count;
	struct scalar *scalars;
	size_t count, capacity;
	uint64_t
		trips[DEPTH_MAX]; /* of the region at each depth; 1: no loop, or none over floats */
	size_t depth;
	uint64_t longest;
	bool unknown;
};

static bool same(struct span a, struct span b)
{
	return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

static bool contains(struct span s, const char *word)
{
	return memmem(s.data, s.size, word, strlen(word)) != NULL;
}

static int set(struct reader *r, struct span name, int64_t value)
{
	int e = array_reserve(&r->scalars, r->count, &r->capacity, sizeof(*r->scalars));

	if (!e)
		r->scalars[r->count++] = (struct scalar){name, value};
	return e;
}

/* The latest definition: a name may be defined anew in another region. */
static bool get(const struct reader *r, struct span name, int64_t *value)
{
	for (size_t i = r->count; i-- > 0;)
		if (same(r->scalars[i].name, name)) {
			*value = r->scalars[i].value;
			return true;
		}
	return false;
}

/* "%name" at *at, which moves behind it; empty where there is none before `end`. */
static struct span next_name(const char **at, const char *end)
{
	const char *p = memchr(*at, '%', (size_t)(end - *at)), *start;

	if (!p)
		return (struct span){0};
	for (start = p++; p < end && ir_identifier_char(*p); p++)
		;
	*at = p;
	return (struct span){start, (size_t)(p - start)};
}

/* The arguments, by position, from the function's head. */
static int read_arguments(struct reader *r, struct span head)
{
	const char *at = head.data, *end = at + head.size;

	for (size_t i = 0; i < r->argument_count; i++) {
		struct span name = next_name(&at, end);
		int e = 0;

		if (!name.size)
			break;
		if (r->arguments[i].known)
			e = set(r, name, r->arguments[i].value);
		if (e)
			return e;
	}
	return 0;
}

static bool calculate(struct span op, int64_t x, int64_t y, int64_t *out)
{
	if (contains(op, "arith.addi"))
		return !__builtin_add_overflow(x, y, out);
	if (contains(op, "arith.subi"))
		return !__builtin_sub_overflow(x, y, out);
	if (contains(op, "arith.muli"))
		return !__builtin_mul_overflow(x, y, out);
	if (contains(op, "arith.min"))
		*out = x < y ? x : y;
	else if (contains(op, "arith.max"))
		*out = x > y ? x : y;
	else if (y <= 0 || x < 0) /* quotients of sizes only */
		return false;
	else if (contains(op, "arith.ceildiv"))
		*out = x / y + (x % y != 0);
	else if (contains(op, "arith.div"))
		*out = x / y;
	else if (contains(op, "arith.rem"))
		*out = x % y;
	else
		return false;
	return true;
}

/* An integer operation on scalars: "%r = op %x, %y : i32". */
static int read_scalar(struct reader *r, struct span name, struct span op)
{
	const char *at = op.data, *end = op.data + op.size;
	int64_t value[OPERANDS_MAX] = {0}, out;
	size_t known = 0;

	if (contains(op, "tensor<"))
		return 0;
	if (contains(op, "arith.constant")) {
		char *stop;

		at = memmem(op.data, op.size, "constant ", 9);
		if (!at || (!isdigit((unsigned char)at[9]) && at[9] != '-'))
			return 0;
		out = strtoll(at + 9, &stop, 10);
		return *stop == '.' || *stop == 'e' ? 0 : set(r, name, out);
	}
	for (size_t i = 0; i < OPERANDS_MAX; i++) {
		struct span operand = next_name(&at, end);

		if (!operand.size)
			break;
		if (!get(r, operand, &value[i]))
			return 0;
		known++;
	}
	if (known == 1 && (contains(op, "arith.ext") || contains(op, "arith.trunci") ||
			   contains(op, "arith.index_cast")))
		return set(r, name, value[0]);
	if (known == 2 && calculate(op, value[0], value[1], &out))
		return set(r, name, out);
	return 0;
}

static bool carries_floats(struct span types)
{
	static const char *const floats[] = {"xf32>", "xf16>", "xbf16>", "xf64>"};

	for (size_t i = 0; i < ARRAY_LENGTH(floats); i++)
		if (contains(types, floats[i]))
			return true;
	return contains(types, "(f32") || contains(types, ", f32") || contains(types, "(f64");
}

/* "scf.for %i = %low to %high step %s iter_args(…) -> (types) : i32 {". 0 trips: not known. */
static uint64_t trips_of(const struct reader *r, struct span op)
{
	const char *at = op.data, *end = op.data + op.size;
	int64_t low, high, step;
	struct span names[4];
	const char *types = memmem(op.data, op.size, "->", 2);

	if (!types || !carries_floats((struct span){types, (size_t)(end - types)}))
		return 1;
	for (size_t i = 0; i < 4; i++)
		names[i] = next_name(&at, end);
	if (!get(r, names[1], &low) || !get(r, names[2], &high) || !get(r, names[3], &step) ||
	    step <= 0)
		return 0;
	return high > low ? (uint64_t)(high - low + step - 1) / (uint64_t)step : 1;
}

/* K of "tt.dot … : tensor<MxKxT> * tensor<KxNxT> -> …". */
static uint64_t inner_of(struct span op)
{
	const char *at = memmem(op.data, op.size, ": tensor<", 9);
	uint64_t size = 1;

	for (at = at ? at + 9 : ""; isdigit((unsigned char)*at);) {
		char *stop;
		uint64_t n = strtoull(at, &stop, 10);

		if (*stop != 'x')
			break;
		size = n;
		at = stop + 1;
	}
	return size;
}

static void accumulate(struct reader *r, uint64_t inner)
{
	uint64_t length = inner;

	for (size_t i = 0; i <= r->depth; i++) {
		r->unknown |= !r->trips[i];
		if (__builtin_mul_overflow(length, r->trips[i], &length))
			r->unknown = true;
	}
	r->longest = length > r->longest ? length : r->longest;
}

static int read_line(struct reader *r, struct span line)
{
	const char *at = line.data, *end = at + line.size, *equals;
	const char *loop = memmem(line.data, line.size, "scf.for", 7);
	uint64_t trips = 1;
	struct span name;
	int e = 0;

	while (at < end && *at == ' ')
		at++;
	if (at < end && *at == '}' && r->depth)
		r->depth--;
	if (loop)
		trips = trips_of(r, (struct span){loop, (size_t)(end - loop)});
	else if (contains(line, "tt.dot"))
		accumulate(r, inner_of(line));
	else if (contains(line, "arith.addf") && r->depth)
		accumulate(r, 1);
	else if (at < end && *at == '%' && contains(line, "arith.")) {
		name = next_name(&at, end);
		equals = memchr(at, '=', (size_t)(end - at));
		if (equals)
			e = read_scalar(r, name, (struct span){equals, (size_t)(end - equals)});
	}
	while (end > line.data && isspace((unsigned char)end[-1]))
		end--;
	if (end > line.data && end[-1] == '{') {
		if (r->depth + 1 == DEPTH_MAX)
			r->unknown = true;
		else
			r->trips[++r->depth] = trips;
	}
	return e;
}

/* A line without its location, which may hold braces and names. */
static struct span without_location(const char *at, const char *end)
{
	const char *location = memmem(at, (size_t)(end - at), " loc(", 5);
	bool opens = end > at && end[-1] == '{';

	return (struct span){at, (size_t)((location && !opens ? location : end) - at)};
}

int serial_find(uint64_t *out, const char *text, size_t size,
		const struct serial_argument *arguments, size_t count)
{
	struct reader r = {.arguments = arguments, .argument_count = count, .longest = 1};
	const char *end = text + size, *at = memmem(text, size, "tt.func public", 14);
	const char *line_end;
	int e = 0;

	*out = 0;
	if (!at)
		return 0;
	line_end = memchr(at, '\n', (size_t)(end - at));
	r.trips[0] = 1;
	e = read_arguments(&r, (struct span){at, (size_t)((line_end ? line_end : end) - at)});
	for (at = line_end; !e && at && at < end; at = line_end) {
		at++;
		line_end = memchr(at, '\n', (size_t)(end - at));
		e = read_line(&r, without_location(at, line_end ? line_end : end));
	}
	free(r.scalars);
	if (!e && !r.unknown)
		*out = r.longest;
	return e;
}
