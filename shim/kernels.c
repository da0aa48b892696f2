/* SPDX-License-Identifier: MIT */
/* Follows function handle -> module -> image, and lays out parameters. */
#include "shim/kernels.h"

#include <errno.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "shim/functions.h"
#include "shim/hooks.h"
#include "shim/map.h"
#include "shim/params.h"
#include "shim/recorder.h"

#define PARAMS_MAX 4096u /* 32,764 bytes of parameters hold no more that are 8 bytes */

static struct map by_name;  /* hash of image and entry → struct kernel; table_lock */
static struct kernel **all; /* table_lock */
static size_t count, capacity;
static uint32_t next_number;

/* ---- parameters ---- */

static CUresult param_info(CUfunction handle, bool in_library, size_t i, size_t *offset,
			   size_t *size)
{
	return in_library ? real.cuKernelGetParamInfo((CUkernel)handle, i, offset, size)
			  : real.cuFuncGetParamInfo(handle, i, offset, size);
}

/* The driver says INVALID_VALUE behind the last one. After any other error nothing is known. */
static void read_layout(struct kernel *k, CUfunction handle, bool in_library)
{
	size_t room = 0, offset = 0, size = 0;
	CUresult r = CUDA_SUCCESS;

	if (in_library ? !real.cuKernelGetParamInfo : !real.cuFuncGetParamInfo)
		return;
	while (k->param_count < PARAMS_MAX) {
		r = param_info(handle, in_library, k->param_count, &offset, &size);
		if (r != CUDA_SUCCESS ||
		    array_reserve(&k->params, k->param_count, &room, sizeof(*k->params)) < 0)
			break;
		k->params[k->param_count++] =
			(struct record_param){.offset = (uint32_t)offset, .size = (uint32_t)size};
		if (offset + size > k->params_bytes)
			k->params_bytes = (uint32_t)(offset + size);
	}
	k->layout_known = r == CUDA_ERROR_INVALID_VALUE || k->param_count == PARAMS_MAX;
	if (!k->layout_known)
		k->param_count = k->params_bytes = 0;
}

static enum param_kind kind_of(const struct record_arg *arg)
{
	if (arg->pointer)
		return PARAM_POINTER;
	if (!strncmp(arg->type, "!tt.tensordesc", 14))
		return PARAM_DESCRIPTOR;
	return dtype_is_float(arg->dtype) ? PARAM_FLOAT : PARAM_INTEGER;
}

/* The arguments of .source come first; behind them what the compiler added. */
static void classify(struct kernel *k)
{
	const struct signature *s = k->image ? k->image->signature : NULL;

	k->kinds = calloc(k->param_count + 1, sizeof(*k->kinds));
	if (!k->kinds || !s || strcmp(s->entry, k->entry) != 0 || s->arg_count > k->param_count)
		return;
	for (size_t i = 0; i < s->arg_count; i++)
		if (signature_type_bytes(s->args[i].type) != k->params[i].size)
			return;
	for (size_t i = 0; i < k->param_count; i++) {
		if (i < s->arg_count)
			k->kinds[i] = kind_of(&s->args[i]);
		else if (k->params[i].size == sizeof(CUtensorMap))
			k->kinds[i] = PARAM_DESCRIPTOR;
		else
			k->kinds[i] = k->params[i].size == 8 ? PARAM_HIDDEN : PARAM_INTEGER;
	}
}

static uint32_t attribute(CUfunction function, bool in_library, CUfunction_attribute which)
{
	int value = 0;

	/* Loads it into the context where it is about to be launched anyway. */
	if (in_library && (!real.cuKernelGetFunction ||
			   real.cuKernelGetFunction(&function, (CUkernel)function) != CUDA_SUCCESS))
		return 0;
	return real.cuFuncGetAttribute(&value, which, function) == CUDA_SUCCESS && value > 0
		       ? (uint32_t)value
		       : 0;
}

/* ---- kernels ---- */

static uint64_t kernel_key(const struct image *image, const char *entry)
{
	struct hash128 e = hash_bytes(entry, strlen(entry));

	if (image->left_out) /* there is no hash of its bytes */
		return (e.low ^ (uintptr_t)image << 8) | 1;
	return (e.low ^ image->id.high ^ (image->id.low << 1)) | 1;
}

static void kernel_free(struct kernel *k)
{
	free(k->entry);
	free(k->params);
	free(k->kinds);
	params_plan_free(k);
	free(k);
}

