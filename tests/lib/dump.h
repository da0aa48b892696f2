/* SPDX-License-Identifier: MIT */
/* A bundle as text, for golden files: every field that is there, by the registry's tables. */
#ifndef TESTS_LIB_DUMP_H
#define TESTS_LIB_DUMP_H

#include <stdio.h>

#include "kernelab/bundle.h"

/* Records by type in their order, then each chunk's key, sizes and codec (contents are read). */
void bundle_dump(const struct bundle *b, FILE *to);

#endif
