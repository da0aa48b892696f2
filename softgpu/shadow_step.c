/* SPDX-License-Identifier: MIT */
/* Shadows of registers: arithmetic and conversions in double, everything else byte by byte. */
#include "softgpu/shadow_step.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base.h"
#include "softgpu/shadow_write.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

static uint8_t *slot_tags(const struct run *r, uint32_t operand, size_t at, double **values)
{
	size_t o = (size_t)((const uint8_t *)run_slot(r, operand) - r->w->slots) + at;

	*values = r->w->shadows + o;
	return r->w->tags + o;
}

static double element(const struct run *r, struct cell c, enum shadow_format f)
{
	unsigned n = shadow_format_bytes(f);
	double x = cell_value(c, f);

	if (cell_any_float(c, n) && !cell_has(c, f, n) && x == cell_exact(f, c.bits))
		shadow_lose(r);
	return x;
}

static void put(struct shadow_write *w, unsigned at, enum shadow_format f, double x)
{
	unsigned n = shadow_format_bytes(f);

	for (unsigned k = 0; k < n; k++) {
		w->tags[at + k] = TAG(f, k);
		w->values[at + k] = x;
	}
}

/* ---- arithmetic ---- */

static bool rounds_by_magic(enum shadow_operation o, enum shadow_format f, const struct cell c[3])
{
	unsigned n = shadow_format_bytes(f);
	double a, b;

	if (f != SHADOW_F32 && f != SHADOW_F64)
		return false;
	a = cell_exact(f, c[0].bits);
	b = cell_exact(f, c[1].bits);
	if (o == SHADOW_OP_ADD)
		return (!cell_has(c[0], f, n) && shadow_is_magic(f, a, b)) ||
		       (!cell_has(c[1], f, n) && shadow_is_magic(f, b, a));
	return o == SHADOW_OP_FMA && !cell_has(c[2], f, n) &&
	       shadow_is_magic(f, cell_exact(f, c[2].bits), a * b);
}

/* min and max let a rounded number through as it is: what a quantiser clamps. */
static bool put_extreme_integer(const struct run *r, struct shadow_write *w, unsigned at,
				const struct cell c[2])
{
	bool min = r->i->function == LANE_min_f32;
	double a, b;

	if (r->i->function != LANE_min_f32 && r->i->function != LANE_max_f32)
		return false;
	if (!cell_has(c[0], SHADOW_INTEGER, 4) && !cell_has(c[1], SHADOW_INTEGER, 4))
		return false;
	a = cell_exact(SHADOW_F32, c[0].bits);
	b = cell_exact(SHADOW_F32, c[1].bits);
	if (isnan(a) || isnan(b))
		return false;
	shadow_write_bytes(w, at, (a < b) == min || a == b ? c[0] : c[1], 4);
	return true;
}

static void arithmetic(const struct run *r, struct shadow_arithmetic a, uint32_t mask)
{
	const struct instruction *i = r->i;
	const uint32_t sources[] = {i->a, i->b, i->c};
	enum type t = (enum type)(i->flags >> LANE_TO_SHIFT & 31);
	unsigned parts = 1, stride = i->wide ? 8 : 4, n;
	enum shadow_format f = a.format;
	struct shadow_write *w = shadow_write_new(r, i->d, i->wide);

	if (f == SHADOW_F16) {
		f = t == TYPE_BF16 || t == TYPE_BF16X2 ? SHADOW_BF16 : SHADOW_F16;
		parts = t == TYPE_F16X2 || t == TYPE_BF16X2 ? 2 : 1;
	}
	n = shadow_format_bytes(f);
	for (uint32_t left = mask; left; left &= left - 1)
		for (unsigned p = 0; p < parts; p++) {
			unsigned at = (unsigned)__builtin_ctz(left) * stride + p * n;
			struct cell c[3];
			double x[3] = {0};

			for (unsigned k = 0; k < 3; k++)
				c[k] = register_cell(r, sources[k < a.sources ? k : 0], at);
			if (put_extreme_integer(r, w, at, c) || rounds_by_magic(a.operation, f, c))
				continue;
			for (unsigned k = 0; k < a.sources; k++)
				x[k] = element(r, c[k], f);
			put(w, at, f, shadow_compute(a.operation, x, i->flags));
			r->m->shadow->counts.operations++;
		}
}

/* ---- conversions ---- */

