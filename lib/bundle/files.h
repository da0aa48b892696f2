/* SPDX-License-Identifier: MIT */
/* Operands of commands: a bundle file, or a folder of them. */
#ifndef LIB_BUNDLE_FILES_H
#define LIB_BUNDLE_FILES_H

#include <stddef.h>

#include "kernelab/error.h"

/* malloc'ed array of malloc'ed paths. */
struct bundle_paths {
	char **items;
	size_t count;
};

/*
 * Each operand that is a folder becomes its *.klab files (not those of sub-folders), sorted by name
 * as strcmp does; any other stands as it is, whether it exists or not (bundle_open says). A path
 * that two operands name is kept twice. 0; -ENOENT "no bundle in FOLDER"; -errno of opendir.
 */
int bundle_paths_expand(struct bundle_paths *out, char *const *operands, size_t count,
			struct error *err);
void bundle_paths_free(struct bundle_paths *p);

#endif
