/* SPDX-License-Identifier: MIT */
/* Address-recording variants of images, loaded into the program's contexts; their device memory. */
#ifndef SHIM_VARIANTS_H
#define SHIM_VARIANTS_H

#include <stdbool.h>

#include "lib/ptx/instrument.h"
#include "shim/images.h"

/* A context of the program in which variants run. Callers hold the lock of shim/extents.c. */
struct place {
	CUcontext context;
	unsigned long generation; /* changes when the context turns out to be another one */
	CUdeviceptr buffer;
	uint64_t bytes;
	CUfunction pieces; /* shim/pieces.h; NULL: not loaded yet, or pieces_lacks */
	bool pieces_lacks; /* it cannot be loaded there */
};

/* The kernel of shim/pieces.h in that place, loaded if need be; NULL: it cannot be had. */
CUfunction variants_pieces(struct place *place);

/* The current context's, or NULL with *why. */
struct place *variants_place(const char **why);

/*
 * Device memory of at least `bytes` for one measurement. It is kept for the next; when it is too
 * small a larger one takes its place, and the small one stays: cuMemFree would wait for all streams
 * of the program. 0 with *result an error of the driver.
 */
CUdeviceptr variants_buffer(struct place *place, uint64_t bytes, CUresult *result);

/*
 * The image's variant as a module in that place, made if need be; *entry is the kernel's. NULL: not
 * to be had; why (of `size` bytes) says the reason.
 */
CUmodule variants_get(struct image *image, const char *entry_name, struct place *place,
		      const struct ptx_variant_entry **entry, char *why, size_t size);

/* No variant of the image is run any more, for that reason. */
void variants_give_up(struct image *image, const char *reason);

/* The buffer is in use for ever: the next measurement gets another. */
void variants_lose_buffer(CUdeviceptr buffer);

void variants_unload(struct image *image);
void variants_forget(void);

#endif
