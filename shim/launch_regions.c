/* SPDX-License-Identifier: MIT */
/* The memory that a launch reaches: module variables, and what its parameters point to. */
#include "shim/launch_regions.h"

#include <string.h>

#include "shim/globals.h"
#include "shim/tensor_maps.h"

static int add_descriptors(struct regions *regions, struct bundle_writer *w,
			   const struct launch_facts *f, const struct record_param *p)
{
	int r = 0, written = 0;

	/* By value in a parameter or inside a struct; CUtensorMap is 64-byte aligned. */
	for (uint64_t at = p->offset + (-p->offset & 63u);
	     r >= 0 && at + sizeof(CUtensorMap) <= (uint64_t)p->offset + p->size; at += 64) {
		uint64_t address;

		if (!tensor_maps_find(w, f->params + at, &address, &written))
			continue;
		r = written < 0 ? written : regions_add(regions, address, at);
	}
	return r;
}

int launch_regions_find(struct regions *regions, struct bundle_writer *w,
			const struct launch_facts *f)
{
	struct record_param whole = {.size = (uint32_t)f->params_size};
	const struct record_param *params = f->kernel->params;
	size_t count = f->kernel->param_count;
	int r = 0;

	if (!f->kernel->layout_known) { /* an `extra` buffer is taken as one piece */
		params = &whole;
		count = 1;
	}
	r = globals_add(regions, f);
	for (size_t i = 0; i < count && r >= 0; i++) {
		uint64_t end = (uint64_t)params[i].offset + params[i].size;

		if (end > f->params_size)
			continue;
		for (uint64_t at = (params[i].offset + 7u) & ~7ull; r >= 0 && at + 8 <= end;
		     at += 8) {
			uint64_t word;

			memcpy(&word, f->params + at, sizeof(word));
			r = regions_add(regions, word, at);
		}
		if (r >= 0)
			r = add_descriptors(regions, w, f, &params[i]);
	}
	if (r >= 0)
		regions_merge(regions);
	return r;
}
