/* SPDX-License-Identifier: MIT */
/* The k-th smallest of some numbers. */
#ifndef ANALYZE_SELECT_H
#define ANALYZE_SELECT_H

#include <stddef.h>

/* x holds n >= 1 numbers without NaN, and is reordered; k < n. Linear in n on the whole. Pure. */
double select_value(double *x, size_t n, size_t k);

#endif
