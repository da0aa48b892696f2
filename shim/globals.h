/* SPDX-License-Identifier: MIT */
/* Module variables of the kernel that is launched, as regions of the launch. */
#ifndef SHIM_GLOBALS_H
#define SHIM_GLOBALS_H

#include "shim/record_launch.h"
#include "shim/regions.h"

/*
 * Adds a region for each variable of the module that the launch's function is of, in the current
 * context. Before the regions of parameters: a pointer that leads into one is then noted with it.
 * What the driver does not know was left out by its compiler: nothing uses it. 0 or -ENOMEM.
 */
int globals_add(struct regions *regions, const struct launch_facts *f);

/*
 * Gives `module`, another one of the same source, the contents of the variables that `regions`
 * holds, ordered on the stream, and returns where they lie there: one address a region, 0 for what
 * is no variable or not in that module. addresses: regions->count of them.
 */
CUresult globals_copy(const struct regions *regions, CUmodule module, CUstream stream,
		      uint64_t *addresses);

#endif
