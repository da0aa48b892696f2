/* SPDX-License-Identifier: MIT */
/* Every bit pattern of the small types, and edges of the others, against another way to compute. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/number.h"
#include "lib/base.h"

/* How a small float is defined, straight from the formats' tables. */
struct small_float {
	enum dtype t;
	int exponent_bits, mantissa_bits, bias;
	bool infinities; /* all-ones exponent: mantissa 0 is inf, else NaN */
	bool one_nan;    /* fnuz: 0x80… alone is NaN */
};

static const struct small_float smalls[] = {
	{DTYPE_F16, 5, 10, 15, true, false},      {DTYPE_BF16, 8, 7, 127, true, false},
	{DTYPE_F8E4M3, 4, 3, 7, false, false},    {DTYPE_F8E5M2, 5, 2, 15, true, false},
	{DTYPE_F8E4M3FNUZ, 4, 3, 8, false, true}, {DTYPE_F8E5M2FNUZ, 5, 2, 16, false, true},
};

static double reference(const struct small_float *f, uint32_t bits)
{
	int width = 1 + f->exponent_bits + f->mantissa_bits;
	uint32_t mantissa = bits & ((1u << f->mantissa_bits) - 1);
	int exponent = (int)(bits >> f->mantissa_bits) & ((1 << f->exponent_bits) - 1);
	int top = (1 << f->exponent_bits) - 1;
	double sign = bits >> (width - 1) ? -1 : 1;

	if (f->one_nan && bits == 1u << (width - 1))
		return NAN;
	if (f->infinities && exponent == top)
		return mantissa ? NAN : sign * INFINITY;
	if (!f->infinities && !f->one_nan && exponent == top &&
	    mantissa == (1u << f->mantissa_bits) - 1)
		return NAN; /* e4m3: S.1111.111 */
	if (!exponent)
		return sign * ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
	return sign * ldexp((double)mantissa + (1 << f->mantissa_bits),
			    exponent - f->bias - f->mantissa_bits);
}

static void test_all_small_patterns(void **state)
{
	for (size_t k = 0; k < ARRAY_LENGTH(smalls); k++) {
		const struct small_float *f = &smalls[k];
		uint32_t patterns = 1u << (8 * dtype_bytes(f->t));
		int nans = 0;

		for (uint32_t x = 0; x < patterns; x++) {
			double expected = reference(f, x), value;
			int64_t order;

			number_load(f->t, &x, 1, &value, &order);
			if (isnan(expected)) {
				nans++;
				assert_true(isnan(value));
				continue;
			}
			assert_true(value == expected && signbit(value) == signbit(expected));
			assert_int_equal(number_bits(f->t, &x), x);
			assert_true(order == 0 ? value == 0 : (order < 0) == (value < 0));
		}
		assert_true(nans > 0);
	}
}

/* Neighbours in value are neighbours in order: the steps of a type, counted. */
static void test_order_is_by_steps(void **state)
{
	for (size_t k = 0; k < ARRAY_LENGTH(smalls); k++) {
		uint32_t half = 1u << (8 * dtype_bytes(smalls[k].t) - 1);
		double last = -1;

		for (uint32_t x = 0; x < half; x++) {
			double v, w;
			int64_t order, mirrored;
			uint32_t negative = x | half;

			number_load(smalls[k].t, &x, 1, &v, &order);
			if (isnan(v))
				break;
			assert_int_equal(order, x);
			assert_true(v > last);
			last = v;
			number_load(smalls[k].t, &negative, 1, &w, &mirrored);
			if (!isnan(w)) {
				assert_int_equal(mirrored, -order);
			}
		}
	}
}

static void test_known_values(void **state)
{
	static const struct {
		enum dtype t;
		uint32_t bits;
		double value;
	} known[] = {
		{DTYPE_F16, 0x7bff, 65504},        {DTYPE_F16, 0x0001, 0x1p-24},
		{DTYPE_BF16, 0x3f80, 1},           {DTYPE_BF16, 0x7f7f, 0x1.fep127},
		{DTYPE_BF16, 0x0001, 0x1p-133},    {DTYPE_F8E4M3, 0x7e, 448},
		{DTYPE_F8E4M3, 0x01, 0x1p-9},      {DTYPE_F8E5M2, 0x7b, 57344},
		{DTYPE_F8E5M2, 0x7c, INFINITY},    {DTYPE_F8E4M3FNUZ, 0x7f, 240},
		{DTYPE_F8E5M2FNUZ, 0x7f, 57344},   {DTYPE_F8E4M3FNUZ, 0x01, 0x1p-10},
		{DTYPE_F8E5M2FNUZ, 0x01, 0x1p-17},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
		double value;

		number_load(known[i].t, &known[i].bits, 1, &value, NULL);
		assert_true(value == known[i].value);
	}
}

