/* SPDX-License-Identifier: MIT */
/* Shadows through functions of bits: what moves whole bytes or changes a sign keeps them. */
#include "softgpu/shadow_write.h"

#include <math.h>

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
	struct shadow_write *w = shadow_write_new(r, i->d, i->wide);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned base = (unsigned)__builtin_ctz(left) * stride;
		bool lost = false;

		for (unsigned at = base; at < base + stride; at++) {
			struct cell c[3];
			uint8_t bits[3] = {0};
			unsigned tagged = 0, which = 0;
			enum byte_effect e;

			for (unsigned k = 0; k < sources; k++) {
				c[k] = register_cell(r, operands[k], at);
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
				shadow_write_bytes(w, at, c[which], 1);
			if (e == BYTE_UNKNOWN || (e != BYTE_KEEPS && !change_sign(w, at, e))) {
				w->tags[at] = 0;
				lost |= tag_is_float(*c[which].tags);
			}
		}
		if (lost)
			shadow_lose(r);
	}
}

/* Shifts by whole bytes. */
static void shift(const struct run *r, bool to_left, unsigned bytes, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned stride = i->wide ? 8 : 4;
	struct shadow_write *w = shadow_write_new(r, i->d, i->wide);
	const uint32_t *amounts = run_slot(r, i->b);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left), base = l * stride, n = amounts[l] / 8;
		struct cell c = register_cell(r, i->a, base);

		if (amounts[l] % 8) {
			if (cell_any_float(c, bytes))
				shadow_lose(r);
			continue;
		}
		if (n >= bytes)
			continue;
		if (to_left)
			shadow_write_bytes(w, base + n, c, bytes - n);
		else if (c.tags)
			shadow_write_bytes(w, base,
					   (struct cell){c.bits + n, c.tags + n, c.values + n},
					   bytes - n);
	}
}

/* The eight bytes that prmt and shf choose from: a below b. */
static void chosen_byte(const struct run *r, struct shadow_write *w, unsigned at, unsigned base,
			unsigned byte)
{
	shadow_write_bytes(w, at, register_cell(r, byte < 4 ? r->i->a : r->i->b, base + byte % 4),
			   1);
}

static void permute(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	struct shadow_write *w = shadow_write_new(r, i->d, false);
	const uint32_t *selectors = run_slot(r, i->c);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left), base = 4 * l;

		for (unsigned k = 0; k < 4; k++) {
			unsigned nibble = selectors[l] >> 4 * k & 15;

			if (i->flags >> LANE_IMMEDIATE_SHIFT) {
				if (cell_any_float(register_cell(r, i->a, base), 4) ||
				    cell_any_float(register_cell(r, i->b, base), 4))
					shadow_lose(r);
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
	struct shadow_write *w = shadow_write_new(r, i->d, false);
	const uint32_t *amounts = run_slot(r, i->c);

	for (uint32_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left), base = 4 * l;
		unsigned n = i->flags & LANE_WRAP ? amounts[l] & 31
			     : amounts[l] < 32    ? amounts[l]
						  : 32;

		if (n % 8) {
			if (cell_any_float(register_cell(r, i->a, base), 4) ||
			    cell_any_float(register_cell(r, i->b, base), 4))
				shadow_lose(r);
			continue;
		}
		for (unsigned k = 0; k < 4; k++)
			chosen_byte(r, w, base + k, base, (to_left ? 4 - n / 8 : n / 8) + k);
	}
}

bool shadow_bits(const struct run *r, uint32_t mask)
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
