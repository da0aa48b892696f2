/* SPDX-License-Identifier: MIT */
/* Collects tensor shapes out of Triton IR text. */
#include "lib/image/shapes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/ir.h"

static int shape_compare(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	for (uint32_t i = 0; i < x->rank; i++) {
		if (x->dims[i] != y->dims[i])
			return x->dims[i] < y->dims[i] ? -1 : 1;
	}
	return 0;
}

/* Cursor behind "tensor<": the dimensions, each a number and 'x'. */
static void shape_read(struct ir *ir, struct shape *s)
{
	*s = (struct shape){0};
	for (;;) {
		struct ir here = *ir;
		uint64_t v = 0;

		while (ir_peek(&here) >= '0' && ir_peek(&here) <= '9' && v <= UINT32_MAX)
			v = v * 10 + (uint64_t)(here.text[here.at++] - '0');
		if (here.at == ir->at || ir_peek(&here) != 'x' || v > UINT32_MAX)
			return;
		ir->at = here.at + 1;
		if (s->rank < SHAPE_RANK)
			s->dims[s->rank++] = (uint32_t)v;
	}
}

static size_t unique(struct shape *shapes, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(shapes, count, sizeof(*shapes), shape_compare);
	for (size_t i = 0; i < count; i++) {
		if (!kept || shape_compare(&shapes[kept - 1], &shapes[i]) != 0)
			shapes[kept++] = shapes[i];
	}
	return kept;
}

int shapes_find(const char *text, size_t size, struct shape **out, size_t *count)
{
	struct ir ir = {text, size, 0};
	size_t capacity = 0;

	*out = NULL;
	*count = 0;
	while (!ir_end(&ir)) {
		struct shape s;
		int r;

		if (ir_peek(&ir) == '"' && ir_string(&ir, NULL))
			continue;
		if (!ir_begins(&ir, ir.at, "tensor<")) {
			ir.at++;
			continue;
		}
		ir.at += strlen("tensor<");
		shape_read(&ir, &s);
		if (!s.rank)
			continue;
		r = array_reserve(out, *count, &capacity, sizeof(**out));
		if (r < 0) {
			free(*out);
			*out = NULL;
			return r;
		}
		(*out)[(*count)++] = s;
	}
	*count = unique(*out, *count);
	return 0;
}

static bool has_one(const struct shape *s)
{
	for (uint32_t i = 0; i < s->rank; i++) {
		if (s->dims[i] == 1)
			return true;
	}
	return false;
}

char *shapes_text(const struct shape *shapes, size_t count, size_t limit)
{
	uint32_t rank = count ? shapes[count - 1].rank : 0;
	bool all_one = true;
	size_t size = 0, shown = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < count; i++)
		all_one &= shapes[i].rank != rank || has_one(&shapes[i]);
	for (size_t i = 0; i < count; i++) {
		if (shapes[i].rank != rank || (!all_one && has_one(&shapes[i])))
			continue;
		if (shown++ == limit) {
			fputs(" …", f);
			break;
		}
		for (uint32_t k = 0; k < rank; k++)
			fprintf(f, "%s%u", k ? "x" : shown > 1 ? " " : "", shapes[i].dims[k]);
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
