/* SPDX-License-Identifier: MIT */
/* Runs one launch of a PTX entry: memory of a block, its warps in turn, block after block. */
#include "softgpu/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/races.h"
#include "softgpu/shadow_cell.h"
#include "softgpu/warp.h"

/* Warp instructions that a warp may run before the next one's turn, so that spinning ends. */
#define QUANTUM 20000u

static uint64_t next_random(struct machine *m)
{
	/* splitmix64 */
	uint64_t z = m->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

static enum machine_fault_kind fail(struct machine *m, enum machine_fault_kind kind,
				    const char *what)
{
	m->fault->kind = kind;
	memcpy(m->fault->block, m->block.id, sizeof(m->fault->block));
	snprintf(m->fault->message, sizeof(m->fault->message), "%s: %s", m->launch->entry->name,
		 what);
	return kind;
}

/* Beyond what any GPU has, so that no launch takes the host's memory. */
#define SHARED_BYTES_MAX (1u << 20)   /* a block */
#define LOCAL_BYTES_MAX  (512u << 10) /* a thread */
#define SLOT_BYTES_MAX   (2ull << 30) /* registers of a block */

static bool check_memory(struct machine *m)
{
	const struct ptx_program *g = m->program;
	uint64_t warps = (m->threads + WARP_LANES - 1) / WARP_LANES;
	uint64_t shared = (uint64_t)g->dynamic_base + m->launch->dynamic_shared_bytes;
	char text[120];

	if (shared > SHARED_BYTES_MAX)
		snprintf(text, sizeof(text), "%llu bytes of shared memory, %u are the most",
			 (unsigned long long)shared, SHARED_BYTES_MAX);
	else if (g->local_bytes > LOCAL_BYTES_MAX)
		snprintf(text, sizeof(text), "%u bytes of local memory a thread, %u are the most",
			 g->local_bytes, LOCAL_BYTES_MAX);
	else if (warps * g->frame_slots * SLOT_BYTES > SLOT_BYTES_MAX)
		snprintf(text, sizeof(text), "%u register slots a warp are too many",
			 g->frame_slots);
	else
		return true;
	fail(m, MACHINE_UNSUPPORTED, text);
	return false;
}

static bool check_launch(struct machine *m)
{
	const struct machine_launch *l = m->launch;
	uint64_t threads = 1;
	char text[120];

	for (unsigned k = 0; k < 3; k++) {
		if (!l->grid[k] || !l->block[k] || l->block[k] > 1024) {
			fail(m, MACHINE_UNSUPPORTED, "bad grid or block");
			return false;
		}
		threads *= l->block[k];
	}
	if (threads > l->entry->max_threads) {
		snprintf(text, sizeof(text), "block of %llu threads, %u are the most",
			 (unsigned long long)threads, l->entry->max_threads);
		fail(m, MACHINE_UNSUPPORTED, text);
		return false;
	}
	m->threads = (uint32_t)threads;
	return check_memory(m);
}

static void *aligned_zeros(size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 64)
		return NULL;
	bytes = (bytes + 64) & ~(size_t)63;
	p = aligned_alloc(64, bytes);
	if (p)
		memset(p, 0, bytes);
	return p;
}

static bool allocate_shadow(struct machine *m, size_t warps)
{
	size_t bytes = warps * m->program->frame_slots * SLOT_BYTES;

	/* Doubles need no zeros: a byte without a tag has none. */
	m->tag_memory = aligned_zeros(bytes, 1);
	m->shadow_memory = calloc(bytes, sizeof(double));
	if (m->shadow->lost_of != m->program) {
		free(m->shadow->lost_at);
		m->shadow->lost_of = m->program;
		m->shadow->lost_size = m->program->code_count;
		m->shadow->lost_at = calloc(m->shadow->lost_size + 1, 1);
	}
	return m->tag_memory && m->shadow_memory && m->shadow->lost_at;
}

