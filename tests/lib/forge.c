/* SPDX-License-Identifier: MIT */
/* Appends to a buffer; the limits of the real writer do not apply. */
#include "tests/lib/forge.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"

static void append(struct forge *f, const void *data, size_t size)
{
	while (f->capacity - f->size < size) {
		f->capacity = f->capacity ? f->capacity * 2 : 4096;
		f->data = realloc(f->data, f->capacity);
		if (!f->data)
			abort();
	}
	if (size)
		memcpy(f->data + f->size, data, size);
	f->size += size;
}

void forge_start(struct forge *f, enum bundle_kind kind)
{
	memset(f, 0, sizeof(*f));
	f->header = (struct format_header){.magic = FORMAT_MAGIC,
					   .version = FORMAT_VERSION,
					   .header_bytes = sizeof(f->header),
					   .kind = kind,
					   .chunk_bytes = CHUNK_BYTES,
					   .created_ns = 1,
					   .uuid = {1, 2, 3}};
	f->header.checksum =
		format_checksum(0, &f->header, offsetof(struct format_header, checksum));
	append(f, &f->header, sizeof(f->header));
}

static void frame(struct forge *f, uint32_t type, uint32_t flags, const void *head,
		  size_t head_bytes, size_t size)
{
	struct format_frame frame;
	uint64_t seed = format_seed(&f->header, f->size);

	format_frame_make(&frame, seed, type, head, head_bytes, size);
	frame.flags = flags;
	frame.frame_checksum =
		format_checksum(seed, &frame, offsetof(struct format_frame, frame_checksum));
	append(f, &frame, sizeof(frame));
}

void forge_record(struct forge *f, uint32_t type, uint32_t flags, const void *payload, size_t size)
{
	if (codec_record(type) && f->index_records < ARRAY_LENGTH(f->records))
		f->records[f->index_records++] = (struct format_index_record){
			.offset = f->size, .payload_bytes = size, .type = type};
	frame(f, type, flags, payload, size, size);
	append(f, payload, size);
}

void forge_chunk(struct forge *f, struct hash128 key, uint32_t raw_bytes, uint32_t codec,
		 const void *stored, uint32_t stored_bytes)
{
	struct format_chunk head = {key, raw_bytes, codec};

	if (f->index_chunks < ARRAY_LENGTH(f->chunks))
		f->chunks[f->index_chunks++] =
			(struct format_index_chunk){.key = key,
						    .offset = f->size,
						    .raw_bytes = raw_bytes,
						    .stored_bytes = stored_bytes,
						    .codec = codec};
	frame(f, RECORD_TYPE_CHUNK, 0, &head, sizeof(head), sizeof(head) + stored_bytes);
	append(f, &head, sizeof(head));
	append(f, stored, stored_bytes);
}

void forge_end(struct forge *f)
{
	struct format_index counts = {f->index_records, f->index_chunks};
	struct format_footer footer = {.index_offset = f->size, .magic = FORMAT_FOOTER_MAGIC};
	size_t records = f->index_records * sizeof(f->records[0]);
	size_t chunks = f->index_chunks * sizeof(f->chunks[0]);
	_cleanup_free_ char *payload = malloc(sizeof(counts) + records + chunks);

	if (!payload)
		abort();
	memcpy(payload, &counts, sizeof(counts));
	memcpy(payload + sizeof(counts), f->records, records);
	memcpy(payload + sizeof(counts) + records, f->chunks, chunks);
	footer.index_bytes = sizeof(counts) + records + chunks;
	forge_record(f, RECORD_TYPE_INDEX, 0, payload, footer.index_bytes);
	forge_record(f, RECORD_TYPE_FOOTER, 0, &footer, sizeof(footer));
}

void forge_free(struct forge *f)
{
	free(f->data);
	memset(f, 0, sizeof(*f));
}
