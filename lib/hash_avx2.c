/* SPDX-License-Identifier: MIT */
/* Compiled with -mavx2 (lib/meson.build), hence a file of its own; xxhash.h picks the vectors. */
#include "lib/hash_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VECTOR != XXH_AVX2
#error "to be compiled with -mavx2"
#endif

struct hash128 hash_bytes_avx2(const void *data, size_t size)
{
	XXH128_hash_t h = XXH3_128bits(data, size);

	return (struct hash128){.high = h.high64, .low = h.low64};
}
