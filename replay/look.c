/* SPDX-License-Identifier: MIT */
/* Elements that the device looks for in outputs, so that they need not be read back to be checked.
 */
#include "replay/look.h"

#include "kernelab/dtype.h"

static int extent_rows(struct change_rows *out, const struct record_extent *x,
		       const struct byteset *written, const uint64_t *live)
{
	uint32_t bytes = dtype_bytes((enum dtype)x->dtype);
	size_t chunk = byteset_chunk(written, x->address);
	size_t last = byteset_chunk(written, x->address + x->size - 1);
	struct change_row row = {.zero = x->dtype == DTYPE_F8E4M3FNUZ ||
					 x->dtype == DTYPE_F8E5M2FNUZ};
	int rc = 0;

	if (chunk == SIZE_MAX || last == SIZE_MAX)
		return 0;
	for (; !rc && chunk <= last; chunk++) {
		uint64_t start = byteset_address(written, chunk), at = x->address;
		uint64_t end = x->address + x->size;

		if (at < start)
			at += (start - at + bytes - 1) / bytes * bytes;
		if (end > start + CHUNK_BYTES)
			end = start + CHUNK_BYTES;
		if (!written->words[chunk] || at + bytes > end)
			continue;
		row.address = live[chunk] + (at - start);
		row.index = chunk;
		if (row.address % bytes)
			return 1;
		rc = change_rows_add(out, &row, x->dtype, (end - at) / bytes, 0);
	}
	return rc;
}

int look_rows(struct change_rows *out, const struct extents *extents, const struct byteset *written,
	      const uint64_t *live)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < extents->count; i++) {
		const struct record_extent *x = &extents->items[i];

		if (dtype_is_float((enum dtype)x->dtype))
			rc = float_format(x->dtype) ? extent_rows(out, x, written, live) : 1;
	}
	return rc;
}
