/* SPDX-License-Identifier: MIT */
/* Bundles made by hand: any payload, with checksums that hold. */
#ifndef TESTS_LIB_FORGE_H
#define TESTS_LIB_FORGE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/bundle/format.h"

struct forge {
	char *data;
	size_t size, capacity;
	struct format_header header;
	size_t index_records, index_chunks;
	struct format_index_record records[256];
	struct format_index_chunk chunks[256];
};

/* A header of that kind with a fixed uuid. */
void forge_start(struct forge *f, enum bundle_kind kind);
/* Any record. flags and type may be ones that do not exist. */
void forge_record(struct forge *f, uint32_t type, uint32_t flags, const void *payload, size_t size);
/* A chunk record with this head. */
void forge_chunk(struct forge *f, struct hash128 key, uint32_t raw_bytes, uint32_t codec,
		 const void *stored, uint32_t stored_bytes);
/* Index (of what is in f->records and f->chunks now, which a test may have changed) and footer. */
void forge_end(struct forge *f);
void forge_free(struct forge *f);

#endif
