/* SPDX-License-Identifier: MIT */
/* Shadows of registers: arithmetic and conversions in double, everything else byte by byte. */
#include "softgpu/shadow_step.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base.h"
#include "softgpu/shadow_cell.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

static struct cell slot_cell(const struct run *r, uint32_t operand, size_t at)
{
	const uint8_t *bits = (const uint8_t *)run_slot(r, operand) + at;
	size_t o;

	if (operand & 1) /* a constant */
		return (struct cell){bits, NULL, NULL};
	o = (size_t)(bits - r->w->slots);
	return (struct cell){bits, r->w->tags + o, r->w->shadows + o};
}

static uint8_t *slot_tags(const struct run *r, uint32_t operand, size_t at, double **values)
{
	size_t o = (size_t)((const uint8_t *)run_slot(r, operand) - r->w->slots) + at;

	*values = r->w->shadows + o;
	return r->w->tags + o;
}

static bool is_float_tag(uint8_t tag)
{
	return tag && TAG_FORMAT(tag) != SHADOW_INTEGER;
}

static bool any_float(struct cell c, unsigned bytes)
{
	for (unsigned k = 0; c.tags && k < bytes; k++)
		if (is_float_tag(c.tags[k]))
			return true;
	return false;
}

/* A lane's shadow ends at this instruction, which has no shadow function for it. */
static void lose(const struct run *r)
{
	struct shadow *s = r->m->shadow;
	size_t pc = (size_t)(r->i - r->m->code);

	s->counts.lost++;
	if (pc >= s->lost_size || s->lost_at[pc])
		return;
	s->lost_at[pc] = 1;
	s->counts.lost_places++;
	if (!s->counts.lost_line)
		s->counts.lost_line = r->i->line;
}

static double element(const struct run *r, struct cell c, enum shadow_format f)
{
	unsigned n = shadow_format_bytes(f);
	double x = cell_value(c, f);

	if (any_float(c, n) && !cell_has(c, f, n) && x == cell_exact(f, c.bits))
		lose(r);
	return x;
}

/* ---- what an instruction's destinations are to hold ---- */

static struct shadow_write *new_write(const struct run *r, uint32_t operand, bool wide)
{
	struct shadow *s = r->m->shadow;
	struct shadow_write *w = &s->writes[s->write_count++];

	w->operand = operand;
	w->wide = wide;
	memset(w->tags, 0, wide ? 256 : 128);
	return w;
}

static void put(struct shadow_write *w, unsigned at, enum shadow_format f, double x)
{
	unsigned n = shadow_format_bytes(f);

	for (unsigned k = 0; k < n; k++) {
		w->tags[at + k] = TAG(f, k);
		w->values[at + k] = x;
	}
}

static void put_bytes(struct shadow_write *w, unsigned at, struct cell c, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		w->tags[at + k] = c.tags ? c.tags[k] : 0;
		if (w->tags[at + k])
			w->values[at + k] = c.values[k];
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
	put_bytes(w, at, (a < b) == min || a == b ? c[0] : c[1], 4);
	return true;
}

