/* SPDX-License-Identifier: MIT */
/* What the reading side asks of a writer (bundle_copy_chunk, bundle_writer_append). */
#ifndef LIB_BUNDLE_WRITER_H
#define LIB_BUNDLE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "lib/bundle/chunk_table.h"
#include "lib/bundle/format.h"

/* Is that chunk in the file already? Any thread. */
bool bundle_writer_has_chunk(struct bundle_writer *w, struct hash128 key, uint32_t size);

/*
 * Opens a file whose records and chunks are these, cuts it off at `end`, the offset of its index,
 * and goes on writing there. Both lists are copied. 0 or -errno.
 */
int bundle_writer_continue(struct bundle_writer **out, const char *path, uint64_t end,
			   const struct format_index_record *records, size_t record_count,
			   const struct chunk_table *chunks);

#endif
