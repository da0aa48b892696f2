/* SPDX-License-Identifier: MIT */
/* Makes, loads and keeps the variants of images. */
#include "shim/variants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/hooks.h"
#include "shim/pieces.h"

#define PLACES_MAX   16u
#define BUFFER_BYTES (1u << 20) /* at least, and doubled from there */
#define LOG_BYTES    2048u

struct image_variant {
	struct ptx_variant variant;
	char *reason; /* it cannot be had, or is not to be run any more */
	struct {
		unsigned long generation;
		CUmodule module;
	} loaded[PLACES_MAX];
};

static struct place places[PLACES_MAX];
static unsigned place_count;
static unsigned long generations;

struct place *variants_place(const char **why)
{
	CUcontext context = NULL;
	struct place *p = NULL;
	CUdeviceptr base;
	size_t size;

	if (real.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) {
		*why = "no context is current";
		return NULL;
	}
	for (unsigned i = 0; i < place_count; i++)
		if (places[i].context == context)
			p = &places[i];
	if (!p && place_count == PLACES_MAX) {
		*why = "more than 16 contexts";
		return NULL;
	}
	if (!p) {
		p = &places[place_count++];
		*p = (struct place){.context = context, .generation = ++generations};
	}
	/* Destroyed, and its handle used again: then its memory and modules are gone too. */
	if (p->buffer && (real.cuMemGetAddressRange_v2(&base, &size, p->buffer) != CUDA_SUCCESS ||
			  base != p->buffer || size < p->bytes))
		*p = (struct place){.context = context, .generation = ++generations};
	return p;
}

CUdeviceptr variants_buffer(struct place *place, uint64_t bytes, CUresult *result)
{
	uint64_t room = place->bytes ? place->bytes : BUFFER_BYTES;
	CUdeviceptr buffer = 0;

	*result = CUDA_SUCCESS;
	if (place->buffer && place->bytes >= bytes)
		return place->buffer;
	while (room < bytes)
		room *= 2;
	*result = real.cuMemAlloc_v2(&buffer, room);
	if (*result != CUDA_SUCCESS)
		return 0;
	place->buffer = buffer;
	place->bytes = room;
	return buffer;
}

CUfunction variants_pieces(struct place *place)
{
	if (!place->pieces && !place->pieces_lacks) {
		place->pieces = pieces_load();
		place->pieces_lacks = !place->pieces;
	}
	return place->pieces;
}

/* ---- the variant of an image ---- */

static struct image_variant *make(struct image *image)
{
	struct image_variant *v = calloc(1, sizeof(*v));
	struct error err = {0};

	if (!v)
		return NULL;
	if (!image->ptx)
		v->reason = strdup("no PTX of its image is known");
	else if (ptx_instrument(&v->variant, image->ptx, image->ptx_size, &err) < 0)
		v->reason = strdup(err.message);
	free(image->ptx);
	image->ptx = NULL;
	image->variant = v;
	return v;
}

static CUmodule load(struct image_variant *v, char *why, size_t size)
{
	char log[LOG_BYTES] = "", text[160];
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
	CUmodule module = NULL;
	CUresult r = real.cuModuleLoadDataEx(&module, v->variant.text, ARRAY_LENGTH(options),
					     options, values);

	if (r == CUDA_SUCCESS)
		return module;
	log[sizeof(log) - 1] = 0;
	log[strcspn(log, "\n")] = 0;
	snprintf(why, size, "its variant cannot be loaded: %s%s%s",
		 driver_error_text(&real, r, text, sizeof(text)), *log ? ": " : "", log);
	return NULL;
}

CUmodule variants_get(struct image *image, const char *entry_name, struct place *place,
		      const struct ptx_variant_entry **entry, char *why, size_t size)
{
	struct image_variant *v = image->variant ? image->variant : make(image);
	size_t index = (size_t)(place - places);

	if (!v || v->reason) {
		snprintf(why, size, "%s", v && v->reason ? v->reason : "no memory");
		return NULL;
	}
	*entry = ptx_variant_find(&v->variant, entry_name);
	if (!*entry || (*entry)->reason) {
		snprintf(why, size, "%s", *entry ? (*entry)->reason : "not an entry of the PTX");
		return NULL;
	}
	if (v->loaded[index].module && v->loaded[index].generation == place->generation)
		return v->loaded[index].module;
	v->loaded[index].module = load(v, why, size);
	v->loaded[index].generation = place->generation;
	if (!v->loaded[index].module)
		variants_give_up(image, why);
	return v->loaded[index].module;
}

void variants_give_up(struct image *image, const char *reason)
{
	if (!image->variant->reason)
		image->variant->reason = strdup(reason);
}

void variants_lose_buffer(CUdeviceptr buffer)
{
	for (unsigned i = 0; i < place_count; i++)
		if (places[i].buffer == buffer) {
			places[i].buffer = 0;
			places[i].bytes = 0;
		}
}

void variants_unload(struct image *image)
{
	struct image_variant *v = image->variant;

	for (unsigned i = 0; v && i < place_count; i++) {
		if (v->loaded[i].module && v->loaded[i].generation == places[i].generation)
			real.cuModuleUnload(v->loaded[i].module);
		v->loaded[i].module = NULL;
	}
}

void variants_forget(void)
{
	memset(places, 0, sizeof(places));
	place_count = 0;
}
