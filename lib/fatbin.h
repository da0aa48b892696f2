/* SPDX-License-Identifier: MIT */
/* Fatbins: one container with cubins and PTX for several architectures. */
#ifndef LIB_FATBIN_H
#define LIB_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"

/*
 * Layout (of CUDA's fatbinary tool, read from its output; little-endian): a container header of 16
 * bytes (magic 0xba55ed50, u16 version 1, u16 header bytes, u64 bytes that follow), then entries,
 * each with a header of its own (see fatbin.c). Programs built by nvcc hand over a wrapper: magic
 * 0x466243b1, u32 version, a pointer to the container.
 */
#define FATBIN_WRAPPER_MAGIC   0x466243b1u
#define FATBIN_CONTAINER_MAGIC 0xba55ed50u
#define FATBIN_HEADER_BYTES    16u

struct fatbin_wrapper {
	uint32_t magic, version;
	const void *data;
	const void *file_name_or_list;
};

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2 };

struct fatbin_entry {
	uint32_t kind; /* enum fatbin_kind, or another */
	uint32_t arch; /* 90 */
	bool zstd;     /* compressed with zstd, which is not supported: data stays as it is */
	const void *data;
	size_t size;
	void *owned; /* of data where it was decompressed: the caller frees it; else NULL */
};

/* True if a container begins at data, of which FATBIN_HEADER_BYTES are readable. */
bool fatbin_detect(const void *data);
/* Bytes of the container, by its header; SIZE_MAX - 1 where these are too many to count. */
size_t fatbin_measure(const void *data);

/*
 * Next entry of the size bytes, of which FATBIN_HEADER_BYTES are there, decompressed where LZ4 was
 * used; *cursor starts at 0. 1: *out is filled; 0: the end; -EINVAL bad layout, -ENOMEM; with err.
 */
int fatbin_next(const void *data, size_t size, size_t *cursor, struct fatbin_entry *out,
		struct error *err);

/* What a driver takes of a fatbin: a cubin of the GPU's major architecture before any PTX. */
struct fatbin_pick {
	void *cubin; /* the newest that runs; NULL: none */
	size_t cubin_size;
	uint32_t cubin_arch; /* 90; 0: none */
	char *ptx;           /* the newest that fits, with a NUL behind; NULL: none */
	size_t ptx_size;
	uint32_t ptx_arch;
};

/*
 * Of the size bytes (any number), for a GPU of that sm (90). no_cubins: as CUDA_FORCE_PTX_JIT has
 * it. PTX of another architecture than the cubin's may be of other source (__CUDA_ARCH__).
 * -EINVAL no fatbin, or damaged; -ENOTSUP an entry that may be the one is packed with zstd;
 * -ENOMEM; each with err. The caller ends with fatbin_pick_free either way.
 */
int fatbin_pick(struct fatbin_pick *out, const void *data, size_t size, unsigned sm, bool no_cubins,
		struct error *err);
void fatbin_pick_free(struct fatbin_pick *p);

#endif
