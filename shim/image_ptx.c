/* SPDX-License-Identifier: MIT */
/* Finds the PTX of an image. */
#include "shim/image_ptx.h"

#include <stdlib.h>
#include <string.h>

#include "lib/fatbin.h"
#include "shim/cubin_elf.h"

static char *copy(const char *data, size_t bytes, size_t *size)
{
	char *text = malloc(bytes + 1);

	if (!text)
		return NULL;
	memcpy(text, data, bytes);
	text[bytes] = 0;
	*size = bytes;
	return text;
}

static char *debug_section(const char *data, size_t bytes, size_t *size)
{
	Elf64_Shdr section;
	struct elf e;

	if (!elf_open(&e, data, bytes))
		return NULL;
	for (unsigned i = 0; i < e.head.e_shnum; i++) {
		const char *name;

		if (!elf_section(&e, i, &section) || section.sh_type == SHT_NOBITS)
			continue;
		name = elf_text(&e, &e.names, section.sh_name);
		if (name && !strcmp(name, ".nv_debug_ptx_txt"))
			return copy(data + section.sh_offset, section.sh_size, size);
	}
	return NULL;
}

/*
 * The text of what the driver takes for sm: in its cubin, or PTX of the cubin's own architecture
 * beside it; without a cubin the PTX that it compiles.
 */
static char *of_fatbin(const char *data, size_t bytes, unsigned sm, size_t *size)
{
	const char *force = getenv("CUDA_FORCE_PTX_JIT"); /* the driver's own variable */
	struct fatbin_pick pick;
	struct error err;
	char *text = NULL;

	if (!fatbin_pick(&pick, data, bytes, sm, force && atoi(force), &err)) {
		if (pick.cubin)
			text = debug_section(pick.cubin, pick.cubin_size, size);
		if (!text && pick.ptx && (!pick.cubin || pick.cubin_arch == pick.ptx_arch)) {
			text = pick.ptx;
			*size = pick.ptx_size;
			pick.ptx = NULL;
		}
	}
	fatbin_pick_free(&pick);
	return text;
}

char *image_ptx(const struct image *image, unsigned sm, size_t *size)
{
	const struct cache_file *file = &image->cache.files[CACHE_PTX];

	if (file->data)
		return copy(file->data, file->size, size);
	if (!image->data)
		return NULL;
	switch (image->kind) {
	case IMAGE_PTX:
		return copy(image->data, strnlen(image->data, image->size), size);
	case IMAGE_CUBIN:
		return debug_section(image->data, image->size, size);
	case IMAGE_FATBIN:
		return of_fatbin(image->data, image->size, sm, size);
	default:
		return NULL;
	}
}
