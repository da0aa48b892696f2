/* SPDX-License-Identifier: MIT */
/* Exchanges between the lanes of a warp: shfl, vote, match, redux, elect, bar.warp. */
#include <string.h>

#include "softgpu/shadow_step.h"
#include "softgpu/warp.h"

static uint32_t members_of(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	uint32_t operand = i->code == CODE_SHUFFLE ? r->m->program->extras[i->extras] : i->b;

	return ((const uint32_t *)run_slot(r, operand))[__builtin_ctz(mask)];
}

/* Source lane as in the PTX ISA's pseudocode (9.7.9.6); false: out of bounds, own value. */
static bool source_lane(enum shuffle_mode mode, uint32_t lane, uint32_t b, uint32_t c,
			uint32_t *out)
{
	uint32_t bound = c & 31, segment = c >> 8 & 31;
	uint32_t max = (lane & segment) | (bound & ~segment), min = lane & segment;

	b &= 31;
	switch (mode) {
	case SHUFFLE_UP:
		*out = lane - b;
		return (int32_t)*out >= (int32_t)max;
	case SHUFFLE_DOWN:
		*out = lane + b;
		return *out <= max;
	case SHUFFLE_BFLY:
		*out = lane ^ b;
		return *out <= max;
	default:
		*out = min | (b & ~segment);
		return *out <= max;
	}
}

static void shuffle(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	const uint32_t *a = run_slot(r, i->a), *b = run_slot(r, i->b), *c = run_slot(r, i->c);
	uint32_t values[WARP_LANES], ok = 0;
	uint8_t sources[WARP_LANES];

	for (uint32_t l = 0; l < WARP_LANES; l++) {
		uint32_t from;
		bool in = source_lane((enum shuffle_mode)i->mode, l, b[l], c[l], &from);

		sources[l] = (uint8_t)(in ? from & 31 : l);
		values[l] = a[sources[l]];
		ok |= (uint32_t)in << l;
	}
	if (r->m->shadow) {
		shadow_shuffle(r, sources, mask);
		r->m->lanes->blend32(run_slot(r, i->d), values, run_slot(r, i->d), mask);
		run_set_predicate(r, i->e, ok, mask);
		return;
	}
	run_write32(r, i->d, values, mask);
	run_set_predicate(r, i->e, ok, mask);
}

static void vote(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	uint32_t yes = run_predicate(r, i->a) & mask, values[WARP_LANES], p;

	switch (i->mode) {
	case VOTE_ALL:
		p = yes == mask ? WARP_FULL : 0;
		break;
	case VOTE_ANY:
		p = yes ? WARP_FULL : 0;
		break;
	case VOTE_UNI:
		p = yes == mask || !yes ? WARP_FULL : 0;
		break;
	default:
		for (unsigned l = 0; l < WARP_LANES; l++)
			values[l] = yes;
		run_write32(r, i->d, values, mask);
		return;
	}
	run_set_predicate(r, i->d, p, mask);
}

static void match(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	bool wide = type_bytes((enum type)i->element) == 8;
	const uint32_t *narrow = run_slot(r, i->a);
	const uint64_t *long_values = run_slot(r, i->a);
	uint32_t values[WARP_LANES], all = WARP_FULL;

	for (unsigned l = 0; l < WARP_LANES; l++) {
		values[l] = 0;
		for (unsigned k = 0; k < WARP_LANES; k++) {
			bool same =
				wide ? long_values[l] == long_values[k] : narrow[l] == narrow[k];

			if (same && mask >> k & 1)
				values[l] |= 1u << k;
		}
		if (mask >> l & 1 && values[l] != mask)
			all = 0;
	}
	if (i->mode) { /* match.all */
		for (unsigned l = 0; l < WARP_LANES; l++)
			values[l] = all ? mask : 0;
		run_set_predicate(r, i->e, all, mask);
	}
	run_write32(r, i->d, values, mask);
}

static uint32_t reduce_two(const struct instruction *i, uint32_t x, uint32_t y)
{
	bool is_signed = i->element == TYPE_S32;

	switch (i->mode) {
	case REDUCE_ADD:
		return x + y;
	case REDUCE_MIN:
		return (is_signed ? (int32_t)x < (int32_t)y : x < y) ? x : y;
	case REDUCE_MAX:
		return (is_signed ? (int32_t)x > (int32_t)y : x > y) ? x : y;
	case REDUCE_AND:
		return x & y;
	case REDUCE_OR:
		return x | y;
	default:
		return x ^ y;
	}
}

static void reduce(const struct run *r, uint32_t mask)
{
	const uint32_t *a = run_slot(r, r->i->a);
	uint32_t values[WARP_LANES], x = a[__builtin_ctz(mask)];

	for (uint32_t left = mask & (mask - 1); left; left &= left - 1)
		x = reduce_two(r->i, x, a[__builtin_ctz(left)]);
	for (unsigned l = 0; l < WARP_LANES; l++)
		values[l] = x;
	run_write32(r, r->i->d, values, mask);
}

static void elect(const struct run *r, uint32_t mask)
{
	uint32_t values[WARP_LANES], leader = (uint32_t)__builtin_ctz(mask);

	for (unsigned l = 0; l < WARP_LANES; l++)
		values[l] = leader;
	run_write32(r, r->i->d, values, mask);
	run_set_predicate(r, r->i->e, 1u << leader, mask);
}

/* bar.warp.sync may be reached at different instructions: all that wait for these lanes go on. */
static bool warp_barrier(const struct run *r, uint32_t mask, uint32_t needed)
{
	uint32_t there = mask;

	for (unsigned j = 0; j < r->w->group_count; j++)
		if (r->w->groups[j].state == GROUP_AT_WARP_BARRIER)
			there |= r->w->groups[j].mask;
	if ((there & needed) != needed) {
		r->g->state = GROUP_AT_WARP_BARRIER;
		return false;
	}
	for (unsigned j = 0; j < r->w->group_count; j++) {
		struct group *g = &r->w->groups[j];

		if (g->state == GROUP_AT_WARP_BARRIER) {
			g->state = GROUP_READY;
			g->pc++;
		}
	}
	return true;
}

bool run_collective(const struct run *r, uint32_t mask)
{
	uint32_t needed = members_of(r, mask) & r->w->live;

	if (r->i->code == CODE_WARP_BARRIER)
		return warp_barrier(r, mask, needed);
	if ((mask & needed) != needed) {
		r->g->state = GROUP_AT_COLLECTIVE;
		return false;
	}
	switch (r->i->code) {
	case CODE_SHUFFLE:
		shuffle(r, mask);
		break;
	case CODE_VOTE:
		vote(r, mask);
		break;
	case CODE_MATCH:
		match(r, mask);
		break;
	case CODE_REDUCE:
		reduce(r, mask);
		break;
	default:
		elect(r, mask);
		break;
	}
	return true;
}
