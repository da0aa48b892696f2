/* SPDX-License-Identifier: MIT */
/* Compiled kernels by the manifest of make-kernels.py, and Triton's launch convention. */
#ifndef TESTS_APPS_KERNELS_H
#define TESTS_APPS_KERNELS_H

#include <stdbool.h>

#include "tests/apps/driver.h"

enum { KERNEL_IMAGES_MAX = 512, KERNEL_ARGUMENTS_MAX = 16, KERNEL_BLOCKS_MAX = 3 };

/* One image: one config in one specialisation. */
struct kernel_image {
	char entry[64];
	char path[512];
	/* One letter an argument: p f32*, h bf16*, e f16*, q fp8*, d f64*, i i32*, n i32, f f32;
	 * upper case: specialised to a pointer that is 16-byte aligned, or an integer that is a
	 * multiple of 16. */
	char kinds[KERNEL_ARGUMENTS_MAX + 1];
	unsigned scratch; /* hidden pointers behind the arguments */
	unsigned warps, shared_bytes;
	unsigned blocks[KERNEL_BLOCKS_MAX]; /* block sizes, in the order of the source */
	CUmodule module;                    /* loaded at the first launch, as Triton does */
	CUlibrary library;                  /* in its place, if the set has as_libraries */
	CUfunction function;                /* or the library's CUkernel, launched as it is */
	bool as_library;
};

struct kernel_set {
	struct kernel_image images[KERNEL_IMAGES_MAX];
	unsigned count;
	bool as_libraries; /* load by cuLibraryLoadData; set before the first launch */
};

/* Arguments of one launch: put them in order, then kernel_launch. */
struct arguments {
	union {
		CUdeviceptr pointer;
		int32_t integer;
		float real;
	} values[KERNEL_ARGUMENTS_MAX];
	char kinds[KERNEL_ARGUMENTS_MAX + 1]; /* p n f */
	unsigned count;
};

void put_pointer(struct arguments *a, CUdeviceptr value);
void put_integer(struct arguments *a, int32_t value);
void put_real(struct arguments *a, float value);

/*
 * Reads FOLDER/manifest. An image of the same entry, kinds, warps and blocks as one that is there
 * already takes its place: a folder of edited kernels over a whole set. Ends the program on errors.
 */
void kernel_set_add(struct kernel_set *set, const char *folder);
/* Unloads all modules. */
void kernel_set_unload(struct kernel_set *set);

/* The config-th image of entry whose specialisation fits the arguments; NULL if there is none. */
struct kernel_image *kernel_find(struct kernel_set *set, const char *entry,
				 const struct arguments *a, unsigned config);

/* Pointers to the arguments and the hidden scratch, as launches take them; room for MAX + 2. */
void kernel_pointers(const struct kernel_image *image, struct arguments *a, void **pointers);

enum launch_call { LAUNCH_EX, LAUNCH_CLASSIC };

/* Launches x × y blocks of 32 × warps threads on the client's stream. */
void kernel_launch(struct kernel_image *image, const struct arguments *a, unsigned x, unsigned y,
		   enum launch_call call);

#endif
