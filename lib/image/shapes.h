/* SPDX-License-Identifier: MIT */
/* Block shapes: the tensor shapes in a Triton kernel's IR, the only trace of its constexpr sizes.
 */
#ifndef LIB_IMAGE_SHAPES_H
#define LIB_IMAGE_SHAPES_H

#include <stddef.h>
#include <stdint.h>

#define SHAPE_RANK 6

struct shape {
	uint32_t rank; /* 1 … SHAPE_RANK */
	uint32_t dims[SHAPE_RANK];
};

/*
 * The different shapes of all tensor<…> types in text, by rank, then dimensions; malloc'ed. Shapes
 * of more than SHAPE_RANK dimensions keep their first ones. 0 or -ENOMEM.
 */
int shapes_find(const char *text, size_t size, struct shape **out, size_t *count);

/*
 * Those that tell a person the config: of the highest rank, without those that have a 1 where
 * others have none; "64x32 32x128 64x128". At most `limit` of them, then " …". malloc'ed; NULL
 * without memory.
 */
char *shapes_text(const struct shape *shapes, size_t count, size_t limit);

#endif
