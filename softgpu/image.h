/* SPDX-License-Identifier: MIT */
/* What a program hands to cuModuleLoad*: PTX text, cubin or fatbin; and the PTX in it. */
#ifndef SOFTGPU_IMAGE_H
#define SOFTGPU_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "lib/image/cubin.h"

struct image {
	char *ptx; /* NUL-terminated copy */
	size_t ptx_size;
	struct cubin *cubin; /* NULL where the program brought PTX */
};

/* Reasons of image_open, besides -ENOMEM. */
enum image_verdict {
	IMAGE_OK,
	IMAGE_INVALID,   /* neither of the three formats, or damaged */
	IMAGE_NO_BINARY, /* nothing in it for this device */
	IMAGE_TARGET,    /* PTX for a newer device */
	IMAGE_VERSION,   /* PTX of a newer version */
	IMAGE_NO_MEMORY
};

/*
 * Finds the PTX of an image for a device of architecture arch (90). size is the number of readable
 * bytes, or SIZE_MAX where the caller does not know (cuModuleLoadData): then headers give the
 * extent, bounded, and pages that are not mapped are an error, not a crash. PTX      runs if its
 * .target is not above the device's cubin    of the device's own major architecture, with its PTX
 * in .nv_debug_ptx_txt fatbin   a fitting cubin with PTX, else the highest fitting PTX (stored or
 * LZ4) On anything but IMAGE_OK err says why. Freed with image_close.
 */
enum image_verdict image_open(struct image *out, const void *data, size_t size, uint32_t arch,
			      struct error *err);
void image_close(struct image *image);

#endif
