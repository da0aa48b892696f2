/* SPDX-License-Identifier: MIT */
/* The one place that decides where an image came from: Triton, TLX, Inductor or other. */
#ifndef LIB_ORIGIN_H
#define LIB_ORIGIN_H

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
 * Returns enum origin; *how gets a static sentence that names the rule. The rules in their order:
 *   1. TLX operations in .ttir or .source               -> TLX
 *   2. .source location in Inductor's generated code, or an Inductor entry name -> INDUCTOR
 *   3. there is a .source (a Triton cache entry with the same cubin)  -> TRITON
 *   4. the caller is Triton's driver utility library    -> TRITON
 *   5. otherwise                                        -> OTHER
 */
enum origin origin_decide(const struct origin_evidence *e, const char **how);

#endif
