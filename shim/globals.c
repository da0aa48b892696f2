/* SPDX-License-Identifier: MIT */
/* Module variables of the kernel that is launched, as regions of the launch. */
#include "shim/globals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base.h"
#include "shim/hooks.h"
#include "shim/recorder.h"

#define UNFOUND_SHOWN 8u

/* The module of a function or of a library's kernel in the current context; NULL: not told. */
static CUmodule module_of(CUfunction handle)
{
	CUfunction function = NULL;
	CUmodule module = NULL;

	if (!real.cuFuncGetModule)
		return NULL;
	if (real.cuFuncGetModule(&module, handle) == CUDA_SUCCESS)
		return module;
	if (!real.cuKernelGetFunction ||
	    real.cuKernelGetFunction(&function, (CUkernel)handle) != CUDA_SUCCESS ||
	    real.cuFuncGetModule(&module, function) != CUDA_SUCCESS)
		return NULL;
	return module;
}

static int add_unfound(struct regions *regions, const char *name, CUresult result)
{
	if (array_reserve(&regions->unfound, regions->unfound_count, &regions->unfound_capacity,
			  sizeof(*regions->unfound)) < 0)
		return -ENOMEM;
	regions->unfound[regions->unfound_count++] = name;
	regions->unfound_result = result;
	return 0;
}

int globals_add(struct regions *regions, const struct launch_facts *f)
{
	struct image_globals globals;
	CUmodule module;
	int r = 0;

	pthread_mutex_lock(&recorder_table_lock);
	globals = f->kernel->image->globals; /* its items live as long as the process */
	pthread_mutex_unlock(&recorder_table_lock);
	module = globals.count ? module_of(f->call->function) : NULL;
	if (globals.unknown)
		regions->missing =
			"its module variables are not recorded: they are not known (fact "
			"capture.module_globals_unknown)";
	else if (globals.count && !module)
		regions->missing =
			"its module variables are not recorded: the driver does not tell "
			"the function's module";
	for (size_t i = 0; module && r >= 0 && i < globals.count; i++) {
		const struct image_global *g = &globals.items[i];
		CUdeviceptr base = 0;
		size_t size = 0;
		CUresult result = real.cuModuleGetGlobal_v2(&base, &size, module, g->name);

		if (result != CUDA_SUCCESS)
			r = add_unfound(regions, g->name, result);
		else if (base && size) /* an array without elements has neither */
			r = regions_add_global(regions, base, size, g->name, g->dtype, g->constant);
	}
	return r;
}

char *globals_note(const struct regions *regions)
{
	char reason[160], *text = NULL;
	size_t bytes;
	FILE *f;

	if (!regions->unfound_count)
		return NULL;
	f = open_memstream(&text, &bytes);
	if (!f)
		return NULL;
	fprintf(f, "module variables that the driver does not find are not recorded: %s",
		driver_error_text(&real, regions->unfound_result, reason, sizeof(reason)));
	for (size_t i = 0; i < regions->unfound_count && i < UNFOUND_SHOWN; i++)
		fprintf(f, "%s %s", i ? "," : ":", regions->unfound[i]);
	if (regions->unfound_count > UNFOUND_SHOWN)
		fprintf(f, " and %zu more", regions->unfound_count - UNFOUND_SHOWN);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

const char *globals_hidden(const struct regions *regions, CUmodule module)
{
	for (size_t i = 0; i < regions->unfound_count; i++) {
		CUdeviceptr base;
		size_t size;

		if (real.cuModuleGetGlobal_v2(&base, &size, module, regions->unfound[i]) ==
		    CUDA_SUCCESS)
			return regions->unfound[i];
	}
	return NULL;
}

CUresult globals_copy(const struct regions *regions, CUmodule module, CUstream stream,
		      uint64_t *addresses)
{
	for (size_t i = 0; i < regions->count; i++) {
		const struct record_region *g = &regions->items[i];
		CUdeviceptr base = 0;
		size_t size = 0;
		CUresult r;

		addresses[i] = 0;
		if (g->memory != MEMORY_GLOBAL ||
		    real.cuModuleGetGlobal_v2(&base, &size, module, g->name) != CUDA_SUCCESS)
			continue;
		if (size != g->size)
			return CUDA_ERROR_INVALID_VALUE;
		r = real.cuMemcpyDtoDAsync_v2(base, g->base, size, stream);
		if (r != CUDA_SUCCESS)
			return r;
		addresses[i] = base;
	}
	return CUDA_SUCCESS;
}
