/* SPDX-License-Identifier: MIT */
/* Images: measuring, choosing, recovering PTX. */
#include "softgpu/image.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/fatbin.h"
#include "softgpu/backing.h"

#define IMAGE_MAX_BYTES ((size_t)1 << 30)
#define PTX_MAJOR_MAX   9u /* of CUDA 13 */

/* Whether [data, data + need) may be read. */
static bool readable(const void *data, size_t size, size_t need)
{
	if (size != SIZE_MAX)
		return need <= size;
	return need <= IMAGE_MAX_BYTES && backing_is_mapped(data, need);
}

/* What stands behind a directive that begins a line of PTX text, and where it ends; NULL if none.
 */
static const char *ptx_directive(const char *text, size_t size, const char *name)
{
	const char *end = text + size, *at = memmem(text, size, name, strlen(name));

	while (at) {
		const char *line = at;

		while (line > text && line[-1] != '\n')
			line--;
		while (line < at && isspace((unsigned char)*line))
			line++;
		at += strlen(name);
		if (line + strlen(name) == at)
			return at;
		at = memmem(at, (size_t)(end - at), name, strlen(name));
	}
	return NULL;
}

/* The number behind a prefix ("sm_"), digits only; 0 if there is none. */
static uint32_t ptx_number(const char *at, const char *end, const char *prefix)
{
	uint32_t value = 0;

	at = at ? memmem(at, (size_t)(end - at), prefix, strlen(prefix)) : NULL;
	if (!at)
		return 0;
	for (at += strlen(prefix); at < end && isdigit((unsigned char)*at) && value < 100000; at++)
		value = 10 * value + (uint32_t)(*at - '0');
	return value;
}

static enum image_verdict ptx_open(struct image *out, const char *text, size_t size, uint32_t arch,
				   struct error *err)
{
	uint32_t target = ptx_number(ptx_directive(text, size, ".target"), text + size, "sm_");
	uint32_t version = ptx_number(ptx_directive(text, size, ".version"), text + size, " ");

	if (version > PTX_MAJOR_MAX) {
		error_set(err, ENOEXEC, ERROR_NO_OFFSET,
			  "PTX of version %u: the newest known is %u", version, PTX_MAJOR_MAX);
		return IMAGE_VERSION;
	}
	if (target > arch) {
		error_set(err, ENOEXEC, ERROR_NO_OFFSET, "PTX for sm_%u: the device is sm_%u",
			  target, arch);
		return IMAGE_TARGET;
	}
	out->ptx = malloc(size + 1);
	if (!out->ptx) {
		error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory for %zu bytes of PTX", size);
		return IMAGE_NO_MEMORY;
	}
	memcpy(out->ptx, text, size);
	out->ptx[size] = 0;
	out->ptx_size = size;
	return IMAGE_OK;
}

static enum image_verdict cubin_open(struct image *out, const void *data, size_t size,
				     uint32_t arch, struct error *err)
{
	struct cubin *c;
	int rc = cubin_parse(&c, data, size, err);
	enum image_verdict verdict;

	if (rc)
		return rc == -ENOMEM ? IMAGE_NO_MEMORY : IMAGE_INVALID;
	if (c->arch / 10 != arch / 10 || c->arch > arch) {
		error_set(err, ENOEXEC, ERROR_NO_OFFSET,
			  "cubin for sm_%u: the device is sm_%u, and a cubin runs on its own major "
			  "architecture only%s",
			  c->arch, arch, c->ptx ? " (its PTX could be loaded by itself)" : "");
		cubin_free(c);
		return IMAGE_NO_BINARY;
	}
	if (!c->ptx) {
		error_set(err, ENOEXEC, ERROR_NO_OFFSET,
			  "cubin without PTX (no .nv_debug_ptx_txt: ptxas ran without -lineinfo); "
			  "the software device executes PTX only");
		cubin_free(c);
		return IMAGE_NO_BINARY;
	}
	verdict = ptx_open(out, c->ptx, c->ptx_size, arch, err);
	if (verdict == IMAGE_OK)
		out->cubin = c;
	else
		cubin_free(c);
	return verdict;
}

/* Bytes of an ELF file in memory, from its headers; 0 if it is none or not readable. */
static size_t elf_measure(const void *data, size_t size)
{
	uint64_t end, part;
	Elf64_Ehdr e;

	if (!readable(data, size, sizeof(e)))
		return 0;
	memcpy(&e, data, sizeof(e)); /* images need not be aligned */
	part = (uint64_t)e.e_shnum * sizeof(Elf64_Shdr);
	if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_shentsize != sizeof(Elf64_Shdr) ||
	    __builtin_add_overflow(e.e_shoff, part, &end) || end < sizeof(e) ||
	    !readable(data, size, end))
		return 0;
	for (unsigned i = 0; i < e.e_shnum; i++) {
		Elf64_Shdr s;

		memcpy(&s, (const char *)data + e.e_shoff + i * sizeof(s), sizeof(s));
		if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL)
			continue;
		if (__builtin_add_overflow(s.sh_offset, s.sh_size, &part))
			return 0;
		end = part > end ? part : end;
	}
	if (e.e_phnum) {
		if (__builtin_add_overflow(e.e_phoff, (uint64_t)e.e_phnum * e.e_phentsize, &part))
			return 0;
		end = part > end ? part : end;
	}
	return readable(data, size, end) ? end : 0;
}

