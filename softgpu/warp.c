/* SPDX-License-Identifier: MIT */
/*
 * Executes the warps of a block. A warp is a list of groups of lanes, each at one instruction; the
 * ready group with the lowest instruction runs, groups that meet become one.
 */
#include "softgpu/warp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "softgpu/races.h"
#include "softgpu/shadow_step.h"

bool run_fault(const struct run *r, enum machine_fault_kind kind, unsigned lane, uint64_t address,
	       const char *format, ...)
{
	struct machine *m = r->m;
	struct machine_fault *f = m->fault;
	char what[200], text[120];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	f->kind = kind;
	f->line = r->i ? r->i->line : 0;
	memcpy(f->block, m->block.id, sizeof(f->block));
	f->thread = r->w->index * WARP_LANES + lane;
	f->address = address;
	program_line_text(m->program, f->line, text, sizeof(text));
	snprintf(f->message, sizeof(f->message),
		 "%s: %s: address 0x%llx, block (%u, %u, %u), thread %u, PTX line %u: \"%s\"",
		 m->launch->entry->name, what, (unsigned long long)address, f->block[0],
		 f->block[1], f->block[2], f->thread, f->line, text);
	return false;
}

void run_enter(struct run *r, struct machine *m, struct warp *w, struct group *g)
{
	const struct program_function *f = &m->program->functions[g->function];

	r->m = m;
	r->w = w;
	r->g = g;
	r->slots = w->slots + (size_t)f->slot_base * SLOT_BYTES;
	r->predicates = w->predicates + f->predicate_base;
}

/* ---- groups ---- */

void warp_add_group(struct warp *w, uint32_t pc, uint32_t mask, uint32_t function)
{
	if (mask) /* at most one group a lane: there is room */
		w->groups[w->group_count++] = (struct group){pc, mask, function, GROUP_READY, 0};
}

static void remove_group(struct warp *w, struct group *g)
{
	*g = w->groups[--w->group_count];
}

bool warp_has_ready(const struct warp *w)
{
	for (unsigned j = 0; j < w->group_count; j++)
		if (w->groups[j].state == GROUP_READY)
			return true;
	return false;
}

/* Groups that stand at the same instruction become one; who waits there for others tries again. */
static void merge_groups(struct warp *w)
{
	for (unsigned j = 0; j < w->group_count; j++) {
		struct group *g = &w->groups[j];

		if (g->state != GROUP_READY && g->state != GROUP_AT_COLLECTIVE)
			continue;
		for (unsigned k = w->group_count; k-- > j + 1;) {
			struct group *h = &w->groups[k];

			if (h->pc != g->pc ||
			    (h->state != GROUP_READY && h->state != GROUP_AT_COLLECTIVE))
				continue;
			g->mask |= h->mask;
			g->state = GROUP_READY;
			remove_group(w, h);
		}
	}
}

static struct group *lowest_ready(struct warp *w)
{
	struct group *g = NULL;

	for (unsigned j = 0; j < w->group_count; j++)
		if (w->groups[j].state == GROUP_READY && (!g || w->groups[j].pc < g->pc))
			g = &w->groups[j];
	return g;
}

/* The first instruction above the group's own at which another group stands. */
static uint32_t next_meeting(const struct warp *w, const struct group *g)
{
	uint32_t limit = UINT32_MAX;

	for (unsigned j = 0; j < w->group_count; j++) {
		const struct group *h = &w->groups[j];

		if (h != g && (h->state == GROUP_READY || h->state == GROUP_AT_COLLECTIVE) &&
		    h->pc > g->pc && h->pc < limit)
			limit = h->pc;
	}
	return limit;
}

/* ---- single instructions ---- */

