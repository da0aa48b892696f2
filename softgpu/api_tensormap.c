/* SPDX-License-Identifier: MIT */
/*
 * API: tensor maps. NVIDIA does not document the 128 bytes, so these are of our own making: they
 * hold all arguments, for the machine's tensor copies. A map of a GPU means nothing here and vice
 * versa.
 */
#include "softgpu/device.h"

#include <string.h>

#include "drv/element.h"
#include "softgpu/log.h"
#include "softgpu/tensormap.h"

/*
 * The rules of the driver API's page on cuTensorMapEncodeTiled, as far as a GPU's driver keeps
 * them: it takes any place for the map, and NULL as address.
 */
static bool shape_valid(const struct tensormap *t, uint32_t bytes)
{
	uint64_t inner = (uint64_t)t->box[0] * bytes;
	uint32_t stride_align = t->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
	static const uint32_t swizzle_bytes[] = {0, 32, 64, 128};

	for (uint32_t i = 0; i < t->rank; i++) {
		if (!t->box[i] || t->box[i] > 256 || !t->element_strides[i] ||
		    t->element_strides[i] > 8)
			return false;
	}
	for (uint32_t i = 0; i + 1 < t->rank; i++)
		if (t->strides[i] % stride_align || t->strides[i] >= UINT64_C(1) << 40)
			return false;
	if (t->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && inner % 16)
		return false;
	if (t->interleave == CU_TENSOR_MAP_INTERLEAVE_32B &&
	    (t->swizzle != CU_TENSOR_MAP_SWIZZLE_32B || t->rank < 3))
		return false;
	if (t->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && t->swizzle &&
	    inner > swizzle_bytes[t->swizzle])
		return false;
	return !(t->address % (t->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16));
}

API cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
			   cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
			   const cuuint64_t *globalStrides, const cuuint32_t *boxDim,
			   const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
			   CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
			   CUtensorMapFloatOOBfill oobFill)
{
	API_SCOPE(NEED_INIT);
	struct tensormap t = {
		.magic = TENSORMAP_MAGIC,
		.address = (uint64_t)globalAddress,
		.data_type = (uint8_t)tensorDataType,
		.rank = (uint8_t)tensorRank,
		.interleave = (uint8_t)interleave,
		.swizzle = (uint8_t)swizzle,
		.oob_fill = (uint8_t)oobFill,
	};

	if (!tensorMap || !globalDim || !boxDim || !elementStrides || !tensorRank ||
	    tensorRank > TENSORMAP_MAX_RANK || (tensorRank > 1 && !globalStrides) ||
	    !element_bytes(tensorDataType)) /* the packed types need sm_100 */
		return CUDA_ERROR_INVALID_VALUE;
	if ((unsigned)interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
	    (unsigned)swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
	    (unsigned)l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
	    (unsigned)oobFill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
		return CUDA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < tensorRank; i++) {
		if (!globalDim[i] || globalDim[i] > UINT64_C(1) << 32 || boxDim[i] > 256 ||
		    elementStrides[i] > 8)
			return CUDA_ERROR_INVALID_VALUE;
		t.dims_minus_1[i] = (uint32_t)(globalDim[i] - 1);
		t.box[i] = (uint16_t)boxDim[i];
		t.element_strides[i] = (uint8_t)elementStrides[i];
		if (i + 1 < tensorRank)
			t.strides[i] = globalStrides[i];
	}
	if (!shape_valid(&t, element_bytes(tensorDataType)))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(tensorMap, &t, sizeof(t));
	return CUDA_SUCCESS;
}

/* The machine copies tiles only; a kernel that would use such a map is refused in any case. */
API cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
			    cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
			    const cuuint64_t *globalStrides, const int *pixelBoxLowerCorner,
			    const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
			    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides,
			    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
			    CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
	API_SCOPE(NEED_INIT);
	softgpu_log(SOFTGPU_LOG_ERROR, "cuTensorMapEncodeIm2col is not supported");
	return CUDA_ERROR_NOT_SUPPORTED;
}
