/* SPDX-License-Identifier: MIT */
/* The module variables of a code object. */
#include "shim/image_globals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/fatbin.h"
#include "lib/ptx/statement.h"
#include "shim/cubin_elf.h"

#define GLOBALS_MAX    4096u
#define STATEMENTS_MAX (4u << 20)

void image_globals_free(struct image_globals *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->items[i].name);
	free(g->items);
	*g = (struct image_globals){0};
}

/* "assertFile_0", "$str", "_$_str2": what Triton, NVVM and nvcc call texts of their own. */
static bool is_compiler_text(const char *name)
{
	static const char *const begins[] = {"assertFile_",   "assertFunc_",   "assertMessage_",
					     "printfFormat_", "printfPrefix_", "$str",
					     "_$_str",        "__unnamed_",    ".nv."};

	for (size_t i = 0; i < ARRAY_LENGTH(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static struct image_global *find(struct image_globals *g, const char *name, size_t size)
{
	for (size_t i = 0; i < g->count; i++)
		if (!strncmp(g->items[i].name, name, size) && !g->items[i].name[size])
			return &g->items[i];
	return NULL;
}

/* name need not be terminated. */
static int add(struct image_globals *out, const char *name, size_t size, bool constant,
	       enum dtype dtype)
{
	char *copy;

	if (!size || find(out, name, size))
		return 0;
	if (out->count == GLOBALS_MAX) {
		out->unknown = "it has more than 4096 module variables";
		return 0;
	}
	copy = strndup(name, size);
	if (!copy || array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items))) {
		free(copy);
		return -ENOMEM;
	}
	if (is_compiler_text(copy)) {
		free(copy);
		return 0;
	}
	out->items[out->count++] = (struct image_global){copy, constant, dtype};
	return 0;
}

/* ---- cubin ---- */

/* What an object of that section is: true with *constant. Other banks are the compiler's own. */
static bool holds_variables(const char *section, bool *constant)
{
	*constant = !strcmp(section, ".nv.constant3");
	return *constant || !strcmp(section, ".nv.global") || !strcmp(section, ".nv.global.init");
}

static int add_symbol(struct image_globals *out, const struct elf *e, const Elf64_Shdr *strings,
		      const Elf64_Sym *symbol)
{
	const char *name = elf_text(e, strings, symbol->st_name), *section_name;
	Elf64_Shdr section;
	bool constant;

	if (!name || !symbol->st_size || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
	    !elf_section(e, symbol->st_shndx, &section))
		return 0;
	section_name = elf_text(e, &e->names, section.sh_name);
	if (!section_name || !holds_variables(section_name, &constant))
		return 0;
	return add(out, name, strlen(name), constant, DTYPE_UNKNOWN);
}

static int of_cubin(struct image_globals *out, const void *data, size_t size)
{
	Elf64_Shdr symbols, strings;
	struct elf e;
	int r = 0;

	if (!elf_open(&e, data, size)) {
		out->unknown = "its ELF headers cannot be read";
		return 0;
	}
	for (unsigned i = 0; r >= 0 && i < e.head.e_shnum; i++) {
		if (!elf_section(&e, i, &symbols) || symbols.sh_type != SHT_SYMTAB ||
		    !elf_section(&e, symbols.sh_link, &strings))
			continue;
		for (uint64_t at = 0; r >= 0 && at + sizeof(Elf64_Sym) <= symbols.sh_size;
		     at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;

			memcpy(&symbol, e.data + symbols.sh_offset + at, sizeof(symbol));
			r = add_symbol(out, &e, &strings, &symbol);
		}
	}
	return r;
}

/* ---- PTX ---- */

static enum dtype dtype_of(struct piece declaration)
{
	static const struct {
		const char *name;
		enum dtype dtype;
	} types[] = {{".f64", DTYPE_F64},   {".f32", DTYPE_F32}, {".f16", DTYPE_F16},
		     {".bf16", DTYPE_BF16}, {".s64", DTYPE_I64}, {".u64", DTYPE_I64},
		     {".b64", DTYPE_I64},   {".s32", DTYPE_I32}, {".u32", DTYPE_I32},
		     {".b32", DTYPE_I32},   {".s16", DTYPE_I16}, {".u16", DTYPE_I16},
		     {".b16", DTYPE_I16},   {".s8", DTYPE_I8},   {".u8", DTYPE_I8}};

	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		const char *at = memmem(declaration.at, declaration.size, types[i].name,
					strlen(types[i].name));

		if (at && (at[strlen(types[i].name)] == ' ' || at[strlen(types[i].name)] == '\t'))
			return types[i].dtype;
	}
	return DTYPE_UNKNOWN; /* .b8 is what nvcc calls structs and arrays of them too */
}

