/* SPDX-License-Identifier: MIT */
/* Inference of rows and columns from scalars, grid and block sizes. */
#include "analyze/shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALARS_MAX 32

/* "n=1000" among the words of CASE.params. */
struct scalar {
	const char *name;
	int name_length;
	uint64_t value;
};

static bool whole_number(const char *text, const char *end, uint64_t *out)
{
	char *stop;

	if (text == end || *text < '1' || *text > '9')
		return false;
	*out = strtoull(text, &stop, 10);
	return stop == end;
}

/* Integer scalars above 1, in order; pointers (0x…) and floats are none. */
static size_t find_scalars(const char *params, struct scalar out[SCALARS_MAX])
{
	size_t n = 0;

	for (const char *p = params ? params : ""; *p && n < SCALARS_MAX;) {
		const char *end = p + strcspn(p, " ");
		const char *equals = memchr(p, '=', (size_t)(end - p));
		uint64_t value;

		if (equals && equals - p < 40 && whole_number(equals + 1, end, &value) && value > 1)
			out[n++] = (struct scalar){p, (int)(equals - p), value};
		p = end + strspn(end, " ");
	}
	return n;
}

/* Inductor's xnumel, ynumel: what programs run over. Its r0_numel counts columns. */
static bool counts_rows(const struct scalar *s)
{
	static const char tail[] = "numel";
	int n = (int)sizeof(tail) - 1;

	return s->name_length > n && *s->name != 'r' &&
	       !memcmp(s->name + s->name_length - n, tail, (size_t)n);
}

static uint64_t programs_of(const struct record_case *c)
{
	uint64_t n = (uint64_t)c->grid[0] * c->grid[1];

	return c->grid[2] > 1 ? n * c->grid[2] : n;
}

static void set(struct shape *s, uint64_t rows, uint64_t columns)
{
	s->rows = rows;
	s->columns = columns;
}

static bool from_pair(const struct scalar *list, size_t n, uint64_t elements, struct shape *s)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			const struct scalar *a = &list[i], *b = &list[k];

			if (elements % a->value || elements / a->value != b->value)
				continue;
			set(s, a->value, b->value);
			snprintf(s->how, sizeof(s->how), "%.*s=%" PRIu64 " × %.*s=%" PRIu64,
				 a->name_length, a->name, a->value, b->name_length, b->name,
				 b->value);
			return true;
		}
	return false;
}

static bool from_scalar(const struct scalar *list, size_t n, uint64_t programs, uint64_t elements,
			struct shape *s)
{
	const struct scalar *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct scalar *x = &list[i];

		if (elements % x->value || elements / x->value < 2)
			continue;
		if (elements / x->value == programs && !counts_rows(x)) {
			set(s, programs, x->value);
			snprintf(s->how, sizeof(s->how),
				 "%.*s=%" PRIu64 " columns, one row a program", x->name_length,
				 x->name, x->value);
			return true;
		}
		if (!best || x->value > best->value)
			best = x;
	}
	if (!best)
		return false;
	if (counts_rows(best))
		set(s, best->value, elements / best->value);
	else
		set(s, elements / best->value, best->value);
	snprintf(s->how, sizeof(s->how), "%.*s=%" PRIu64 " divides it", best->name_length,
		 best->name, best->value);
	return true;
}

static uint64_t pieces(uint64_t n, uint64_t of)
{
	return of ? (n + of - 1) / of : 0;
}

/* The word of the options, "RxC" or "B", that cuts the output as the grid does. */
static void find_tile(const char *options, uint64_t programs, uint64_t elements, bool flat,
		      struct shape *s)
{
	for (const char *p = options ? options : ""; *p;) {
		const char *end = p + strcspn(p, " ");
		const char *cross = memchr(p, 'x', (size_t)(end - p));
		uint64_t rows = 0, columns = 0;

		if (cross && whole_number(p, cross, &rows) &&
		    whole_number(cross + 1, end, &columns) &&
		    pieces(s->rows, rows) * pieces(s->columns, columns) == programs) {
			s->tile_rows = rows;
			s->tile_columns = columns;
		} else if (!cross && flat && whole_number(p, end, &columns) &&
			   pieces(elements, columns) == programs && programs > 1) {
			set(s, programs, columns);
			s->tile_rows = 1;
			s->tile_columns = columns;
			snprintf(s->how, sizeof(s->how), "flat, one row a block of %" PRIu64,
				 columns);
		} else if (!cross && whole_number(p, end, &columns) && s->rows == programs &&
			   columns >= s->columns) {
			s->tile_rows = 1;
			s->tile_columns = s->columns;
		}
		p = end + strspn(end, " ");
	}
}

void shape_infer(const struct record_case *c, const char *options, uint64_t elements,
		 struct shape *s)
{
	struct scalar scalars[SCALARS_MAX];
	size_t n = find_scalars(c->params, scalars);
	uint64_t programs = programs_of(c), columns = 1;
	bool flat = false;

	*s = (struct shape){.rows = 1, .columns = elements ? elements : 1};
	if (elements < 2) {
		snprintf(s->how, sizeof(s->how), "one element");
		return;
	}
	if (!from_pair(scalars, n, elements, s) &&
	    !from_scalar(scalars, n, programs, elements, s)) {
		flat = true;
		if (programs > 1 && elements > programs && elements % programs == 0) {
			set(s, programs, elements / programs);
			snprintf(s->how, sizeof(s->how), "one row a program");
			flat = false;
		}
	}
	if (flat) {
		while (columns < elements / columns)
			columns *= 2;
		set(s, pieces(elements, columns), columns);
		snprintf(s->how, sizeof(s->how), "flat, %" PRIu64 " elements a row of the picture",
			 columns);
	}
	find_tile(options, programs, elements, flat, s);
}

void shape_set(const struct record_case *c, const char *options, uint64_t rows, uint64_t columns,
	       struct shape *s)
{
	*s = (struct shape){.rows = rows, .columns = columns};
	find_tile(options, programs_of(c), rows * columns, false, s);
}
