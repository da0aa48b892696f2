/* SPDX-License-Identifier: MIT */
/* The parameter buffer of a launch and its shape class. */
#ifndef SHIM_PARAMS_H
#define SHIM_PARAMS_H

#include "shim/kernels.h"
#include "shim/launches.h"

#define PARAMS_BYTES_MAX 32768u /* CUDA's limit is 32,764 */

/*
 * Gathers the parameters from kernelParams by the kernel's layout, or from `extra`. buffer has
 * PARAMS_BYTES_MAX bytes. Returns the bytes used; 0 with *known false if the layout is not known.
 */
size_t params_gather(const struct kernel *kernel, const struct launch_call *call,
		     unsigned char *buffer, bool *known);

/* Where the parameters of a launch are: as the program gave them, or gathered. */
struct params_view {
	void **params;               /* else: */
	const unsigned char *buffer; /* size bytes */
	size_t size;
};
struct params_view params_view(void **params, void **extra);

/* NULL where it is not there: the driver will refuse the launch. */
static inline const unsigned char *params_part(const struct params_view *v,
					       const struct key_part *p)
{
	if (v->params)
		return v->params[p->param];
	return (size_t)p->offset + p->size <= v->size ? v->buffer + p->offset : NULL;
}

/* Lists the parameters that go into the class (plan, key_parts), by its kinds. 0 or -ENOMEM. */
int params_plan(struct kernel *kernel);
void params_plan_free(struct kernel *kernel);

/*
 * What the class of a launch is told by: the grid, the integer scalars and the alignment of each
 * pointer: the largest power of two that divides it, at most 16 (Triton specialises on 16; smaller
 * ones tell misaligned views apart). NULL pointers are a class of their own. Float scalars,
 * descriptors and scratch never count. A parameter of unknown type counts as a pointer where it has
 * 8 bytes and its upper half is not 0, as an integer otherwise; one of another size than 1, 2, 4 or
 * 8 word by word likewise. Without parameters (the driver will refuse that, or their layout is not
 * known) of the grid alone. params, extra: as the program gave them. Any thread, no lock, no
 * allocation.
 */
void params_id(struct class_id *id, const struct kernel *kernel, const uint32_t grid[3],
	       void **params, void **extra);

#endif
