/* SPDX-License-Identifier: MIT */
/* Where an output differs: one bit an element, and the row, column or tile that holds most. */
#ifndef ANALYZE_PLACE_H
#define ANALYZE_PLACE_H

#include <stdint.h>

struct flip_map {
	uint64_t *words;
	uint64_t elements, rows, columns; /* rows 0: no shape known */
};

/* columns: elements a row, 0 where not known. 0 or -ENOMEM. */
int flip_map_init(struct flip_map *m, uint64_t elements, uint64_t columns);
void flip_map_free(struct flip_map *m);
void flip_map_clear(struct flip_map *m);

static inline void flip_map_set(struct flip_map *m, uint64_t i)
{
	m->words[i / 64] |= 1ull << i % 64;
}

/*
 * Greatest Wilson lower bound (z = 5) of the share of set bits over the cells: runs of 64, 256 and
 * 1024 elements; where the shape is known rows, columns and square tiles of 8, 16, 32 and 64. Cells
 * of under 64 elements are left out. *what names the kind of cell, *first is its first element.
 */
double flip_map_worst(const struct flip_map *m, const char **what, uint64_t *first);

#endif
