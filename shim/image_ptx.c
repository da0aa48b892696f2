/* SPDX-License-Identifier: MIT */
/* Finds the PTX of an image. */
#include "shim/image_ptx.h"

#include <stdlib.h>
#include <string.h>

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

static char *debug_section(const struct image *image, size_t *size)
{
	Elf64_Shdr section;
	struct elf e;

	if (!elf_open(&e, image->data, image->size))
		return NULL;
	for (unsigned i = 0; i < e.head.e_shnum; i++) {
		const char *name;

		if (!elf_section(&e, i, &section) || section.sh_type == SHT_NOBITS)
			continue;
		name = elf_text(&e, &e.names, section.sh_name);
		if (name && !strcmp(name, ".nv_debug_ptx_txt"))
			return copy(image->data + section.sh_offset, section.sh_size, size);
	}
	return NULL;
}

char *image_ptx(const struct image *image, size_t *size)
{
	const struct cache_file *file = &image->cache.files[CACHE_PTX];

	if (file->data)
		return copy(file->data, file->size, size);
	if (!image->data)
		return NULL;
	if (image->kind == IMAGE_PTX)
		return copy(image->data, strnlen(image->data, image->size), size);
	return image->kind == IMAGE_CUBIN ? debug_section(image, size) : NULL;
}
