/* SPDX-License-Identifier: MIT */
/* Launches. */
#include "softgpu/launch.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/device.h"
#include "softgpu/graph.h"
#include "softgpu/handle.h"
#include "softgpu/log.h"
#include "softgpu/machine.h"
#include "softgpu/space.h"
#include "softgpu/stream.h"

struct function *function_get(CUfunction handle)
{
	return handle_get(HANDLE_FUNCTION, (uint64_t)handle);
}

struct function *launch_function(CUfunction handle)
{
	struct function *f = function_get(handle);

	return f ? f : kernel_get((CUkernel)handle);
}

static CUresult launch_refuse(const struct launch *l, CUresult result, const char *why)
{
	softgpu_log(SOFTGPU_LOG_ERROR,
		    "launch of %s refused: %s (grid %u,%u,%u block %u,%u,%u, %u bytes shared)",
		    l->function->entry->name, why, l->grid[0], l->grid[1], l->grid[2], l->block[0],
		    l->block[1], l->block[2], l->shared_bytes);
	return result;
}

static CUresult launch_check(const struct launch *l)
{
	const struct ptx_entry *e = l->function->entry;
	const uint32_t *g = l->grid, *b = l->block;
	uint64_t threads = (uint64_t)b[0] * b[1];

	if (!g[0] || !g[1] || !g[2] || g[0] > INT32_MAX || g[1] > 65535 || g[2] > 65535)
		return launch_refuse(l, CUDA_ERROR_INVALID_VALUE, "grid out of range");
	if (!b[0] || !b[1] || !b[2] || b[0] > 1024 || b[1] > 1024 || b[2] > 64 ||
	    threads * b[2] > 1024)
		return launch_refuse(l, CUDA_ERROR_INVALID_VALUE, "block out of range");
	threads *= b[2];
	if (e->required_block[0] && (b[0] != e->required_block[0] || b[1] != e->required_block[1] ||
				     b[2] != e->required_block[2]))
		return launch_refuse(l, CUDA_ERROR_INVALID_VALUE, "block is not that of .reqntid");
	if (threads > e->max_threads)
		return launch_refuse(l, CUDA_ERROR_INVALID_VALUE, "block is larger than .maxntid");
	if (l->shared_bytes > l->function->max_dynamic_shared_bytes)
		return launch_refuse(l, CUDA_ERROR_INVALID_VALUE,
				     "more dynamic shared memory than "
				     "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES");
	return CUDA_SUCCESS;
}

