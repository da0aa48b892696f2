/* SPDX-License-Identifier: MIT */
/* API: launches. The _ptsz twins differ in the default stream only, and all streams are alike here.
 */
#include "softgpu/device.h"

#include "softgpu/fault.h"
#include "softgpu/launch.h"
#include "softgpu/log.h"

static CUresult launch_plain(CUfunction f, const unsigned grid[3], const unsigned block[3],
			     unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
	API_SCOPE(NEED_LIVE);
	struct launch l = {
		.function = launch_function(f),
		.grid = {grid[0], grid[1], grid[2]},
		.block = {block[0], block[1], block[2]},
		.shared_bytes = shared_bytes,
		.stream = stream,
		.params = params,
		.extra = extra,
	};

	return l.function ? launch_run(&l, api.context) : CUDA_ERROR_INVALID_HANDLE;
}

API cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
		   unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
		   unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
		   void **kernelParams, void **extra)
{
	API_FAULT();
	return launch_plain(f, (unsigned[]){gridDimX, gridDimY, gridDimZ},
			    (unsigned[]){blockDimX, blockDimY, blockDimZ}, sharedMemBytes, hStream,
			    kernelParams, extra);
}

API cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
			unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
			unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
			void **kernelParams, void **extra)
{
	API_FAULT();
	return launch_plain(f, (unsigned[]){gridDimX, gridDimY, gridDimZ},
			    (unsigned[]){blockDimX, blockDimY, blockDimZ}, sharedMemBytes, hStream,
			    kernelParams, extra);
}

/* What a launch attribute means here. */
enum attribute_verdict {
	ATTRIBUTE_FINE,
	ATTRIBUTE_UNSUPPORTED,
	ATTRIBUTE_CLUSTER_SIZE,
	ATTRIBUTE_UNKNOWN
};

/* A cluster of zeros is none. More than 8 blocks need an opt-in, 16 are the most. */
static enum attribute_verdict cluster_check(const CUlaunchConfig *config,
					    const CUlaunchAttribute *a)
{
	uint64_t x = a->value.clusterDim.x, y = a->value.clusterDim.y, z = a->value.clusterDim.z;

	if (x <= 1 && y <= 1 && z <= 1)
		return ATTRIBUTE_FINE;
	if (!x || !y || !z || x > 16 || y > 16 || z > 16 || x * y * z > 16 ||
	    config->gridDimX % x || config->gridDimY % y || config->gridDimZ % z)
		return ATTRIBUTE_CLUSTER_SIZE;
	return ATTRIBUTE_UNSUPPORTED;
}

static enum attribute_verdict attribute_check(const CUlaunchConfig *config,
					      const CUlaunchAttribute *a)
{
	switch ((int)a->id) {
	case CU_LAUNCH_ATTRIBUTE_IGNORE:
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		return ATTRIBUTE_FINE; /* about speed only */
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
		return ATTRIBUTE_FINE; /* allows overlap, does not ask for it */
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		/* Blocks run one after the other: a barrier of the grid would never open. */
		return a->value.cooperative && (uint64_t)config->gridDimX * config->gridDimY *
							       config->gridDimZ >
						       1
			       ? ATTRIBUTE_UNSUPPORTED
			       : ATTRIBUTE_FINE;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		return cluster_check(config, a);
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
	case 11: /* PREFERRED_CLUSTER_DIMENSION; with a cluster dimension of 1 it changes nothing */
	case 12: /* LAUNCH_COMPLETION_EVENT */
	case 13: /* DEVICE_UPDATABLE_KERNEL_NODE */
		return ATTRIBUTE_UNSUPPORTED;
	case 14: /* PREFERRED_SHARED_MEMORY_CARVEOUT */
	case 16: /* NVLINK_UTIL_CENTRIC_SCHEDULING */
		return ATTRIBUTE_FINE;
	default:
		return ATTRIBUTE_UNKNOWN;
	}
}

