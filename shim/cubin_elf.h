/* SPDX-License-Identifier: MIT */
/* Sections of a cubin in memory; the shim links no libelf. */
#ifndef SHIM_CUBIN_ELF_H
#define SHIM_CUBIN_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
	const char *data;
	size_t size;
	Elf64_Ehdr head;
	Elf64_Shdr names; /* the section of section names */
};

/* False: not a 64-bit ELF file with a section table. Borrows data. No header is trusted. */
bool elf_open(struct elf *e, const void *data, size_t size);

/* Section `index`, whose bytes lie in the file (or which has none there). */
bool elf_section(const struct elf *e, unsigned index, Elf64_Shdr *section);

/* The NUL-terminated text at `offset` of a string section; NULL if it does not end there. */
const char *elf_text(const struct elf *e, const Elf64_Shdr *strings, uint64_t offset);

#endif
