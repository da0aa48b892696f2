/* SPDX-License-Identifier: MIT */
/* The autotuned product: a sweep over all configs at the first sight of a shape. */
#ifndef TESTS_APPS_MATMUL_H
#define TESTS_APPS_MATMUL_H

#include "tests/apps/model.h"

struct matrix {
	CUdeviceptr data;
	int pitch; /* elements */
};

/*
 * c[rows × columns] = a[rows × depth] b[depth × columns], row-major. At a new shape each config is
 * launched on these very arguments, once untimed, then timed with events; the winner, or the pinned
 * config, computes c now and at every later call of that shape.
 */
void matmul(struct model *m, struct matrix a, struct matrix b, struct matrix c, int rows,
	    int columns, int depth);

#endif
