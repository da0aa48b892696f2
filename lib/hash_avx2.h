/* SPDX-License-Identifier: MIT */
/* XXH3-128 compiled for AVX2, the same result in fewer cycles. */
#ifndef LIB_HASH_AVX2_H
#define LIB_HASH_AVX2_H

#include <stddef.h>

#include "kernelab/hash.h"

/* As hash_bytes. Only where the processor has AVX2. */
struct hash128 hash_bytes_avx2(const void *data, size_t size);

#endif
