/* SPDX-License-Identifier: MIT */
/*
 * Bitmaps in pieces of which most have no bit set, or all of them: only the others are brought from
 * the device.
 */
#ifndef LIB_PTX_PIECES_H
#define LIB_PTX_PIECES_H

#include <stddef.h>
#include <stdint.h>

#define PTX_PIECE_BYTES 1024u

/* What shim/pieces.c finds of each. */
enum ptx_piece_kind { PTX_PIECE_NONE, PTX_PIECE_ALL, PTX_PIECE_MIXED };

/* In ptx_pieces.where, in place of a number. */
#define PTX_WHERE_NONE UINT32_MAX
#define PTX_WHERE_ALL  (UINT32_MAX - 1)

/* Pieces to bring: first, and how many. */
struct ptx_piece_run {
	uint32_t first, count;
};

#define PTX_PIECE_RUNS_MAX 64u

struct ptx_pieces {
	/* Of each piece: its number among those that are brought, which lie in order and one behind
	 * the other; or that it is not among them. */
	uint32_t *where;
	size_t count;
	struct ptx_piece_run runs[PTX_PIECE_RUNS_MAX];
	size_t run_count;
	uint32_t brought; /* pieces of all runs */
};

/*
 * Plans what to bring by the kinds of the pieces (an unknown one counts as mixed): each mixed one;
 * and what lies between two of them if that is less than 64 pieces, or more where there were too
 * many runs. 0 or -ENOMEM; count is below 2^31. ptx_pieces_free is for what was filled.
 */
int ptx_pieces_plan(struct ptx_pieces *pieces, const uint8_t *kinds, size_t count);
void ptx_pieces_free(struct ptx_pieces *pieces);

#endif
