/* SPDX-License-Identifier: MIT */
/* Index and footer: where everything is, without walking the file. */
#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/chunk.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/reader.h"

typedef unsigned long long ull;

/* What the entries claim, so that at the end the file is covered without a gap. */
struct coverage {
	uint64_t end; /* offset of the index: records lie before it */
	uint64_t bytes;
	uint64_t last; /* offset of the last record entry */
};

static int entry_bad(struct error *err, uint64_t offset, const char *kind, size_t number)
{
	return error_set(err, EBADMSG, offset, "index at offset %llu: %s entry %zu is impossible",
			 (ull)offset, kind, number);
}

/* A record of payload_bytes at offset lies between header and index. */
static bool fits(const struct coverage *c, uint64_t offset, uint64_t payload_bytes)
{
	return offset >= sizeof(struct format_header) && offset < c->end &&
	       c->end - offset >= sizeof(struct format_frame) &&
	       payload_bytes <= c->end - offset - sizeof(struct format_frame);
}

static int take_records(struct bundle *b, struct coverage *c, const char *from, size_t count,
			struct error *err)
{
	struct record_list *list = &b->priv->records;

	list->items = calloc(count ? count : 1, sizeof(*list->items));
	if (!list->items)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	list->capacity = count ? count : 1;
	for (size_t i = 0; i < count; i++) {
		struct format_index_record *e = &list->items[i];

		memcpy(e, from + i * sizeof(*e), sizeof(*e));
		if (!format_type_name(e->type))
			return error_set(err, ENOTSUP, c->end,
					 "index at offset %llu: record of unknown type %u, as a "
					 "newer kernelab may write",
					 (ull)c->end, e->type);
		if (!codec_record(e->type) || e->reserved || e->offset <= c->last ||
		    e->payload_bytes > FORMAT_RECORD_MAX || !fits(c, e->offset, e->payload_bytes))
			return entry_bad(err, c->end, "record", i);
		c->last = e->offset;
		c->bytes += sizeof(struct format_frame) + e->payload_bytes;
		list->count++;
	}
	return 0;
}

static int take_chunks(struct bundle *b, struct coverage *c, const char *from, size_t count,
		       struct error *err)
{
	struct chunk_table *table = &b->priv->chunks;

	for (size_t i = 0; i < count; i++) {
		struct format_index_chunk e;
		uint64_t payload;
		int status;

		memcpy(&e, from + i * sizeof(e), sizeof(e));
		payload = sizeof(struct format_chunk) + (uint64_t)e.stored_bytes;
		if (e.reserved || !chunk_sizes_valid(e.codec, e.raw_bytes, e.stored_bytes) ||
		    !fits(c, e.offset, payload) || chunk_table_find(table, e.key, e.raw_bytes))
			return entry_bad(err, c->end, "chunk", i);
		status = chunk_table_reserve(table);
		if (status)
			return error_set(err, -status, ERROR_NO_OFFSET, "out of memory");
		chunk_table_add(table, &e);
		c->bytes += sizeof(struct format_frame) + payload;
	}
	return 0;
}

static int take_entries(struct bundle *b, uint64_t index_offset, const char *payload, size_t size,
			struct error *err)
{
	struct coverage c = {.end = index_offset};
	struct format_index counts;
	size_t records, chunks, wanted;
	int status;

	memcpy(&counts, payload, sizeof(counts));
	if (!size_multiply(counts.record_count, sizeof(struct format_index_record), &records) ||
	    !size_multiply(counts.chunk_count, sizeof(struct format_index_chunk), &chunks) ||
	    __builtin_add_overflow(records, chunks, &wanted) || wanted != size - sizeof(counts))
		return error_set(err, EBADMSG, index_offset,
				 "index at offset %llu: %llu records and %llu chunks do not make "
				 "%zu bytes",
				 (ull)index_offset, (ull)counts.record_count,
				 (ull)counts.chunk_count, size);
	status = take_records(b, &c, payload + sizeof(counts), counts.record_count, err);
	if (!status)
		status = take_chunks(b, &c, payload + sizeof(counts) + records, counts.chunk_count,
				     err);
	if (!status && c.bytes != index_offset - sizeof(struct format_header))
		return error_set(err, EBADMSG, index_offset,
				 "index at offset %llu lists %llu bytes of records, the file has "
				 "%llu",
				 (ull)index_offset, (ull)c.bytes,
				 (ull)(index_offset - sizeof(struct format_header)));
	return status;
}

/* Damage and absence are one here: the scan finds out which. */
static int no_index(int status)
{
	return status == -EBADMSG || status == -ENODATA || status == -ENOTSUP ? -ENODATA : status;
}

static int find_index(struct bundle *b, struct format_footer *footer, struct error *err)
{
	uint64_t at;
	struct format_frame f;
	int status;

	if (b->file_bytes < sizeof(struct format_header) + FORMAT_FOOTER_BYTES)
		return -ENODATA;
	at = b->file_bytes - FORMAT_FOOTER_BYTES;
	status = read_frame(b, at, &f, err);
	if (!status && f.type != RECORD_TYPE_FOOTER)
		return -ENODATA;
	if (!status)
		status = read_payload(b, at, &f, footer, err);
	if (status)
		return no_index(status);
	if (footer->magic != FORMAT_FOOTER_MAGIC || footer->index_bytes > FORMAT_INDEX_MAX ||
	    footer->index_offset < sizeof(struct format_header) || footer->index_offset > at ||
	    at - footer->index_offset != sizeof(f) + footer->index_bytes)
		return error_set(err, EBADMSG, at, "footer at offset %llu points nowhere", (ull)at);
	return 0;
}

int index_load(struct bundle *b, struct error *err)
{
	_cleanup_free_ char *payload = NULL;
	struct format_footer footer;
	struct format_frame f;
	int status = find_index(b, &footer, err);

	if (status)
		return status;
	status = read_frame(b, footer.index_offset, &f, err);
	if (status)
		return no_index(status);
	if (f.type != RECORD_TYPE_INDEX || f.payload_bytes != footer.index_bytes)
		return error_set(err, EBADMSG, footer.index_offset,
				 "footer points at a %s record of %llu bytes",
				 format_type_name(f.type), (ull)f.payload_bytes);
	payload = malloc(f.payload_bytes);
	if (!payload)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	status = read_payload(b, footer.index_offset, &f, payload, err);
	if (status)
		return no_index(status);
	return take_entries(b, footer.index_offset, payload, f.payload_bytes, err);
}
