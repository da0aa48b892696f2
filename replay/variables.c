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

/* The part of [address, address + bytes) that is variable i: its bytes, *offset from address. */
static uint64_t part(const struct variable *x, uint64_t address, uint64_t bytes, uint64_t *offset)
{
	uint64_t from = x->address > address ? x->address : address;
	uint64_t end =
		x->address + x->size < address + bytes ? x->address + x->size : address + bytes;

	*offset = from - address;
	return from < end ? end - from : 0;
}

CUresult variables_put(const struct variables *v, const struct driver *driver,
		       const struct contents *contents, uint64_t address, const uint8_t *data,
		       uint64_t bytes)
{
	CUresult result = CUDA_SUCCESS;

	for (size_t i = 0; v && v->at && result == CUDA_SUCCESS && i < contents->variable_count;
	     i++) {
		const struct variable *x = &contents->variables[i];
		uint64_t offset, n = part(x, address, bytes, &offset);

		if (n && v->at[i])
			result = driver->cuMemcpyHtoD_v2(v->at[i] + (address + offset - x->address),
							 data + offset, n);
	}
	return result;
}

CUresult variables_get(const struct variables *v, const struct driver *driver,
		       const struct contents *contents, uint64_t address, uint8_t *data,
		       uint64_t bytes)
{
	CUresult result = CUDA_SUCCESS;

	for (size_t i = 0; v && v->at && result == CUDA_SUCCESS && i < contents->variable_count;
	     i++) {
		const struct variable *x = &contents->variables[i];
		uint64_t offset, n = part(x, address, bytes, &offset);

		if (n && v->at[i])
			result = driver->cuMemcpyDtoH_v2(
				data + offset, v->at[i] + (address + offset - x->address), n);
	}
	return result;
}