static CUresult launch_extended(const CUlaunchConfig *config, CUfunction f, void **params,
				void **extra)
{
	API_SCOPE(NEED_LIVE);
	struct launch l = {.function = launch_function(f), .params = params, .extra = extra};

	if (!config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	if (!l.function)
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < config->numAttrs; i++) {
		switch (attribute_check(config, &config->attrs[i])) {
		case ATTRIBUTE_FINE:
			l.cooperative |= config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
					 config->attrs[i].value.cooperative;
			break;
		case ATTRIBUTE_UNSUPPORTED:
			softgpu_log(
				SOFTGPU_LOG_ERROR,
				"launch of %s refused: attribute %d (cluster, cooperative grid, "
				"event or graph node) is not supported",
				l.function->entry->name, config->attrs[i].id);
			return CUDA_ERROR_NOT_SUPPORTED;
		case ATTRIBUTE_CLUSTER_SIZE:
			softgpu_log(SOFTGPU_LOG_ERROR,
				    "launch of %s refused: cluster %u,%u,%u does not fit its grid",
				    l.function->entry->name, config->attrs[i].value.clusterDim.x,
				    config->attrs[i].value.clusterDim.y,
				    config->attrs[i].value.clusterDim.z);
			return CUDA_ERROR_INVALID_CLUSTER_SIZE;
		case ATTRIBUTE_UNKNOWN:
			softgpu_log(SOFTGPU_LOG_ERROR,
				    "launch of %s refused: unknown launch attribute %d",
				    l.function->entry->name, config->attrs[i].id);
			return CUDA_ERROR_INVALID_VALUE;
		}
	}
	l.grid[0] = config->gridDimX;
	l.grid[1] = config->gridDimY;
	l.grid[2] = config->gridDimZ;
	l.block[0] = config->blockDimX;
	l.block[1] = config->blockDimY;
	l.block[2] = config->blockDimZ;
	l.shared_bytes = config->sharedMemBytes;
	l.stream = config->hStream;
	return launch_run(&l, api.context);
}

API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
	API_FAULT();
	return launch_extended(config, f, kernelParams, extra);
}

API cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
			  void **extra)
{
	API_FAULT();
	return launch_extended(config, f, kernelParams, extra);
}

static CUresult launch_cooperative(CUfunction f, const unsigned grid[3], const unsigned block[3],
				   unsigned shared_bytes, CUstream stream, void **params)
{
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
				       .value.cooperative = 1};
	CUlaunchConfig config = {.gridDimX = grid[0],
				 .gridDimY = grid[1],
				 .gridDimZ = grid[2],
				 .blockDimX = block[0],
				 .blockDimY = block[1],
				 .blockDimZ = block[2],
				 .sharedMemBytes = shared_bytes,
				 .hStream = stream,
				 .attrs = &attribute,
				 .numAttrs = 1};

	return launch_extended(&config, f, params, NULL);
}

API cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
			      unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
			      unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
			      void **kernelParams)
{
	API_FAULT();
	return launch_cooperative(f, (unsigned[]){gridDimX, gridDimY, gridDimZ},
				  (unsigned[]){blockDimX, blockDimY, blockDimZ}, sharedMemBytes,
				  hStream, kernelParams);
}

API cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
				   unsigned int gridDimZ, unsigned int blockDimX,
				   unsigned int blockDimY, unsigned int blockDimZ,
				   unsigned int sharedMemBytes, CUstream hStream,
				   void **kernelParams)
{
	API_FAULT();
	return launch_cooperative(f, (unsigned[]){gridDimX, gridDimY, gridDimZ},
				  (unsigned[]){blockDimX, blockDimY, blockDimZ}, sharedMemBytes,
				  hStream, kernelParams);
}

/* ---- occupancy: what an sm_90 GPU would answer from the same resources ---- */

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
						size_t dynamicSMemSize)
{
	API_SCOPE(NEED_LIVE);
	struct function *f = function_get(func);

	if (!numBlocks || blockSize <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	*numBlocks = launch_occupancy(f, (uint32_t)blockSize, dynamicSMemSize);
	return CUDA_SUCCESS;
}

API cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)
{
	API_SCOPE(NEED_LIVE);
	struct function *f = function_get(func);
	uint64_t cluster = 1, threads;

	if (!numClusters || !config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *a = &config->attrs[i];

		if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			cluster = (uint64_t)a->value.clusterDim.x * a->value.clusterDim.y *
				  a->value.clusterDim.z;
	}
	threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
	if (!threads || threads > 1024 || !cluster || cluster > 16)
		return CUDA_ERROR_INVALID_VALUE;
	*numClusters = cluster > 1
			       ? 0 /* cannot be launched here */
			       : launch_occupancy(f, (uint32_t)threads, config->sharedMemBytes) *
					 DEVICE_MULTIPROCESSORS;
	return CUDA_SUCCESS;
}
