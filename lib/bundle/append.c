/* SPDX-License-Identifier: MIT */
/* Going on with a bundle that was finished. */
#include <errno.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "lib/bundle/reader.h"
#include "lib/bundle/writer.h"

/* Records lie without a gap between header and index (index_load has checked that). */
static uint64_t index_offset(const struct bundle *b)
{
	uint64_t at = sizeof(struct format_header);

	for (size_t i = 0; i < b->priv->records.count; i++)
		at += sizeof(struct format_frame) + b->priv->records.items[i].payload_bytes;
	for (size_t i = 0; i < b->priv->chunks.count; i++)
		at += sizeof(struct format_frame) + sizeof(struct format_chunk) +
		      b->priv->chunks.items[i].stored_bytes;
	return at;
}

int bundle_writer_append(struct bundle_writer **out, const char *path, struct error *err)
{
	struct bundle *b;
	int status = bundle_open(&b, path, err);

	*out = NULL;
	if (status)
		return status;
	if (!b->complete)
		status = error_set(err, EBADMSG, ERROR_NO_OFFSET,
				   "%s: is not whole: nothing can be added to it", path);
	if (!status) {
		status = bundle_writer_continue(out, path, index_offset(b), b->priv->records.items,
						b->priv->records.count, &b->priv->chunks);
		if (status)
			status = error_set(err, -status, ERROR_NO_OFFSET, "%s: %s", path,
					   strerror(-status));
	}
	bundle_close(b);
	return status;
}