static void run_special(const struct run *r, uint32_t mask)
{
	struct machine *m = r->m;
	const struct machine_launch *l = m->launch;
	uint32_t first = r->w->index * WARP_LANES, values[WARP_LANES];
	uint64_t wide[WARP_LANES];
	const uint32_t *b = l->block;

	for (uint32_t k = 0; k < WARP_LANES; k++) {
		uint32_t t = first + k;
		uint64_t v = 0;

		switch (r->i->mode) {
		case SPECIAL_TID_X:
			v = t % b[0];
			break;
		case SPECIAL_TID_Y:
			v = t / b[0] % b[1];
			break;
		case SPECIAL_TID_Z:
			v = t / b[0] / b[1];
			break;
		case SPECIAL_NTID_X ... SPECIAL_NTID_Z:
			v = b[r->i->mode - SPECIAL_NTID_X];
			break;
		case SPECIAL_CTAID_X ... SPECIAL_CTAID_Z:
			v = m->block.id[r->i->mode - SPECIAL_CTAID_X];
			break;
		case SPECIAL_NCTAID_X ... SPECIAL_NCTAID_Z:
			v = l->grid[r->i->mode - SPECIAL_NCTAID_X];
			break;
		case SPECIAL_LANEID:
			v = k;
			break;
		case SPECIAL_WARPID:
			v = r->w->index;
			break;
		case SPECIAL_NWARPID:
			v = m->block.warp_count;
			break;
		case SPECIAL_NSMID:
		case SPECIAL_ONE:
			v = 1;
			break;
		case SPECIAL_LANEMASK_EQ:
			v = 1u << k;
			break;
		case SPECIAL_LANEMASK_LT:
			v = (1u << k) - 1;
			break;
		case SPECIAL_LANEMASK_LE:
			v = (2ull << k) - 1;
			break;
		case SPECIAL_LANEMASK_GT:
			v = (uint32_t) ~((2ull << k) - 1);
			break;
		case SPECIAL_LANEMASK_GE:
			v = (uint32_t) ~((1ull << k) - 1);
			break;
		case SPECIAL_CLOCK: /* time is the number of warp instructions: it repeats */
		case SPECIAL_CLOCK64:
		case SPECIAL_GLOBALTIMER:
		case SPECIAL_GLOBALTIMER_LO:
			v = m->counts.warp_instructions;
			break;
		case SPECIAL_CLOCK_HI:
		case SPECIAL_GLOBALTIMER_HI:
			v = m->counts.warp_instructions >> 32;
			break;
		case SPECIAL_DYNAMIC_SMEM:
			v = l->dynamic_shared_bytes;
			break;
		case SPECIAL_TOTAL_SMEM:
			v = m->shared_bytes;
			break;
		default: /* SMID, GRIDID, ZERO */
			break;
		}
		wide[k] = v;
		values[k] = (uint32_t)v;
	}
	if (r->i->wide)
		run_write64(r, r->i->d, wide, mask);
	else
		run_write32(r, r->i->d, values, mask);
}

static inline void run_lanes(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	const void *s[4] = {run_slot(r, i->a), run_slot(r, i->b), run_slot(r, i->c),
			    run_slot(r, i->e)};
	lane_function *f = r->m->lanes->functions[i->function];
	uint64_t values[WARP_LANES] __attribute__((aligned(64)));

	if (mask == r->w->live) {
		f(run_slot(r, i->d), s, i->flags);
	} else if (i->wide) {
		f(values, s, i->flags);
		run_write64(r, i->d, values, mask);
	} else {
		f(values, s, i->flags);
		run_write32(r, i->d, (const uint32_t *)values, mask);
	}
}

static uint32_t compared(const struct run *r)
{
	const struct instruction *i = r->i;

	return r->m->lanes->compares[i->function](run_slot(r, i->a), run_slot(r, i->b), i->flags);
}
static uint32_t combined(const struct run *r, uint32_t p)
{
	switch (r->i->mode) {
	case COMBINE_AND:
		return p & run_predicate(r, r->i->c);
	case COMBINE_OR:
		return p | run_predicate(r, r->i->c);
	case COMBINE_XOR:
		return p ^ run_predicate(r, r->i->c);
	default:
		return p;
	}
}

