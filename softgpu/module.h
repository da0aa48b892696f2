/* SPDX-License-Identifier: MIT */
/* Loaded modules: their PTX, functions and globals. */
#ifndef SOFTGPU_MODULE_H
#define SOFTGPU_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "drv/entries.h"
#include "kernelab/error.h"
#include "softgpu/context.h"
#include "softgpu/image.h"
#include "softgpu/ptx.h"

struct function {
	uint64_t handle;
	uint64_t kernel; /* handle as a CUkernel where the module is a library's, else 0 */
	struct module *module;
	const struct ptx_entry *entry;
	uint32_t registers; /* from the cubin; 0 where the program brought PTX */
	uint32_t max_dynamic_shared_bytes;
	int carveout; /* preferred shared memory in percent, -1 = driver's choice */
	int non_portable_cluster;
};

struct module {
	uint64_t handle, context; /* context 0: a library's, good in all */
	uint64_t library;         /* handle as a CUlibrary, or 0 */
	struct image image;
	struct ptx_module *ptx;
	struct function *functions; /* one an entry of ptx */
};

/*
 * Makes a module of an image, whose contents it takes over (also on failure). Globals get device
 * memory with their initial values. 0; -EINVAL or -ENOTSUP from the PTX parser, -ENOMEM; with err.
 * Under the API lock, like all of it.
 */
int module_new(struct module **out, struct image *image, uint64_t context, struct error *err);
/*
 * Makes a module that is a library: of all contexts (on a GPU each context gets globals of its
 * own; here they share them), with a CUkernel for each function. As module_new.
 */
int module_new_library(struct module **out, struct image *image, struct error *err);
/*
 * image_open and module_new, or module_new_library where context is NULL; logs what is wrong. size
 * SIZE_MAX: unknown. where names the image in messages: a path, or the entry called.
 */
CUresult module_load(struct module **out, const void *data, size_t size, const char *where,
		     const struct context *context, struct error *err);
CUresult module_load_file(struct module **out, const char *path, const char *where,
			  const struct context *context);
void module_free(struct module *m);
void module_free_context(uint64_t context);

struct function *module_function(struct module *m, const char *name); /* or NULL */
struct function *kernel_get(CUkernel handle); /* the function of a library's kernel, or NULL */
struct ptx_global *module_global(struct module *m, const char *name); /* or NULL */

#endif
