/* SPDX-License-Identifier: MIT */
/* Loaded modules: their PTX, functions and globals. */
#ifndef SOFTGPU_MODULE_H
#define SOFTGPU_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "softgpu/image.h"
#include "softgpu/ptx.h"

struct function {
	uint64_t handle;
	struct module *module;
	const struct ptx_entry *entry;
	uint32_t registers; /* from the cubin; 0 where the program brought PTX */
	uint32_t max_dynamic_shared_bytes;
	int carveout; /* preferred shared memory in percent, -1 = driver's choice */
	int non_portable_cluster;
};

struct module {
	uint64_t handle, context;
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
void module_free(struct module *m);
void module_free_context(uint64_t context);

struct function *module_function(struct module *m, const char *name); /* or NULL */
struct ptx_global *module_global(struct module *m, const char *name); /* or NULL */

#endif
