/* SPDX-License-Identifier: MIT */
/* Modules: from an image to functions that can be launched. */
#include "softgpu/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "softgpu/device.h"
#include "softgpu/handle.h"
#include "softgpu/space.h"

static int module_globals(struct module *m, struct error *err)
{
	for (size_t i = 0; i < m->ptx->global_count; i++) {
		struct ptx_global *g = &m->ptx->globals[i];

		if (!g->size)
			continue;
		if (space_allocate(&g->address, g->size, g->align ? g->align : 1, RANGE_GLOBAL,
				   m->context))
			return error_set(err, ENOMEM, ERROR_NO_OFFSET,
					 "no device memory for module global %s (%llu bytes)",
					 g->name, (unsigned long long)g->size);
		if (g->initial)
			space_write(g->address, g->initial, g->size);
		else
			space_set(g->address, 0, 1, g->size);
	}
	return 0;
}

static int module_functions(struct module *m, struct error *err)
{
	m->functions = calloc(m->ptx->entry_count ? m->ptx->entry_count : 1, sizeof(*m->functions));
	if (!m->functions)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < m->ptx->entry_count; i++) {
		struct function *f = &m->functions[i];
		const struct cubin_kernel *k;

		f->module = m;
		f->entry = &m->ptx->entries[i];
		f->carveout = -1;
		f->max_dynamic_shared_bytes =
			f->entry->static_shared_bytes < DEVICE_SHARED_DEFAULT
				? DEVICE_SHARED_DEFAULT - f->entry->static_shared_bytes
				: 0;
		k = m->image.cubin ? cubin_kernel(m->image.cubin, f->entry->name) : NULL;
		f->registers = k ? k->registers : 0;
		f->handle = handle_new(HANDLE_FUNCTION, f);
		if (!f->handle)
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	}
	return 0;
}

int module_new(struct module **out, struct image *image, uint64_t context, struct error *err)
{
	struct module *m = calloc(1, sizeof(*m));
	int rc;

	if (!m) {
		image_close(image);
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	}
	m->image = *image;
	*image = (struct image){0};
	m->context = context;
	rc = ptx_module_parse(&m->ptx, m->image.ptx, m->image.ptx_size, err);
	if (!rc)
		rc = module_globals(m, err);
	if (!rc)
		rc = module_functions(m, err);
	if (!rc) {
		m->handle = handle_new(HANDLE_MODULE, m);
		if (!m->handle)
			rc = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	}
	if (rc) {
		module_free(m);
		return rc;
	}
	*out = m;
	return 0;
}

int module_new_library(struct module **out, struct image *image, struct error *err)
{
	struct module *m;
	int rc = module_new(&m, image, 0, err);

	if (rc)
		return rc;
	m->library = handle_new(HANDLE_LIBRARY, m);
	for (size_t i = 0; m->library && i < m->ptx->entry_count; i++) {
		m->functions[i].kernel = handle_new(HANDLE_KERNEL, &m->functions[i]);
		if (!m->functions[i].kernel)
			rc = -ENOMEM;
	}
	if (!m->library || rc) {
		module_free(m);
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	}
	*out = m;
	return 0;
}

void module_free(struct module *m)
{
	handle_free(HANDLE_MODULE, m->handle);
	handle_free(HANDLE_LIBRARY, m->library);
	for (size_t i = 0; m->functions && i < m->ptx->entry_count; i++) {
		handle_free(HANDLE_FUNCTION, m->functions[i].handle);
		handle_free(HANDLE_KERNEL, m->functions[i].kernel);
	}
	for (size_t i = 0; m->ptx && i < m->ptx->global_count; i++)
		if (m->ptx->globals[i].address)
			space_free(m->ptx->globals[i].address, RANGE_GLOBAL);
	free(m->functions);
	if (m->ptx)
		ptx_module_free(m->ptx);
	image_close(&m->image);
	free(m);
}

void module_free_context(uint64_t context)
{
	struct module *m;

	for (size_t cursor = 0; (m = handle_next(HANDLE_MODULE, &cursor));)
		if (m->context == context)
			module_free(m);
}

struct function *module_function(struct module *m, const char *name)
{
	const struct ptx_entry *entry = ptx_module_entry(m->ptx, name);

	return entry ? &m->functions[entry - m->ptx->entries] : NULL;
}

struct function *kernel_get(CUkernel handle)
{
	return handle_get(HANDLE_KERNEL, (uint64_t)handle);
}

struct ptx_global *module_global(struct module *m, const char *name)
{
	for (size_t i = 0; i < m->ptx->global_count; i++)
		if (!strcmp(m->ptx->globals[i].name, name))
			return &m->ptx->globals[i];
	return NULL;
}
