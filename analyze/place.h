/* SPDX-License-Identifier: MIT */
/* Where an output differs: the row, column or tile that holds most, counted as elements go by. */
#ifndef ANALYZE_PLACE_H
#define ANALYZE_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* Rows longer than this are looked at by runs of elements only: what is kept is at most 6 MiB. */
#define PLACE_COLUMNS_MAX (UINT64_C(1) << 20)

struct place_cell {
	double bound; /* Wilson lower bound (z = 5) of its share of differing elements */
	const char *what;
	uint64_t first; /* element */
	size_t kind;
};

#define PLACE_RUNS  4
#define PLACE_BANDS 4

struct place {
	uint64_t elements, rows, columns; /* rows 0: no shape known */
	uint64_t row, row_end;            /* of the last element added */
	struct {
		uint64_t length, index, count; /* length 0: not counted */
	} runs[PLACE_RUNS];                    /* of 64, 256, 1024 elements, and rows */
	struct {
		uint64_t side, index;
		size_t cells;
		uint32_t *counts; /* a cell each, of the band of rows under way */
	} bands[PLACE_BANDS];     /* tiles of 8, 16, 32, 64 */
	uint32_t *column_counts;
	struct place_cell worst;
};

/* columns: elements a row, 0 where not known. 0 or -ENOMEM. */
int place_init(struct place *p, uint64_t elements, uint64_t columns);
void place_free(struct place *p);
void place_clear(struct place *p);

/* Element i differs. Call with i growing. */
void place_add(struct place *p, uint64_t i);

/*
 * The cell with the greatest bound: runs of 64, 256 and 1024 elements; where the shape is known
 * rows, columns and square tiles of 8, 16, 32 and 64. Cells of under 64 elements are left out. what
 * names the kind of cell (static storage; NULL where nothing differs). Ends the counting: then only
 * place_clear.
 */
struct place_cell place_worst(struct place *p);

#endif
