/* SPDX-License-Identifier: MIT */
/*
 * The loops over elements. The build compiles this file once for each instruction set, with SWEEP
 * as the name of what it defines; vectors are as wide as the set allows, lanes are not.
 */
#include "analyze/sweep.h"

#include <string.h>

#include "analyze/alike.h"
#include "analyze/loader.h"
#include "analyze/thresholds.h"
#include "analyze/vector.h"

_Static_assert(LANES % WIDTH == 0 && BLOCK_ELEMENTS % LANES == 0, "lanes are whole vectors");

/* A block of fewer elements is filled up with zeros. */
struct padded {
	unsigned char raw[BLOCK_ELEMENTS * 8];
};

static const unsigned char *pad(struct padded *p, enum dtype t, const unsigned char *raw, size_t n)
{
	if (n == BLOCK_ELEMENTS)
		return raw;
	memset(p, 0, sizeof(*p));
	memcpy(p->raw, raw, n * dtype_bytes(t));
	return p->raw;
}

static bool any(const int64_t *mask)
{
	int64_t all = 0;

	for (int i = 0; i < LANES; i++)
		all |= mask[i];
	return all != 0;
}

/*
 * a2 and zeros of a whole block; false if something in it is not finite: then neither is the sum of
 * squares, nor where squares of doubles overflow.
 */
INLINE bool side_block(vector_load *load, const unsigned char *a, struct block_side *out)
{
	_Alignas(64) double squares[LANES];
	_Alignas(64) int64_t zeros[LANES];
	double sum;

	for (size_t p = 0; p < LANES; p += WIDTH) {
		numbers a2 = {0};
		words zero = {0};

		for (size_t i = p; i < BLOCK_ELEMENTS; i += LANES) {
			numbers x = load(a, i);

			a2 += x * x;
			zero -= x == 0;
		}
		memcpy(squares + p, &a2, sizeof(a2));
		memcpy(zeros + p, &zero, sizeof(zero));
	}
	sum = lanes_sum(squares);
	*out = (struct block_side){.a2 = sum, .zero = lanes_count(zeros)};
	return sum <= DBL_MAX;
}

/* Greatest distance in steps of a float type of `bits` bits, as 32- or 64-bit integers. */
#define MAX_ULP(name, word, bits, wide, signed_wide)                                    \
	static uint64_t name(const unsigned char *a, const unsigned char *b, size_t n)  \
	{                                                                               \
		const int up = (int)sizeof(wide) * 8 - (bits);                          \
		const signed_wide magnitude = (signed_wide)(~(wide)0 >> 1);             \
		wide most = 0;                                                          \
                                                                                        \
		for (size_t i = 0; i < n; i++) {                                        \
			word x, y;                                                      \
			signed_wide sx, sy, mx, my, ox, oy;                             \
			wide distance;                                                  \
                                                                                        \
			memcpy(&x, a + i * sizeof(x), sizeof(x));                       \
			memcpy(&y, b + i * sizeof(y), sizeof(y));                       \
			sx = (signed_wide)((wide)x << up);                              \
			sy = (signed_wide)((wide)y << up);                              \
			mx = sx >> (sizeof(wide) * 8 - 1);                              \
			my = sy >> (sizeof(wide) * 8 - 1);                              \
			ox = ((sx & magnitude) ^ mx) - mx;                              \
			oy = ((sy & magnitude) ^ my) - my;                              \
			distance = ox > oy ? (wide)ox - (wide)oy : (wide)oy - (wide)ox; \
			most = distance > most ? distance : most;                       \
		}                                                                       \
		return most >> up;                                                      \
	}

MAX_ULP(max_ulp_8, uint8_t, 8, uint32_t, int32_t)
MAX_ULP(max_ulp_16, uint16_t, 16, uint32_t, int32_t)
MAX_ULP(max_ulp_32, uint32_t, 32, uint32_t, int32_t)
MAX_ULP(max_ulp_64, uint64_t, 64, uint64_t, int64_t)

static uint64_t max_ulp(enum dtype t, const unsigned char *a, const unsigned char *b, size_t n)
{
	switch (dtype_bytes(t)) {
	case 1:
		return max_ulp_8(a, b, n);
	case 2:
		return max_ulp_16(a, b, n);
	case 4:
		return max_ulp_32(a, b, n);
	default:
		return max_ulp_64(a, b, n);
	}
}

/* Lanes p to p + WIDTH of a block: its sums into *t; masks of what is special and what is large. */
INLINE void pair_part(vector_load *load, const unsigned char *a, const unsigned char *b, size_t p,
		      const struct allowance *w, double scale, const struct pair_limits *limits,
		      struct pair_sums *t, int64_t *special, int64_t *large)
{
	const words exponent = (words){0} + INT64_C(0x7ff0000000000000);
	const numbers noise = ALL(w->noise), step = ALL(w->step), least = ALL(w->least);
	const numbers ftz = ALL(w->ftz), rest = ALL(w->noise * scale);
	const numbers size_limit = ALL(limits->size), relative = ALL(limits->relative);
	const numbers ratio = ALL(limits->ratio);
	numbers d_sum = {0}, d2 = {0};
	words differing = {0}, other = {0}, steps = {0}, beyond = {0}, zero_b = {0},
	      zero_both = {0};
	words finite = ~(words){0}, above = {0};

