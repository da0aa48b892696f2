/* SPDX-License-Identifier: MIT */
/* Barriers of a block, and threads that end. Barriers count threads, as since sm_70. */
#include <string.h>

#include "softgpu/races.h"
#include "softgpu/warp.h"

/* Lets everyone go who waits at barrier `id`. */
static void release(struct machine *m, uint32_t id)
{
	struct barrier *b = &m->block.barriers[id];
	uint32_t threads = b->arrived, count = b->count;
	bool of_all = !b->expected;

	*b = (struct barrier){0};
	for (uint32_t k = 0; k < m->block.warp_count; k++) {
		struct warp *w = &m->block.warps[k];

		for (unsigned j = 0; j < w->group_count; j++) {
			struct group *g = &w->groups[j];
			struct run r;
			uint32_t values[WARP_LANES];

			if (g->state != GROUP_AT_BARRIER || g->wait != id)
				continue;
			run_enter(&r, m, w, g);
			r.i = &m->code[g->pc];
			for (unsigned l = 0; l < WARP_LANES; l++)
				values[l] = count;
			if (r.i->mode == BARRIER_POPC)
				run_write32(&r, r.i->d, values, g->mask);
			else if (r.i->mode == BARRIER_AND)
				run_set_predicate(&r, r.i->d, count == threads ? WARP_FULL : 0,
						  g->mask);
			else if (r.i->mode == BARRIER_OR)
				run_set_predicate(&r, r.i->d, count ? WARP_FULL : 0, g->mask);
			g->state = GROUP_READY;
			g->pc++;
			if (m->races)
				races_pass(m->races, k, id, of_all);
		}
	}
	if (m->races)
		races_clear(m->races, id);
}

static bool complete(const struct machine *m, const struct barrier *b)
{
	uint32_t needed = b->expected ? b->expected : m->block.live;

	return b->arrived && b->arrived >= needed;
}

void barrier_recheck(struct machine *m)
{
	for (uint32_t id = 0; id < BARRIERS_PER_BLOCK; id++)
		if (complete(m, &m->block.barriers[id]))
			release(m, id);
}

bool run_barrier(const struct run *r, uint32_t mask)
{
	const struct instruction *i = r->i;
	unsigned first = (unsigned)__builtin_ctz(mask);
	uint32_t id = ((const uint32_t *)run_slot(r, i->a))[first];
	uint32_t threads = i->b == OPERAND_NONE ? 0 : ((const uint32_t *)run_slot(r, i->b))[first];
	struct barrier *b;

	if (id >= BARRIERS_PER_BLOCK)
		return run_fault(r, MACHINE_ILLEGAL_ADDRESS, first, id, "there is no barrier %u",
				 id);
	b = &r->m->block.barriers[id];
	if (threads % WARP_LANES)
		return run_fault(r, MACHINE_ILLEGAL_ADDRESS, first, threads,
				 "barrier of %u threads: no multiple of 32", threads);
	b->expected = threads;
	/* With a thread count a whole warp counts as 32 even if it has fewer lanes. */
	b->arrived +=
		threads && mask == r->w->live ? WARP_LANES : (uint32_t)__builtin_popcount(mask);
	b->count += (uint32_t)__builtin_popcount(run_predicate(r, i->c) & mask);
	if (r->m->races)
		races_arrive(r, id, i->mode != BARRIER_ARRIVE);
	if (i->mode == BARRIER_ARRIVE) {
		r->g->pc++;
	} else {
		r->g->state = GROUP_AT_BARRIER;
		r->g->wait = id;
	}
	if (complete(r->m, b))
		release(r->m, id);
	return true;
}

void run_exit(struct machine *m, struct warp *w, uint32_t mask)
{
	w->live &= ~mask;
	if (m->races)
		races_exit(m->races, w->index);
	m->block.live -= (uint32_t)__builtin_popcount(mask);
	/* Who waits for these lanes waits no longer. */
	for (unsigned j = 0; j < w->group_count; j++)
		if (w->groups[j].state == GROUP_AT_COLLECTIVE ||
		    w->groups[j].state == GROUP_AT_WARP_BARRIER)
			w->groups[j].state = GROUP_READY;
	barrier_recheck(m);
}
