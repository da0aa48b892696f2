/* SPDX-License-Identifier: MIT */
/* Module variables of a recorded launch. */
#include "replay/variables.h"

#include <errno.h>
#include <stdlib.h>

void variables_free(struct variables *v)
{
	free(v->at);
	*v = (struct variables){0};
}

int variables_find(struct variables *v, const struct driver *driver, CUmodule module,
		   const struct contents *contents, struct error *err)
{
	*v = (struct variables){0};
	if (!contents->variable_count)
		return 0;
	v->at = calloc(contents->variable_count, sizeof(*v->at));
	if (!v->at)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for module variables");
	for (size_t i = 0; i < contents->variable_count; i++) {
		const struct variable *x = &contents->variables[i];
		size_t size = 0;

		if (!x->name || driver->cuModuleGetGlobal_v2(&v->at[i], &size, module, x->name) !=
					CUDA_SUCCESS) {
			v->at[i] = 0;
			continue;
		}
		if (size != x->size) {
			variables_free(v);
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "module variable %s has %zu bytes, recorded were %llu",
					 x->name, size, (unsigned long long)x->size);
		}
	}
	return 0;
}

CUresult variables_copy(const struct variables *v, const struct driver *driver,
			const struct contents *contents, const CUdeviceptr *live, bool to_module,
			CUstream stream)
{
	const struct byteset shape = {.pieces = &contents->pieces, .chunks = contents->chunks};
	CUresult result = CUDA_SUCCESS;

	for (size_t i = 0; v->at && i < contents->variable_count; i++) {
		const struct variable *x = &contents->variables[i];
		uint64_t done = 0;

		while (v->at[i] && result == CUDA_SUCCESS && done < x->size) {
			uint64_t address = x->address + done,
				 n = CHUNK_BYTES - address % CHUNK_BYTES;
			CUdeviceptr here =
				live[byteset_chunk(&shape, address)] + address % CHUNK_BYTES;
			CUdeviceptr there = v->at[i] + done;

			n = n < x->size - done ? n : x->size - done;
			result = driver->cuMemcpyDtoDAsync_v2(to_module ? there : here,
							      to_module ? here : there, n, stream);
			done += n;
		}
	}
	return result;
}