static void run_compare(const struct run *r, uint32_t mask)
{
	uint32_t p = compared(r), first = combined(r, p), second = combined(r, ~p);

	run_set_predicate(r, r->i->d, first, mask);
	run_set_predicate(r, r->i->e, second, mask);
}

static void run_set(const struct run *r, uint32_t mask)
{
	uint32_t p = combined(r, compared(r)), values[WARP_LANES];
	uint32_t yes = r->i->element == TYPE_F32 ? 0x3f800000u : UINT32_MAX;

	for (unsigned l = 0; l < WARP_LANES; l++)
		values[l] = p >> l & 1 ? yes : 0;
	run_write32(r, r->i->d, values, mask);
}

static void run_select(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	const struct lane_table *t = r->m->lanes;
	blend_function *blend = i->wide ? t->blend64 : t->blend32;
	void *d = run_slot(r, i->d);
	uint64_t values[WARP_LANES] __attribute__((aligned(64)));
	bool whole = mask == r->w->live;

	blend(whole ? d : values, run_slot(r, i->a), run_slot(r, i->b), run_predicate(r, i->c));
	if (!whole)
		blend(d, values, d, mask);
}

static void run_predicate_logic(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	uint32_t a = run_predicate(r, i->a), v;

	switch (i->mode) {
	case PREDICATE_AND:
		v = a & run_predicate(r, i->b);
		break;
	case PREDICATE_OR:
		v = a | run_predicate(r, i->b);
		break;
	case PREDICATE_XOR:
		v = a ^ run_predicate(r, i->b);
		break;
	case PREDICATE_NOT:
		v = ~a;
		break;
	default:
		v = a;
		break;
	}
	run_set_predicate(r, i->d, v, mask);
}

static void run_pack(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned bits = 8 * type_bytes((enum type)i->element);
	uint64_t values[WARP_LANES] = {0};
	uint32_t narrow[WARP_LANES];

	for (unsigned k = 0; k < i->count; k++) {
		const uint32_t *s = run_slot(r, r->m->program->extras[i->extras + k]);
		uint64_t part = bits == 32 ? UINT32_MAX : (1ull << bits) - 1;

		for (unsigned l = 0; l < WARP_LANES; l++)
			values[l] |= (s[l] & part) << bits * k;
	}
	for (unsigned l = 0; l < WARP_LANES; l++)
		narrow[l] = (uint32_t)values[l];
	if (i->wide)
		run_write64(r, i->d, values, mask);
	else
		run_write32(r, i->d, narrow, mask);
}

static void run_unpack(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned bits = 8 * type_bytes((enum type)i->element);
	const uint32_t *narrow = run_slot(r, i->a);
	const uint64_t *wide = run_slot(r, i->a);
	uint64_t source[WARP_LANES], part = bits == 32 ? UINT32_MAX : (1ull << bits) - 1;
	uint32_t values[WARP_LANES];

	/* A copy first: an element may be written to the source's register. */
	for (unsigned l = 0; l < WARP_LANES; l++)
		source[l] = i->wide ? wide[l] : narrow[l];
	for (unsigned k = 0; k < i->count; k++) {
		for (unsigned l = 0; l < WARP_LANES; l++)
			values[l] = (uint32_t)(source[l] >> bits * k & part);
		run_write32(r, r->m->program->extras[i->extras + k], values, mask);
	}
}

static inline void run_registers(const struct run *r, uint32_t mask)
{
	switch (r->i->code) {
	case CODE_LANES:
		run_lanes(r, mask);
		break;
	case CODE_SELECT:
		run_select(r, mask);
		break;
	case CODE_PACK:
		run_pack(r, mask);
		break;
	default:
		run_unpack(r, mask);
		break;
	}
}

static void write_address(const struct run *r, uint64_t v, uint32_t mask)
{
	uint64_t wide[WARP_LANES];
	uint32_t narrow[WARP_LANES];

	for (unsigned l = 0; l < WARP_LANES; l++) {
		wide[l] = v;
		narrow[l] = (uint32_t)v;
	}
	if (r->i->wide)
		run_write64(r, r->i->d, wide, mask);
	else
		run_write32(r, r->i->d, narrow, mask);
}

