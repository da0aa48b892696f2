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

/* What is known of a fatbin once all entries have been seen. */
struct choice {
	char *ptx; /* the newest that fits */
	size_t ptx_size;
	uint32_t ptx_arch;
	char *of_cubin; /* the one inside the cubin */
	size_t of_cubin_size;
	uint32_t cubin_arch; /* the newest that runs; 0: none */
	bool unread;
};

static void consider(struct choice *c, const struct fatbin_entry *e, unsigned sm)
{
	const char *force = getenv("CUDA_FORCE_PTX_JIT"); /* the driver's own variable */
	bool cubin = e->kind == FATBIN_CUBIN && !(force && atoi(force)) &&
		     e->arch / 10 == sm / 10 && e->arch <= sm && e->arch > c->cubin_arch;
	bool ptx = e->kind == FATBIN_PTX && e->arch <= sm && e->arch > c->ptx_arch;

	if (e->zstd && (cubin || ptx))
		c->unread = true;
	else if (cubin) {
		free(c->of_cubin);
		c->of_cubin = debug_section(e->data, e->size, &c->of_cubin_size);
		c->cubin_arch = e->arch;
	} else if (ptx) {
		free(c->ptx);
		c->ptx = copy(e->data, strnlen(e->data, e->size), &c->ptx_size);
		c->ptx_arch = e->arch;
	}
}

/*
 * The text of what the driver takes for sm: a cubin of the same major architecture before any PTX.
 * PTX of another architecture than the cubin's may be of other source (__CUDA_ARCH__).
 */
static char *of_fatbin(const char *data, size_t bytes, unsigned sm, size_t *size)
{
	struct fatbin_entry entry;
	struct choice c = {0};
	size_t cursor = 0;
	struct error err;
	bool whole;
	char **take;
	char *text;
	int r = 0;

	if (bytes < FATBIN_HEADER_BYTES || !fatbin_detect(data))
		return NULL;
	while ((r = fatbin_next(data, bytes, &cursor, &entry, &err)) > 0) {
		consider(&c, &entry, sm);
		free(entry.owned);
	}
	whole = !r && !c.unread;
	take = c.of_cubin                                    ? &c.of_cubin
	       : !c.cubin_arch || c.cubin_arch == c.ptx_arch ? &c.ptx
							     : NULL;
	text = whole && take ? *take : NULL;
	*size = take == &c.of_cubin ? c.of_cubin_size : c.ptx_size;
	if (text)
		*take = NULL;
	free(c.ptx);
	free(c.of_cubin);
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
