/* SPDX-License-Identifier: MIT */
/* The PTX of an image, where it can be had. */
#ifndef SHIM_IMAGE_PTX_H
#define SHIM_IMAGE_PTX_H

#include <stddef.h>

#include "shim/images.h"

/*
 * Out of the cache entry's .ptx file, the image itself, or the section .nv_debug_ptx_txt of a
 * cubin, whose headers are not trusted. Of a fatbin that of the entry which the driver takes on a
 * GPU of that sm (90): none where entries cannot be read. malloc'ed, *size bytes and a NUL; the
 * section's lines end in NULs. NULL: there is none (or no memory). Needs image->data and the
 * cache's files, before they go.
 */
char *image_ptx(const struct image *image, unsigned sm, size_t *size);

#endif
