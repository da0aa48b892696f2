/* SPDX-License-Identifier: MIT */
/* What is loaded for an image: itself, or the machine code that the recorded run's driver made. */
#ifndef REPLAY_CODE_H
#define REPLAY_CODE_H

#include "kernelab/bundle.h"
#include "kernelab/error.h"

/*
 * The GPU, as sm: 90; 0 for the software device, which runs PTX only. Where the bundle holds the
 * machine code that the driver made of the image for that GPU (capture --cupti), it is run; else
 * the image is loaded as the program did, and the driver here compiles what is PTX.
 */
const struct record_file *code_of_driver(const struct bundle *b, struct hash128 image, unsigned sm);
/* Equal for two that are the same code: the image's identity, or that of the driver's code. */
struct hash128 code_id(const struct bundle *b, struct hash128 image, unsigned sm);
/* Adds all that the driver made of the image, for whatever GPU; nothing if there is none. */
void code_add(struct hash_state *h, const struct bundle *b, struct hash128 image);
/* malloc'ed; 0 or -errno with err. */
int code_read(const struct bundle *b, const struct record_image *image, unsigned sm, void **data,
	      size_t *size, struct error *err);

#endif
