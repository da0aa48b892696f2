/* SPDX-License-Identifier: MIT */
/* Texts in a bundle are UTF-8 without NUL: check, and repair before writing. */
#ifndef LIB_BUNDLE_UTF8_H
#define LIB_BUNDLE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence at text (1 … 4), 0 if there is none (Unicode 15, table 3-7). */
size_t utf8_sequence(const char *text, size_t size);
/* Offset of the first byte that is no part of well-formed UTF-8, or size. */
size_t utf8_valid(const char *text, size_t size);
/*
 * Copy of text with each other byte replaced by U+FFFD, malloc'ed, NUL behind; NULL without memory.
 */
char *utf8_repair(const char *text, size_t size, size_t *repaired_bytes);

#endif