/* Reads `extra`: a buffer laid out as the kernel's parameters. */
static CUresult params_from_extra(const struct launch *l, uint8_t *out)
{
	const struct ptx_entry *e = l->function->entry;
	const void *buffer = NULL;
	size_t size = 0;

	for (void **x = l->extra; *x != CU_LAUNCH_PARAM_END; x += 2) {
		if (*x == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = x[1];
		else if (*x == CU_LAUNCH_PARAM_BUFFER_SIZE && x[1])
			size = *(const size_t *)x[1];
		else
			return launch_refuse(l, CUDA_ERROR_INVALID_VALUE, "unknown entry in extra");
	}
	if (size < e->params_bytes || (!buffer && e->params_bytes))
		return launch_refuse(l, CUDA_ERROR_INVALID_VALUE,
				     "extra is smaller than the kernel's parameters");
	if (e->params_bytes)
		memcpy(out, buffer, e->params_bytes);
	return CUDA_SUCCESS;
}

static CUresult params_read(const struct launch *l, uint8_t *out)
{
	const struct ptx_entry *e = l->function->entry;

	if (l->params && l->extra)
		return launch_refuse(l, CUDA_ERROR_INVALID_VALUE, "both kernelParams and extra");
	if (l->extra)
		return params_from_extra(l, out);
	if (!l->params && e->param_count)
		return launch_refuse(l, CUDA_ERROR_INVALID_VALUE, "no parameters");
	for (size_t i = 0; i < e->param_count; i++) {
		if (!l->params[i])
			return launch_refuse(l, CUDA_ERROR_INVALID_VALUE, "a parameter is NULL");
		memcpy(out + e->params[i].offset, l->params[i], e->params[i].size);
	}
	return CUDA_SUCCESS;
}

/* The code a GPU's driver returns for a fault. */
static CUresult fault_result(enum machine_fault_kind kind)
{
	switch (kind) {
	case MACHINE_OK:
		return CUDA_SUCCESS;
	case MACHINE_ILLEGAL_ADDRESS:
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	case MACHINE_MISALIGNED:
		return CUDA_ERROR_MISALIGNED_ADDRESS;
	case MACHINE_TRAP:
		return CUDA_ERROR_LAUNCH_FAILED;
	case MACHINE_DEADLOCK: /* a GPU would hang until its watchdog */
	case MACHINE_TIMEOUT:
		return CUDA_ERROR_LAUNCH_TIMEOUT;
	case MACHINE_NO_MEMORY:
		return CUDA_ERROR_OUT_OF_MEMORY;
	case MACHINE_UNSUPPORTED:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_ERROR_UNKNOWN;
}

/* Under the API lock. */
static uint64_t launch_seed(const struct device_settings *s)
{
	static uint64_t launches;

	return s->varies ? s->seed + launches++ : s->seed;
}

static CUresult launch_execute(const struct launch *l, const uint8_t *params)
{
	const struct device_settings *s = device_settings();
	struct machine_fault fault = {0};
	struct machine_launch m = {
		.module = l->function->module->ptx,
		.entry = l->function->entry,
		.grid = {l->grid[0], l->grid[1], l->grid[2]},
		.block = {l->block[0], l->block[1], l->block[2]},
		.dynamic_shared_bytes = l->shared_bytes,
		.params = params,
		.instruction_quota = s->quota,
		.contract = s->contract,
		.schedule_seed = launch_seed(s),
	};
	enum machine_fault_kind kind;

	m.ranges = space_ranges(&m.range_count);
	if (!m.ranges)
		return CUDA_ERROR_OUT_OF_MEMORY;
	kind = machine_run(&m, &fault, NULL);
	if (kind == MACHINE_OK)
		return CUDA_SUCCESS;
	softgpu_log(SOFTGPU_LOG_ERROR, "%s", fault.message);
	device_lose(fault_result(kind));
	/* A GPU has no such thing as an unsupported operation: do not pretend that it was started.
	 */
	if (s->blocking || kind == MACHINE_UNSUPPORTED || kind == MACHINE_NO_MEMORY)
		return device_lost();
	return CUDA_SUCCESS;
}

CUresult launch_run(const struct launch *l, struct context *context)
{
	_cleanup_free_ uint8_t *params = NULL;
	CUresult result;

	if (!l->function->module->library && l->function->module->context != context->handle)
		return launch_refuse(l, CUDA_ERROR_INVALID_HANDLE, "function of another context");
	if (!stream_valid(l->stream, context->handle))
		return launch_refuse(l, CUDA_ERROR_INVALID_HANDLE, "unknown stream");
	result = launch_check(l);
	if (result != CUDA_SUCCESS)
		return result;
	params = calloc(1, l->function->entry->params_bytes + 1);
	if (!params)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = params_read(l, params);
	if (result != CUDA_SUCCESS)
		return result;
	if (graph_capturing(l->stream))
		return graph_capture_kernel(l, params);
	return launch_execute(l, params);
}

CUresult launch_into_node(const struct launch *l, struct graph_node *node)
{
	_cleanup_free_ uint8_t *params = calloc(1, l->function->entry->params_bytes + 1);
	CUresult result = launch_check(l);

	if (result != CUDA_SUCCESS)
		return result;
	if (!params)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = params_read(l, params);
	if (result != CUDA_SUCCESS)
		return result;
	return graph_set_kernel(node, l, params) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

int launch_occupancy(const struct function *f, uint32_t block_threads, uint64_t shared_bytes)
{
	uint64_t warps = (block_threads + 31) / 32;
	uint64_t shared = shared_bytes + f->entry->static_shared_bytes;
	uint64_t blocks = DEVICE_BLOCKS_SM, limit;

	if (block_threads > f->entry->max_threads || shared > DEVICE_SHARED_OPTIN)
		return 0;
	limit = DEVICE_THREADS_SM / (warps * 32);
	blocks = limit < blocks ? limit : blocks;
	limit = DEVICE_SHARED_SM / (shared + DEVICE_SHARED_SYSTEM);
	blocks = limit < blocks ? limit : blocks;
	if (f->registers) {
		limit = DEVICE_REGISTERS / (warps * 32 * ((f->registers + 7) / 8 * 8));
		blocks = limit < blocks ? limit : blocks;
	}
	return (int)blocks;
}
