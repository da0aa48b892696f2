/* SPDX-License-Identifier: MIT */
/* Random records of any type by the registry's tables, and their comparison field by field. */
#ifndef TESTS_LIB_RECORD_RANDOM_H
#define TESTS_LIB_RECORD_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bundle/arena.h"
#include "lib/bundle/codec.h"

/* A small generator whose numbers are the same everywhere (xorshift64*); state must not be 0. */
uint64_t random_next(uint64_t *state);

/* How many fields are set; SHORT: all, with few elements and bytes each. */
enum random_fill { RANDOM_SOME, RANDOM_ALL, RANDOM_NONE, RANDOM_SHORT };

/*
 * Fills the struct of row `r`; memory from the arena. What check_record wants holds: address ranges
 * have no keys that do not fit.
 */
void record_random(const struct codec_record *r, void *record, struct arena *arena,
		   enum random_fill fill, uint64_t *state);

/* NULL if equal, else the name of the first field that differs. Empty and absent are equal. */
const char *record_difference(const struct codec_record *r, const void *a, const void *b);

#endif
