/* SPDX-License-Identifier: MIT */
/* Elements of outputs as numbers: formats, classes, bits. */
#include "analyze/number.h"

#include <string.h>

#include "analyze/sweep.h"
#include "lib/base.h"

const char *number_class_name(enum number_class c)
{
	static const char *const names[NUMBER_CLASSES] = {"finite", "NaN", "+inf", "-inf"};

	return (unsigned)c < NUMBER_CLASSES ? names[c] : "?";
}

static const struct number_format formats[DTYPE_COUNT] = {
	[DTYPE_F64] = {52, -1022},    [DTYPE_F32] = {23, -126},      [DTYPE_F16] = {10, -14},
	[DTYPE_BF16] = {7, -126},     [DTYPE_F8E4M3] = {3, -6},      [DTYPE_F8E5M2] = {2, -14},
	[DTYPE_F8E4M3FNUZ] = {3, -7}, [DTYPE_F8E5M2FNUZ] = {2, -15},
};

const struct number_format *number_format(enum dtype t)
{
	return &formats[(unsigned)t < DTYPE_COUNT ? t : DTYPE_UNKNOWN];
}

void number_load(enum dtype t, const void *raw, size_t n, double *value, int64_t *order)
{
	sweep_level(0)->load(t, raw, n, value, order);
}

uint64_t number_bits(enum dtype t, const void *raw)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;
	uint64_t wide;

	switch (dtype_bytes(t)) { /* little-endian, as the device */
	case 1:
		memcpy(&byte, raw, 1);
		return byte;
	case 2:
		memcpy(&half, raw, 2);
		return half;
	case 4:
		memcpy(&word, raw, 4);
		return word;
	default:
		memcpy(&wide, raw, 8);
		return wide;
	}
}
