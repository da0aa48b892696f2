/* SPDX-License-Identifier: MIT */
/* Looks at the relocated references of every loaded object. */
#include "shim/bypass.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "shim/hooks.h"

#define NAMES_MAX 16

#if defined(__x86_64__)
#define IS_REFERENCE(type) \
	((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_REFERENCE(type) \
	((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#endif

struct object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * rela, *jumps;
	size_t rela_count, jump_count;
};

/* glibc relocates these addresses in place on most architectures, but not on all. */
static const void *address(uintptr_t base, ElfW(Addr) value)
{
	return (const void *)(value < base ? value + base : value);
}

static void read_dynamic(struct object *o, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			o->symbols = address(o->base, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			o->names = address(o->base, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELA)
			o->rela = address(o->base, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			o->rela_count = d->d_un.d_val / sizeof(*o->rela);
		else if (d->d_tag == DT_JMPREL)
			o->jumps = address(o->base, d->d_un.d_ptr);
		else if (d->d_tag == DT_PLTRELSZ)
			o->jump_count = d->d_un.d_val / sizeof(*o->jumps);
	}
}

static bool any_past(const struct object *o, const ElfW(Rela) * r, size_t count)
{
	for (size_t i = 0; r && i < count; i++) {
		const ElfW(Sym) *symbol = &o->symbols[ELF64_R_SYM(r[i].r_info)];
		const void *bound;

		if (!IS_REFERENCE(ELF64_R_TYPE(r[i].r_info)) || !ELF64_R_SYM(r[i].r_info) ||
		    !hooks_name(o->names + symbol->st_name))
			continue;
		memcpy(&bound, (const void *)(o->base + r[i].r_offset), sizeof(bound));
		if (hooks_replacement(bound)) /* it is the driver's */
			return true;
	}
	return false;
}

static bool calls_past(const struct dl_phdr_info *info)
{
	struct object o = {.base = info->dlpi_addr};

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(&o, (const void *)(o.base + info->dlpi_phdr[i].p_vaddr));
	return o.symbols && o.names &&
	       (any_past(&o, o.jumps, o.jump_count) || any_past(&o, o.rela, o.rela_count));
}

struct found {
	char *names;
	unsigned count;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct found *f = data;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	const char *name = slash ? slash + 1 : info->dlpi_name;
	char *more;

	/* The driver's own references, also of its other libraries, are as they should be. */
	if (!name || !strncmp(name, "libcuda.so", 10) || !strncmp(name, "libnvidia-", 10) ||
	    !strncmp(name, "libcudadebugger", 15) || !strncmp(name, "linux-vdso", 10) ||
	    !calls_past(info))
		return 0;
	if (f->count == NAMES_MAX)
		name = "and more";
	more = f->names ? text_format("%s, %s", f->names, name) : strdup(name);
	if (more) {
		free(f->names);
		f->names = more;
	}
	return f->count++ == NAMES_MAX;
}

char *bypass_libraries(void)
{
	struct found f = {NULL, 0};

	dl_iterate_phdr(visit, &f);
	return f.names;
}