static enum shadow_format format_of(enum type t)
{
	switch (t) {
	case TYPE_F32:
	case TYPE_TF32:
		return SHADOW_F32;
	case TYPE_F64:
		return SHADOW_F64;
	case TYPE_F16:
	case TYPE_F16X2:
		return SHADOW_F16;
	case TYPE_BF16:
	case TYPE_BF16X2:
		return SHADOW_BF16;
	case TYPE_E4M3X2:
		return SHADOW_E4M3;
	case TYPE_E5M2X2:
		return SHADOW_E5M2;
	default:
		return SHADOW_NONE;
	}
}

static double finite_limit(enum shadow_format f)
{
	switch (f) {
	case SHADOW_F16:
		return 65504.0;
	case SHADOW_BF16:
		return 0x1.fep127;
	case SHADOW_E4M3:
		return 448.0;
	case SHADOW_E5M2:
		return 57344.0;
	default:
		return 0x1.fffffep127;
	}
}

static double converted(double x, enum shadow_format to, uint32_t flags)
{
	double limit = finite_limit(to);

	if (flags & LANE_SAT)
		x = f64_saturate(x);
	if (flags & LANE_RELU && x < 0.0)
		x = 0.0;
	if ((flags & LANE_SATFINITE || to == SHADOW_E4M3 || to == SHADOW_E5M2) && fabs(x) > limit)
		x = copysign(limit, x);
	return x;
}

static unsigned lane_bytes(enum type t)
{
	return type_bytes(t) == 8 ? 8 : 4;
}

/*
 * A float that is rounded to an integer. To nearest: what follows is a quantiser's store, or uses
 * the integer as an integer: it keeps what it was made of beside it, for shadow_value alone. So
 * does an integral value that is cut. Everything else that is cut follows the actual value.
 */
static void round_to_integer(const struct run *r, struct shadow_write *w, unsigned at,
			     struct cell c, enum shadow_format from, unsigned bytes)
{
	unsigned n = shadow_format_bytes(from);
	double exact = cell_exact(from, c.bits), x;
	bool nearest = !(r->i->flags & LANE_ROUND_MASK);

	if (isnan(exact) || bytes > 4)
		return;
	if (cell_has(c, SHADOW_INTEGER, n))
		x = *c.values;
	else if (cell_has(c, from, n) && (nearest || exact == trunc(exact)))
		x = *c.values;
	else if (nearest && exact != trunc(exact))
		x = exact;
	else
		return;
	cell_write_integer(w->tags + at, w->values + at, bytes, x);
}

static void convert(const struct run *r, enum type to, enum type from, uint32_t mask)
{
	const struct instruction *i = r->i;
	enum shadow_format f = format_of(from), g = format_of(to);
	struct shadow_write *w = shadow_write_new(r, i->d, i->wide);
	bool integral = i->flags & LANE_INTEGRAL;

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left), at = l * (i->wide ? 8 : 4);
		struct cell c = register_cell(r, i->a, (size_t)l * lane_bytes(from));

		if (f && (!g || integral)) {
			round_to_integer(r, w, at, c, f, g ? type_bytes(to) : lane_bytes(to));
		} else if (f) {
			put(w, at, g, converted(element(r, c, f), g, i->flags));
			r->m->shadow->counts.operations++;
		} else if (!g) { /* a quantised number, made narrower or wider */
			shadow_write_bytes(w, at, c, MIN(type_bytes(to), type_bytes(from)));
		} else if (type_bytes(from) == 8 || g != SHADOW_F64) {
			put(w, at, g,
			    from == TYPE_S64   ? (double)*(const int64_t *)(const void *)c.bits
			    : from == TYPE_U64 ? (double)*(const uint64_t *)(const void *)c.bits
			    : type_is_signed(from)
				    ? (double)*(const int32_t *)(const void *)c.bits
				    : (double)*(const uint32_t *)(const void *)c.bits);
			if (type_bytes(from) < 4)
				cell_clear(w->tags + at, 4); /* exact */
		}
	}
}

/* Two floats, or a pair, to a pair. The first source is the high half. */
static void convert_pair(const struct run *r, enum type to, enum type from, uint32_t mask)
{
	const struct instruction *i = r->i;
	enum shadow_format f = format_of(from), g = format_of(to);
	unsigned n = shadow_format_bytes(g), m = shadow_format_bytes(f);
	struct shadow_write *w = shadow_write_new(r, i->d, false);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctz(left) * 4;
		struct cell low = register_cell(r, f == SHADOW_F32 ? i->b : i->a, at);
		struct cell high = register_cell(r, i->a, f == SHADOW_F32 ? at : at + m);

		put(w, at, g, converted(element(r, low, f), g, i->flags));
		put(w, at + n, g, converted(element(r, high, f), g, i->flags));
		r->m->shadow->counts.operations += 2;
	}
}

