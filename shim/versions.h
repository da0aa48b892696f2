/* SPDX-License-Identifier: MIT */
/* Versions of torch and triton, read from the files beside their loaded libraries. */
#ifndef SHIM_VERSIONS_H
#define SHIM_VERSIONS_H

#include <stdbool.h>

#include "kernelab/bundle.h"

/*
 * Looks through /proc/self/maps and writes torch.version, torch.commit, torch.cuda, triton.version,
 * triton.package (its distribution: triton, fbtriton, pytorch_triton), triton.commit,
 * triton.folder; each with the file it was read from. *done: both were found, or nothing more can
 * come. 0 or -errno of the writer; files that cannot be read are no error.
 */
int versions_write(struct bundle_writer *w, bool *done);

#endif
