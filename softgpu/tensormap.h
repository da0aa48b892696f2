/* SPDX-License-Identifier: MIT */
/* What cuTensorMapEncodeTiled of the software device puts into the 128 bytes of a CUtensorMap. */
#ifndef SOFTGPU_TENSORMAP_H
#define SOFTGPU_TENSORMAP_H

#include <stdint.h>

#define TENSORMAP_MAGIC    UINT32_C(0x4d54474b) /* "KGTM": a map that a GPU's driver made has none */
#define TENSORMAP_MAX_RANK 5

struct tensormap {
	uint32_t magic;
	uint8_t data_type, rank, interleave, swizzle; /* CUtensorMap… enumerations */
	uint64_t address;
	uint64_t strides[TENSORMAP_MAX_RANK - 1];  /* bytes, of dimensions 1 … rank - 1 */
	uint32_t dims_minus_1[TENSORMAP_MAX_RANK]; /* elements; up to 2^32 */
	uint16_t box[TENSORMAP_MAX_RANK];          /* elements */
	uint8_t element_strides[TENSORMAP_MAX_RANK];
	uint8_t oob_fill;
	uint8_t padding[44];
};
_Static_assert(sizeof(struct tensormap) == 128, "size of a CUtensorMap");

#endif
