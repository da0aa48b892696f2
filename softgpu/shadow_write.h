/* SPDX-License-Identifier: MIT */
/* Shadows of registers as sources of an instruction, and what its destinations are to hold. Private
 * to shadow_step.c and shadow_bits.c. */
#ifndef SOFTGPU_SHADOW_WRITE_H
#define SOFTGPU_SHADOW_WRITE_H

#include "softgpu/shadow_cell.h"
#include "softgpu/warp.h"

/* Bytes of a register or constant, from byte `at` of its slot on. */
static inline struct cell register_cell(const struct run *r, uint32_t operand, size_t at)
{
	const uint8_t *bits = (const uint8_t *)run_slot(r, operand) + at;
	size_t o;

	if (operand & 1) /* a constant */
		return (struct cell){bits, NULL, NULL};
	o = (size_t)(bits - r->w->slots);
	return (struct cell){bits, r->w->tags + o, r->w->shadows + o};
}

static inline bool tag_is_float(uint8_t tag)
{
	return tag && TAG_FORMAT(tag) != SHADOW_INTEGER;
}

static inline bool cell_any_float(struct cell c, unsigned bytes)
{
	for (unsigned k = 0; c.tags && k < bytes; k++)
		if (tag_is_float(c.tags[k]))
			return true;
	return false;
}

/* A lane's shadow ends at this instruction, which has no shadow function for it. */
void shadow_lose(const struct run *r);

/* A destination of the instruction, without shadows yet; shadow_after gives it to the register. */
struct shadow_write *shadow_write_new(const struct run *r, uint32_t operand, bool wide);

/* Bytes with whatever shadow they have. */
static inline void shadow_write_bytes(struct shadow_write *w, unsigned at, struct cell c,
				      unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		w->tags[at + k] = c.tags ? c.tags[k] : 0;
		if (w->tags[at + k])
			w->values[at + k] = c.values[k];
	}
}

/* Bitwise functions, shifts, prmt and shf, byte by byte; false: the instruction is none of them. */
bool shadow_bits(const struct run *r, uint32_t mask);

#endif
