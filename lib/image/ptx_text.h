/* SPDX-License-Identifier: MIT */
/* PTX as text: recovering it from a cubin's debug section, and a hash of what it computes. */
#ifndef LIB_IMAGE_PTX_TEXT_H
#define LIB_IMAGE_PTX_TEXT_H

#include <stddef.h>

#include "kernelab/hash.h"

/*
 * PTX out of a .nv_debug_ptx_txt section: its NUL-separated lines with newlines. malloc'ed, one NUL
 * behind; NULL without memory. (ptxas leaves out comments, .loc, .file and the contents of debug
 * sections; the machine code that comes of it is the same.)
 */
char *ptx_recover(const char *section, size_t size);

/*
 * Hash of PTX text without what differs between builds of the same code: .version, .loc, .file,
 * comments, debug sections, labels that only these use ($L__tmp…, $L__func_begin…, $L__func_end…)
 * the file name of a device assert (Inductor's differs in every build) and blank space go; .target
 * stays. Equal for a .ptx file and the text recovered from its cubin.
 * Zero without memory.
 */
struct hash128 ptx_canonical_hash(const char *ptx, size_t size);

#endif
