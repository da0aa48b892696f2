/* SPDX-License-Identifier: MIT */
/* What the Python glue (scripts/glue) notes below the output folder, for this process's bundle. */
#ifndef SHIM_GLUE_H
#define SHIM_GLUE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/hash.h"
#include "shim/cache.h"

/* Of a FILE record with a note: the stem of the image's cache entry, or its id, and this. */
#define GLUE_SUFFIX ".glue"

/*
 * For the glue, which has no XXH3: the id of an image as 32 hex digits and a NUL into text
 * (HASH_TEXT_BYTES). Exported; any thread, any time.
 */
void kernelab_image_id(const void *data, size_t size, char *text);

/*
 * The note about an image that was compiled in this run, by this process or another one. Fills all
 * of out (malloc'ed); false, and out empty, if there is none. At most 1 MiB is read.
 */
bool glue_note(struct hash128 id, struct cache_file *out);

/* Where this process's autotuners are noted, whether or not they are. malloc'ed; NULL: nowhere. */
char *glue_autotune_path(void);

#endif
