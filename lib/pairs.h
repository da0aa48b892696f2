/* SPDX-License-Identifier: MIT */
/* Extents of a region as sorted pairs of offset and bytes (records.h: region.reads, .writes). */
#ifndef LIB_PAIRS_H
#define LIB_PAIRS_H

#include <stdbool.h>

#include "kernelab/records.h"

/*
 * Adds [offset, offset + bytes), merging what touches it. items is malloc'ed and grown. 0 or
 * -ENOMEM.
 */
int pairs_add(struct u64s *pairs, uint64_t offset, uint64_t bytes);

/* True if one of the pairs has a byte of [offset, offset + bytes). */
bool pairs_touch(const struct u64s *pairs, uint64_t offset, uint64_t bytes);

/*
 * What they have from `offset` on, to where that pair ends: *first and *bytes. False: nothing.
 */
bool pairs_next(const struct u64s *pairs, uint64_t offset, uint64_t *first, uint64_t *bytes);

/* Sum of the pairs' bytes. */
uint64_t pairs_bytes(const struct u64s *pairs);

/* Even in number, ascending, not empty, not overlapping, all inside `size` bytes. */
bool pairs_valid(const struct u64s *pairs, uint64_t size);

#endif