static void test_formats_match_the_neighbours(void **state)
{
	static const struct {
		enum dtype t;
		uint64_t one;
	} ones[] = {{DTYPE_F64, 0x3ff0000000000000},
		    {DTYPE_F32, 0x3f800000},
		    {DTYPE_F16, 0x3c00},
		    {DTYPE_BF16, 0x3f80},
		    {DTYPE_F8E4M3, 0x38},
		    {DTYPE_F8E5M2, 0x3c},
		    {DTYPE_F8E4M3FNUZ, 0x40},
		    {DTYPE_F8E5M2FNUZ, 0x40}};

	for (size_t i = 0; i < ARRAY_LENGTH(ones); i++) {
		const struct number_format *f = number_format(ones[i].t);
		uint64_t next = ones[i].one + 1, least = 1;
		double one, above, smallest;

		number_load(ones[i].t, &ones[i].one, 1, &one, NULL);
		number_load(ones[i].t, &next, 1, &above, NULL);
		number_load(ones[i].t, &least, 1, &smallest, NULL);
		assert_true(one == 1);
		assert_true(above - one == ldexp(1, -f->mantissa_bits));
		assert_true(smallest == ldexp(1, f->min_exponent - f->mantissa_bits));
	}
	assert_int_equal(number_format(DTYPE_I32)->mantissa_bits, 0);
	assert_int_equal(number_format((enum dtype)999)->mantissa_bits, 0);
}

static void test_wide_and_integers(void **state)
{
	float f = -0.0f, g = 1.5f;
	double d = -2.25, value;
	int64_t order, i64 = INT64_MIN;
	int16_t i16 = -5;
	int8_t i8 = -128;
	uint8_t byte = 200;

	number_load(DTYPE_F32, &f, 1, &value, &order);
	assert_true(value == 0 && signbit(value) && order == 0);
	number_load(DTYPE_F32, &g, 1, &value, &order);
	assert_true(value == 1.5 && order == 0x3fc00000);
	number_load(DTYPE_F64, &d, 1, &value, &order);
	assert_true(value == -2.25 && order == -INT64_C(0x4002000000000000));
	number_load(DTYPE_I64, &i64, 1, &value, &order);
	assert_true(value == -0x1p63 && order == INT64_MIN);
	number_load(DTYPE_I16, &i16, 1, &value, &order);
	assert_true(value == -5 && order == -5);
	number_load(DTYPE_I8, &i8, 1, &value, &order);
	assert_true(value == -128);
	number_load(DTYPE_BOOL, &byte, 1, &value, &order);
	assert_true(value == 200);
	number_load((enum dtype)999, &byte, 1, &value, &order);
	assert_true(value == 200);
}

/* Any alignment, any count. */
static void test_unaligned(void **state)
{
	unsigned char raw[4 * 37 + 1];
	double value[37];

	for (int i = 0; i < 37; i++) {
		float f = (float)i / 3;

		memcpy(raw + 1 + 4 * i, &f, 4);
	}
	number_load(DTYPE_F32, raw + 1, 37, value, NULL);
	for (int i = 0; i < 37; i++)
		assert_true(value[i] == (double)((float)i / 3));
}

static void test_classes(void **state)
{
	assert_int_equal(number_class(NAN), NUMBER_NAN);
	assert_int_equal(number_class(INFINITY), NUMBER_PLUS_INF);
	assert_int_equal(number_class(-INFINITY), NUMBER_MINUS_INF);
	assert_int_equal(number_class(0x1.fffffffffffffp1023), NUMBER_FINITE);
	assert_int_equal(number_class(-0.0), NUMBER_FINITE);
	assert_string_equal(number_class_name(NUMBER_NAN), "NaN");
	assert_string_equal(number_class_name((enum number_class)9), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_small_patterns),
		cmocka_unit_test(test_order_is_by_steps),
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_formats_match_the_neighbours),
		cmocka_unit_test(test_wide_and_integers),
		cmocka_unit_test(test_unaligned),
		cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
