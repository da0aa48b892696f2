/* SPDX-License-Identifier: MIT */
/* Rows, columns and tiles of an output, inferred from what a launch says of itself. */
#ifndef ANALYZE_SHAPE_H
#define ANALYZE_SHAPE_H

#include <stdint.h>

#include "kernelab/records.h"

struct shape {
	uint64_t rows, columns;           /* rows * columns >= elements; both at least 1 */
	uint64_t tile_rows, tile_columns; /* of one program of the grid; 0: not known */
	char how[160];                    /* the inference, for people; not cleaned */
};

/*
 * Infers the shape of an output of `elements` elements. In this order: two integer scalars of the
 * launch whose product it is (M=500 N=300); one scalar that divides it so that each program of the
 * grid has one row; Inductor's xnumel as number of rows; another scalar that divides it; one row a
 * program; else flat, one row a block of the config's options where these cut it as the grid does.
 * A tile is the part of the options (64x32, 1024) that cuts the output into as many pieces as the
 * grid has programs. Rows are cells of rules 5, 7 and 8 where they
 * hold whole elements of the output (docs/numerics.md). Pure, any thread.
 */
void shape_infer(const struct record_case *c, const char *options, uint64_t elements,
		 struct shape *s);

/* The given rows and columns, at least 1 each, with the tile found as shape_infer does. */
void shape_set(const struct record_case *c, const char *options, uint64_t rows, uint64_t columns,
	       struct shape *s);

#endif
