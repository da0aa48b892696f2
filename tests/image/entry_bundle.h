/* SPDX-License-Identifier: MIT */
/* Puts Triton cache entries of tests/data into a bundle as a capture would. */
#ifndef TESTS_IMAGE_ENTRY_BUNDLE_H
#define TESTS_IMAGE_ENTRY_BUNDLE_H

#include "kernelab/bundle.h"

/*
 * Writes image, files and (number < UINT32_MAX) KERNEL `number` of the entry at stem (path without
 * suffix); extra bytes behind the cubin make it another image. Ends the program on any failure.
 */
struct hash128 entry_bundle_add(struct bundle_writer *w, const char *stem, uint32_t number,
				size_t extra);

/* A launch of that kernel: block of 128 threads, one class per x. */
void entry_bundle_launch(struct bundle_writer *w, uint64_t seq, uint32_t kernel, uint32_t x);

/* CLASS of the launches with that x. */
void entry_bundle_class(struct bundle_writer *w, uint32_t kernel, uint32_t x, uint64_t seen,
			const char *reason);

#endif
