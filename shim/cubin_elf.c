/* SPDX-License-Identifier: MIT */
/* Sections of a cubin in memory; the shim links no libelf. */
#include "shim/cubin_elf.h"

#include <string.h>

/* [offset, offset + bytes) lies in a file of `size` bytes. */
static bool within(uint64_t offset, uint64_t bytes, size_t size)
{
	return offset <= size && bytes <= size - offset;
}

bool elf_section(const struct elf *e, unsigned index, Elf64_Shdr *section)
{
	uint64_t at = e->head.e_shoff + (uint64_t)index * sizeof(*section);

	if (index >= e->head.e_shnum || at < e->head.e_shoff ||
	    !within(at, sizeof(*section), e->size))
		return false;
	memcpy(section, e->data + at, sizeof(*section));
	return section->sh_type == SHT_NOBITS ||
	       within(section->sh_offset, section->sh_size, e->size);
}

bool elf_open(struct elf *e, const void *data, size_t size)
{
	*e = (struct elf){.data = data, .size = size};
	if (size < sizeof(e->head))
		return false;
	memcpy(&e->head, data, sizeof(e->head));
	return !memcmp(e->head.e_ident, ELFMAG, SELFMAG) &&
	       e->head.e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->head.e_shentsize == sizeof(Elf64_Shdr) &&
	       elf_section(e, e->head.e_shstrndx, &e->names);
}

const char *elf_text(const struct elf *e, const Elf64_Shdr *strings, uint64_t offset)
{
	if (strings->sh_type == SHT_NOBITS || offset >= strings->sh_size ||
	    !memchr(e->data + strings->sh_offset + offset, 0, strings->sh_size - offset))
		return NULL;
	return e->data + strings->sh_offset + offset;
}