static void arithmetic(const struct run *r, struct shadow_arithmetic a, uint32_t mask)
{
	const struct instruction *i = r->i;
	const uint32_t sources[] = {i->a, i->b, i->c};
	enum type t = (enum type)(i->flags >> LANE_TO_SHIFT & 31);
	unsigned parts = 1, stride = i->wide ? 8 : 4, n;
	enum shadow_format f = a.format;
	struct shadow_write *w = new_write(r, i->d, i->wide);

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
				c[k] = slot_cell(r, sources[k < a.sources ? k : 0], at);
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
	struct shadow_write *w = new_write(r, i->d, i->wide);
	bool integral = i->flags & LANE_INTEGRAL;

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left), at = l * (i->wide ? 8 : 4);
		struct cell c = slot_cell(r, i->a, (size_t)l * lane_bytes(from));

		if (f && (!g || integral)) {
			round_to_integer(r, w, at, c, f, g ? type_bytes(to) : lane_bytes(to));
		} else if (f) {
			put(w, at, g, converted(element(r, c, f), g, i->flags));
			r->m->shadow->counts.operations++;
		} else if (!g) { /* a quantised number, made narrower or wider */
			put_bytes(w, at, c, MIN(type_bytes(to), type_bytes(from)));
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
	struct shadow_write *w = new_write(r, i->d, false);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctz(left) * 4;
		struct cell low = slot_cell(r, f == SHADOW_F32 ? i->b : i->a, at);
		struct cell high = slot_cell(r, i->a, f == SHADOW_F32 ? at : at + m);

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

/* ---- bits ---- */

/* What a bitwise function makes of a byte, where only one of its sources has a shadow there. */
enum byte_effect {
	BYTE_KEEPS,
	BYTE_CONSTANT, /* or the sign alone, which follows the actual value */
	BYTE_NEGATES,
	BYTE_ABSOLUTE,
	BYTE_MINUS, /* minus the absolute */
	BYTE_UNKNOWN
};

static uint8_t lookup(unsigned table, const uint8_t x[3])
{
	uint8_t out = 0;

	for (unsigned bit = 0; bit < 8; bit++) {
		unsigned index =
			(x[0] >> bit & 1) << 2 | (x[1] >> bit & 1) << 1 | (x[2] >> bit & 1);

		out |= (uint8_t)((table >> index & 1) << bit);
	}
	return out;
}

static enum byte_effect byte_effect(unsigned table, const uint8_t bits[3], unsigned which)
{
	uint8_t x[3] = {bits[0], bits[1], bits[2]}, zeros, ones;

	x[which] = 0;
	zeros = lookup(table, x);
	x[which] = 0xff;
	ones = lookup(table, x);
	if (zeros == ones || (zeros == 0 && ones == 0x80))
		return BYTE_CONSTANT;
	if (zeros == 0 && ones == 0xff)
		return BYTE_KEEPS;
	if (zeros == 0x80 && ones == 0x7f)
		return BYTE_NEGATES;
	if (zeros == 0x80 && ones == 0xff)
		return BYTE_MINUS;
	return zeros == 0 && ones == 0x7f ? BYTE_ABSOLUTE : BYTE_UNKNOWN;
}

/* The sign is in an element's last byte: its bytes below follow. */
static bool change_sign(struct shadow_write *w, unsigned at, enum byte_effect e)
{
	unsigned byte = TAG_BYTE(w->tags[at]);
	enum shadow_format f = TAG_FORMAT(w->tags[at]);
	double x = w->values[at];

	if (byte + 1 != shadow_format_bytes(f) || at < byte)
		return false;
	for (unsigned k = 0; k < byte; k++)
		if (w->tags[at - byte + k] != TAG(f, k))
			return false;
	for (unsigned k = 0; k <= byte; k++)
		w->values[at - byte + k] = e == BYTE_NEGATES ? -x
					   : e == BYTE_MINUS ? -fabs(x)
							     : fabs(x);
	return true;
}

static void bitwise(const struct run *r, unsigned table, unsigned sources, uint32_t mask)
{
	const struct instruction *i = r->i;
	const uint32_t operands[] = {i->a, i->b, i->c};
	unsigned stride = i->wide ? 8 : 4;
	struct shadow_write *w = new_write(r, i->d, i->wide);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned base = (unsigned)__builtin_ctz(left) * stride;
		bool lost = false;

		for (unsigned at = base; at < base + stride; at++) {
			struct cell c[3];
			uint8_t bits[3] = {0};
			unsigned tagged = 0, which = 0;
			enum byte_effect e;

			for (unsigned k = 0; k < sources; k++) {
				c[k] = slot_cell(r, operands[k], at);
				bits[k] = *c[k].bits;
				if (c[k].tags && *c[k].tags) {
					tagged++;
					which = k;
				}
			}
			if (!tagged)
				continue;
			e = tagged > 1 ? BYTE_UNKNOWN : byte_effect(table, bits, which);
			if (e == BYTE_CONSTANT)
				continue;
			if (e != BYTE_UNKNOWN)
				put_bytes(w, at, c[which], 1);
			if (e == BYTE_UNKNOWN || (e != BYTE_KEEPS && !change_sign(w, at, e))) {
				w->tags[at] = 0;
				lost |= is_float_tag(*c[which].tags);
			}
		}
		if (lost)
			lose(r);
	}
}

/* Shifts by whole bytes. */
static void shift(const struct run *r, bool to_left, unsigned bytes, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned stride = i->wide ? 8 : 4;
	struct shadow_write *w = new_write(r, i->d, i->wide);
	const uint32_t *amounts = run_slot(r, i->b);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left), base = l * stride, n = amounts[l] / 8;
		struct cell c = slot_cell(r, i->a, base);

		if (amounts[l] % 8) {
			if (any_float(c, bytes))
				lose(r);
			continue;
		}
		if (n >= bytes)
			continue;
		if (to_left)
			put_bytes(w, base + n, c, bytes - n);
		else if (c.tags)
			put_bytes(w, base, (struct cell){c.bits + n, c.tags + n, c.values + n},
				  bytes - n);
	}
}

/* The eight bytes that prmt and shf choose from: a below b. */
static void chosen_byte(const struct run *r, struct shadow_write *w, unsigned at, unsigned base,
			unsigned byte)
{
	put_bytes(w, at, slot_cell(r, byte < 4 ? r->i->a : r->i->b, base + byte % 4), 1);
}

static void permute(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	struct shadow_write *w = new_write(r, i->d, false);
	const uint32_t *selectors = run_slot(r, i->c);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left), base = 4 * l;

		for (unsigned k = 0; k < 4; k++) {
			unsigned nibble = selectors[l] >> 4 * k & 15;

			if (i->flags >> LANE_IMMEDIATE_SHIFT) {
				if (any_float(slot_cell(r, i->a, base), 4) ||
				    any_float(slot_cell(r, i->b, base), 4))
					lose(r);
				break;
			}
			if (nibble < 8) /* else copies of its sign */
				chosen_byte(r, w, base + k, base, nibble);
		}
	}
}

