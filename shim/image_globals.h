/* SPDX-License-Identifier: MIT */
/* The module variables of a code object: .global and .const memory that its kernels name. */
#ifndef SHIM_IMAGE_GLOBALS_H
#define SHIM_IMAGE_GLOBALS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/dtype.h"
#include "kernelab/records.h"

struct image_global {
	char *name;
	bool constant;    /* in a constant bank: kernels do not write it */
	enum dtype dtype; /* of its elements, where PTX declares it */
};

struct image_globals {
	struct image_global *items;
	size_t count, capacity;
	const char *unknown; /* why they are not known (static), or NULL */
};

/*
 * Out of a cubin's symbol table (objects in .nv.global, .nv.global.init and the bank of user
 * constants), or the declarations of PTX. Left out: texts that the compiler made for assert, printf
 * and its own use (is_compiler_text), which are no data of the program. Of a
 * fatbin those of all its entries (compressed with LZ4 or not at all; zstd is not read, and unknown
 * says so). Trusts nothing. 0 or -ENOMEM.
 */
int image_globals_find(struct image_globals *out, const void *data, size_t size,
		       enum image_kind kind);

/* Fills the element types from PTX that declares the same names. 0 or -ENOMEM. */
int image_globals_types(struct image_globals *globals, const char *ptx, size_t size);

void image_globals_free(struct image_globals *globals);

#endif
