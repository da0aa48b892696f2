/* SPDX-License-Identifier: MIT */
/* A tile of which both sides hold the same bytes: proved and summed up in one pass. Part of
 * sweep.c. */
#ifndef ANALYZE_ALIKE_H
#define ANALYZE_ALIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/loader.h"
#include "analyze/sweep.h"
#include "analyze/vector.h"
#include "lib/base.h"

/*
 * A group is 64 bytes, whatever the vectors' width; the squares of what stands at one place of a
 * group are summed up in a lane of their own, so that no build rounds otherwise than another.
 * Groups are taken in stretches, over which the sums stay in registers; a span of them is compared
 * before it is summed up, so that what differs costs little more than its comparison.
 */
#define GROUP_BYTES    64
#define STRETCH_GROUPS 8
#define STRETCH_BYTES  (GROUP_BYTES * STRETCH_GROUPS)
#define SPAN_BYTES     (4 * STRETCH_BYTES)
#define AHEAD_BYTES    2048
#define PART_BYTES     (8 * WIDTH)

typedef uint8_t raw_8 __attribute__((vector_size(PART_BYTES)));
typedef uint16_t raw_16 __attribute__((vector_size(PART_BYTES)));
typedef uint32_t raw_32 __attribute__((vector_size(PART_BYTES)));
typedef uint64_t raw_64 __attribute__((vector_size(PART_BYTES)));

