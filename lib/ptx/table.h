/* SPDX-License-Identifier: MIT */
/* The host's side of an address-recording variant: the table of regions and its bitmaps. */
#ifndef LIB_PTX_TABLE_H
#define LIB_PTX_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/records.h"
#include "lib/ptx/instrument.h"

/* A region of device memory. */
struct ptx_span {
	uint64_t base, size;
};

/* More ranges of one region and kind than this are merged, the narrowest gaps first. */
#define PTX_RANGES_MAX 1024u

/*
 * Bytes of the table with all its bitmaps, of which the first *head_bytes are for
 * ptx_table_fill and the rest must be zero before the launch. 0 if that is more than max_bytes.
 */
uint64_t ptx_table_bytes(const struct ptx_span *spans, size_t count, uint64_t max_bytes,
			 uint64_t *head_bytes);

/* Fills head (head_bytes) for a table that will lie at device address `at`. */
void ptx_table_fill(void *head, uint64_t at, const struct ptx_span *spans, size_t count);

/* The bitmaps as they came back: what lies behind head_bytes. */
struct ptx_bitmaps {
	const uint8_t *bits;   /* all of them, or the pieces that were brought */
	const uint32_t *where; /* NULL, or struct ptx_pieces' of all of them */
};

/*
 * What was read and written of span i: pairs of offset in the span and bytes, whole granules,
 * clipped to the span; malloc'ed. *merged: gaps were filled to keep below PTX_RANGES_MAX. bitmaps:
 * of a table of the same spans. 0 or -ENOMEM.
 */
int ptx_table_ranges(const struct ptx_bitmaps *bitmaps, const struct ptx_span *spans, size_t i,
		     struct u64s *reads, struct u64s *writes, bool *merged);

#endif
