/* SPDX-License-Identifier: MIT */
/* Which ptxas made an image, as far as that can be known without running anything. */
#ifndef SHIM_PTXAS_H
#define SHIM_PTXAS_H

#include <stddef.h>

#include "shim/images.h"

struct ptxas_guess {
	char version[32]; /* "13.0.88"; "" unknown */
	char how[240];
};

/*
 * In this order: the tool string inside the cubin (ptxas 13 and later writes one); what Triton
 * answered to the Python glue in the process that compiled it (note: the glue's, or NULL); the
 * version that KERNELAB_FACTS gives for TRITON_PTXAS_PATH, if the PTX beside the image does not
 * speak against it; the CUDA release of that PTX's .version, marked as a hint ("12.8?").
 */
void ptxas_guess(const struct image *image, const char *data, const char *note,
		 struct ptxas_guess *out);

#endif
