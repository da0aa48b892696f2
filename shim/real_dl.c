/* SPDX-License-Identifier: MIT */
/* Reads the loader's list of objects and their GNU hash tables. */
#include "shim/real_dl.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

#include "shim/guard.h"

/* libc's strcmp may be a sanitizer's, which is not ready yet. */
SHIM_BOOTSTRAP static int texts_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

SHIM_BOOTSTRAP static const char *file_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

SHIM_BOOTSTRAP static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h;
}

struct symbols {
	const ElfW(Sym) * table;
	const char *names;
	const uint32_t *hash;
};

/* glibc relocates these addresses in place on most architectures, but not on all. */
SHIM_BOOTSTRAP static const void *dynamic_address(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

SHIM_BOOTSTRAP static struct symbols object_symbols(const struct link_map *map)
{
	struct symbols s = {0};

	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			s.table = dynamic_address(map, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			s.names = dynamic_address(map, d->d_un.d_ptr);
		else if (d->d_tag == DT_GNU_HASH)
			s.hash = dynamic_address(map, d->d_un.d_ptr);
	}
	return s;
}

/* A function that the object itself defines under `name` (any version), or NULL. */
SHIM_BOOTSTRAP static void *object_function(const struct link_map *map, const char *name)
{
	struct symbols s = object_symbols(map);
	uint32_t h = gnu_hash(name), buckets, first, bloom;
	const uint32_t *bucket, *chain;

	if (!s.table || !s.names || !s.hash)
		return NULL;
	buckets = s.hash[0];
	first = s.hash[1];
	bloom = s.hash[2];
	bucket = s.hash + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	chain = bucket + buckets;
	if (!buckets || bucket[h % buckets] < first)
		return NULL;
	for (uint32_t i = bucket[h % buckets];; i++) {
		const ElfW(Sym) *symbol = &s.table[i];

		if (((chain[i - first] ^ h) & ~1u) == 0 && symbol->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    texts_equal(s.names + symbol->st_name, name))
			return (void *)(map->l_addr + symbol->st_value);
		if (chain[i - first] & 1)
			return NULL;
	}
}

SHIM_BOOTSTRAP static void *library_function(const char *library, const char *name)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		if (texts_equal(file_name(map->l_name), library)) {
			void *f = object_function(map, name);

			if (f)
				return f;
		}
	return NULL;
}

SHIM_BOOTSTRAP bool real_dl_loaded(const char *prefix)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		const char *name = file_name(map->l_name), *p = prefix;

		while (*p && *p == *name) {
			p++;
			name++;
		}
		if (!*p)
			return true;
	}
	return false;
}

SHIM_BOOTSTRAP static void *find(const char *name)
{
	void *f = library_function("libc.so.6", name);

	return f ? f : library_function("libdl.so.2", name);
}

/* Two threads may both look: they find the same. */
SHIM_BOOTSTRAP real_dlsym_function *real_dlsym(void)
{
	static void *found;
	void *f = __atomic_load_n(&found, __ATOMIC_RELAXED);

	if (!f) {
		f = find("dlsym");
		__atomic_store_n(&found, f, __ATOMIC_RELAXED);
	}
	return (real_dlsym_function *)f;
}

SHIM_BOOTSTRAP real_dlvsym_function *real_dlvsym(void)
{
	static void *found;
	void *f = __atomic_load_n(&found, __ATOMIC_RELAXED);

	if (!f) {
		f = find("dlvsym");
		__atomic_store_n(&found, f, __ATOMIC_RELAXED);
	}
	return (real_dlvsym_function *)f;
}
