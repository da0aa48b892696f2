/* SPDX-License-Identifier: MIT */
/* Finds the PTX of an image. */
#include "shim/image_ptx.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

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

/* [offset, offset + bytes) lies in a file of `size` bytes. */
static bool within(uint64_t offset, uint64_t bytes, size_t size)
{
	return offset <= size && bytes <= size - offset;
}

static bool section_at(const struct image *image, const Elf64_Ehdr *e, unsigned index,
		       Elf64_Shdr *section)
{
	uint64_t at = e->e_shoff + (uint64_t)index * sizeof(*section);

	if (at < e->e_shoff || !within(at, sizeof(*section), image->size))
		return false;
	memcpy(section, image->data + at, sizeof(*section));
	return section->sh_type == SHT_NOBITS ||
	       within(section->sh_offset, section->sh_size, image->size);
}

static char *debug_section(const struct image *image, size_t *size)
{
	static const char wanted[] = ".nv_debug_ptx_txt";
	Elf64_Shdr names, section;
	Elf64_Ehdr e;

	if (image->size < sizeof(e))
		return NULL;
	memcpy(&e, image->data, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_shentsize != sizeof(section) || !section_at(image, &e, e.e_shstrndx, &names))
		return NULL;
	for (unsigned i = 0; i < e.e_shnum; i++) {
		if (!section_at(image, &e, i, &section) || section.sh_type == SHT_NOBITS ||
		    section.sh_name > names.sh_size ||
		    names.sh_size - section.sh_name < sizeof(wanted))
			continue;
		if (!memcmp(image->data + names.sh_offset + section.sh_name, wanted,
			    sizeof(wanted)))
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
