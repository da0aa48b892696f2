/* SPDX-License-Identifier: MIT */
/*
 * A second value beside each float of a running launch: what it would be in double precision,
 * without the roundings in between (docs/softgpu.md, The shadow). Given to machine_run.
 */
#ifndef SOFTGPU_SHADOW_H
#define SOFTGPU_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shadow;

/* What the bytes of an element are; SHADOW_INTEGER: an integer of 1 to 4 bytes. */
enum shadow_format {
	SHADOW_NONE,
	SHADOW_F32, /* tf32 too */
	SHADOW_F64,
	SHADOW_F16,
	SHADOW_BF16,
	SHADOW_E4M3,
	SHADOW_E5M2,
	SHADOW_INTEGER,
	SHADOW_FORMAT_COUNT
};

struct shadow_counts {
	uint64_t operations;   /* lanes that computed in double */
	uint64_t lost;         /* lanes whose shadow an operation without one ended */
	uint32_t lost_places;  /* instructions that did so */
	uint32_t lost_line;    /* of the PTX text: the first of them; 0: none */
	uint64_t memory_bytes; /* held by the shadow of memory */
};

/*
 * bytes_max bounds the shadow of memory: a store beyond it ends the launch as MACHINE_NO_MEMORY.
 * Owned by the caller. 0 or -ENOMEM. One launch at a time; a second launch goes on with the
 * shadows that the first one left in memory, as does a second block.
 */
int shadow_new(struct shadow **out, uint64_t bytes_max);
void shadow_free(struct shadow *s);
const struct shadow_counts *shadow_counts(const struct shadow *s);

/*
 * From now on seen[i] becomes true where something is stored to places[i] (host addresses,
 * ascending). Both arrays are borrowed; count 0 ends it.
 */
void shadow_watch(struct shadow *s, const uint8_t *const *places, size_t count, bool *seen);
size_t shadow_unseen(const struct shadow *s); /* places that nothing was stored to yet */

/*
 * The value in double precision of the element at host, a place in a memory range of the launch;
 * the exact value of its bits where it has no shadow. *shadowed tells which; may be NULL.
 * An integer's is what a rounding to nearest made it of, where that was a float. is_signed and
 * bytes say how an integer's bits are read.
 */
double shadow_value(const struct shadow *s, const uint8_t *host, enum shadow_format format,
		    unsigned bytes, bool is_signed, bool *shadowed);
unsigned shadow_format_bytes(enum shadow_format f); /* 0 for SHADOW_INTEGER and NONE */

#endif
