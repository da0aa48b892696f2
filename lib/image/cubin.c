/* SPDX-License-Identifier: MIT */
/* Parses NVIDIA cubins with libelf. */
#include "lib/image/cubin.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/nvinfo.h"
#include "lib/image/ptx_text.h"

#define MACHINE_CUDA         190  /* EM_CUDA */
#define SYMBOL_ENTRY         0x10 /* st_other of a kernel's symbol */
#define ABI_V2               8    /* EI_ABIVERSION of CUDA 13: other places in e_flags */
#define RESERVED_SHARED      1024u
#define RESERVED_SHARED_ARCH 90u /* from here on .nv.shared.<entry> includes the reserved part */

struct section {
	Elf_Scn *scn;
	GElf_Shdr header;
	const char *name;
	const uint8_t *data; /* NULL where there are no bytes */
	size_t size;
	/* of a .text section: what belongs to it, by sh_info; 0 = none */
	size_t info, shared;
	size_t relocations, next; /* list of sections of relocations, heads in their targets */
	bool kernel;              /* .text of a kernel */
};

struct image {
	Elf *elf;
	struct section *sections;
	size_t section_count;
	size_t symbols, info; /* .symtab and .nv.info; 0 = none */
	uint32_t arch;
};

bool cubin_detect(const void *data, size_t size)
{
	const uint8_t *p = data;

	return size >= sizeof(Elf64_Ehdr) && !memcmp(p, ELFMAG, SELFMAG) &&
	       p[EI_CLASS] == ELFCLASS64 && p[EI_DATA] == ELFDATA2LSB &&
	       (p[offsetof(Elf64_Ehdr, e_machine)] | p[offsetof(Elf64_Ehdr, e_machine) + 1] << 8) ==
		       MACHINE_CUDA;
}

static bool starts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static int damaged(struct error *err, uint64_t offset, const char *what)
{
	return error_set(err, EINVAL, offset, "cubin: %s", what);
}

static int read_section(struct image *im, size_t index, size_t names, struct error *err)
{
	struct section *s = &im->sections[index];
	Elf_Data *data;

	s->scn = elf_getscn(im->elf, index);
	if (!s->scn || !gelf_getshdr(s->scn, &s->header))
		return damaged(err, ERROR_NO_OFFSET, "section header cannot be read");
	s->name = elf_strptr(im->elf, names, s->header.sh_name);
	if (!s->name)
		return damaged(err, s->header.sh_offset, "section without a name");
	if (s->header.sh_type == SHT_NULL || s->header.sh_type == SHT_NOBITS || !s->header.sh_size)
		return 0;
	data = elf_rawdata(s->scn, NULL);
	if (!data || !data->d_buf || data->d_size != s->header.sh_size)
		return damaged(err, s->header.sh_offset, "section reaches beyond the file");
	s->data = data->d_buf;
	s->size = data->d_size;
	return 0;
}

/* Ties .nv.info.X, .nv.shared.X and relocations to the section that sh_info names. */
static void tie_section(struct image *im, size_t index)
{
	struct section *s = &im->sections[index], *target;

	if (s->header.sh_type == SHT_SYMTAB && !im->symbols)
		im->symbols = index;
	if (!strcmp(s->name, ".nv.info"))
		im->info = index;
	if (s->header.sh_info >= im->section_count || s->header.sh_info == 0)
		return;
	target = &im->sections[s->header.sh_info];
	if (starts(s->name, ".nv.info."))
		target->info = index;
	else if (starts(s->name, ".nv.shared.") && s->header.sh_type == SHT_NOBITS)
		target->shared = index;
	else if (s->header.sh_type == SHT_RELA || s->header.sh_type == SHT_REL) {
		s->next = target->relocations;
		target->relocations = index;
	}
}

static int read_sections(struct image *im, struct error *err)
{
	size_t names;

	if (elf_getshdrnum(im->elf, &im->section_count) || !im->section_count ||
	    elf_getshdrstrndx(im->elf, &names))
		return damaged(err, ERROR_NO_OFFSET, "no section headers: the file is cut off");
	im->sections = calloc(im->section_count + 1, sizeof(*im->sections));
	if (!im->sections)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a cubin");
	for (size_t i = 1; i < im->section_count; i++) {
		int r = read_section(im, i, names, err);

		if (r)
			return r;
	}
	for (size_t i = 1; i < im->section_count; i++)
		tie_section(im, i);
	return 0;
}

static size_t symbol_count(const struct image *im)
{
	return im->symbols ? im->sections[im->symbols].size / sizeof(Elf64_Sym) : 0;
}

/* Symbol i and its name; a section's symbol has the section's name. NULL where it is damaged. */
static const char *symbol(const struct image *im, size_t i, Elf64_Sym *sym)
{
	const struct section *table = &im->sections[im->symbols];

	if (i >= symbol_count(im))
		return NULL;
	memcpy(sym, table->data + i * sizeof(*sym), sizeof(*sym));
	if (ELF64_ST_TYPE(sym->st_info) == STT_SECTION)
		return sym->st_shndx < im->section_count ? im->sections[sym->st_shndx].name : NULL;
	return elf_strptr(im->elf, table->header.sh_link, sym->st_name);
}

