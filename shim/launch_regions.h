/* SPDX-License-Identifier: MIT */
/* The memory that a launch reaches: module variables, and what its parameters point to. */
#ifndef SHIM_LAUNCH_REGIONS_H
#define SHIM_LAUNCH_REGIONS_H

#include "shim/record_launch.h"
#include "shim/regions.h"

/*
 * Merged, in the current context. Writes TENSOR_MAP records of descriptors among the parameters.
 * 0 or -errno.
 */
int launch_regions_find(struct regions *regions, struct bundle_writer *w,
			const struct launch_facts *f);

#endif
