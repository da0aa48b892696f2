/* SPDX-License-Identifier: MIT */
/* Module variables of the kernel that is launched, as regions of the launch. */
#ifndef SHIM_GLOBALS_H
#define SHIM_GLOBALS_H

#include "shim/record_launch.h"
#include "shim/regions.h"

/*
 * Adds a region for each variable of the module that the launch's function is of, in the current
 * context. Before the regions of parameters: a pointer that leads into one is then noted with it.
 * What the driver does not find stands in `unfound`: its compiler leaves out what nothing uses, but
 * that is for the driver to know. 0 or -ENOMEM.
 */
int globals_add(struct regions *regions, const struct launch_facts *f);

/* What is to be said of `unfound`, with its first names: malloc'ed; NULL: nothing, or no memory. */
char *globals_note(const struct regions *regions);

/*
 * One that was not found in the launch's module, but is in `module`, another of the same source: it
 * cannot be filled there. NULL: none.
 */
const char *globals_hidden(const struct regions *regions, CUmodule module);

/*
 * Gives `module`, another one of the same source, the contents of the variables that `regions`
 * holds, ordered on the stream, and returns where they lie there: one address a region, 0 for what
 * is no variable or not in that module. addresses: regions->count of them.
 */
CUresult globals_copy(const struct regions *regions, CUmodule module, CUstream stream,
		      uint64_t *addresses);

#endif
