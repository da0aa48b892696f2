/* SPDX-License-Identifier: MIT */
/* Where in an output the differing elements lie: tiles, edges, rows and columns. */
#ifndef ANALYZE_SPREAD_H
#define ANALYZE_SPREAD_H

#include "analyze/shape.h"
#include "kernelab/bundle.h"
#include "kernelab/error.h"

struct spread {
	uint64_t elements, differing;
	uint64_t first, last;                                    /* differing elements */
	uint64_t first_row, last_row, first_column, last_column; /* of differing elements */
	uint64_t tiles, tiles_hit;    /* 0: tiles are not known, or there is one only */
	bool edge_rows, edge_columns; /* all of it in the last row (column) of tiles, of several */
};

/*
 * Compares contents a and b of extent byte by byte as elements of `bytes` bytes, laid out as shape.
 * 0, or -errno with err where a chunk is missing or damaged.
 */
int spread_find(struct spread *s, const struct bundle *bundle, const struct record_extent *extent,
		uint32_t bytes, const struct record_content *a, const struct record_content *b,
		const struct shape *shape, struct error *err);

/*
 * "in 3 of 16 tiles (64x64), all at the right edge: rows 0–63, columns 448–499"; "" where the
 * differences lie everywhere, or nothing differs. Cut to size.
 */
void spread_text(const struct spread *s, const struct shape *shape, char *out, size_t size);

#endif
