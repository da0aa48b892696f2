/* SPDX-License-Identifier: MIT */
/* Whole numbers as people write them: 65536, 64K, 4G. */
#ifndef LIB_COUNT_H
#define LIB_COUNT_H

#include <stdint.h>

/* Decimal with optional suffix K, M, G or T (1024-based). 0; -EINVAL, -ERANGE: *out is untouched.
 */
int count_parse(const char *text, uint64_t *out);

#endif