static bool allocate(struct machine *m)
{
	const struct ptx_program *g = m->program;
	struct block *b = &m->block;
	size_t warps = (m->threads + WARP_LANES - 1) / WARP_LANES;

	b->warp_count = (uint32_t)warps;
	m->shared_bytes = g->dynamic_base + m->launch->dynamic_shared_bytes;
	b->warps = calloc(warps, sizeof(*b->warps));
	m->slot_memory = aligned_zeros(warps * g->frame_slots, SLOT_BYTES);
	m->predicate_memory = aligned_zeros(warps * g->frame_predicates, sizeof(uint32_t));
	m->return_memory = aligned_zeros(warps * g->function_count, WARP_LANES * sizeof(uint32_t));
	b->shared = aligned_zeros(m->shared_bytes + 1ull, 1);
	b->local = aligned_zeros(warps * WARP_LANES, g->local_bytes + 1ull);
	if (m->shadow && !allocate_shadow(m, warps))
		return false;
	if (!b->warps || !m->slot_memory || !m->predicate_memory || !m->return_memory ||
	    !b->shared || !b->local)
		return false;
	for (size_t k = 0; k < warps; k++) {
		struct warp *w = &b->warps[k];

		w->index = (uint32_t)k;
		w->slots = (uint8_t *)m->slot_memory + k * g->frame_slots * SLOT_BYTES;
		if (m->shadow) {
			w->tags = (uint8_t *)m->tag_memory + k * g->frame_slots * SLOT_BYTES;
			w->shadows = (double *)m->shadow_memory + k * g->frame_slots * SLOT_BYTES;
		}
		w->predicates = (uint32_t *)m->predicate_memory + k * g->frame_predicates;
		w->returns = (uint32_t *)m->return_memory + k * g->function_count * WARP_LANES;
	}
	return true;
}

static void release(struct machine *m)
{
	races_free(m->races);
	free(m->block.warps);
	free(m->slot_memory);
	free(m->predicate_memory);
	free(m->return_memory);
	free(m->tag_memory);
	free(m->shadow_memory);
	free(m->block.shared);
	free(m->block.local);
}

/* Registers, shared and local memory start as zeros in every block. */
static void start_block(struct machine *m, uint64_t index)
{
	const struct machine_launch *l = m->launch;
	const struct ptx_program *g = m->program;
	struct block *b = &m->block;
	uint32_t entry = g->entry_functions[l->entry - l->module->entries];

	b->id[0] = (uint32_t)(index % l->grid[0]);
	b->id[1] = (uint32_t)(index / l->grid[0] % l->grid[1]);
	b->id[2] = (uint32_t)(index / l->grid[0] / l->grid[1]);
	b->live = m->threads;
	memset(b->barriers, 0, sizeof(b->barriers));
	memset(b->shared, 0, m->shared_bytes);
	memset(b->local, 0, (size_t)b->warp_count * WARP_LANES * g->local_bytes);
	memset(m->slot_memory, 0, (size_t)b->warp_count * g->frame_slots * SLOT_BYTES);
	memset(m->predicate_memory, 0, (size_t)b->warp_count * g->frame_predicates * 4);
	if (m->races)
		races_block(m->races);
	if (m->shadow) {
		shadow_forget(m->shadow, b->shared, m->shared_bytes);
		shadow_forget(m->shadow, b->local,
			      (uint64_t)b->warp_count * WARP_LANES * g->local_bytes);
		memset(m->tag_memory, 0, (size_t)b->warp_count * g->frame_slots * SLOT_BYTES);
	}
	for (uint32_t k = 0; k < b->warp_count; k++) {
		struct warp *w = &b->warps[k];
		uint32_t lanes = m->threads - k * WARP_LANES;

		w->live = lanes >= WARP_LANES ? WARP_FULL : (1u << lanes) - 1;
		w->group_count = 0;
		warp_add_group(w, g->functions[entry].start, w->live, entry);
		for (size_t f = 0; f < g->function_count; f++)
			if (g->functions[f].defined)
				w->predicates[g->functions[f].predicate_base + PREDICATE_TRUE] =
					WARP_FULL;
	}
}

static void report_deadlock(struct machine *m)
{
	char text[400], line[60];
	size_t n = 0;

	n += (size_t)snprintf(text, sizeof(text), "deadlock in block (%u, %u, %u):", m->block.id[0],
			      m->block.id[1], m->block.id[2]);
	for (uint32_t k = 0; k < m->block.warp_count; k++) {
		const struct warp *w = &m->block.warps[k];

		for (unsigned j = 0; j < w->group_count; j++) {
			const struct instruction *i = &m->code[w->groups[j].pc];

			program_line_text(m->program, i->line, line, sizeof(line));
			if (!m->fault->line)
				m->fault->line = i->line;
			if (n < sizeof(text))
				n += (size_t)snprintf(text + n, sizeof(text) - n,
						      " warp %u, lanes 0x%x at line %u \"%s\";", k,
						      w->groups[j].mask, i->line, line);
		}
	}
	fail(m, MACHINE_DEADLOCK, text);
}

