/* SPDX-License-Identifier: MIT */
/* TMA descriptors that the program encoded: the base address inside their 128 opaque bytes. */
#ifndef SHIM_TENSOR_MAPS_H
#define SHIM_TENSOR_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/entries.h"
#include "kernelab/bundle.h"

/* The arguments of one cuTensorMapEncodeTiled or, where box is NULL, cuTensorMapEncodeIm2col. */
struct tensor_map_arguments {
	CUtensorMapDataType data_type;
	cuuint32_t rank;
	void *address;
	const cuuint64_t *dims, *strides;
	const cuuint32_t *box, *element_strides;
	CUtensorMapInterleave interleave;
	CUtensorMapSwizzle swizzle;
	CUtensorMapL2promotion l2_promotion;
	CUtensorMapFloatOOBfill oob_fill;
	const int *lower_corner, *upper_corner;
	cuuint32_t channels, pixels;
};

/*
 * Remembers a descriptor that was encoded. Takes table_lock. Encoders run for each launch, so equal
 * descriptors are kept once; when 65,536 different ones are there all are forgotten and those in
 * use come back with the next encoding.
 */
void tensor_maps_encoded(const CUtensorMap *map, const struct tensor_map_arguments *a);

/*
 * If the 128 bytes are a descriptor that was encoded: true, its address, and TENSOR_MAP is in the
 * bundle once. *r: result of writing.
 */
bool tensor_maps_find(struct bundle_writer *w, const void *bytes, uint64_t *address, int *r);

/*
 * The bytes from the tensor's first to its last element, by the arguments of its encoding. NULL, or
 * why they are not known (static), to be said of "TMA descriptor 3". Takes table_lock.
 */
const char *tensor_maps_extent(const void *bytes, uint64_t *address, uint64_t *size);

void tensor_maps_forget(void);

#endif
