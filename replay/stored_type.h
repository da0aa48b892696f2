/* SPDX-License-Identifier: MIT */
/* The one element type that a kernel stores, where its text has but one. */
#ifndef REPLAY_STORED_TYPE_H
#define REPLAY_STORED_TYPE_H

#include <stddef.h>

#include "kernelab/dtype.h"

/*
 * From Triton IR (.ttir): what the pointers of all its stores and atomics point to. For outputs
 * that are reached through a table of pointers, which no argument's type describes. DTYPE_UNKNOWN
 * where there are none, several types, or an operation that cannot be read.
 */
enum dtype ir_stored_type(const char *text, size_t size);

#endif
