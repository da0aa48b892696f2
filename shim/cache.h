/* SPDX-License-Identifier: MIT */
/* Finds the Triton cache entry that an image came from, and the files beside it. */
#ifndef SHIM_CACHE_H
#define SHIM_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* The files of an entry that are kept: .llir is left out for its size. */
#define CACHE_SUFFIXES(S) \
	S(JSON, ".json") S(SOURCE, ".source") S(TTIR, ".ttir") S(TTGIR, ".ttgir") S(PTX, ".ptx")

enum cache_suffix {
#define S(id, suffix) CACHE_##id,
	CACHE_SUFFIXES(S)
#undef S
		CACHE_SUFFIX_COUNT
};

struct cache_file {
	char *name, *path; /* NULL: not there */
	char *data;        /* size bytes and a NUL */
	size_t size;
};

struct cache_entry {
	char *folder; /* NULL: nothing found */
	struct cache_file files[CACHE_SUFFIX_COUNT];
};

/*
 * path: file that the image was loaded from, or NULL. Takes the files of the same stem beside it;
 * if there is no metadata there, looks the bytes up in the Triton cache folders: TRITON_CACHE_DIR,
 * TRITON_HOME or HOME/.triton/cache, TORCHINDUCTOR_CACHE_DIR/triton/N or its default, and
 * KERNELAB_CACHE_ROOTS. Cubins are indexed by size once; folders that are new since are found by
 * listing again. Caller holds load_lock. false: nothing found (out is empty).
 */
bool cache_find(const void *data, size_t size, const char *path, struct cache_entry *out);
void cache_entry_free(struct cache_entry *e);

#endif
