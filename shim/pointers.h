/* SPDX-License-Identifier: MIT */
/* Pointers that lie in memory: tables of pointers, as grouped and foreach kernels take them. */
#ifndef SHIM_POINTERS_H
#define SHIM_POINTERS_H

#include "shim/regions.h"

/* More than these are not looked for: bytes of one look, and regions of a launch. */
#define POINTERS_BYTES_MAX   (16u << 20)
#define POINTERS_REGIONS_MAX 4096u

/*
 * Looks at each aligned 8-byte word that the launch reads (of a measured launch; else of all
 * regions of at most 1 MiB), in the contents of now or in copies (source, or NULL), and adds the
 * regions that they lead to. The stream must be idle; copies are ordered on it. True if there are
 * more regions than before, to be merged. *limited: something was not looked at, static text or
 * NULL.
 */
bool pointers_follow(struct regions *regions, CUstream stream, const struct copies_source *source,
		     const char **limited);

#endif
