/* SPDX-License-Identifier: MIT */
/* State of a running launch: blocks, warps, groups of lanes that stand at one instruction. Private.
 */
#ifndef SOFTGPU_WARP_H
#define SOFTGPU_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/lanes.h"
#include "softgpu/machine.h"
#include "softgpu/program.h"
#include "softgpu/shadow.h"

enum group_state {
	GROUP_READY,
	GROUP_AT_BARRIER,     /* wait: barrier number */
	GROUP_AT_COLLECTIVE,  /* for lanes that have not come yet to the same instruction */
	GROUP_AT_WARP_BARRIER /* wait: member mask */
};

struct group {
	uint32_t pc, mask;
	uint32_t function;
	enum group_state state;
	uint32_t wait;
};

struct warp {
	uint8_t *slots; /* frames of all functions */
	uint8_t *tags;  /* shadows of slots, byte by byte; NULL without */
	double *shadows;
	uint32_t *predicates;
	uint32_t *returns; /* program->function_count x 32: pc of the call */
	struct group groups[WARP_LANES];
	unsigned group_count;
	uint32_t live;  /* lanes that exist and have not exited */
	uint32_t index; /* in the block */
};

struct barrier {
	uint32_t arrived;  /* threads */
	uint32_t expected; /* 0: all live threads of the block */
	uint32_t count;    /* of true predicates */
};

struct block {
	struct warp *warps;
	uint32_t warp_count, live;
	uint32_t id[3];
	uint8_t *shared, *local;
	struct barrier barriers[BARRIERS_PER_BLOCK];
};

struct machine {
	const struct machine_launch *launch;
	const struct ptx_program *program;
	const struct instruction *code;
	const struct lane_table *lanes;
	struct machine_fault *fault;
	struct machine_counts counts;
	uint32_t shared_bytes, threads;
	const struct memory_range *last_range;
	struct block block;
	uint64_t random;
	struct shadow *shadow; /* or NULL */
	void *slot_memory, *predicate_memory, *return_memory;
	struct races *races; /* NULL: not looked for */
	void *tag_memory, *shadow_memory;
	uint64_t quantum; /* instructions left until the caller looks at quota and stop */
};

/* What an instruction needs: the group that executes it, and its frame. */
struct run {
	struct machine *m;
	struct warp *w;
	struct group *g;
	const struct instruction *i;
	uint8_t *slots;
	uint32_t *predicates;
};

static inline void *run_slot(const struct run *r, uint32_t operand)
{
	const uint8_t *base = operand & 1 ? r->m->program->constants : r->slots;

	return (void *)(base + (size_t)(operand >> 1) * SLOT_BYTES);
}
static inline uint32_t run_predicate(const struct run *r, uint32_t operand)
{
	return r->predicates[operand >> 1] ^ (0u - (operand & 1));
}
static inline void run_set_predicate(const struct run *r, uint32_t operand, uint32_t value,
				     uint32_t mask)
{
	uint32_t *p = &r->predicates[operand >> 1];

	*p = (*p & ~mask) | (value & mask);
}
/* shadow_step.c: registers lose their shadows in the lanes of mask. */
void shadow_clear(const struct run *r, uint32_t operand, bool wide, uint32_t mask);
static inline void run_write32(const struct run *r, uint32_t operand, const uint32_t *values,
			       uint32_t mask)
{
	void *d = run_slot(r, operand);

	if (r->m->shadow)
		shadow_clear(r, operand, false, mask);
	r->m->lanes->blend32(d, values, d, mask);
}
static inline void run_write64(const struct run *r, uint32_t operand, const uint64_t *values,
			       uint32_t mask)
{
	void *d = run_slot(r, operand);

	if (r->m->shadow)
		shadow_clear(r, operand, true, mask);
	r->m->lanes->blend64(d, values, d, mask);
}

/*
 * Fills the launch's fault. lane is of r's warp; pc the instruction; r may be NULL. Returns false,
 * so that callers can say `return run_fault(...)`.
 */
__attribute__((format(printf, 5, 6))) bool run_fault(const struct run *r,
						     enum machine_fault_kind kind, unsigned lane,
						     uint64_t address, const char *format, ...);

/* warp.c: runs until no group is ready or the quantum is used up; false on a fault. */
bool warp_run(struct machine *m, struct warp *w);
bool warp_has_ready(const struct warp *w);
/* The frame of a group's function. */
void run_enter(struct run *r, struct machine *m, struct warp *w, struct group *g);
/* Puts the lanes into a group of their own at pc; they must belong to no other. */
void warp_add_group(struct warp *w, uint32_t pc, uint32_t mask, uint32_t function);

/* memory.c */
bool run_load(const struct run *r, uint32_t mask);
bool run_store(const struct run *r, uint32_t mask);
bool run_copy_async(const struct run *r, uint32_t mask);
/* Host address of each active lane's [address, address + bytes). */
bool run_resolve(const struct run *r, uint32_t mask, unsigned bytes, bool write,
		 uint8_t *host[WARP_LANES]);
uint64_t run_base(const struct run *r, uint32_t a, unsigned base);
/* A text in device memory, cut at size; "?" where it is not readable. */
void machine_text(struct machine *m, uint64_t address, char *out, size_t size);
uint8_t *machine_translate(struct machine *m, uint64_t address, uint64_t bytes);

/* matrix.c: the whole warp takes part. */
bool run_load_matrix(const struct run *r, uint32_t mask);
bool run_store_matrix(const struct run *r, uint32_t mask);
bool run_mma(const struct run *r, uint32_t mask);

/* atomic.c */
bool run_atomic(const struct run *r, uint32_t mask);

/* collective.c: false if the group has to wait for other lanes (r->g->state says so). */
bool run_collective(const struct run *r, uint32_t mask);

/* barrier.c */
bool run_barrier(const struct run *r, uint32_t mask);
void barrier_recheck(struct machine *m);
void run_exit(struct machine *m, struct warp *w, uint32_t mask);

#endif
