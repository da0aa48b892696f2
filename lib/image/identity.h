/* SPDX-License-Identifier: MIT */
/* The keys of families and configs; docs/identity.md gives the rules and their reasons. */
#ifndef LIB_IMAGE_IDENTITY_H
#define LIB_IMAGE_IDENTITY_H

#include <stddef.h>

#include "kernelab/error.h"
#include "kernelab/hash.h"
#include "lib/image/cubin.h"
#include "lib/image/shapes.h"
#include "lib/image/triton.h"

/*
 * Fills family, config, loose and special of k, whose other fields are complete. shapes: the block
 * shapes of source. 0 or -ENOMEM.
 */
int identity_make(struct triton_kernel *k, const struct span *source, const struct shape *shapes,
		  size_t shape_count, struct error *err);

/* Family of a kernel without Triton metadata: entry and parameter layout. 0 or -ENOMEM. */
int identity_plain(const char *entry, const struct record_param *params, size_t param_count,
		   struct hash128 *family, struct error *err);

#endif
