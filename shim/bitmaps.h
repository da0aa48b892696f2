/* SPDX-License-Identifier: MIT */
/*
 * The table of an address-recording variant and its bitmaps, on both sides. Large bitmaps are
 * looked through on the device first, and of them only pieces with some bits set, but not all,
 * are brought to the host: 1 GB of memory has 16 MB of bitmaps, and nearly always one run of bits.
 */
#ifndef SHIM_BITMAPS_H
#define SHIM_BITMAPS_H

#include <stdbool.h>

#include "drv/entries.h"
#include "lib/ptx/pieces.h"
#include "lib/ptx/table.h"

struct bitmaps {
	uint64_t device_bytes; /* that it needs there, aligned to 256 */

	/* Its own. */
	uint64_t table_bytes, head_bytes;
	uint64_t piece_count; /* 0: all is brought */
	uint64_t kinds_bytes; /* of the pieces, in front of the table; then comes its head */
	char *front;          /* kinds, head; bitmaps too if they are not in pieces */
	uint8_t *bits;        /* that were brought */
	struct ptx_pieces pieces;
	uint64_t budget;
	CUdeviceptr device;
};

/* All zero before. NULL, or why not: static. bitmaps_free is due in both cases. */
const char *bitmaps_init(struct bitmaps *b, const struct ptx_span *spans, size_t count);

/*
 * Puts an empty table into device memory of device_bytes and its address into symbol, ordered on
 * the stream. The spans are those of bitmaps_init.
 */
CUresult bitmaps_upload(struct bitmaps *b, const struct ptx_span *spans, size_t count,
			CUdeviceptr device, CUdeviceptr symbol, CUstream stream);

/*
 * Behind the variant: looks through them. pieces: the kernel of shim/pieces.h, or NULL: all is
 * brought then.
 */
CUresult bitmaps_look(struct bitmaps *b, CUfunction pieces, CUstream stream);

/* Brings them to the host, waiting for the stream. *why: what failed; static. */
CUresult bitmaps_read(struct bitmaps *b, CUstream stream, const char **why);

/* After bitmaps_read. */
struct ptx_table bitmaps_head(const struct bitmaps *b);
struct ptx_bitmaps bitmaps_view(const struct bitmaps *b);

void bitmaps_free(struct bitmaps *b);

#endif
