/* SPDX-License-Identifier: MIT */
/* How long is a code object of which the driver got only a pointer. */
#include <elf.h>
#include <string.h>

#include "lib/fatbin.h"
#include "shim/images.h"

static void grow(uint64_t *end, uint64_t offset, uint64_t size)
{
	uint64_t sum;

	if (!__builtin_add_overflow(offset, size, &sum) && sum > *end)
		*end = sum;
}

static size_t elf_size(const unsigned char *image)
{
	Elf64_Ehdr head;
	uint64_t end = sizeof(head);

	memcpy(&head, image, sizeof(head));
	grow(&end, head.e_shoff, (uint64_t)head.e_shnum * head.e_shentsize);
	grow(&end, head.e_phoff, (uint64_t)head.e_phnum * head.e_phentsize);
	for (unsigned i = 0; i < head.e_shnum && head.e_shentsize >= sizeof(Elf64_Shdr); i++) {
		Elf64_Shdr s;

		memcpy(&s, image + head.e_shoff + (uint64_t)i * head.e_shentsize, sizeof(s));
		if (s.sh_type != SHT_NOBITS)
			grow(&end, s.sh_offset, s.sh_size);
	}
	for (unsigned i = 0; i < head.e_phnum && head.e_phentsize >= sizeof(Elf64_Phdr); i++) {
		Elf64_Phdr p;

		memcpy(&p, image + head.e_phoff + (uint64_t)i * head.e_phentsize, sizeof(p));
		grow(&end, p.p_offset, p.p_filesz);
	}
	return end;
}

static bool measure_fatbin(const void *image, const void **start, size_t *size)
{
	if (!fatbin_detect(image))
		return false;
	*start = image;
	*size = fatbin_measure(image);
	return true;
}

/* PTX begins with blank space, comments, or a directive such as .version. */
static bool looks_like_ptx(const char *text)
{
	while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')
		text++;
	return *text == '.' || !strncmp(text, "//", 2) || !strncmp(text, "/*", 2);
}

/* Byte by byte: no more is read than the driver reads. */
enum image_kind image_glance(const void *image)
{
	static const uint32_t magics[] = {FATBIN_WRAPPER_MAGIC, FATBIN_CONTAINER_MAGIC};
	const unsigned char *bytes = image;

	if (!bytes)
		return IMAGE_UNKNOWN;
	if (looks_like_ptx(image))
		return IMAGE_PTX;
	if (bytes[0] == ELFMAG0 && bytes[1] == ELFMAG1 && bytes[2] == ELFMAG2)
		return IMAGE_CUBIN;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (bytes[0] == (magics[i] & 0xff) && bytes[1] == (magics[i] >> 8 & 0xff))
			return IMAGE_FATBIN;
	return IMAGE_UNKNOWN;
}

bool image_measure(const void *image, enum image_kind *kind, const void **start, size_t *size)
{
	uint32_t magic;

	/* PTX may be shorter than four bytes only if it is not PTX: look at one byte first. */
	if (looks_like_ptx(image)) {
		*kind = IMAGE_PTX;
		*start = image;
		*size = strlen(image);
		return true;
	}
	memcpy(&magic, image, sizeof(magic));
	if (!memcmp(&magic, ELFMAG, SELFMAG)) {
		*kind = IMAGE_CUBIN;
		*start = image;
		*size = elf_size(image);
		return true;
	}
	*kind = IMAGE_FATBIN;
	if (magic == FATBIN_WRAPPER_MAGIC) {
		struct fatbin_wrapper w;

		memcpy(&w, image, sizeof(w));
		return w.data && measure_fatbin(w.data, start, size);
	}
	return measure_fatbin(image, start, size);
}

enum image_kind image_kind_of(const void *data, size_t size)
{
	uint32_t magic = 0;

	if (size >= sizeof(magic))
		memcpy(&magic, data, sizeof(magic));
	if (!memcmp(&magic, ELFMAG, SELFMAG))
		return IMAGE_CUBIN;
	if (magic == FATBIN_CONTAINER_MAGIC)
		return IMAGE_FATBIN;
	return size && looks_like_ptx(data) ? IMAGE_PTX : IMAGE_UNKNOWN;
}