/* Elements of a stretch that are zero but for the bits outside of `mask`. */
#if WIDTH == 8
#define ZEROS(bits)                                                                       \
	INLINE uint64_t zeros_##bits(const unsigned char *raw, uint64_t mask)             \
	{                                                                                 \
		uint64_t n = 0;                                                           \
                                                                                          \
		for (size_t at = 0; at < STRETCH_BYTES; at += PART_BYTES) {               \
			__m512i x = _mm512_loadu_si512(raw + at);                         \
			__m512i look = (__m512i)((raw_##bits){0} + (uint##bits##_t)mask); \
                                                                                          \
			n += (uint64_t)__builtin_popcountll(                              \
				_mm512_testn_epi##bits##_mask(x, look));                  \
		}                                                                         \
		return n;                                                                 \
	}
#else /* a count fits an element: a stretch has at most 32 parts */
#define ZEROS(bits)                                                           \
	INLINE uint64_t zeros_##bits(const unsigned char *raw, uint64_t mask) \
	{                                                                     \
		raw_##bits counts = {0};                                      \
		uint64_t n = 0;                                               \
                                                                              \
		for (size_t at = 0; at < STRETCH_BYTES; at += PART_BYTES) {   \
			raw_##bits x;                                         \
                                                                              \
			memcpy(&x, raw + at, sizeof(x));                      \
			counts -= (x & (uint##bits##_t)mask) == 0;            \
		}                                                             \
		for (size_t i = 0; i < sizeof(counts) * 8 / (bits); i++)      \
			n += counts[i];                                       \
		return n;                                                     \
	}
#endif
ZEROS(8)
ZEROS(16)
ZEROS(32)
ZEROS(64)

INLINE uint64_t stretch_zeros(const unsigned char *raw, uint32_t bytes, uint64_t mask)
{
	switch (bytes) {
	case 1:
		return zeros_8(raw, mask);
	case 2:
		return zeros_16(raw, mask);
	case 4:
		return zeros_32(raw, mask);
	default:
		return zeros_64(raw, mask);
	}
}

/* The square of a single has at most 48 digits: fused or not, the sum has the same bits. */
INLINE numbers add_exact_square(numbers sum, numbers x)
{
#if WIDTH == 8
	return (numbers)_mm512_fmadd_pd((__m512d)x, (__m512d)x, (__m512d)sum);
#else
	return sum + x * x;
#endif
}

/* Adds the squares of a stretch of numbers, `lanes` of them a group, to its lanes. */
INLINE void add_squares(vector_load *load, const void *raw, size_t lanes, bool exact, double *sums)
{
	for (size_t lane = 0; lane < lanes; lane += WIDTH) {
		numbers sum;

		memcpy(&sum, sums + lane, sizeof(sum));
		for (size_t group = 0; group < STRETCH_GROUPS; group++) {
			numbers x = load(raw, group * lanes + lane);

			sum = exact ? add_exact_square(sum, x) : sum + x * x;
		}
		memcpy(sums + lane, &sum, sizeof(sum));
	}
}

INLINE void add_singles(const void *raw, size_t lanes, double *sums)
{
	add_squares(vector_f32, raw, lanes, true, sums);
}

INLINE void add_doubles(const void *raw, size_t lanes, double *sums)
{
	add_squares(vector_f64, raw, lanes, false, sums);
}

/* ---- one function a type: adds a stretch's squares to its lanes ---- */

static void squares_f64(const unsigned char *raw, double *sums)
{
	add_doubles(raw, GROUP_BYTES / 8, sums);
}

static void squares_f32(const unsigned char *raw, double *sums)
{
	add_singles(raw, GROUP_BYTES / 4, sums);
}

/* Of each group the even elements, then the odd ones: no element needs to be moved to its own. */
static void squares_bf16(const unsigned char *raw, double *sums)
{
	float x[STRETCH_BYTES / 2];

	for (size_t at = 0; at < STRETCH_BYTES; at += PART_BYTES) {
		float *group = x + at / GROUP_BYTES * (GROUP_BYTES / 2);
		float *to = group + at % GROUP_BYTES / 4;
		raw_32 pairs, even, odd;

		memcpy(&pairs, raw + at, sizeof(pairs));
		even = pairs << 16;
		odd = pairs & 0xffff0000;
		memcpy(to, &even, sizeof(even));
		memcpy(to + GROUP_BYTES / 4, &odd, sizeof(odd));
	}
	add_singles(x, GROUP_BYTES / 2, sums);
}

static void squares_f16(const unsigned char *raw, double *sums)
{
	float x[STRETCH_BYTES / 2];

#if WIDTH == 8
	for (size_t i = 0; i < ARRAY_LENGTH(x); i += 16)
		_mm512_storeu_ps(x + i,
				 _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(raw + 2 * i))));
#elif WIDTH == 4
	for (size_t i = 0; i < ARRAY_LENGTH(x); i += 8)
		_mm256_storeu_ps(x + i,
				 _mm256_cvtph_ps(_mm_loadu_si128((const void *)(raw + 2 * i))));
#else
	for (size_t i = 0; i < ARRAY_LENGTH(x); i++) {
		uint16_t h;

		memcpy(&h, raw + 2 * i, sizeof(h));
		x[i] = half_value(h);
	}
#endif
	add_singles(x, GROUP_BYTES / 2, sums);
}

#define SQUARES_BYTES(name, VALUE)                                         \
	static void squares_##name(const unsigned char *raw, double *sums) \
	{                                                                  \
		float x[STRETCH_BYTES];                                    \
                                                                           \
		for (size_t i = 0; i < STRETCH_BYTES; i++)                 \
			x[i] = VALUE(raw[i]);                              \
		add_singles(x, GROUP_BYTES, sums);                         \
	}
#if WIDTH > 2
/* As halves first, which the processor widens, denormals too, as fast as any. */
#if WIDTH == 8
typedef uint16_t halves __attribute__((vector_size(32)));
#define HALVES_OF_BYTES(at)  ((halves)_mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(at))))
#define SINGLES_OF_HALVES(h) _mm512_cvtph_ps((__m256i)(h))
#define STORE_SINGLES        _mm512_storeu_ps
#define SCALE_SINGLES(x, by) _mm512_mul_ps(x, _mm512_set1_ps(by))
#else
typedef uint16_t halves __attribute__((vector_size(16)));
#define HALVES_OF_BYTES(at)  ((halves)_mm_cvtepu8_epi16(_mm_loadl_epi64((const void *)(at))))
#define SINGLES_OF_HALVES(h) _mm256_cvtph_ps((__m128i)(h))
#define STORE_SINGLES        _mm256_storeu_ps
#define SCALE_SINGLES(x, by) _mm256_mul_ps(x, _mm256_set1_ps(by))
#endif

/* The magnitude where a half has it is the number times 2^-8; all ones is the NaN. */
static void squares_f8e4m3(const unsigned char *raw, double *sums)
{
	float x[STRETCH_BYTES];

	for (size_t i = 0; i < STRETCH_BYTES; i += sizeof(halves) / 2) {
		halves h = (HALVES_OF_BYTES(raw + i) & 0x7f) << 7;

		h |= (halves)(h == 0x3f80) & 0x7e00;
		STORE_SINGLES(x + i, SCALE_SINGLES(SINGLES_OF_HALVES(h), 256.0f));
	}
	add_singles(x, GROUP_BYTES, sums);
}

/* The upper half of a half. */
static void squares_f8e5m2(const unsigned char *raw, double *sums)
{
	float x[STRETCH_BYTES];

	for (size_t i = 0; i < STRETCH_BYTES; i += sizeof(halves) / 2)
		STORE_SINGLES(x + i, SINGLES_OF_HALVES(HALVES_OF_BYTES(raw + i) << 8));
	add_singles(x, GROUP_BYTES, sums);
}
#else
SQUARES_BYTES(f8e4m3, e4m3_value)
SQUARES_BYTES(f8e5m2, e5m2_value)
#endif
SQUARES_BYTES(f8e4m3fnuz, e4m3fnuz_value)
SQUARES_BYTES(f8e5m2fnuz, e5m2fnuz_value)

#define SQUARES_INTEGER(name, bytes)                                       \
	static void squares_##name(const unsigned char *raw, double *sums) \
	{                                                                  \
		double x[STRETCH_BYTES / (bytes)];                         \
                                                                           \
		load_##name(raw, ARRAY_LENGTH(x), x, NULL);                \
		add_doubles(x, GROUP_BYTES / (bytes), sums);               \
	}
SQUARES_INTEGER(byte, 1)
SQUARES_INTEGER(i8, 1)
SQUARES_INTEGER(i16, 2)
SQUARES_INTEGER(i32, 4)
SQUARES_INTEGER(i64, 8)

typedef void squares_add(const unsigned char *raw, double *sums);

static squares_add *const squares_of[DTYPE_COUNT] = {
	[DTYPE_UNKNOWN] = squares_byte,
	[DTYPE_F64] = squares_f64,
	[DTYPE_F32] = squares_f32,
	[DTYPE_F16] = squares_f16,
	[DTYPE_BF16] = squares_bf16,
	[DTYPE_F8E4M3] = squares_f8e4m3,
	[DTYPE_F8E5M2] = squares_f8e5m2,
	[DTYPE_F8E4M3FNUZ] = squares_f8e4m3fnuz,
	[DTYPE_F8E5M2FNUZ] = squares_f8e5m2fnuz,
	[DTYPE_BOOL] = squares_byte,
	[DTYPE_I8] = squares_i8,
	[DTYPE_I16] = squares_i16,
	[DTYPE_I32] = squares_i32,
	[DTYPE_I64] = squares_i64,
};

/* What the caches may fetch meanwhile: of two streams of 512 bytes a turn more than they guess. */
INLINE void stretch_ahead(const unsigned char *raw)
{
	for (size_t at = AHEAD_BYTES; at < AHEAD_BYTES + STRETCH_BYTES; at += 64)
		__builtin_prefetch((const void *)((uintptr_t)raw + at));
}

/* Sum of the lanes, always in the same order; leaves only the first whole. */
static double fold_lanes(double *sums, size_t lanes)
{
	for (size_t half = lanes / 2; half; half /= 2)
		for (size_t i = 0; i < half; i++)
			sums[i] += sums[i + half];
	return sums[0];
}

/* The same of a tile in which some elements are not finite: these are counted and left out. */
static void special_side(enum dtype t, const unsigned char *raw, size_t n, struct block_side *side)
{
	size_t bytes = dtype_bytes(t), lanes = GROUP_BYTES / bytes, take;
	_Alignas(64) double sums[GROUP_BYTES] = {0};

	for (size_t at = 0; at < n; at += take) {
		double value[STRETCH_BYTES];

		take = n - at < STRETCH_BYTES / bytes ? n - at : STRETCH_BYTES / bytes;
		loaders[t](raw + at * bytes, take, value, NULL);
		for (size_t i = 0; i < take; i++) {
			double x = value[i], size = __builtin_fabs(x);

			side->nan += x != x;
			side->inf += size > DBL_MAX;
			sums[i % lanes] += size <= DBL_MAX ? x * x : 0;
		}
	}
	side->a2 = fold_lanes(sums, lanes);
}

/* The bits that are clear in a zero. The FNUZ types have one zero only. */
static uint64_t zero_mask(enum dtype t)
{
	bool one_zero = !dtype_is_float(t) || t == DTYPE_F8E4M3FNUZ || t == DTYPE_F8E5M2FNUZ;

	return one_zero ? UINT64_MAX : UINT64_MAX >> (65 - 8 * dtype_bytes(t));
}

/* For struct sweep. */
static bool sweep_alike(enum dtype t, const unsigned char *a, const unsigned char *b, size_t n,
			struct block_side *out)
{
	uint32_t bytes = dtype_bytes(t);
	uint64_t mask = zero_mask(t);
	size_t size = n * bytes;
	_Alignas(64) double sums[GROUP_BYTES] = {0};
	struct block_side side = {0};

	for (size_t at = 0; at < size; at += STRETCH_BYTES) {
		const unsigned char *x = a + at, *y = b + at;

		if (a != b && at % SPAN_BYTES == 0 &&
		    memcmp(x, y, size - at < SPAN_BYTES ? size - at : SPAN_BYTES))
			return false;
		unsigned char end[2][STRETCH_BYTES];

		stretch_ahead(x);
		if (a != b)
			stretch_ahead(y);
		if (size - at < STRETCH_BYTES) { /* filled up with zeros */
			memset(end, 0, sizeof(end));
			x = memcpy(end[0], x, size - at);
			y = memcpy(end[1], y, size - at);
			side.zero -= (STRETCH_BYTES - (size - at)) / bytes;
		}
		side.zero += stretch_zeros(x, bytes, mask);
		squares_of[t](x, sums);
	}
	side.a2 = fold_lanes(sums, GROUP_BYTES / bytes);
	if (!(side.a2 <= DBL_MAX))
		special_side(t, a, n, &side);
	*out = side;
	return true;
}

#endif
