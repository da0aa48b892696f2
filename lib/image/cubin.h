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
	/*
	 * In order; .nv.info KPARAM_INFO or KPARAM_INFO_V2. Offsets are those of the machine code,
	 * aligned together with the place of the parameters in the constant bank: a 64-aligned
	 * descriptor that PTX lays out at 0 is at 48 on sm_90, at 32 on sm_80, at 0 on sm_100.
	 */
	struct record_param *params;
	size_t param_count;
	uint32_t params_bytes;
	uint32_t registers;           /* 0 if not stated */
	uint32_t static_shared_bytes; /* without the 1 KiB that sm_90 and later reserve */
	uint32_t max_threads;         /* .maxntid or .reqntid multiplied; 0 if not stated */
	/*
	 * Of the machine code: .text.<entry>, the functions that the image holds beside its
	 * kernels, constants and initialised globals, each with its relocations. No debug sections,
	 * no register counts, no file name of a device assert: equal = the same instructions on the
	 * same constants.
	 */
	struct hash128 code;
};

/* Immutable after parsing; freed with cubin_free. */
struct cubin {
	uint32_t arch; /* 90 for sm_90 */
	struct cubin_kernel *kernels;
	size_t kernel_count;
	char *tool; /* "13.0.88", of .note.nv.tkinfo (ptxas 13 and later); NULL without */
	char *ptx;  /* ptx_recover() of .nv_debug_ptx_txt, NUL-terminated; or NULL */
	size_t ptx_size;
};

/*
 * Parses size bytes; trusts nothing in them. 0; -ENOEXEC no 64-bit CUDA ELF file; -EINVAL damaged;
 * -ENOMEM; each with err. data need not be aligned and is not kept. Any thread.
 */
int cubin_parse(struct cubin **out, const void *data, size_t size, struct error *err);
void cubin_free(struct cubin *c);
const struct cubin_kernel *cubin_kernel(const struct cubin *c, const char *entry); /* or NULL */

/* True if data looks like an ELF file for CUDA (machine 190). */
bool cubin_detect(const void *data, size_t size);

#endif
