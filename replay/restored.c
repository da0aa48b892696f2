/* SPDX-License-Identifier: MIT */
/* Whether restored memory holds what was recorded. */
#include "replay/restored.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

static void count_differing(const uint8_t *now, const uint8_t *recorded, uint64_t at,
			    uint64_t *bytes, uint64_t *address)
{
	for (size_t k = 0; k < CHUNK_BYTES; k++)
		if (now[k] != recorded[k] && !(*bytes)++)
			*address = at + k;
}

int restored_check(struct runner *r, uint64_t *bytes, uint64_t *address, struct error *err)
{
	const struct contents *c = r->board.contents;
	const struct byteset shape = {.pieces = &c->pieces, .chunks = c->chunks};
	_cleanup_free_ uint8_t *now = malloc(CHUNK_BYTES);
	int rc = now ? 0 : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory to read back");

	*bytes = *address = 0;
	if (!rc) {
		board_spoil(&r->board);
		rc = board_restore(&r->board, err);
	}
	for (size_t i = 0; !rc && i < c->chunks; i++) {
		const uint8_t *recorded = contents_chunk(c, i);
		CUresult result = r->driver.cuMemcpyDtoHAsync_v2(now, r->board.live[i], CHUNK_BYTES,
								 r->stream);

		if (result == CUDA_SUCCESS)
			result = r->driver.cuStreamSynchronize(r->stream);
		r->pulse->cost.downloaded_bytes += CHUNK_BYTES;
		if (result != CUDA_SUCCESS)
			rc = error_set(err, EIO, ERROR_NO_OFFSET,
				       "reading restored memory back: CUresult %d", (int)result);
		else if (memcmp(now, recorded, CHUNK_BYTES) != 0)
			count_differing(now, recorded, byteset_address(&shape, i), bytes, address);
	}
	return rc;
}
