/* SPDX-License-Identifier: MIT */
/* Fatbins: one container with cubins and PTX for several architectures. */
#ifndef SOFTGPU_FATBIN_H
#define SOFTGPU_FATBIN_H

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
#define FATBIN_HEADER_BYTES 16u

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2 };

struct fatbin_entry {
	uint32_t kind; /* enum fatbin_kind, or another */
	uint32_t arch; /* 90 */
	bool zstd;     /* compressed with zstd, which is not supported: data stays as it is */
	const void *data;
	size_t size;
	void *owned; /* of data where it was decompressed: the caller frees it; else NULL */
};

/* The container behind a wrapper, or data itself. size as in image_open. */
const void *fatbin_unwrap(const void *data, size_t size);
/* Reads as far as the magic agrees. */
bool fatbin_detect(const void *data);
/* Needs FATBIN_HEADER_BYTES readable bytes. */
size_t fatbin_measure(const void *data);

/*
 * Next entry, decompressed where LZ4 was used; *cursor starts at 0. 1: *out is filled; 0: the end;
 * -EINVAL bad layout, -ENOMEM; with err.
 */
int fatbin_next(const void *data, size_t size, size_t *cursor, struct fatbin_entry *out,
		struct error *err);

#endif
