/* SPDX-License-Identifier: MIT */
/* An image of a bundle with everything that can be read of it. */
#ifndef LIB_IMAGE_SUITE_IMAGE_H
#define LIB_IMAGE_SUITE_IMAGE_H

#include "kernelab/bundle.h"
#include "kernelab/error.h"
#include "lib/fatbin.h"
#include "lib/image/cubin.h"
#include "lib/image/triton.h"

struct suite_image {
	const struct record_image *record;
	struct triton_kernel *triton; /* NULL without metadata */
	struct note *note;            /* of the Python glue; NULL without */
	struct cubin *cubin;     /* itself, or that of a fatbin which its GPU takes; else NULL */
	struct hash128 ptx_hash; /* of .ptx, else of the image's own PTX; zero without */
	char problem[256];       /* what could not be read; "" */
};

/* Reads image and metadata; what is damaged is left out and told in problem. 0 or -ENOMEM. */
int suite_image_read(struct suite_image *out, const struct bundle *b,
		     const struct record_image *record, struct error *err);
void suite_image_clear(struct suite_image *image);

/*
 * What the first device that the run used takes of its fatbin. -ENODEV where none is known, else as
 * fatbin_pick and bundle_read_image.
 */
int suite_fatbin_pick(struct fatbin_pick *out, const struct bundle *b,
		      const struct record_image *record, struct error *err);

#endif
