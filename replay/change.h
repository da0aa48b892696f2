/* SPDX-License-Identifier: MIT */
/* Changed inputs: float elements moved by a small step, scaled, or replaced by small integers. */
#ifndef REPLAY_CHANGE_H
#define REPLAY_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/byteset.h"
#include "replay/extents.h"

#define CHANGE_INTEGER_MAX 7 /* exact in every float type there is */

enum change_kind { CHANGE_PERTURB, CHANGE_INTEGERS, CHANGE_SCALE };

/* Memory that a launch may read as floats. */
struct float_input {
	uint64_t base, size; /* bytes; base is the address of a whole element */
	uint32_t dtype;
	uint64_t origin; /* the pointer: indices count from it */
};

struct float_inputs {
	struct float_input *items; /* sorted by base, disjoint */
	size_t count, capacity;
};

/*
 * Float elements behind the pointers (sorted): from each pointer of a float type to the next
 * pointer of the same region, or the region's end. Of a measured launch only what is read; else
 * what lies behind the tensor is changed with it: the launch does not read it. Free items. 0 or
 * -ENOMEM.
 */
int float_inputs_find(struct float_inputs *out, const struct pointer *pointers, size_t count,
		      const struct record_launch *launch);

/* Greatest unit roundoff among the float types of the pointers: the step h. 0 without any. */
double float_step(const struct pointer *pointers, size_t count);

/* 2^-(mantissa bits + 1); 0 for what is no float. */
double dtype_roundoff(uint32_t dtype);

struct change {
	enum change_kind kind;
	const struct float_inputs *inputs;
	const struct byteset *keep; /* bytes that stay: what the launch only writes; or NULL */
	double step;                /* CHANGE_PERTURB, CHANGE_SCALE: relative */
	uint64_t seed;
	int exponent;               /* CHANGE_SCALE: times 2^exponent */
	const struct byteset *zero; /* CHANGE_SCALE: bytes that become zero; or NULL */
};

/*
 * CHANGE_PERTURB: each element x becomes x (1 + h) or x (1 - h), rounded to one of the two
 * neighbours with the probability that makes the mean step exact; direction and rounding are a hash
 * of value and seed, so that equal values move together. Zeros, NaN, infinities and the greatest
 * finite values (masks) stay. CHANGE_INTEGERS: each becomes an integer of 0 … CHANGE_INTEGER_MAX, a
 * hash of its index and the seed. CHANGE_SCALE: each is multiplied by 2^exponent, rounded to the
 * nearest where it becomes a denormal, and at most the greatest finite value; then moved as above.
 * Types of 8 bits are not multiplied: their whole range is too small for it. The device does it
 * (replay/kernels.h), by rows: elements side by side that share a format and a fate.
 */
#define CHANGE_ROW_ELEMENTS 8192u

struct change_row {
	uint64_t address;  /* on the device, of the first element */
	uint64_t index;    /* of the first element, from its pointer on */
	uint64_t greatest; /* of the format: magnitude bits of the greatest finite value */
	uint32_t count;    /* elements */
	uint32_t bytes, mantissa, bias; /* of the format */
	uint32_t zero;                  /* becomes zero, whatever the kind */
	uint32_t whole; /* address and size are multiples of 16: read and written so */
};
_Static_assert(sizeof(struct change_row) == 48, "as the kernel reads it");

struct change_rows {
	struct change_row *items;
	size_t count, capacity;
};

/*
 * Adds the rows of `count` elements from first->address on, which is a multiple of their size, of
 * the float type dtype. `first` holds address, index and zero of the first row; the index grows by
 * `step` an element. Rows go up to the next address that is a multiple of 16, then as far as a
 * whole one can, then to the end. 0 or -ENOMEM.
 */
int change_rows_add(struct change_rows *out, const struct change_row *first, uint32_t dtype,
		    uint64_t count, uint64_t step);

/*
 * Adds the rows of a chunk whose contents lie at `address` and are on the device at `device`. An
 * element that lies in two chunks, or not on a multiple of its size, stays. 0 or -ENOMEM.
 */
int change_rows(struct change_rows *out, const struct change *c, size_t chunk, uint64_t address,
		uint64_t device);

/* A float type by its bits: sign, exponent, mantissa. NULL for what is no float. */
struct float_format {
	uint32_t bytes;
	int mantissa, bias;
	uint64_t infinity; /* magnitude bits; 0: has none */
	uint64_t greatest; /* magnitude bits of the greatest finite value */
};
const struct float_format *float_format(uint32_t dtype);

/* What the bits of a float element are. */
enum float_class { FLOAT_FINITE, FLOAT_INFINITE, FLOAT_NAN };
enum float_class float_class(uint32_t dtype, const void *element);
/* The value of a finite float element. */
double float_value(uint32_t dtype, const void *element);

#endif
