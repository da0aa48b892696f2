/* SPDX-License-Identifier: MIT */
/*
 * ldmatrix, stmatrix and mma.sync. An mma adds its products and the addend exactly after cutting
 * each to 25 fraction bits below the largest exponent (Hopper: MMA-Sim, arXiv 2511.10909). f32
 * results are cut, f16 ones rounded to nearest.
 */
#include <math.h>
#include <string.h>

#include "softgpu/number.h"
#include "softgpu/races.h"
#include "softgpu/shadow_step.h"
#include "softgpu/warp.h"

static bool whole_warp(const struct run *r, uint32_t mask)
{
	if (mask == WARP_FULL)
		return true;
	return run_fault(r, MACHINE_ILLEGAL_ADDRESS, (unsigned)__builtin_ctz(mask), 0,
			 "lanes 0x%x of a warp at an instruction for all 32", mask);
}

static uint32_t matrix_lanes(const struct instruction *i)
{
	return i->count == 4 ? WARP_FULL : (1u << 8 * i->count) - 1;
}

/* Lane 8 m + row holds the address of row `row` of matrix m. */
static bool matrix_rows(const struct run *r, bool write, uint8_t *host[WARP_LANES])
{
	return run_resolve(r, matrix_lanes(r->i), 16, write, host);
}

/* Where the half of lane l of matrix k lies. */
static uint8_t *matrix_half(const struct run *r, uint8_t *const *host, unsigned k, unsigned l,
			    unsigned half)
{
	unsigned row = l / 4, column = l % 4 * 2 + half;

	return r->i->mode ? host[k * 8 + column] + (size_t)2 * row
			  : host[k * 8 + row] + (size_t)2 * column;
}

static void load_shadow(const struct run *r, uint8_t *const *host)
{
	for (unsigned k = 0; k < r->i->count; k++)
		for (unsigned l = 0; l < WARP_LANES; l++)
			for (unsigned half = 0; half < 2; half++)
				shadow_matrix_load(r, r->m->program->extras[r->i->extras + k], l,
						   half, matrix_half(r, host, k, l, half));
}

static bool store_shadow(const struct run *r, uint8_t *const *host)
{
	for (unsigned k = 0; k < r->i->count; k++)
		for (unsigned l = 0; l < WARP_LANES; l++)
			for (unsigned half = 0; half < 2; half++)
				if (!shadow_matrix_store(r, r->m->program->extras[r->i->extras + k],
							 l, half, matrix_half(r, host, k, l, half)))
					return false;
	return true;
}

bool run_load_matrix(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	uint8_t *host[WARP_LANES];
	uint16_t m[4][8][8];

	if (!whole_warp(r, mask) || !matrix_rows(r, false, host))
		return false;
	if (r->m->races)
		races_read(r, matrix_lanes(i), 16, host);
	if (r->m->shadow)
		load_shadow(r, host);
	for (unsigned k = 0; k < i->count * 8u; k++)
		memcpy(m[k / 8][k % 8], host[k], 16);
	for (unsigned k = 0; k < i->count; k++) {
		uint32_t *d = run_slot(r, r->m->program->extras[i->extras + k]);

		for (unsigned l = 0; l < WARP_LANES; l++) {
			unsigned row = l / 4, column = l % 4 * 2;
			uint32_t low = i->mode ? m[k][column][row] : m[k][row][column];
			uint32_t high = i->mode ? m[k][column + 1][row] : m[k][row][column + 1];

			d[l] = low | high << 16;
		}
	}
	return true;
}

bool run_store_matrix(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	uint8_t *host[WARP_LANES];
	uint16_t m[4][8][8];

	if (!whole_warp(r, mask) || !matrix_rows(r, true, host) ||
	    (r->m->shadow && !store_shadow(r, host)))
		return false;
	for (unsigned k = 0; k < i->count; k++) {
		const uint32_t *s = run_slot(r, r->m->program->extras[i->extras + k]);

		for (unsigned l = 0; l < WARP_LANES; l++) {
			unsigned row = l / 4, column = l % 4 * 2;

			if (i->mode) {
				m[k][column][row] = (uint16_t)s[l];
				m[k][column + 1][row] = (uint16_t)(s[l] >> 16);
			} else {
				m[k][row][column] = (uint16_t)s[l];
				m[k][row][column + 1] = (uint16_t)(s[l] >> 16);
			}
		}
	}
	if (r->m->races)
		races_before_write(r, matrix_lanes(i), 16, host);
	for (unsigned k = 0; k < i->count * 8u; k++)
		memcpy(host[k], m[k / 8][k % 8], 16);
	if (r->m->races)
		races_write(r, matrix_lanes(i), 16, host);
	return true;
}

/* ---- mma ---- */

#define MMA_FRACTION_BITS 25

/*
 * c + sum of a[k] b[k]: every term cut towards zero at MMA_FRACTION_BITS below the largest
 * exponent, added exactly, the sum cut to f32 (or rounded to f16 by the caller).
 */