static bool conversion(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	enum type to = (enum type)(i->flags >> LANE_TO_SHIFT & 31);
	enum type from = (enum type)(i->flags >> LANE_FROM_SHIFT & 31);

	switch (i->function) {
	case LANE_cvt_u64_u32 ... LANE_cvt_bf16_f32:
	case LANE_cvt_f16_f32:
	case LANE_cvt_any:
		if (!to) { /* a move that only the decoder makes: the low half of a wide register */
			to = TYPE_U32;
			from = TYPE_U64;
		}
		convert(r, to, from, mask);
		return true;
	case LANE_cvt_bf16x2_f32:
	case LANE_cvt_f16x2_f32:
	case LANE_cvt_pair:
		convert_pair(r, to, from, mask);
		return true;
	default:
		return false;
	}
}

/* ---- moves and integers ---- */

static void choose(const struct run *r, uint32_t first, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned stride = i->wide ? 8 : 4;
	struct shadow_write *w = shadow_write_new(r, i->d, i->wide);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		shadow_write_bytes(
			w, l * stride,
			register_cell(r, first >> l & 1 ? i->a : i->b, (size_t)l * stride), stride);
	}
}

/* Lanes of slct that take a. */
static uint32_t slct_first(const struct run *r)
{
	const void *c = run_slot(r, r->i->c);
	bool is_float = r->i->function >= LANE_slct_32_f32;
	uint32_t first = 0;

	for (unsigned l = 0; l < WARP_LANES; l++)
		first |= (uint32_t)(is_float ? ((const float *)c)[l] >= 0.0f
					     : ((const int32_t *)c)[l] >= 0)
			 << l;
	return first;
}

/* What quantisers do to the integer: clamps it, adds a zero point. */
static bool quantised(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	bool adds = i->function == LANE_add_32 || i->function == LANE_add_16;
	bool min = i->function == LANE_min_s32 || i->function == LANE_min_s16;
	struct shadow_write *w;
	bool half = i->function == LANE_min_s16 || i->function == LANE_max_s16 ||
		    i->function == LANE_add_16;

	if (!adds && !min && i->function != LANE_max_s32 && i->function != LANE_max_s16)
		return false;
	w = shadow_write_new(r, i->d, false);
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctz(left) * 4, n = half ? 2 : 4;
		struct cell a = register_cell(r, i->a, at), b = register_cell(r, i->b, at);
		bool qa = cell_has(a, SHADOW_INTEGER, n), qb = cell_has(b, SHADOW_INTEGER, n);
		int32_t x = *(const int32_t *)(const void *)a.bits;
		int32_t y = *(const int32_t *)(const void *)b.bits;

		if (cell_any_float(a, n) || cell_any_float(b, n))
			shadow_lose(r);
		x = half ? (int16_t)x : x;
		y = half ? (int16_t)y : y;
		if (adds && qa != qb)
			cell_write_integer(w->tags + at, w->values + at, n,
					   qa ? *a.values + y : *b.values + x);
		else if (!adds && (qa || qb))
			shadow_write_bytes(w, at, (x < y) == min || x == y ? a : b, n);
	}
	return true;
}

static bool is_widening(unsigned f)
{
	return (f >= LANE_mul_wide_s16 && f <= LANE_mul_wide_u32) ||
	       (f >= LANE_mad_wide_s16 && f <= LANE_mad_wide_u32);
}

/* Everything else: the result stands for itself. */
static void unknown(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	const uint32_t operands[] = {i->a, i->b, i->c, i->e};
	unsigned stride = i->wide && !is_widening(i->function) ? 8 : 4;

	shadow_write_new(r, i->d, i->wide);
	for (uint32_t left = mask; left; left &= left - 1)
		for (unsigned k = 0; k < ARRAY_LENGTH(operands); k++)
			if (operands[k] &&
			    cell_any_float(
				    register_cell(r, operands[k],
						  (size_t)(unsigned)__builtin_ctz(left) * stride),
				    stride)) {
				shadow_lose(r);
				break;
			}
}

