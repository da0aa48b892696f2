/* SPDX-License-Identifier: MIT */
/* Where an output differs: the row, column or tile that holds most, counted as elements go by. */
#include "analyze/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metrics.h"

#define CELL_MIN    64u
#define Z_PLACE     5.0
#define KIND_ROW    3u
#define KIND_COLUMN (KIND_ROW + 1)
#define KIND_TILE   (KIND_COLUMN + 1)

static const char *const names[] = {"run of 64 elements",
				    "run of 256 elements",
				    "run of 1024 elements",
				    "row",
				    "column",
				    "tile of 8x8",
				    "tile of 16x16",
				    "tile of 32x32",
				    "tile of 64x64"};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int place_init(struct place *p, uint64_t elements, uint64_t columns)
{
	*p = (struct place){.elements = elements};
	for (size_t k = 0; k < KIND_ROW; k++)
		p->runs[k].length = UINT64_C(64) << 2 * k;
	if (columns > 1 && columns <= PLACE_COLUMNS_MAX && elements % columns == 0 &&
	    elements / columns > 1) {
		p->columns = columns;
		p->rows = elements / columns;
		p->row_end = columns;
		p->runs[KIND_ROW].length = columns;
	}
	if (!p->rows)
		return 0;
	p->column_counts = calloc(columns, sizeof(*p->column_counts));
	if (!p->column_counts)
		return -ENOMEM;
	for (size_t k = 0; k < PLACE_BANDS; k++) {
		p->bands[k].side = UINT64_C(8) << k;
		p->bands[k].cells = (columns + p->bands[k].side - 1) / p->bands[k].side;
		p->bands[k].counts = calloc(p->bands[k].cells, sizeof(*p->bands[k].counts));
		if (!p->bands[k].counts)
			return -ENOMEM;
	}
	return 0;
}

void place_free(struct place *p)
{
	for (size_t k = 0; k < PLACE_BANDS; k++)
		free(p->bands[k].counts);
	free(p->column_counts);
	*p = (struct place){0};
}

void place_clear(struct place *p)
{
	p->row = 0;
	p->row_end = p->columns;
	p->worst = (struct place_cell){0};
	for (size_t k = 0; k < PLACE_RUNS; k++)
		p->runs[k].index = p->runs[k].count = 0;
	for (size_t k = 0; k < PLACE_BANDS && p->rows; k++) {
		p->bands[k].index = 0;
		memset(p->bands[k].counts, 0, p->bands[k].cells * sizeof(*p->bands[k].counts));
	}
	if (p->rows)
		memset(p->column_counts, 0, p->columns * sizeof(*p->column_counts));
}

static void judge_cell(struct place *p, uint64_t count, uint64_t n, size_t kind, uint64_t first)
{
	double bound;

	if (n < CELL_MIN || !count)
		return;
	bound = share_lower_bound(count, n, Z_PLACE);
	if (bound > p->worst.bound ||
	    (bound == p->worst.bound && p->worst.what && kind < p->worst.kind))
		p->worst = (struct place_cell){bound, names[kind], first, kind};
}

static void end_run(struct place *p, size_t k)
{
	uint64_t first = p->runs[k].index * p->runs[k].length;

	judge_cell(p, p->runs[k].count, least(p->runs[k].length, p->elements - first), k, first);
	p->runs[k].count = 0;
}

static void end_band(struct place *p, size_t k)
{
	uint64_t side = p->bands[k].side, row = p->bands[k].index * side;
	uint64_t height = least(side, p->rows - row);

	for (size_t cell = 0; cell < p->bands[k].cells; cell++) {
		uint64_t column = cell * side;

		judge_cell(p, p->bands[k].counts[cell], height * least(side, p->columns - column),
			   KIND_TILE + k, row * p->columns + column);
	}
	memset(p->bands[k].counts, 0, p->bands[k].cells * sizeof(*p->bands[k].counts));
}

static void add_to_run(struct place *p, size_t k, uint64_t index)
{
	if (index != p->runs[k].index) {
		end_run(p, k);
		p->runs[k].index = index;
	}
	p->runs[k].count++;
}

void place_add(struct place *p, uint64_t i)
{
	uint64_t column;

	for (size_t k = 0; k < KIND_ROW; k++)
		add_to_run(p, k, i >> (6 + 2 * k));
	if (!p->rows)
		return;
	if (i >= p->row_end) {
		p->row = i / p->columns;
		p->row_end = (p->row + 1) * p->columns;
	}
	add_to_run(p, KIND_ROW, p->row);
	column = i - p->row * p->columns;
	p->column_counts[column]++;
	for (size_t k = 0; k < PLACE_BANDS; k++) {
		uint64_t band = p->row >> (3 + k);

		if (band != p->bands[k].index) {
			end_band(p, k);
			p->bands[k].index = band;
		}
		p->bands[k].counts[column >> (3 + k)]++;
	}
}

struct place_cell place_worst(struct place *p)
{
	for (size_t k = 0; k < PLACE_RUNS; k++)
		if (p->runs[k].length)
			end_run(p, k);
	for (size_t k = 0; k < PLACE_BANDS && p->rows; k++)
		end_band(p, k);
	for (uint64_t column = 0; column < p->columns; column++)
		judge_cell(p, p->column_counts[column], p->rows, KIND_COLUMN, column);
	return p->worst;
}