static uint64_t window_of(enum space s)
{
	switch (s) {
	case SPACE_SHARED:
		return WINDOW_SHARED;
	case SPACE_LOCAL:
		return WINDOW_LOCAL;
	case SPACE_PARAM:
		return WINDOW_PARAM;
	default:
		return 0;
	}
}

static void run_convert_address(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	uint64_t window = window_of((enum space)i->space), values[WARP_LANES];
	const uint64_t *a = run_slot(r, i->a);

	if (!i->wide) { /* global only: the address itself */
		run_write32(r, i->d, run_slot(r, i->a), mask);
		return;
	}
	for (unsigned l = 0; l < WARP_LANES; l++)
		values[l] = i->code == CODE_TO_GENERIC ? a[l] + window : a[l] - window;
	run_write64(r, i->d, values, mask);
}

static void run_is_space(const struct run *r, uint32_t mask)
{
	const uint64_t *a = run_slot(r, r->i->a);
	uint64_t window = window_of((enum space)r->i->space);
	uint32_t p = 0;

	for (unsigned l = 0; l < WARP_LANES; l++)
		p |= (uint32_t)(window ? a[l] - window < WINDOW_SIZE : a[l] < WINDOW_LOWEST) << l;
	run_set_predicate(r, r->i->d, p, mask);
}

/* ---- control ---- */

static uint8_t *local_of(const struct run *r, unsigned lane)
{
	uint64_t thread = (uint64_t)r->w->index * WARP_LANES + lane;

	return r->m->block.local + thread * r->m->program->local_bytes;
}

static const uint32_t *copy_locals(const struct run *r, const uint32_t *list, uint32_t mask)
{
	uint32_t n = *list++;

	for (uint32_t k = 0; k < n; k++, list += 3)
		for (uint32_t left = mask; left; left &= left - 1) {
			uint8_t *local = local_of(r, (unsigned)__builtin_ctz(left));

			memmove(local + list[1], local + list[0], list[2]);
			if (r->m->shadow)
				shadow_copy(r, local + list[1], local + list[0], list[2]);
		}
	return list;
}

static void run_call(const struct run *r, uint32_t mask)
{
	uint32_t *returns = r->w->returns + (size_t)r->i->d * WARP_LANES;
	uint32_t pc = r->g->pc;

	for (unsigned l = 0; l < WARP_LANES; l++)
		if (mask >> l & 1)
			returns[l] = pc;
	copy_locals(r, r->m->program->extras + r->i->extras, mask);
	r->g->mask &= ~mask;
	r->g->pc++;
	if (!r->g->mask)
		remove_group(r->w, r->g);
	warp_add_group(r->w, r->i->target, mask, r->i->d);
}

static uint32_t function_at(const struct ptx_program *p, uint32_t pc)
{
	for (uint32_t f = 0; f < p->function_count; f++)
		if (p->functions[f].defined && pc >= p->functions[f].start &&
		    pc < p->functions[f].end)
			return f;
	return 0;
}

/* Lanes go back to where each of them was called from. */
static void run_return(const struct run *r, uint32_t mask)
{
	struct machine *m = r->m;
	struct warp *w = r->w;
	const uint32_t *returns = w->returns + (size_t)r->g->function * WARP_LANES;

	r->g->mask &= ~mask;
	r->g->pc++;
	if (!r->g->mask)
		remove_group(w, r->g);
	while (mask) {
		uint32_t pc = returns[__builtin_ctz(mask)], same = 0;
		const struct instruction *call = &m->code[pc];
		const uint32_t *results;

		for (unsigned l = 0; l < WARP_LANES; l++)
			if (mask >> l & 1 && returns[l] == pc)
				same |= 1u << l;
		results = m->program->extras + call->extras;
		results += 1 + 3 * (size_t)*results;
		copy_locals(r, results, same);
		warp_add_group(w, pc + 1, same, function_at(m->program, pc));
		mask &= ~same;
	}
}