static void lanes(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	struct shadow_arithmetic a = shadow_arithmetic(i->function);

	if (a.operation)
		arithmetic(r, a, mask);
	else if (i->function == LANE_copy_32 || i->function == LANE_copy_64)
		choose(r, WARP_FULL, mask);
	else if (i->function >= LANE_slct_32_f32 && i->function <= LANE_slct_16_f32)
		choose(r, slct_first(r), mask);
	else if (i->function >= LANE_slct_32_s32 && i->function <= LANE_slct_16_s32)
		choose(r, slct_first(r), mask);
	else if (!conversion(r, mask) && !shadow_bits(r, mask) && !quantised(r, mask))
		unknown(r, mask);
}

static void pack(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned n = type_bytes((enum type)i->element), stride = i->wide ? 8 : 4;
	struct shadow_write *w = shadow_write_new(r, i->d, i->wide);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		for (unsigned k = 0; k < i->count; k++)
			shadow_write_bytes(w, l * stride + k * n,
					   register_cell(r, r->m->program->extras[i->extras + k],
							 (size_t)l * 4),
					   n);
	}
}

static void unpack(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned n = type_bytes((enum type)i->element), stride = i->wide ? 8 : 4;

	for (unsigned k = 0; k < i->count; k++) {
		struct shadow_write *w =
			shadow_write_new(r, r->m->program->extras[i->extras + k], false);

		for (uint32_t left = mask; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctz(left);

			shadow_write_bytes(w, l * 4,
					   register_cell(r, i->a, (size_t)l * stride + k * n), n);
		}
	}
}

void shadow_before(const struct run *r, uint32_t mask)
{
	r->m->shadow->write_count = 0;
	switch (r->i->code) {
	case CODE_LANES:
		lanes(r, mask);
		break;
	case CODE_SELECT:
		choose(r, run_predicate(r, r->i->c), mask);
		break;
	case CODE_PACK:
		pack(r, mask);
		break;
	case CODE_UNPACK:
		unpack(r, mask);
		break;
	default:
		break;
	}
}

/* Elements that need no shadow: the value is exact, or it is no number. */
static void drop_exact(uint8_t *tags, const double *values, const uint8_t *bits, unsigned stride)
{
	for (unsigned k = 0; k < stride;) {
		enum shadow_format f = TAG_FORMAT(tags[k]);
		unsigned n = shadow_format_bytes(f);
		double exact;

		if (!n || TAG_BYTE(tags[k]) || k + n > stride) {
			k++;
			continue;
		}
		exact = cell_exact(f, bits + k);
		if (cell_has((struct cell){bits + k, tags + k, values + k}, f, n) &&
		    (values[k] == exact || isnan(values[k]) || isnan(exact)))
			cell_clear(tags + k, n);
		k += n;
	}
}

void shadow_after(const struct run *r, uint32_t mask)
{
	struct shadow *s = r->m->shadow;

	for (unsigned k = 0; k < s->write_count; k++) {
		struct shadow_write *w = &s->writes[k];
		unsigned stride = w->wide ? 8 : 4;
		const uint8_t *bits = run_slot(r, w->operand);
		double *values;
		uint8_t *tags = slot_tags(r, w->operand, 0, &values);

		for (uint32_t left = mask; left; left &= left - 1) {
			unsigned at = (unsigned)__builtin_ctz(left) * stride;

			if (r->i->code == CODE_LANES)
				drop_exact(w->tags + at, w->values + at, bits + at, stride);
			memcpy(tags + at, w->tags + at, stride);
			memcpy(values + at, w->values + at, stride * sizeof(*values));
		}
	}
}

void shadow_clear(const struct run *r, uint32_t operand, bool wide, uint32_t mask)
{
	double *values;
	uint8_t *tags = slot_tags(r, operand, 0, &values);
	unsigned stride = wide ? 8 : 4;

	for (uint32_t left = mask; left; left &= left - 1)
		memset(tags + (size_t)(unsigned)__builtin_ctz(left) * stride, 0, stride);
}

void shadow_shuffle(const struct run *r, const uint8_t from[WARP_LANES], uint32_t mask)
{
	struct shadow *s = r->m->shadow;
	struct shadow_write *w;

	s->write_count = 0;
	w = shadow_write_new(r, r->i->d, false);
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		shadow_write_bytes(w, 4 * l, register_cell(r, r->i->a, 4ul * from[l]), 4);
	}
	shadow_after(r, mask);
}