static void hash_number(struct hash_state *h, uint64_t v)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	hash_state_add(h, bytes, sizeof(bytes));
}

/* Offset, type, symbol by name (its number may differ) and addend of each. */
static int hash_relocations(const struct image *im, struct hash_state *h, const struct section *s,
			    struct error *err)
{
	bool addend = s->header.sh_type == SHT_RELA;
	size_t element = addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);

	for (size_t at = 0; s->size - at >= element; at += element) {
		Elf64_Rela r = {0};
		Elf64_Sym sym;
		const char *name;

		memcpy(&r, s->data + at, element);
		name = symbol(im, ELF64_R_SYM(r.r_info), &sym);
		if (!name)
			return damaged(err, s->header.sh_offset + at,
				       "relocation against a symbol that is not there");
		hash_number(h, r.r_offset);
		hash_number(h, ELF64_R_TYPE(r.r_info));
		hash_state_add_text(h, name);
		hash_number(h, (uint64_t)r.r_addend);
	}
	return 0;
}

/* Bytes of a section but those of assertFile_… symbols: paths that differ between builds. */
static void hash_bytes_of(const struct image *im, struct hash_state *h, size_t index)
{
	const struct section *s = &im->sections[index];
	size_t count = symbol_count(im), done = 0;
	Elf64_Sym sym;

	for (size_t i = 1; i < count; i++) { /* ptxas lays symbols out in the order of the table */
		const char *name = symbol(im, i, &sym);

		if (!name || sym.st_shndx != index || !starts(name, "assertFile_") ||
		    sym.st_value < done || sym.st_value > s->size ||
		    sym.st_size > s->size - sym.st_value)
			continue;
		hash_state_add(h, s->data + done, sym.st_value - done);
		hash_state_add_text(h, name);
		done = sym.st_value + sym.st_size;
	}
	hash_state_add(h, s->data + done, s->size - done);
}

static int hash_section(const struct image *im, struct hash_state *h, size_t index,
			struct error *err)
{
	const struct section *s = &im->sections[index];
	int r = 0;

	if (strcmp(s->name, ".nv.global.init") != 0) {
		hash_number(h, s->size);
		hash_state_add(h, s->data, s->size);
	} else if (s->data) {
		hash_bytes_of(im, h, index);
	}
	for (size_t i = s->relocations; i && !r; i = im->sections[i].next)
		r = hash_relocations(im, h, &im->sections[i], err);
	return r;
}

/* Constants of bank 0 are the parameters: no part of the code. */
static bool constants(const struct section *s)
{
	return starts(s->name, ".nv.constant") && !starts(s->name, ".nv.constant0");
}

/* True for what all kernels of the image may use. */
static bool common_section(const struct image *im, const struct section *s)
{
	if (starts(s->name, ".text."))
		return !s->kernel;
	if (constants(s))
		return !s->header.sh_info || s->header.sh_info >= im->section_count ||
		       !im->sections[s->header.sh_info].kernel;
	return !strcmp(s->name, ".nv.global.init");
}

/* own = 0: the sections that all kernels share; else .text section `own` and its constants. */
static int hash_code(const struct image *im, struct hash_state *h, size_t own, struct error *err)
{
	int r = own ? hash_section(im, h, own, err) : 0;

	for (size_t i = 1; i < im->section_count && !r; i++) {
		const struct section *s = &im->sections[i];

		if (own ? constants(s) && s->header.sh_info == own : common_section(im, s)) {
			hash_state_add_text(h, own ? "" : s->name);
			r = hash_section(im, h, i, err);
		}
	}
	return r;
}

static int kernel_code(const struct image *im, struct cubin_kernel *k, size_t own,
		       struct hash128 common, struct error *err)
{
	struct hash_state *h = hash_state_new();
	int r;

	if (!h)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a cubin");
	hash_number(h, common.high);
	hash_number(h, common.low);
	r = hash_code(im, h, own, err);
	k->code = hash_state_end(h);
	hash_state_free(h);
	return r;
}

static int common_code(const struct image *im, struct hash128 *common, struct error *err)
{
	struct hash_state *h = hash_state_new();
	int r;

	if (!h)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a cubin");
	r = hash_code(im, h, 0, err);
	*common = hash_state_end(h);
	hash_state_free(h);
	return r;
}

static uint32_t registers(const struct image *im, const struct section *text, uint32_t number)
{
	const struct section *info = &im->sections[im->info];
	uint32_t count = im->info ? nvinfo_registers(info->data, info->size, number) : 0;

	return count ? count : (uint32_t)text->header.sh_info >> 24; /* before CUDA 13 */
}

