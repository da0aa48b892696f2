/* SPDX-License-Identifier: MIT */
/* Exact conversion of elements; loops without branches, for the vectoriser. Part of sweep.c. */
#ifndef ANALYZE_LOADER_H
#define ANALYZE_LOADER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernelab/dtype.h"

static inline float float_from_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/*
 * A small float whose exponent field sits right below the sign: its magnitude bits, moved to where
 * a binary32 has them, are the number times 2^(bias - 127). The product is exact, for denormals
 * too.
 */
static inline float widen(uint32_t magnitude, int shift, float scale, uint32_t negative)
{
	float f = float_from_bits(magnitude << shift) * scale;

	return negative ? -f : f;
}

static inline float half_value(uint32_t h)
{
	uint32_t magnitude = h & 0x7fff, negative = h & 0x8000;
	float finite = widen(magnitude, 13, 0x1p112f, negative);
	float special = float_from_bits(negative << 16 | 0x7f800000 | magnitude << 13);

	return magnitude >= 0x7c00 ? special : finite;
}

static inline float bfloat_value(uint32_t h)
{
	return float_from_bits(h << 16);
}

static inline float e4m3_value(uint32_t x)
{
	float finite = widen(x & 0x7f, 20, 0x1p120f, x & 0x80);

	return (x & 0x7f) == 0x7f ? float_from_bits(0x7fc00000) : finite;
}

static inline float e5m2_value(uint32_t x)
{
	return half_value(x << 8);
}

static inline float e4m3fnuz_value(uint32_t x)
{
	float finite = widen(x & 0x7f, 20, 0x1p119f, x & 0x80);

	return x == 0x80 ? float_from_bits(0x7fc00000) : finite;
}

static inline float e5m2fnuz_value(uint32_t x)
{
	float finite = widen(x & 0x7f, 21, 0x1p111f, x & 0x80);

	return x == 0x80 ? float_from_bits(0x7fc00000) : finite;
}

/* One loader a type. VALUE turns the loaded word x into a double, ORDER into its place. */
#define LOADER(name, word, VALUE, ORDER)                                                           \
	static void load_##name(const unsigned char *raw, size_t n, double *value, int64_t *order) \
	{                                                                                          \
		for (size_t i = 0; i < n; i++) {                                                   \
			word x;                                                                    \
                                                                                                   \
			memcpy(&x, raw + i * sizeof(x), sizeof(x));                                \
			value[i] = VALUE;                                                          \
		}                                                                                  \
		for (size_t i = 0; order && i < n; i++) {                                          \
			word x;                                                                    \
                                                                                                   \
			memcpy(&x, raw + i * sizeof(x), sizeof(x));                                \
			order[i] = ORDER;                                                          \
		}                                                                                  \
	}

#define SIGN_MAGNITUDE(bits) \
	((x >> ((bits)-1)) ? -(int64_t)(x & ((UINT64_C(1) << ((bits)-1)) - 1)) : (int64_t)x)

static inline double double_from_bits(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

LOADER(f64, uint64_t, double_from_bits(x), SIGN_MAGNITUDE(64))
LOADER(f32, uint32_t, (double)float_from_bits(x), SIGN_MAGNITUDE(32))
LOADER(f16, uint16_t, (double)half_value(x), SIGN_MAGNITUDE(16))
LOADER(bf16, uint16_t, (double)bfloat_value(x), SIGN_MAGNITUDE(16))
LOADER(f8e4m3, uint8_t, (double)e4m3_value(x), SIGN_MAGNITUDE(8))
LOADER(f8e5m2, uint8_t, (double)e5m2_value(x), SIGN_MAGNITUDE(8))
LOADER(f8e4m3fnuz, uint8_t, (double)e4m3fnuz_value(x), SIGN_MAGNITUDE(8))
LOADER(f8e5m2fnuz, uint8_t, (double)e5m2fnuz_value(x), SIGN_MAGNITUDE(8))
LOADER(byte, uint8_t, (double)x, (int64_t)x)
LOADER(i8, int8_t, (double)x, (int64_t)x)
LOADER(i16, int16_t, (double)x, (int64_t)x)
LOADER(i32, int32_t, (double)x, (int64_t)x)
LOADER(i64, int64_t, (double)x, (int64_t)x)

static void (*const loaders[DTYPE_COUNT])(const unsigned char *raw, size_t n, double *value,
					  int64_t *order) = {
	[DTYPE_UNKNOWN] = load_byte,
	[DTYPE_F64] = load_f64,
	[DTYPE_F32] = load_f32,
	[DTYPE_F16] = load_f16,
	[DTYPE_BF16] = load_bf16,
	[DTYPE_F8E4M3] = load_f8e4m3,
	[DTYPE_F8E5M2] = load_f8e5m2,
	[DTYPE_F8E4M3FNUZ] = load_f8e4m3fnuz,
	[DTYPE_F8E5M2FNUZ] = load_f8e5m2fnuz,
	[DTYPE_BOOL] = load_byte,
	[DTYPE_I8] = load_i8,
	[DTYPE_I16] = load_i16,
	[DTYPE_I32] = load_i32,
	[DTYPE_I64] = load_i64,
};

#endif
