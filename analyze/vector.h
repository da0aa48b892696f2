/* SPDX-License-Identifier: MIT */
/* Vectors of doubles, as wide as the instruction set allows, and how elements get there. Part of
 * sweep.c. */
#ifndef ANALYZE_VECTOR_H
#define ANALYZE_VECTOR_H

#include <float.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#define WIDTH 8
#elif defined(__AVX2__)
#include <immintrin.h>
#define WIDTH 4
#else
#define WIDTH 2
#endif

typedef double numbers __attribute__((vector_size(WIDTH * 8)));
typedef int64_t words __attribute__((vector_size(WIDTH * 8)));
typedef float singles __attribute__((vector_size(WIDTH * 4)));
typedef int32_t integers __attribute__((vector_size(WIDTH * 4)));

#define INLINE static inline __attribute__((always_inline))

#define ABSOLUTE(v) ((numbers)((words)(v)&INT64_MAX))
#define ALL(v)      ((numbers){0} + (v))
/* mask ? x : y, lane by lane */
#define SELECT(mask, x, y)        ((numbers)(((mask) & (words)(x)) | (~(mask) & (words)(y))))
#define SELECT_SINGLE(mask, x, y) ((singles)(((mask) & (integers)(x)) | (~(mask) & (integers)(y))))

/* Elements i … i + WIDTH of a type, exactly; formats as in number.h. */
typedef numbers vector_load(const unsigned char *raw, size_t i);

#if WIDTH == 8
#define WIDEN_SINGLES(x) ((numbers)_mm512_cvtps_pd((__m256)(x)))
#define WIDEN_HALVES(at) ((integers)_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(at))))
#define WIDEN_BYTES(at)  ((integers)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(at))))
#elif WIDTH == 4
#define WIDEN_SINGLES(x) ((numbers)_mm256_cvtps_pd((__m128)(x)))
#define WIDEN_HALVES(at) ((integers)_mm_cvtepu16_epi32(_mm_loadl_epi64((const void *)(at))))
#define WIDEN_BYTES(at)  ((integers)_mm_cvtepu8_epi32(_mm_loadu_si32(at)))
#else /* what gcc 12 makes of __builtin_convertvector is slower than this */
#define WIDEN_SINGLES(x) ((numbers){(double)(x)[0], (double)(x)[1]})
#define WIDEN_HALVES(at) ((integers){half_at(at), half_at((at) + 2)})
#define WIDEN_BYTES(at)  ((integers){(at)[0], (at)[1]})

INLINE uint16_t half_at(const unsigned char *raw)
{
	uint16_t x;

	memcpy(&x, raw, sizeof(x));
	return x;
}
#endif

INLINE numbers vector_f64(const unsigned char *raw, size_t i)
{
	numbers x;

	memcpy(&x, raw + 8 * i, sizeof(x));
	return x;
}

INLINE numbers vector_f32(const unsigned char *raw, size_t i)
{
	singles x;

	memcpy(&x, raw + 4 * i, sizeof(x));
	return WIDEN_SINGLES(x);
}

INLINE numbers vector_bf16(const unsigned char *raw, size_t i)
{
	return WIDEN_SINGLES((singles)(WIDEN_HALVES(raw + 2 * i) << 16));
}

/* As widen() of loader.h: the magnitude at its place in a binary32, times 2^(127 - bias). */
INLINE singles widen_all(integers magnitude, int shift, float scale, integers sign)
{
	singles x = (singles)(magnitude << shift) * scale;

	return (singles)((integers)x | sign);
}

#if WIDTH > 2
#if WIDTH == 8
#define HALVES_TO_SINGLES(x) ((singles)_mm256_cvtph_ps(x))
#define LOAD_HALVES(at)      _mm_loadu_si128((const void *)(at))
#define LOAD_BYTES(at)       _mm_loadl_epi64((const void *)(at))
#else
#define HALVES_TO_SINGLES(x) ((singles)_mm_cvtph_ps(x))
#define LOAD_HALVES(at)      _mm_loadl_epi64((const void *)(at))
#define LOAD_BYTES(at)       _mm_loadu_si32(at)
#endif

INLINE numbers vector_f16(const unsigned char *raw, size_t i)
{
	return WIDEN_SINGLES(HALVES_TO_SINGLES(LOAD_HALVES(raw + 2 * i)));
}

/* The upper half of a binary16. */
INLINE numbers vector_f8e5m2(const unsigned char *raw, size_t i)
{
	__m128i halves = _mm_unpacklo_epi8(_mm_setzero_si128(), LOAD_BYTES(raw + i));

	return WIDEN_SINGLES(HALVES_TO_SINGLES(halves));
}
#else
INLINE numbers half_numbers(integers h)
{
	integers magnitude = h & 0x7fff, sign = (h & 0x8000) << 16;
	singles finite = widen_all(magnitude, 13, 0x1p112f, sign);
	singles special = (singles)(sign | 0x7f800000 | magnitude << 13);

	return WIDEN_SINGLES(SELECT_SINGLE(magnitude >= 0x7c00, special, finite));
}

INLINE numbers vector_f16(const unsigned char *raw, size_t i)
{
	return half_numbers(WIDEN_HALVES(raw + 2 * i));
}

INLINE numbers vector_f8e5m2(const unsigned char *raw, size_t i)
{
	return half_numbers(WIDEN_BYTES(raw + i) << 8);
}
#endif

/* An 8-bit float whose only NaN are the bytes that `nan` marks. */
INLINE numbers small_numbers(integers x, int shift, float scale, integers nan)
{
	singles finite = widen_all(x & 0x7f, shift, scale, (x & 0x80) << 24);
	singles special = (singles)((integers){0} + 0x7fc00000);

	return WIDEN_SINGLES(SELECT_SINGLE(nan, special, finite));
}

INLINE numbers vector_f8e4m3(const unsigned char *raw, size_t i)
{
	integers x = WIDEN_BYTES(raw + i);

	return small_numbers(x, 20, 0x1p120f, (x & 0x7f) == 0x7f);
}

INLINE numbers vector_f8e4m3fnuz(const unsigned char *raw, size_t i)
{
	integers x = WIDEN_BYTES(raw + i);

	return small_numbers(x, 20, 0x1p119f, x == 0x80);
}

INLINE numbers vector_f8e5m2fnuz(const unsigned char *raw, size_t i)
{
	integers x = WIDEN_BYTES(raw + i);

	return small_numbers(x, 21, 0x1p111f, x == 0x80);
}

#endif