static double mma_sum(const double *a, const double *b, unsigned n, double c)
{
	double terms[17], special = c;
	int largest = INT32_MIN;
	int64_t sum = 0;
	bool all_finite = isfinite(c);

	terms[n] = c;
	for (unsigned k = 0; k < n; k++) {
		terms[k] = a[k] * b[k];
		special += terms[k];
		all_finite &= isfinite(terms[k]) != 0;
	}
	if (!all_finite)
		return special;
	for (unsigned k = 0; k <= n; k++)
		if (terms[k] != 0.0 && ilogb(terms[k]) > largest)
			largest = ilogb(terms[k]);
	if (largest == INT32_MIN)
		return 0.0;
	for (unsigned k = 0; k <= n; k++)
		sum += (int64_t)trunc(ldexp(terms[k], MMA_FRACTION_BITS - largest));
	return ldexp((double)sum, largest - MMA_FRACTION_BITS);
}

struct tile {
	double a[16][16], b[16][8], c[16][8];
};

/* An element as it is, or as its shadow; half: of the register, always 0 where it has 32 bits. */
typedef double element_reader(const struct run *r, uint32_t slot, unsigned lane, unsigned half,
			      enum type t);

static double actual_element(const struct run *r, uint32_t slot, unsigned lane, unsigned half,
			     enum type t)
{
	uint32_t v = ((const uint32_t *)run_slot(r, slot))[lane];

	switch (t) {
	case TYPE_F16:
		return f16_value(v >> 16 * half & 0xffff);
	case TYPE_BF16:
		return bf16_value(v >> 16 * half & 0xffff);
	case TYPE_F32:
		return f32_from(v);
	default: /* tf32 is read cut to 10 fraction bits */
		return f32_from(v & 0xffffe000u);
	}
}

/* Fragments as in the PTX ISA, 9.7.14.5: group = lane / 4, in it = lane % 4. */
static void gather(const struct run *r, struct tile *t, element_reader *read)
{
	const struct instruction *i = r->i;
	const uint32_t *extras = r->m->program->extras + i->extras + i->mode;
	unsigned per = i->element == TYPE_TF32 ? 1 : 2, k = i->flags;
	unsigned a_count = 16 * k / 32 / per, b_count = 8 * k / 32 / per;
	enum type type = (enum type)i->element;
	bool wide = i->mode == 4;

	for (unsigned l = 0; l < WARP_LANES; l++) {
		unsigned group = l / 4, in = l % 4;

		for (unsigned n = 0; n < a_count; n++)
			for (unsigned h = 0; h < per; h++)
				t->a[group + 8 * (n & 1)][in * per + h + 4 * per * (n >> 1)] =
					read(r, extras[n], l, h, type);
		for (unsigned n = 0; n < b_count; n++)
			for (unsigned h = 0; h < per; h++)
				t->b[in * per + h + 4 * per * n][group] =
					read(r, extras[a_count + n], l, h, type);
		for (unsigned n = 0; n < 4; n++)
			t->c[group + 8 * (n >> 1)][in * 2 + (n & 1)] =
				read(r, extras[a_count + b_count + (wide ? n : n / 2)], l,
				     wide ? 0 : n & 1, wide ? TYPE_F32 : TYPE_F16);
	}
}

static void scatter(const struct run *r, const struct tile *t)
{
	const struct instruction *i = r->i;
	const uint32_t *extras = r->m->program->extras + i->extras;

	for (unsigned l = 0; l < WARP_LANES; l++) {
		uint32_t bits[4];

		for (unsigned n = 0; n < 4; n++) {
			double x = t->c[l / 4 + 8 * (n >> 1)][l % 4 * 2 + (n & 1)];

			bits[n] = i->mode == 4 ? f32_bits(f32_round(x, LANE_RZ))
					       : f16_round(x, LANE_RN);
		}
		for (unsigned n = 0; n < i->mode; n++)
			((uint32_t *)run_slot(r, extras[n]))[l] =
				i->mode == 4 ? bits[n] : bits[2 * n] | bits[2 * n + 1] << 16;
	}
}

static void scatter_shadow(const struct run *r, const struct tile *t)
{
	const uint32_t *extras = r->m->program->extras + r->i->extras;
	bool wide = r->i->mode == 4;

	for (unsigned l = 0; l < WARP_LANES; l++)
		for (unsigned n = 0; n < 4; n++)
			shadow_set_element(r, extras[wide ? n : n / 2], l, wide ? 0 : n & 1,
					   wide ? TYPE_F32 : TYPE_F16,
					   t->c[l / 4 + 8 * (n >> 1)][l % 4 * 2 + (n & 1)]);
}

static double double_sum(const double *a, const double *b, unsigned n, double c)
{
	for (unsigned k = 0; k < n; k++)
		c += a[k] * b[k];
	return c;
}

static void multiply(struct tile *t, unsigned k,
		     double (*sum)(const double *a, const double *b, unsigned n, double c))
{
	for (unsigned m = 0; m < 16; m++)
		for (unsigned n = 0; n < 8; n++) {
			double column[16];

			for (unsigned j = 0; j < k; j++)
				column[j] = t->b[j][n];
			t->c[m][n] = sum(t->a[m], column, k, t->c[m][n]);
		}
}

bool run_mma(const struct run *r, uint32_t mask)
{
	unsigned k = r->i->flags;
	struct tile t, shadow;

	if (!whole_warp(r, mask))
		return false;
	gather(r, &t, actual_element);
	if (r->m->shadow) {
		gather(r, &shadow, shadow_element);
		multiply(&shadow, k, double_sum);
	}
	multiply(&t, k, mma_sum);
	scatter(r, &t);
	if (r->m->shadow)
		scatter_shadow(r, &shadow);
	return true;
}