static struct kernel *kernel_new(struct image *image, const char *entry, CUfunction function,
				 bool in_library)
{
	struct kernel *k = aligned_alloc(CACHE_LINE, sizeof(*k));

	if (!k)
		return NULL;
	memset(k, 0, sizeof(*k));
	k->image = image;
	k->entry = strdup(entry);
	k->wanted = image && image->wanted;
	if (k->entry && image)
		k->left = selection_left_out(recorder_settings(), entry);
	if (k->entry && k->wanted && !k->left) {
		k->recorded = true;
		read_layout(k, function, in_library);
		k->registers = attribute(function, in_library, CU_FUNC_ATTRIBUTE_NUM_REGS);
		k->static_shared_bytes =
			attribute(function, in_library, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
		k->local_bytes =
			attribute(function, in_library, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
		classify(k);
	}
	if (k->entry && (!k->recorded || (k->kinds && params_plan(k) >= 0)))
		return k;
	kernel_free(k);
	return NULL;
}

/* Caller holds table_lock. */
static int remember(struct kernel *k)
{
	if (array_reserve(&all, count, &capacity, sizeof(*all)) < 0)
		return -ENOMEM;
	k->number = k->recorded ? next_number++ : UINT32_MAX;
	all[count++] = k;
	return 0;
}

/* Caller holds table_lock. */
static int bind_function(CUfunction handle, uint64_t holder, struct kernel *k, bool in_library)
{
	return functions_put(handle, &(struct function){holder, k, in_library});
}

/* Caller holds load_lock, so nobody else makes the same kernel. */
static struct kernel *kernel_get(struct image *image, const char *entry, CUfunction function,
				 bool in_library)
{
	uint64_t key = kernel_key(image, entry);
	struct kernel *k;
	int r;

	pthread_mutex_lock(&recorder_table_lock);
	k = map_get(&by_name, key);
	pthread_mutex_unlock(&recorder_table_lock);
	if (k && k->image == image && !strcmp(k->entry, entry) && k->wanted == image->wanted)
		return k;
	k = kernel_new(image, entry, function, in_library);
	if (!k)
		return NULL;
	pthread_mutex_lock(&recorder_table_lock);
	r = remember(k);
	if (r >= 0)
		r = map_put(&by_name, key,
			    k); /* if this fails the kernel is known twice: no harm */
	pthread_mutex_unlock(&recorder_table_lock);
	return k;
}

/* image: what the holder was loaded from, or NULL. Caller holds load_lock. */
static void found(uint64_t holder, struct image *image, CUfunction handle, const char *entry,
		  bool in_library)
{
	struct kernel *k;
	int r;

	if (!image)
		return;
	images_decide(image, entry);
	k = kernel_get(image, entry, handle, in_library);
	pthread_mutex_lock(&recorder_table_lock);
	r = k ? bind_function(handle, holder, k, in_library) : -ENOMEM;
	pthread_mutex_unlock(&recorder_table_lock);
	if (r < 0)
		recorder_fail("remembering a function", r);
}

void kernels_found(CUmodule module, CUfunction function, const char *entry)
{
	struct image *image;

	pthread_mutex_lock(&recorder_load_lock);
	pthread_mutex_lock(&recorder_table_lock);
	image = images_of_module(module);
	pthread_mutex_unlock(&recorder_table_lock);
	found((uintptr_t)module, image, function, entry, false);
	pthread_mutex_unlock(&recorder_load_lock);
}

void kernels_found_in_library(CUlibrary library, CUkernel handle, const char *entry)
{
	struct image *image;

	pthread_mutex_lock(&recorder_load_lock);
	pthread_mutex_lock(&recorder_table_lock);
	image = images_of_library(library);
	pthread_mutex_unlock(&recorder_table_lock);
	found((uintptr_t)library, image, (CUfunction)handle, entry, true);
	pthread_mutex_unlock(&recorder_load_lock);
}

void kernels_function_of(CUkernel handle, CUfunction function)
{
	struct function f;
	int r = 0;

	pthread_mutex_lock(&recorder_table_lock);
	/* The same value may come back: a handle that is both is launched as it is. */
	if ((uintptr_t)function != (uintptr_t)handle && functions_get((CUfunction)handle, &f))
		r = bind_function(function, f.holder, f.kernel, false);
	pthread_mutex_unlock(&recorder_table_lock);
	if (r < 0)
		recorder_fail("remembering a function", r);
}

const void *kernels_library(CUfunction handle)
{
	const void *library = NULL;
	struct function f;

	pthread_mutex_lock(&recorder_table_lock);
	if (functions_get(handle, &f) && f.in_library)
		library = (const void *)f.holder;
	pthread_mutex_unlock(&recorder_table_lock);
	return library;
}

void kernels_load(CUfunction handle)
{
	const void *library = recorder_settings()->cupti && real.cuKernelGetFunction
				      ? kernels_library(handle)
				      : NULL;
	struct cupti_watch watch;
	CUfunction function;

	if (!library)
		return;
	images_listen_late(library, &watch);
	if (!watch.listening)
		return;
	real.cuKernelGetFunction(&function, (CUkernel)handle);
	cupti_end(&watch);
	images_heard(library, &watch);
}

struct kernel *kernels_adopt(CUfunction function)
{
	const char *name = NULL;
	CUmodule module = NULL;
	struct kernel *k;
	int r;

	/* The handle may be a CUkernel in disguise: then only cuKernelGetName knows it. */
	if (real.cuFuncGetName && real.cuFuncGetName(&name, function) == CUDA_SUCCESS) {
		if (real.cuFuncGetModule && name &&
		    real.cuFuncGetModule(&module, function) == CUDA_SUCCESS) {
			kernels_found(module, function, name);
			k = functions_kernel(function);
			if (k)
				return k;
		}
	} else if (!real.cuKernelGetName ||
		   real.cuKernelGetName(&name, (CUkernel)function) != CUDA_SUCCESS) {
		name = NULL;
	}
	k = kernel_new(NULL, name ? name : "", function, false);
	if (!k)
		return NULL;
	pthread_mutex_lock(&recorder_table_lock);
	r = remember(k);
	if (r >= 0 && bind_function(function, 0, k, false) < 0)
		r = 1; /* counted all the same: it will be adopted again */
	pthread_mutex_unlock(&recorder_table_lock);
	if (r < 0) {
		kernel_free(k);
		return NULL;
	}
	return k;
}

bool kernels_usable(CUfunction handle)
{
	struct function f;
	bool in_library;
	int value = 0;

	pthread_mutex_lock(&recorder_table_lock);
	in_library = functions_get(handle, &f) && f.in_library;
	pthread_mutex_unlock(&recorder_table_lock);
	if (in_library && (!real.cuKernelGetFunction ||
			   real.cuKernelGetFunction(&handle, (CUkernel)handle) != CUDA_SUCCESS))
		return false;
	return real.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, handle) == CUDA_SUCCESS;
}

void kernels_drop_holder(uint64_t holder)
{
	functions_drop(holder);
}

/* ---- records ---- */

int kernels_write(struct bundle_writer *w, struct kernel *k, CUfunction function)
{
	struct record_kernel record = {
		.number = k->number,
		.image = k->image->id,
		.entry = k->entry,
		.params.items = k->params,
		.params.count = k->param_count,
		.params_how = k->layout_known ? "cuFuncGetParamInfo" : NULL,
		.registers = k->registers,
		.static_shared_bytes = k->static_shared_bytes,
		.local_bytes = k->local_bytes,
	};
	struct function f;
	bool mine, in_library;

	pthread_mutex_lock(&recorder_table_lock);
	mine = !k->written;
	k->written = true;
	in_library = functions_get(function, &f) && f.in_library;
	pthread_mutex_unlock(&recorder_table_lock);
	if (!mine)
		return 0;
	if (function)
		record.max_dynamic_shared_bytes = attribute(
			function, in_library, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
	return bundle_put_kernel(w, &record);
}

void kernels_write_unlaunched(struct bundle_writer *w)
{
	for (size_t i = 0;; i++) {
		struct kernel *k;

		pthread_mutex_lock(&recorder_table_lock);
		k = i < count ? all[i] : NULL;
		pthread_mutex_unlock(&recorder_table_lock);
		if (!k)
			return;
		if (k->recorded && !k->written)
			recorder_put(kernels_write(w, k, NULL), "writing a kernel");
	}
}

void kernels_each(void (*visit)(struct kernel *kernel, void *data), void *data)
{
	for (size_t i = 0; i < count; i++)
		visit(all[i], data);
}

void kernels_forget(void)
{
	functions_forget();
	by_name = (struct map){0};
	all = NULL;
	count = capacity = 0;
	next_number = 0;
}
