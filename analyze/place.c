/* SPDX-License-Identifier: MIT */
/* Where an output differs: one bit an element, and the row, column or tile that holds most. */
#include "analyze/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metrics.h"

#define CELL_MIN 64u
#define Z_PLACE  5.0

int flip_map_init(struct flip_map *m, uint64_t elements, uint64_t columns)
{
	*m = (struct flip_map){.elements = elements};
	m->words = calloc(elements / 64 + 1, sizeof(*m->words));
	if (!m->words)
		return -ENOMEM;
	if (columns > 1 && elements % columns == 0 && elements / columns > 1) {
		m->columns = columns;
		m->rows = elements / columns;
	}
	return 0;
}

void flip_map_free(struct flip_map *m)
{
	free(m->words);
	*m = (struct flip_map){0};
}

void flip_map_clear(struct flip_map *m)
{
	memset(m->words, 0, (m->elements / 64 + 1) * sizeof(*m->words));
}

/* Set bits in [from, from + n). */
static uint64_t count_run(const struct flip_map *m, uint64_t from, uint64_t n)
{
	uint64_t count = 0;

	while (n) {
		uint64_t bits = 64 - from % 64, word = m->words[from / 64] >> from % 64;

		bits = bits < n ? bits : n;
		if (bits < 64)
			word &= (1ull << bits) - 1;
		count += (uint64_t)__builtin_popcountll(word);
		from += bits;
		n -= bits;
	}
	return count;
}

struct worst {
	double bound;
	const char *what;
	uint64_t first;
};

static void cell(struct worst *w, uint64_t count, uint64_t n, const char *what, uint64_t first)
{
	double bound;

	if (n < CELL_MIN || !count)
		return;
	bound = share_lower_bound(count, n, Z_PLACE);
	if (bound > w->bound)
		*w = (struct worst){bound, what, first};
}

static void runs(const struct flip_map *m, struct worst *w, uint64_t length, const char *what)
{
	for (uint64_t at = 0; at < m->elements; at += length) {
		uint64_t n = m->elements - at < length ? m->elements - at : length;

		cell(w, count_run(m, at, n), n, what, at);
	}
}

static void tiles(const struct flip_map *m, struct worst *w, uint64_t side, const char *what)
{
	for (uint64_t row = 0; row < m->rows; row += side)
		for (uint64_t column = 0; column < m->columns; column += side) {
			uint64_t height = m->rows - row < side ? m->rows - row : side;
			uint64_t width = m->columns - column < side ? m->columns - column : side;
			uint64_t count = 0;

			for (uint64_t i = 0; i < height; i++)
				count += count_run(m, (row + i) * m->columns + column, width);
			cell(w, count, height * width, what, row * m->columns + column);
		}
}

double flip_map_worst(const struct flip_map *m, const char **what, uint64_t *first)
{
	struct worst w = {0};

	runs(m, &w, 64, "run of 64 elements");
	runs(m, &w, 256, "run of 256 elements");
	runs(m, &w, 1024, "run of 1024 elements");
	if (m->rows) {
		runs(m, &w, m->columns, "row");
		for (uint64_t column = 0; column < m->columns; column++) {
			uint64_t count = 0;

			for (uint64_t row = 0; row < m->rows; row++) {
				uint64_t i = row * m->columns + column;

				count += m->words[i / 64] >> i % 64 & 1;
			}
			cell(&w, count, m->rows, "column", column);
		}
		tiles(m, &w, 8, "tile of 8x8");
		tiles(m, &w, 16, "tile of 16x16");
		tiles(m, &w, 32, "tile of 32x32");
		tiles(m, &w, 64, "tile of 64x64");
	}
	*what = w.what;
	*first = w.first;
	return w.bound;
}
