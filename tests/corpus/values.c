/* SPDX-License-Identifier: MIT */
/* Values of the input families, from a counter by SplitMix64 (Steele, Lea, Flood 2014). */
#include "tests/corpus/values.h"

#include <math.h>
#include <string.h>

static const struct value_type types[] = {
	{"f64", 8, 53, -1022}, {"f32", 4, 24, -126}, {"bf16", 2, 8, -126}, {"f16", 2, 11, -14},
	{"fp8", 1, 4, -6},     {"i32", 4, 0, 0},     {"i8", 1, 0, 0},
};

const struct value_type *value_type_find(const char *name)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (!strcmp(types[i].name, name))
			return &types[i];
	}
	return NULL;
}

static uint64_t mix(uint64_t counter, uint64_t seed)
{
	uint64_t z = (counter + (seed << 32) + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double uniform(uint64_t bits)
{
	return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller 1958. */
static double normal(uint64_t counter, uint64_t seed)
{
	double u = uniform(mix(2 * counter, seed)), v = uniform(mix(2 * counter + 1, seed));

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/* Half of the values lie between two bf16 (9 significant bits, odd), half between two f16 (12). */
static double tie(uint64_t bits)
{
	int width = bits & 1 ? 8 : 11;
	uint64_t steps = (bits >> 8 & ((1u << (width - 1)) - 1)) * 2 + 1;
	double x = ldexp((double)((UINT64_C(1) << width) + steps), -width - (int)(bits >> 4 & 7));

	return bits & 2 ? -x : x;
}

static bool value(double *x, const char *family, size_t i, uint64_t seed)
{
	if (!strcmp(family, "gauss"))
		*x = normal(i, seed);
	else if (!strcmp(family, "positive"))
		*x = 0.5 + uniform(mix(i, seed));
	else if (!strcmp(family, "alternating"))
		*x = normal(i, seed) * (i % 2 ? 16 : 0.0625);
	else if (!strcmp(family, "wide"))
		*x = normal(i, seed) * 40;
	else if (!strcmp(family, "coarse"))
		*x = floor(normal(i, seed) * 2) / 2;
	else if (!strcmp(family, "ties"))
		*x = tie(mix(i, seed));
	else if (!strcmp(family, "nan"))
		*x = mix(i, seed ^ 0x5555) % 31 ? normal(i, seed) : (double)NAN;
	else
		return false;
	return true;
}

/* Nearest even; values here never reach the largest number of the type. */
static double rounded(double x, const struct value_type *t)
{
	int exponent;

	if (!isfinite(x) || x == 0)
		return x;
	frexp(x, &exponent);
	exponent--;
	if (exponent < t->min_exponent)
		exponent = t->min_exponent;
	return ldexp(nearbyint(ldexp(x, t->significand - 1 - exponent)),
		     exponent - (t->significand - 1));
}

static uint16_t half_bits(double x)
{
	uint16_t sign = signbit(x) ? 0x8000 : 0;
	int exponent;

	if (isnan(x))
		return 0x7e00;
	x = fabs(x);
	if (x < 0x1p-14)
		return sign | (uint16_t)ldexp(x, 24);
	frexp(x, &exponent);
	return sign | (uint16_t)(((exponent + 14) << 10) + (int)ldexp(x, 11 - exponent) - 1024);
}

/* x is a value of the type. */
static void store(void *data, const struct value_type *t, size_t i, double x)
{
	float narrow = (float)x;
	uint32_t bits;
	uint16_t half;

	if (!strcmp(t->name, "f64")) {
		memcpy((char *)data + 8 * i, &x, 8);
		return;
	}
	memcpy(&bits, &narrow, 4);
	if (!strcmp(t->name, "f32")) {
		memcpy((char *)data + 4 * i, &bits, 4);
		return;
	}
	half = t->significand == 8 ? (uint16_t)(bits >> 16) : half_bits(x);
	memcpy((char *)data + 2 * i, &half, 2);
}

bool values_fill(void *data, const struct value_type *type, const struct value_type *source,
		 size_t count, const char *family, uint64_t seed)
{
	double x;

	if (type->bytes < 2 || !type->significand)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!value(&x, family, i, seed))
			return false;
		store(data, type, i, rounded(rounded(x, source), type));
	}
	return true;
}

void values_index(void *data, size_t count, uint32_t limit, uint64_t seed)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t x = (uint32_t)(mix(i, seed) % (limit ? limit : 1));

		memcpy((char *)data + 4 * i, &x, 4);
	}
}

void values_ones(void *data, const struct value_type *type, size_t count)
{
	const uint8_t one_fp8 = 0x38;
	const int32_t one = 1;

	for (size_t i = 0; i < count; i++) {
		if (type->bytes == 1)
			memcpy((char *)data + i, &one_fp8, 1);
		else if (!type->significand)
			memcpy((char *)data + 4 * i, &one, 4);
		else
			store(data, type, i, 1);
	}
}