static void run_leave(const struct run *r, uint32_t mask)
{
	r->g->mask &= ~mask;
	r->g->pc++;
	if (!r->g->mask)
		remove_group(r->w, r->g);
	run_exit(r->m, r->w, mask);
}

static bool run_assert(const struct run *r, uint32_t mask)
{
	const uint32_t *list = r->m->program->extras + r->i->extras + 2;
	unsigned lane = (unsigned)__builtin_ctz(mask);
	const uint8_t *local = local_of(r, lane);
	char message[120], file[100];
	uint64_t address;
	uint32_t line;

	memcpy(&address, local + list[0], 8);
	machine_text(r->m, address, message, sizeof(message));
	memcpy(&address, local + list[2], 8);
	machine_text(r->m, address, file, sizeof(file));
	memcpy(&line, local + list[4], 4);
	return run_fault(r, MACHINE_TRAP, lane, 0, "assertion failed: %s (%s:%u)", message, file,
			 line);
}

/* Branches of a whole group stay in place; others split it. True if the caller must look anew. */
static bool run_branch(const struct run *r, uint32_t mask)
{
	struct group *g = r->g;
	uint32_t rest = g->mask & ~mask;

	if (!rest) {
		g->pc = r->i->target;
		return r->w->group_count > 1;
	}
	if (!mask) {
		g->pc++;
		return false;
	}
	g->mask = rest;
	g->pc++;
	warp_add_group(r->w, r->i->target, mask, g->function);
	return true;
}

/* Lanes whose guard is false go on while the others wait. */
static void split_rest(const struct run *r, uint32_t mask)
{
	uint32_t rest = r->g->mask & ~mask;

	if (!rest)
		return;
	r->g->mask = mask;
	warp_add_group(r->w, r->g->pc + 1, rest, r->g->function);
}

enum step {
	STEP_NEXT,   /* the instruction after it */
	STEP_MOVE,   /* the same, and others may have become ready: look anew */
	STEP_SWITCH, /* groups have changed: look anew */
	STEP_FAULT
};

/* What changes registers only, with their shadows. */
static void run_shadowed(const struct run *r, uint32_t mask)
{
	shadow_before(r, mask);
	run_registers(r, mask);
	shadow_after(r, mask);
}