/* One quantum for each warp. *alive: something is left to run. */
static bool run_turn(struct machine *m, bool *alive)
{
	const struct machine_launch *l = m->launch;
	struct block *b = &m->block;
	uint32_t shift = l->schedule_seed ? (uint32_t)(next_random(m) % b->warp_count) : 0;
	bool moved = false;

	*alive = false;
	for (uint32_t k = 0; k < b->warp_count; k++) {
		struct warp *w = &b->warps[(k + shift) % b->warp_count];
		uint64_t quota = l->instruction_quota;

		if (!warp_has_ready(w))
			continue;
		moved = true;
		m->quantum = QUANTUM;
		if (l->schedule_seed)
			m->quantum = 1 + next_random(m) % 256;
		if (quota && quota - m->counts.warp_instructions < m->quantum)
			m->quantum = quota - m->counts.warp_instructions;
		if (!warp_run(m, w))
			return false;
		if (quota && m->counts.warp_instructions >= quota) {
			fail(m, MACHINE_TIMEOUT, "instruction quota used up");
			return false;
		}
		if (l->stop && *l->stop) {
			fail(m, MACHINE_TIMEOUT, "stopped from outside");
			return false;
		}
	}
	for (uint32_t k = 0; k < b->warp_count; k++)
		*alive |= b->warps[k].group_count != 0;
	if (*alive && !moved)
		report_deadlock(m);
	return moved || !*alive;
}

static bool run_block(struct machine *m, uint64_t index)
{
	bool alive = true;

	start_block(m, index);
	while (alive)
		if (!run_turn(m, &alive))
			return false;
	return true;
}

/* Those that the caller names. */
static bool run_chosen(struct machine *m, uint64_t blocks)
{
	const struct machine_launch *l = m->launch;

	for (size_t k = 0; k < l->block_count; k++) {
		if (l->blocks[k] >= blocks) {
			fail(m, MACHINE_UNSUPPORTED, "a block outside of the grid");
			return false;
		}
		if (!run_block(m, l->blocks[k]))
			return false;
	}
	return true;
}

static bool run_blocks(struct machine *m)
{
	const struct machine_launch *l = m->launch;
	uint64_t blocks, stride = 1, start = 0;

	if (__builtin_mul_overflow((uint64_t)l->grid[0] * l->grid[1], l->grid[2], &blocks)) {
		fail(m, MACHINE_UNSUPPORTED, "grid too large");
		return false;
	}
	if (l->blocks)
		return run_chosen(m, blocks);
	if (l->schedule_seed) {
		/* A walk with a stride that shares no divisor with the number of blocks. */
		start = next_random(m) % blocks;
		do
			stride = 1 + next_random(m) % (blocks < 1u << 30 ? blocks : 1u << 30);
		while (greatest_common_divisor(stride, blocks) != 1);
	}
	for (uint64_t k = 0, index = start; k < blocks; k++) {
		if (!run_block(m, index))
			return false;
		index += stride;
		if (index >= blocks)
			index -= blocks;
	}
	return true;
}

enum machine_fault_kind machine_run(const struct machine_launch *launch,
				    struct machine_fault *fault, struct machine_counts *counts)
{
	struct machine m = {.launch = launch,
			    .fault = fault,
			    .random = launch->schedule_seed,
			    .shadow = launch->shadow};

	memset(fault, 0, sizeof(*fault));
	m.program = launch->module->program;
	m.code = launch->contract == CONTRACT_OFF ? m.program->code : m.program->contracted;
	m.lanes = lanes_available(0);
	if (!check_launch(&m))
		return fault->kind;
	if (launch->races)
		*launch->races = (struct machine_races){0};
	if (!allocate(&m) || (launch->races && !(m.races = races_open(&m))))
		fail(&m, MACHINE_NO_MEMORY, "no memory for a block");
	else
		run_blocks(&m);
	release(&m);
	if (counts)
		*counts = m.counts;
	return fault->kind;
}
