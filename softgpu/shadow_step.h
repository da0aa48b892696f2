/* SPDX-License-Identifier: MIT */
/* What the machine calls to keep shadows beside what it executes. All expect r->m->shadow. Private.
 */
#ifndef SOFTGPU_SHADOW_STEP_H
#define SOFTGPU_SHADOW_STEP_H

#include "softgpu/warp.h"

/*
 * Around an instruction that changes registers only (lanes, select, pack, unpack): before reads
 * its sources' shadows, after writes its destinations'.
 */
void shadow_before(const struct run *r, uint32_t mask);
void shadow_after(const struct run *r, uint32_t mask);
/* Lane l of the destination takes the shadow of the source's lane from[l]. */
void shadow_shuffle(const struct run *r, const uint8_t from[WARP_LANES], uint32_t mask);

/* Loads and stores; host as run_resolve gave it. Stores: false with a fault where no room is. */
void shadow_load(const struct run *r, uint32_t mask, uint8_t *const *host);
bool shadow_save(const struct run *r, uint32_t mask, uint8_t *const *host);
/* n bytes of memory take the shadow of others; from NULL: none. */
bool shadow_copy(const struct run *r, uint8_t *to, const uint8_t *from, uint64_t n);

/* One lane of an atomic, element k, before its memory and registers change; new is its result. */
bool shadow_atomic(const struct run *r, unsigned lane, unsigned k, uint8_t *host,
		   const void *result);
void shadow_atomic_old(const struct run *r, unsigned lane, unsigned k);

/* A half of a matrix's row between memory and a register's lane. */
void shadow_matrix_load(const struct run *r, uint32_t operand, unsigned lane, unsigned half,
			const uint8_t *host);
bool shadow_matrix_store(const struct run *r, uint32_t operand, unsigned lane, unsigned half,
			 uint8_t *host);
/* An element's shadow, or exact value, in a register. */
double shadow_element(const struct run *r, uint32_t operand, unsigned lane, unsigned half,
		      enum type t);
void shadow_set_element(const struct run *r, uint32_t operand, unsigned lane, unsigned half,
			enum type t, double x);

#endif
