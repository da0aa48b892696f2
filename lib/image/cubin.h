/* SPDX-License-Identifier: MIT */
/* What an NVIDIA cubin says about its kernels, by libelf. Never in the shim. */
#ifndef LIB_IMAGE_CUBIN_H
#define LIB_IMAGE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/hash.h"
#include "kernelab/records.h"

struct cubin_kernel {
	char *entry;
	struct record_param *params; /* in order; .nv.info KPARAM_INFO */
	size_t param_count;
	uint32_t params_bytes;
	uint32_t registers;           /* 0 if not stated */
	uint32_t static_shared_bytes; /* .nv.shared.<entry> */
	uint32_t max_threads;         /* 0 if not stated */
	struct hash128 code; /* of .text.<entry> with relocations; without debug sections */
};

/* Immutable after parsing; freed with cubin_free. */
struct cubin {
	uint32_t arch; /* 90 for sm_90 */
	struct cubin_kernel *kernels;
	size_t kernel_count;
	char *tool; /* .note.nv.cuinfo/.note.nv.tkinfo tool string (ptxas 13+), or NULL */
	char *ptx;  /* recovered from .nv_debug_ptx_txt, newlines restored, NUL-terminated; or NULL
		     */
	size_t ptx_size;
};

/* Parses size bytes (trusts nothing: every offset is bounded). -EINVAL/-ENOEXEC with err and
 * offset. */
int cubin_parse(struct cubin **out, const void *data, size_t size, struct error *err);
void cubin_free(struct cubin *c);
const struct cubin_kernel *cubin_kernel(const struct cubin *c, const char *entry); /* or NULL */

/* True if data looks like an ELF file for CUDA (machine 190). */
bool cubin_detect(const void *data, size_t size);

/*
 * Hash of PTX text without what differs between builds of the same code: .version, .target's
 * suffixes are kept, .loc, .file, comments, debug sections and blank space go (facts: 16/16,
 * 69/72).
 */
struct hash128 ptx_canonical_hash(const char *ptx, size_t size);

#endif
