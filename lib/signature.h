/* SPDX-License-Identifier: MIT */
/* The argument list of a Triton kernel, read from its .source (first TTIR). No JSON: the shim uses
 * it too. */
#ifndef LIB_SIGNATURE_H
#define LIB_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/records.h"

struct signature {
	char *entry;
	char *source_file; /* "" where unknown */
	uint32_t source_line;
	struct record_arg *args; /* as in the IR: a tensor descriptor is one !tt.tensordesc and then
				    its i32/i64 */
	size_t arg_count;
};

/*
 * Parses `text` (size bytes, NUL not needed). 0; -ENOENT no tt.func in it; -EINVAL with err.
 * Memory: malloc, freed with signature_free. Any thread; uses no locale, no stdio.
 */
int signature_parse(struct signature **out, const char *text, size_t size, struct error *err);
void signature_free(struct signature *s);

/*
 * True if the text has a public tt.func in MLIR's own form. The first IR of a kernel that does not
 * verify before Triton's passes (TLX's wgmma) is printed in the generic form: then `.ttir` is to be
 * read instead.
 */
bool signature_readable(const char *text, size_t size);

/* False where they are arg0, arg1 …: Triton before 3.5 does not keep the names of arguments. NULL:
 * false. */
bool signature_has_names(const struct signature *s);

/* Bytes of a kernel parameter of that IR type: 8 for pointers, 128 for !tt.tensordesc; 0 unknown.
 */
uint32_t signature_type_bytes(const char *type);

/* True for !tt.tensordesc<…>: a CUtensorMap by value whose record_arg has the element's dtype. */
bool signature_is_descriptor(const char *type);

#endif