	for (size_t i = p; i < BLOCK_ELEMENTS; i += LANES) {
		numbers x = load(a, i), y = load(b, i);
		numbers size_x = ABSOLUTE(x), size_y = ABSOLUTE(y), d = y - x;
		numbers size = ABSOLUTE(d), big = SELECT(size_x > size_y, size_x, size_y);
		numbers power = (numbers)((words)big & exponent), allowed;
		words counts = (x != y) & (big >= ftz);

		power = SELECT(power > least, power, least);
		allowed = noise * big + rest + step * power;
		finite &= (size_x <= DBL_MAX) & (size_y <= DBL_MAX);
		d_sum += d;
		d2 += d * d;
		differing -= (words)x != (words)y;
		other -= x != y;
		steps -= counts;
		beyond -= counts & (size > allowed);
		zero_b -= size_y == 0;
		zero_both -= big == 0;
		above |= (size > size_limit) | (size > relative * big) |
			 (counts & (size > ratio * allowed));
	}
	finite = ~finite;
	memcpy(special + p, &finite, sizeof(finite));
	memcpy(large + p, &above, sizeof(above));
	memcpy(t->d + p, &d_sum, sizeof(d_sum));
	memcpy(t->d2 + p, &d2, sizeof(d2));
	memcpy(t->differing + p, &differing, sizeof(differing));
	memcpy(t->numbers + p, &other, sizeof(other));
	memcpy(t->steps + p, &steps, sizeof(steps));
	memcpy(t->beyond + p, &beyond, sizeof(beyond));
	memcpy(t->zero_b + p, &zero_b, sizeof(zero_b));
	memcpy(t->zero_both + p, &zero_both, sizeof(zero_both));
}

/* A pair of whole blocks. */
INLINE enum pair_look pair_block(vector_load *load, const unsigned char *a, const unsigned char *b,
				 const struct allowance *w, double scale,
				 const struct pair_limits *limits, struct pair_sums *total)
{
	struct pair_sums sums;
	_Alignas(64) int64_t special[LANES], large[LANES];

	for (size_t p = 0; p < LANES; p += WIDTH)
		pair_part(load, a, b, p, w, scale, limits, &sums, special, large);
	if (any(special))
		return PAIR_SPECIAL;
	for (size_t i = 0; i < LANES; i++) {
		total->d[i] += sums.d[i];
		total->d2[i] += sums.d2[i];
		total->differing[i] += sums.differing[i];
		total->numbers[i] += sums.numbers[i];
		total->steps[i] += sums.steps[i];
		total->beyond[i] += sums.beyond[i];
		total->zero_b[i] += sums.zero_b[i];
		total->zero_both[i] += sums.zero_both[i];
	}
	return any(large) ? PAIR_REMARKABLE : PAIR_PLAIN;
}

/* The types that are swept; others are no floats. */
#define FLOATS(F)     \
	F(F64, f64)   \
	F(F32, f32)   \
	F(F16, f16)   \
	F(BF16, bf16) \
	F(F8E4M3, f8e4m3) F(F8E5M2, f8e5m2) F(F8E4M3FNUZ, f8e4m3fnuz) F(F8E5M2FNUZ, f8e5m2fnuz)

#define FUNCTIONS(type, name)                                                                    \
	static bool side_##name(const unsigned char *a, struct block_side *out)                  \
	{                                                                                        \
		return side_block(vector_##name, a, out);                                        \
	}                                                                                        \
	static enum pair_look pair_##name(const unsigned char *a, const unsigned char *b,        \
					  const struct allowance *w, double scale,               \
					  const struct pair_limits *limits, struct pair_sums *t) \
	{                                                                                        \
		return pair_block(vector_##name, a, b, w, scale, limits, t);                     \
	}
FLOATS(FUNCTIONS)

static bool sweep_side(enum dtype t, const unsigned char *a, size_t n, struct block_side *out)
{
#define ROW(type, name) [DTYPE_##type] = side_##name,
	static bool (*const sides[DTYPE_COUNT])(const unsigned char *,
						struct block_side *) = {FLOATS(ROW)};
#undef ROW
	struct padded padding;

	double value[BLOCK_ELEMENTS] = {0};

	if (!sides[t]) { /* integers */
		loaders[t](a, n, value, NULL);
		side_f64((const unsigned char *)value, out);
	} else if (!sides[t](pad(&padding, t, a, n), out)) {
		return false;
	}
	out->zero -= BLOCK_ELEMENTS - n;
	return true;
}

static enum pair_look sweep_pair(enum dtype t, const unsigned char *a, const unsigned char *b,
				 size_t n, const struct allowance *w, double scale,
				 const struct pair_limits *limits, struct pair_sums *total)
{
#define ROW(type, name) [DTYPE_##type] = pair_##name,
	static enum pair_look (*const pairs[DTYPE_COUNT])(
		const unsigned char *, const unsigned char *, const struct allowance *, double,
		const struct pair_limits *, struct pair_sums *) = {FLOATS(ROW)};
#undef ROW
	struct padded pad_a, pad_b;
	enum pair_look look;

	if (!pairs[t])
		return PAIR_SPECIAL;
	look = pairs[t](pad(&pad_a, t, a, n), pad(&pad_b, t, b, n), w, scale, limits, total);
	if (look == PAIR_SPECIAL)
		return look;
	total->zero_b[0] -= (int64_t)(BLOCK_ELEMENTS - n);
	total->zero_both[0] -= (int64_t)(BLOCK_ELEMENTS - n);
	return max_ulp(t, a, b, n) > limits->ulp ? PAIR_REMARKABLE : look;
}

static void sweep_load(enum dtype t, const void *raw, size_t n, double *value, int64_t *order)
{
	loaders[(unsigned)t < DTYPE_COUNT ? t : DTYPE_UNKNOWN](raw, n, value, order);
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

extern const struct sweep SWEEP;
const struct sweep SWEEP = {.name = TEXT(SWEEP),
			    .load = sweep_load,
			    .side = sweep_side,
			    .alike = sweep_alike,
			    .pair = sweep_pair};