/* Length of text up to its NUL or size; 0 if there is no end before memory that is not mapped. */
static size_t text_length(const char *data, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n;

	if (size != SIZE_MAX)
		return strnlen(data, size);
	for (n = 0; n < IMAGE_MAX_BYTES;) {
		size_t part = page - ((uintptr_t)data + n) % page;
		const char *end;

		if (!backing_is_mapped(data + n, part))
			return 0;
		end = memchr(data + n, 0, part);
		if (end)
			return (size_t)(end - data);
		n += part;
	}
	return 0;
}

/* As text_length; 0 if it does not look like PTX. */
static size_t text_measure(const char *data, size_t size)
{
	size_t n = text_length(data, size);

	return n && memmem(data, n, ".version", 8) ? n : 0;
}

/* The container behind a wrapper, or data itself. size as in image_open. */
static const void *unwrap(const void *data, size_t size)
{
	static const uint32_t magic = FATBIN_WRAPPER_MAGIC;
	struct fatbin_wrapper w;

	if (size != SIZE_MAX || !backing_begins_with(data, &magic, sizeof(magic)) ||
	    !backing_is_mapped(data, sizeof(w)))
		return data;
	memcpy(&w, data, sizeof(w));
	return backing_is_mapped(w.data, FATBIN_HEADER_BYTES) ? w.data : data;
}

/* Reads as far as the magic agrees. */
static bool begins_fatbin(const void *data)
{
	static const uint32_t magic = FATBIN_CONTAINER_MAGIC;

	return backing_begins_with(data, &magic, sizeof(magic));
}

/* Keeps a copy of a PTX entry that is better than what *ptx holds. */
static bool fatbin_keep_ptx(const struct fatbin_entry *entry, char **ptx, uint32_t *arch)
{
	char *copy = strndup(entry->data, entry->size);

	if (!copy)
		return false;
	free(*ptx);
	*ptx = copy;
	*arch = entry->arch;
	return true;
}

static enum image_verdict fatbin_open(struct image *out, const void *data, size_t size,
				      uint32_t arch, struct error *err)
{
	enum image_verdict verdict = IMAGE_NO_BINARY;
	_cleanup_free_ char *ptx = NULL;
	uint32_t ptx_arch = 0;
	struct fatbin_entry entry;
	size_t cursor = 0;
	int rc;

	error_set(err, ENOEXEC, ERROR_NO_OFFSET, "fatbin has no cubin or PTX for sm_%u", arch);
	while ((rc = fatbin_next(data, size, &cursor, &entry, err)) > 0) {
		bool cubin = entry.kind == FATBIN_CUBIN && entry.arch / 10 == arch / 10;
		bool text = entry.kind == FATBIN_PTX && entry.arch <= arch && entry.arch > ptx_arch;

		if ((cubin || text) && entry.zstd)
			error_set(err, ENOTSUP, ERROR_NO_OFFSET,
				  "fatbin entry for sm_%u is compressed with zstd, which the "
				  "software device does not read (fatbinary --compress-mode=none)",
				  entry.arch);
		else if (cubin)
			verdict = cubin_open(out, entry.data, entry.size, arch, err);
		else if (text && !fatbin_keep_ptx(&entry, &ptx, &ptx_arch))
			verdict = IMAGE_NO_MEMORY;
		free(entry.owned);
		if (verdict == IMAGE_OK || verdict == IMAGE_NO_MEMORY)
			return verdict;
	}
	if (rc < 0)
		return rc == -ENOMEM ? IMAGE_NO_MEMORY : IMAGE_INVALID;
	return ptx ? ptx_open(out, ptx, strlen(ptx), arch, err) : verdict;
}

enum image_verdict image_open(struct image *out, const void *data, size_t size, uint32_t arch,
			      struct error *err)
{
	size_t bytes;

	*out = (struct image){0};
	if (backing_begins_with(data, ELFMAG, SELFMAG)) {
		bytes = elf_measure(data, size);
		if (bytes)
			return cubin_open(out, data, bytes, arch, err);
		error_set(err, EINVAL, 0, "ELF image with headers that lead outside it");
		return IMAGE_INVALID;
	}
	data = unwrap(data, size);
	if (begins_fatbin(data)) {
		bytes = readable(data, size, FATBIN_HEADER_BYTES) ? fatbin_measure(data)
								  : SIZE_MAX - 1;
		if (readable(data, size, bytes))
			return fatbin_open(out, data, bytes, arch, err);
		error_set(err, EINVAL, 0, "fatbin that leads outside its memory");
		return IMAGE_INVALID;
	}
	bytes = readable(data, size, 1) ? text_measure(data, size) : 0;
	if (bytes)
		return ptx_open(out, data, bytes, arch, err);
	error_set(err, EINVAL, 0, "image is neither PTX text, cubin nor fatbin");
	return IMAGE_INVALID;
}

void image_close(struct image *image)
{
	free(image->ptx);
	if (image->cubin)
		cubin_free(image->cubin);
	*image = (struct image){0};
}