static void funnel(const struct run *r, bool to_left, uint32_t mask)
{
	const struct instruction *i = r->i;
	struct shadow_write *w = new_write(r, i->d, false);
	const uint32_t *amounts = run_slot(r, i->c);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left), base = 4 * l;
		unsigned n = i->flags & LANE_WRAP ? amounts[l] & 31 : MIN(amounts[l], 32u);

		if (n % 8) {
			if (any_float(slot_cell(r, i->a, base), 4) ||
			    any_float(slot_cell(r, i->b, base), 4))
				lose(r);
			continue;
		}
		for (unsigned k = 0; k < 4; k++)
			chosen_byte(r, w, base + k, base, (to_left ? 4 - n / 8 : n / 8) + k);
	}
}

static bool bits(const struct run *r, uint32_t mask)
{
	switch (r->i->function) {
	case LANE_and_16 ... LANE_and_64:
		bitwise(r, 0xc0, 2, mask);
		return true;
	case LANE_or_16 ... LANE_or_64:
		bitwise(r, 0xfc, 2, mask);
		return true;
	case LANE_xor_16 ... LANE_xor_64:
		bitwise(r, 0x3c, 2, mask);
		return true;
	case LANE_lop3:
		bitwise(r, r->i->flags >> LANE_IMMEDIATE_SHIFT, 3, mask);
		return true;
	case LANE_prmt:
		permute(r, mask);
		return true;
	case LANE_shf_l:
	case LANE_shf_r:
		funnel(r, r->i->function == LANE_shf_l, mask);
		return true;
	case LANE_shl_16 ... LANE_shl_64:
		shift(r, true,
		      r->i->function == LANE_shl_16   ? 2
		      : r->i->function == LANE_shl_32 ? 4
						      : 8,
		      mask);
		return true;
	/* Copies of the sign that come in from above have no shadow. */
	case LANE_shr_u16 ... LANE_shr_s64:
		shift(r, false,
		      r->i->function == LANE_shr_u16 || r->i->function == LANE_shr_s16   ? 2
		      : r->i->function == LANE_shr_u32 || r->i->function == LANE_shr_s32 ? 4
											 : 8,
		      mask);
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
	struct shadow_write *w = new_write(r, i->d, i->wide);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		put_bytes(w, l * stride,
			  slot_cell(r, first >> l & 1 ? i->a : i->b, (size_t)l * stride), stride);
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
	w = new_write(r, i->d, false);
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctz(left) * 4, n = half ? 2 : 4;
		struct cell a = slot_cell(r, i->a, at), b = slot_cell(r, i->b, at);
		bool qa = cell_has(a, SHADOW_INTEGER, n), qb = cell_has(b, SHADOW_INTEGER, n);
		int32_t x = *(const int32_t *)(const void *)a.bits;
		int32_t y = *(const int32_t *)(const void *)b.bits;

		if (any_float(a, n) || any_float(b, n))
			lose(r);
		x = half ? (int16_t)x : x;
		y = half ? (int16_t)y : y;
		if (adds && qa != qb)
			cell_write_integer(w->tags + at, w->values + at, n,
					   qa ? *a.values + y : *b.values + x);
		else if (!adds && (qa || qb))
			put_bytes(w, at, (x < y) == min || x == y ? a : b, n);
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

	new_write(r, i->d, i->wide);
	for (uint32_t left = mask; left; left &= left - 1)
		for (unsigned k = 0; k < ARRAY_LENGTH(operands); k++)
			if (operands[k] &&
			    any_float(slot_cell(r, operands[k],
						(size_t)(unsigned)__builtin_ctz(left) * stride),
				      stride)) {
				lose(r);
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
	else if (!conversion(r, mask) && !bits(r, mask) && !quantised(r, mask))
		unknown(r, mask);
}

static void pack(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned n = type_bytes((enum type)i->element), stride = i->wide ? 8 : 4;
	struct shadow_write *w = new_write(r, i->d, i->wide);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		for (unsigned k = 0; k < i->count; k++)
			put_bytes(w, l * stride + k * n,
				  slot_cell(r, r->m->program->extras[i->extras + k], (size_t)l * 4),
				  n);
	}
}

static void unpack(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned n = type_bytes((enum type)i->element), stride = i->wide ? 8 : 4;

	for (unsigned k = 0; k < i->count; k++) {
		struct shadow_write *w = new_write(r, r->m->program->extras[i->extras + k], false);

		for (uint32_t left = mask; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctz(left);

			put_bytes(w, l * 4, slot_cell(r, i->a, (size_t)l * stride + k * n), n);
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
	w = new_write(r, r->i->d, false);
	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		put_bytes(w, 4 * l, slot_cell(r, r->i->a, 4ul * from[l]), 4);
	}
	shadow_after(r, mask);
}
