/* SPDX-License-Identifier: MIT */
/* Triton IR text without what differs between builds of the same source. */
#ifndef LIB_IMAGE_CANONICAL_H
#define LIB_IMAGE_CANONICAL_H

#include <stddef.h>

/*
 * Canonical form of a .source (docs/identity.md): locations ("loc(…)", "#loc… =" lines) are gone,
 * SSA names are numbered per function in the order of their definition, and specialisation
 * attributes of the kernel's arguments (tt.divisibility, tt.pointer_range) are gone.
 * tt.divisibility inside the body stays: it is a hint that the source gives. *out is malloc'ed,
 * NUL-terminated, *out_size without NUL; never longer than the input plus a few bytes a name. 0 or
 * -ENOMEM. Any text is accepted.
 */
int canonical_source(const char *text, size_t size, char **out, size_t *out_size);

#endif