static int read_kernel(const struct image *im, struct cubin_kernel *k, const char *name,
		       uint32_t number, const Elf64_Sym *sym, struct error *err)
{
	const struct section *text = &im->sections[sym->st_shndx];
	const struct section *info = &im->sections[text->info];
	uint64_t shared = text->shared ? im->sections[text->shared].header.sh_size : 0;

	k->entry = strdup(name);
	if (!k->entry)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a cubin");
	if (im->arch >= RESERVED_SHARED_ARCH && shared >= RESERVED_SHARED)
		shared -= RESERVED_SHARED;
	if (shared > UINT32_MAX)
		return damaged(err, text->header.sh_offset, "impossible shared memory size");
	k->static_shared_bytes = (uint32_t)shared;
	k->registers = registers(im, text, number);
	return text->info ? nvinfo_kernel(k, info->data, info->size, info->header.sh_offset, err)
			  : 0;
}

static bool kernel_symbol(const struct image *im, const Elf64_Sym *sym)
{
	return ELF64_ST_TYPE(sym->st_info) == STT_FUNC && (sym->st_other & SYMBOL_ENTRY) &&
	       sym->st_shndx && sym->st_shndx < im->section_count &&
	       starts(im->sections[sym->st_shndx].name, ".text.");
}

static int read_kernels(struct image *im, struct cubin *c, struct error *err)
{
	size_t capacity = 0, count = symbol_count(im);
	struct hash128 common;
	Elf64_Sym sym;
	int r;

	for (size_t i = 1; i < count; i++) {
		if (symbol(im, i, &sym) && kernel_symbol(im, &sym))
			im->sections[sym.st_shndx].kernel = true;
	}
	r = common_code(im, &common, err);
	for (size_t i = 1; i < count && !r; i++) {
		const char *name = symbol(im, i, &sym);
		struct cubin_kernel *k;

		if (!name || !*name || !kernel_symbol(im, &sym))
			continue;
		r = array_reserve(&c->kernels, c->kernel_count, &capacity, sizeof(*c->kernels));
		if (r < 0)
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a cubin");
		k = &c->kernels[c->kernel_count++];
		*k = (struct cubin_kernel){0};
		r = read_kernel(im, k, name, (uint32_t)i, &sym, err);
		if (!r)
			r = kernel_code(im, k, sym.st_shndx, common, err);
	}
	return r;
}

/* "…, release 13.0, V13.0.88": what stands behind ", V". */
static char *tool_version(const struct section *s)
{
	const char *p = s->size ? memmem(s->data, s->size, ", V", 3) : NULL;
	const char *end;
	size_t n = 0;

	if (!p)
		return strdup("");
	p += 3;
	end = (const char *)s->data + s->size;
	while (p + n < end && n < 32 && ((p[n] >= '0' && p[n] <= '9') || p[n] == '.'))
		n++;
	return strndup(p, n);
}

static int read_texts(const struct image *im, struct cubin *c, struct error *err)
{
	for (size_t i = 1; i < im->section_count; i++) {
		const struct section *s = &im->sections[i];

		if (!strcmp(s->name, ".nv_debug_ptx_txt") && s->size && !c->ptx) {
			c->ptx = ptx_recover((const char *)s->data, s->size);
			c->ptx_size = s->size;
			if (!c->ptx)
				return error_set(err, ENOMEM, ERROR_NO_OFFSET,
						 "no memory for a cubin");
		} else if (!strcmp(s->name, ".note.nv.tkinfo") && !c->tool) {
			c->tool = tool_version(s);
			if (!c->tool)
				return error_set(err, ENOMEM, ERROR_NO_OFFSET,
						 "no memory for a cubin");
			if (!*c->tool) {
				free(c->tool);
				c->tool = NULL;
			}
		}
	}
	return 0;
}

int cubin_parse(struct cubin **out, const void *data, size_t size, struct error *err)
{
	struct image im = {0};
	struct cubin *c;
	Elf64_Ehdr header;
	int r;

	if (!cubin_detect(data, size))
		return error_set(err, ENOEXEC, 0, "no 64-bit CUDA ELF file");
	memcpy(&header, data, sizeof(header));
	im.arch = header.e_ident[EI_ABIVERSION] >= ABI_V2 ? header.e_flags >> 8 & 0xff
							  : header.e_flags & 0xff;
	elf_version(EV_CURRENT);
	im.elf = elf_memory((char *)data, size); /* opened for reading: not written to */
	if (!im.elf)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "cubin: %s", elf_errmsg(-1));
	c = calloc(1, sizeof(*c));
	r = c ? read_sections(&im, err) : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory");
	if (!r)
		r = read_kernels(&im, c, err);
	if (!r)
		r = read_texts(&im, c, err);
	elf_end(im.elf);
	free(im.sections);
	if (r) {
		cubin_free(c);
		return r;
	}
	c->arch = im.arch;
	*out = c;
	return 0;
}

void cubin_free(struct cubin *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->kernel_count; i++) {
		free(c->kernels[i].entry);
		free(c->kernels[i].params);
	}
	free(c->kernels);
	free(c->tool);
	free(c->ptx);
	free(c);
}

const struct cubin_kernel *cubin_kernel(const struct cubin *c, const char *entry)
{
	for (size_t i = 0; i < c->kernel_count; i++) {
		if (!strcmp(c->kernels[i].entry, entry))
			return &c->kernels[i];
	}
	return NULL;
}
