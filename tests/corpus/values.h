/* SPDX-License-Identifier: MIT */
/* Inputs of the labelled corpus: families of values by a counter, rounded to an element type. */
#ifndef TESTS_CORPUS_VALUES_H
#define TESTS_CORPUS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value_type {
	const char *name; /* f64 f32 bf16 f16 fp8 i32 */
	size_t bytes;
	int significand; /* bits with the leading one; 0: not a float */
	int min_exponent;
};

/* NULL: no such type. Static storage. */
const struct value_type *value_type_find(const char *name);

/*
 * Fills count elements of type with values of a family: gauss (standard normal), positive (uniform
 * in [0.5, 1.5)), alternating (normal, times 16 and 1/16 by turns), wide (normal × 40), coarse
 * (normal, rounded down to halves: full of ties), ties (exactly between two bf16, or two f16,
 * values), nan (normal, about one NaN in 31). They are rounded to the type source first, so that a
 * wider type holds the same inputs. seed tells arguments apart. false: no such family, or type is
 * not f64, f32, bf16 or f16.
 */
bool values_fill(void *data, const struct value_type *type, const struct value_type *source,
		 size_t count, const char *family, uint64_t seed);
/* Fills count i32 with numbers below limit. */
void values_index(void *data, size_t count, uint32_t limit, uint64_t seed);
/* Fills count elements with 1: an output that is not all written shows it. */
void values_ones(void *data, const struct value_type *type, size_t count);

#endif