/* Everything that is no plain arithmetic. mask is not 0, but for branches. */
static enum step run_other(const struct run *r, uint32_t mask)
{
	switch (r->i->code) {
	case CODE_NOP:
		return STEP_NEXT;
	case CODE_SPECIAL:
		run_special(r, mask);
		return STEP_NEXT;
	case CODE_SET:
		run_set(r, mask);
		return STEP_NEXT;
	case CODE_TEST:
		run_set_predicate(r, r->i->d,
				  r->m->lanes->compares[r->i->function](run_slot(r, r->i->a), NULL,
									r->i->flags),
				  mask);
		return STEP_NEXT;
	case CODE_SYMBOL:
		write_address(r, run_base(r, r->i->a, r->i->base) + (uint64_t)r->i->offset, mask);
		return STEP_NEXT;
	case CODE_ATOMIC:
		return run_atomic(r, mask) ? STEP_NEXT : STEP_FAULT;
	case CODE_COPY_ASYNC:
		return run_copy_async(r, mask) ? STEP_NEXT : STEP_FAULT;
	case CODE_COPY_COMMIT:
		if (r->m->races)
			races_commit(r);
		return STEP_NEXT;
	case CODE_COPY_WAIT:
		if (r->m->races)
			races_wait(r, r->i->mode, r->i->count);
		return STEP_NEXT;
	case CODE_LOAD_MATRIX:
		return run_load_matrix(r, mask) ? STEP_NEXT : STEP_FAULT;
	case CODE_STORE_MATRIX:
		return run_store_matrix(r, mask) ? STEP_NEXT : STEP_FAULT;
	case CODE_MMA:
		return run_mma(r, mask) ? STEP_NEXT : STEP_FAULT;
	case CODE_TO_GENERIC:
	case CODE_FROM_GENERIC:
		run_convert_address(r, mask);
		return STEP_NEXT;
	case CODE_IS_SPACE:
		run_is_space(r, mask);
		return STEP_NEXT;
	case CODE_CALL:
		run_call(r, mask);
		return STEP_SWITCH;
	case CODE_RETURN:
		if (r->m->program->functions[r->g->function].is_entry)
			run_leave(r, mask);
		else
			run_return(r, mask);
		return STEP_SWITCH;
	case CODE_EXIT:
		run_leave(r, mask);
		return STEP_SWITCH;
	case CODE_TRAP:
		run_fault(r, MACHINE_TRAP, (unsigned)__builtin_ctz(mask), 0, "trap");
		return STEP_FAULT;
	case CODE_ASSERT:
		run_assert(r, mask);
		return STEP_FAULT;
	case CODE_UNSUPPORTED:
		run_fault(r, MACHINE_UNSUPPORTED, (unsigned)__builtin_ctz(mask), 0,
			  "not supported on the software device");
		return STEP_FAULT;
	case CODE_BARRIER:
		split_rest(r, mask);
		return run_barrier(r, mask) ? STEP_SWITCH : STEP_FAULT;
	case CODE_ACTIVE_MASK: {
		uint32_t values[WARP_LANES];

		for (unsigned l = 0; l < WARP_LANES; l++)
			values[l] = mask;
		run_write32(r, r->i->d, values, mask);
		return STEP_NEXT;
	}
	default: /* CODE_WARP_BARRIER, CODE_SHUFFLE, CODE_VOTE, ... */
		if (run_collective(r, mask))
			return r->w->group_count > 1 ? STEP_MOVE : STEP_NEXT;
		split_rest(r, mask);
		return STEP_SWITCH;
	}
}

/* Runs the group until it meets another, is blocked, or the quantum ends. False on a fault. */
static bool run_group(struct machine *m, struct warp *w, struct group *g)
{
	uint32_t limit = next_meeting(w, g), active = g->mask;
	uint64_t budget = m->quantum, used = 0;
	enum step step = STEP_NEXT;
	struct run r = {0};

	run_enter(&r, m, w, g);
	while (g->pc < limit && used < budget) {
		const struct instruction *i = &m->code[g->pc];
		uint32_t mask = active & run_predicate(&r, i->guard);

		used++;
		r.i = i;
		if (i->code == CODE_BRANCH) {
			if (run_branch(&r, mask))
				break;
			continue;
		}
		if (!mask) {
			g->pc++;
			continue;
		}
		switch (i->code) {
		case CODE_LANES:
		case CODE_SELECT:
		case CODE_PACK:
		case CODE_UNPACK:
			if (m->shadow)
				run_shadowed(&r, mask);
			else
				run_registers(&r, mask);
			break;
		case CODE_COMPARE:
			run_compare(&r, mask);
			break;
		case CODE_PREDICATE:
			run_predicate_logic(&r, mask);
			break;
		case CODE_LOAD:
			step = run_load(&r, mask) ? STEP_NEXT : STEP_FAULT;
			break;
		case CODE_STORE:
			step = run_store(&r, mask) ? STEP_NEXT : STEP_FAULT;
			break;
		default:
			step = run_other(&r, mask);
			break;
		}
		if (step != STEP_NEXT)
			break;
		g->pc++;
	}
	if (step == STEP_MOVE)
		g->pc++;
	m->quantum -= used;
	m->counts.warp_instructions += used;
	m->counts.thread_instructions += used * (uint64_t)__builtin_popcount(active);
	return step != STEP_FAULT;
}

bool warp_run(struct machine *m, struct warp *w)
{
	while (m->quantum) {
		struct group *g;

		if (w->group_count > 1)
			merge_groups(w);
		g = lowest_ready(w);
		if (!g)
			return true;
		if (!run_group(m, w, g))
			return false;
	}
	return true;
}
