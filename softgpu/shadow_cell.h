/* SPDX-License-Identifier: MIT */
/*
 * Shadows byte by byte. Each byte of a register or of memory has a tag, which says of what element
 * it is which byte, and that element's double. So whatever only moves bytes (loads, shuffles,
 * packing, prmt, masks) moves shadows without knowing formats; an element has a shadow where all
 * its bytes stand together in order with one and the same double. Private.
 */
#ifndef SOFTGPU_SHADOW_CELL_H
#define SOFTGPU_SHADOW_CELL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "softgpu/number.h"
#include "softgpu/shadow.h"

/* Tag: format << 3 | byte of the element; 0: none. */
#define TAG(format, byte) ((uint8_t)((unsigned)(format) << 3 | (byte)))
#define TAG_FORMAT(tag)   ((enum shadow_format)((tag) >> 3))
#define TAG_BYTE(tag)     ((tag)&7u)

/* Bytes side by side: their bits, tags and doubles. tags NULL: no shadow at all. */
struct cell {
	const uint8_t *bits, *tags;
	const double *values;
};

/* Exact value of bits; integers are not read here. */
double cell_exact(enum shadow_format format, const uint8_t *bits);
/* Whether the bytes hold one whole element's shadow. */
bool cell_has(struct cell c, enum shadow_format format, unsigned bytes);
/* The element's shadow, or its exact value. A bf16 in the high half is read as the f32 it is. */
double cell_value(struct cell c, enum shadow_format format);
/* Writes an element's shadow; none where x is what the bits say, or either is NaN. */
void cell_write(uint8_t *tags, double *values, enum shadow_format format, double x,
		const uint8_t *bits);
/* An integer's: bytes of it, always. */
void cell_write_integer(uint8_t *tags, double *values, unsigned bytes, double x);
static inline void cell_clear(uint8_t *tags, unsigned bytes)
{
	memset(tags, 0, bytes);
}

/* The shadow of memory, by host address. */
struct shadow_page;
struct shadow {
	struct shadow_page **pages; /* open addressing */
	size_t page_count, page_capacity;
	uint64_t bytes_max;
	struct shadow_counts counts;
	uint8_t *lost_at; /* per instruction of the program that runs: seen */
	size_t lost_size;
	const void *lost_of; /* that program */
	const uint8_t *const *places;
	bool *seen;
	size_t place_count, unseen;
	bool full;
	/* Scratch of one instruction: what its destinations are to hold (shadow_write.h). */
	struct shadow_write {
		uint32_t operand;
		bool wide;
		uint8_t tags[256];
		double values[256];
	} writes[8];
	unsigned write_count;
};

/* Tags and doubles of n bytes of memory, n <= 16 and none of them across a page of 4 KiB more
 * than once. */
void shadow_read(const struct shadow *s, const uint8_t *host, unsigned n, uint8_t *tags,
		 double *values);
/* Sets s->full where there is no room. */
void shadow_store(struct shadow *s, const uint8_t *host, unsigned n, const uint8_t *tags,
		  const double *values);
/* Ends all shadows of [host, host + size). */
void shadow_forget(struct shadow *s, const uint8_t *host, uint64_t size);

/* Arithmetic in double: enum lane_function_id's meaning on one element; false: it has none. */
enum shadow_operation {
	SHADOW_OP_NONE,
	SHADOW_OP_ADD,
	SHADOW_OP_MUL,
	SHADOW_OP_FMA,
	SHADOW_OP_DIV,
	SHADOW_OP_RCP,
	SHADOW_OP_SQRT,
	SHADOW_OP_RSQRT,
	SHADOW_OP_EX2,
	SHADOW_OP_LG2,
	SHADOW_OP_SIN,
	SHADOW_OP_COS,
	SHADOW_OP_TANH,
	SHADOW_OP_ABS,
	SHADOW_OP_NEG,
	SHADOW_OP_MIN,
	SHADOW_OP_MAX,
	SHADOW_OP_COPYSIGN
};
struct shadow_arithmetic {
	enum shadow_operation operation;
	enum shadow_format format; /* SHADOW_F16 stands for f16 and bf16, alone or in pairs */
	unsigned sources;
};
/* NULL-operation where the lane function is no float arithmetic. */
struct shadow_arithmetic shadow_arithmetic(unsigned function);
double shadow_compute(enum shadow_operation o, const double x[3], uint32_t flags);
/* A constant that is added to make the sum an integer (1.5 * 2^23 and the like). */
bool shadow_is_magic(enum shadow_format format, double constant, double other);

#endif
