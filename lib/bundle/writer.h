/* SPDX-License-Identifier: MIT */
/* What the reading side asks of a writer (bundle_copy_chunk). */
#ifndef LIB_BUNDLE_WRITER_H
#define LIB_BUNDLE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelab/bundle.h"

/* Is that chunk in the file already? Any thread. */
bool bundle_writer_has_chunk(struct bundle_writer *w, struct hash128 key, uint32_t size);

#endif
