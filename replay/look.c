/* SPDX-License-Identifier: MIT */
/* Elements that the device looks for in outputs, so that they need not be read back to be checked.
 */
#include "replay/look.h"

#include "kernelab/dtype.h"
#include "lib/base.h"

static int add_rows(struct change_rows *out, uint32_t dtype, size_t chunk, uint64_t device,
		    uint64_t count)
{
	const struct float_format *f = float_format(dtype);

	while (count) {
		bool whole;
		uint64_t n = change_row_elements(device, count, f->bytes, &whole);
		int rc =
			array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items));

		if (rc)
			return rc;
		out->items[out->count++] = (struct change_row){.address = device,
							       .index = chunk,
							       .greatest = f->greatest,
							       .count = (uint32_t)n,
							       .bytes = f->bytes,
							       .mantissa = (uint32_t)f->mantissa,
							       .bias = (uint32_t)f->bias,
							       .zero = dtype == DTYPE_F8E4M3FNUZ ||
								       dtype == DTYPE_F8E5M2FNUZ,
							       .whole = whole};
		device += n * f->bytes;
		count -= n;
	}
	return 0;
}

static int extent_rows(struct change_rows *out, const struct record_extent *x,
		       const struct byteset *written, const uint64_t *live)
{
	uint32_t bytes = dtype_bytes((enum dtype)x->dtype);
	size_t chunk = byteset_chunk(written, x->address);
	size_t last = byteset_chunk(written, x->address + x->size - 1);
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
		if ((live[chunk] + at - start) % bytes)
			return 1;
		rc = add_rows(out, x->dtype, chunk, live[chunk] + (at - start), (end - at) / bytes);
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
