/* SPDX-License-Identifier: MIT */
/* The one place that decides where an image came from: Triton, TLX, Inductor or other. */
#ifndef LIB_ORIGIN_H
#define LIB_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/records.h"

/* What is known of an image. Any pointer may be NULL. Texts need not be NUL-terminated. */
struct origin_evidence {
	const char *source; /* the cache entry's .source */
	size_t source_size;
	const char *ttir; /* the cache entry's .ttir */
	size_t ttir_size;
	const char *entry;      /* a kernel's name */
	const char *image_path; /* file that the program loaded */
	const char *caller;     /* file name of the library that called the driver */
};

/*
 * Returns enum origin; *how (may be NULL) gets a static sentence that names the rule. The rules in
 * their order, the first that holds decides:
 *   1. TLX operations or attributes in .source or .ttir -> TLX
 *   2. .source stands in a file that Inductor generated, and the entry is not of Inductor's making
 *      (Inductor copies user-written kernels of a compiled function into such files) -> TRITON
 *   3. .source stands in a file that Inductor generated; or the entry name is one of Inductor's
 *      and no source file is known                      -> INDUCTOR
 *   4. there is a .source or .ttir: a Triton cache entry with the same cubin -> TRITON
 *   5. the image was loaded from a file of a Triton cache, or by Triton's driver utility -> TRITON
 *   6. otherwise                                        -> OTHER
 * Any thread.
 */
enum origin origin_decide(const struct origin_evidence *e, const char **how);

/*
 * True for the path of a file that Inductor generated: …/aa/caagyl….py, its name "c" and 51 base32
 * digits, its folder the name's second and third character (torch/_inductor/codecache.py).
 */
bool origin_inductor_file(const char *path);

/*
 * True for an entry name that Inductor makes: triton_ + category of three letters + _fused…, the
 * names of its GEMM, convolution and attention templates, or "triton_" while it tries configs
 * (torch/_inductor/codegen/triton.py, select_algorithm.py, kernel/).
 */
bool origin_inductor_entry(const char *entry);

#endif