static bool has_word(struct piece p, const char *word)
{
	return memmem(p.at, p.size, word, strlen(word)) != NULL;
}

/* A declaration at the module's level. */
static int add_declaration(struct image_globals *out, struct piece text, bool types_only)
{
	const char *equal = memchr(text.at, '=', text.size);
	struct piece head = {text.at, equal ? (size_t)(equal - text.at) : text.size}, name;
	struct image_global *known;
	size_t at = 0;

	if (has_word(head, ".extern") || (!has_word(head, ".global") && !has_word(head, ".const")))
		return 0;
	name = name_next(head, &at);
	head.size = name.size ? (size_t)(name.at - head.at) : head.size;
	if (!types_only)
		return add(out, name.at, name.size, has_word(head, ".const"), dtype_of(head));
	known = find(out, name.at, name.size);
	if (known)
		known->dtype = dtype_of(head);
	return 0;
}

static int of_ptx(struct image_globals *out, const char *ptx, size_t size, bool types_only)
{
	_cleanup_free_ char *clean = ptx_without_comments(ptx, size);
	struct statement_cursor c = {.text = clean, .size = size};
	int depth = 0, r = 0;

	if (!clean)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < STATEMENTS_MAX; i++) {
		struct statement s;

		if (statement_next(&c, &s) < 0) {
			out->unknown = "its PTX cannot be read";
			return 0;
		}
		if (s.kind == STATEMENT_END)
			return 0;
		depth += s.kind == STATEMENT_OPEN;
		depth -= s.kind == STATEMENT_CLOSE;
		if (!depth && s.kind == STATEMENT_DECLARATION)
			r = add_declaration(out, s.text, types_only);
	}
	if (r >= 0)
		out->unknown = "its PTX is too long";
	return r;
}

/* ---- fatbins ---- */

/* Also the types of names that a cubin beside it has. */
static int of_ptx_entry(struct image_globals *out, const char *ptx, size_t size)
{
	int r = of_ptx(out, ptx, size, false);

	return r < 0 ? r : of_ptx(out, ptx, size, true);
}

/* What any entry declares: which of them the driver takes, and what it leaves out, it says itself.
 */
static int of_fatbin(struct image_globals *out, const void *data, size_t size)
{
	struct fatbin_entry entry;
	size_t cursor = 0, known = 0;
	struct error err;
	int r, rc = 0;

	if (size < FATBIN_HEADER_BYTES || !fatbin_detect(data)) {
		out->unknown = "its fatbin's header cannot be read";
		return 0;
	}
	while (rc >= 0 && (r = fatbin_next(data, size, &cursor, &entry, &err)) > 0) {
		known += entry.kind == FATBIN_CUBIN || entry.kind == FATBIN_PTX;
		if (entry.zstd)
			out->unknown = "an entry of its fatbin is compressed with zstd";
		else if (entry.kind == FATBIN_CUBIN)
			rc = of_cubin(out, entry.data, entry.size);
		else if (entry.kind == FATBIN_PTX)
			rc = of_ptx_entry(out, entry.data, strnlen(entry.data, entry.size));
		free(entry.owned);
	}
	if (rc < 0 || r == -ENOMEM)
		return -ENOMEM;
	if (r < 0)
		out->unknown = "its fatbin is damaged";
	else if (!known)
		out->unknown = "its fatbin has neither cubin nor PTX";
	return 0;
}

int image_globals_find(struct image_globals *out, const void *data, size_t size,
		       enum image_kind kind)
{
	*out = (struct image_globals){0};
	switch (kind) {
	case IMAGE_CUBIN:
		return of_cubin(out, data, size);
	case IMAGE_PTX:
		return of_ptx(out, data, strnlen(data, size), false);
	case IMAGE_FATBIN:
		return of_fatbin(out, data, size);
	default:
		out->unknown = "its form is not known";
		return 0;
	}
}

int image_globals_types(struct image_globals *globals, const char *ptx, size_t size)
{
	const char *unknown = globals->unknown;
	int r = globals->count ? of_ptx(globals, ptx, size, true) : 0;

	globals->unknown = unknown; /* types are a help, names are what counts */
	return r;
}
