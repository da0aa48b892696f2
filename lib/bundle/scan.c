/* SPDX-License-Identifier: MIT */
/* Reads a file without usable index record by record, and tells a cut tail from damage inside. */
#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/reader.h"

#define WINDOW_BYTES (1u << 20)

typedef unsigned long long ull;

struct scan {
	struct bundle *b;
	struct error *err;
	uint64_t at;
	char *payload; /* of the last structured record */
	size_t capacity;
	bool index_seen, footer_seen;
};

static int take_payload(struct scan *s, const struct format_frame *f, struct error *err)
{
	if (f->payload_bytes > s->capacity) {
		char *grown = realloc(s->payload, f->payload_bytes);

		if (!grown)
			return error_set(err, ENOMEM, s->at, "out of memory");
		s->payload = grown;
		s->capacity = f->payload_bytes;
	}
	return read_payload(s->b, s->at, f, s->payload, err);
}

/* Is there a whole record at `offset`? Index and footer do not count: they hold nothing of their
 * own. */
static bool whole_record_at(struct scan *s, uint64_t offset)
{
	struct format_chunk head;
	struct format_frame f;
	uint64_t at = s->at;
	bool whole = false;

	if (read_frame(s->b, offset, &f, NULL))
		return false;
	s->at = offset;
	if (f.type == RECORD_TYPE_CHUNK)
		whole = !read_chunk_head(s->b, offset, &f, &head, NULL);
	else if (codec_record(f.type))
		whole = !take_payload(s, &f, NULL);
	s->at = at;
	return whole;
}

/* First whole record behind s->at, or 0. A frame's checksum holds at its own offset only. */
static int find_whole_record(struct scan *s, uint64_t *found)
{
	static const uint32_t sync = FORMAT_SYNC;
	_cleanup_free_ char *window = malloc(WINDOW_BYTES);
	uint64_t from = s->at + 1;

	*found = 0;
	if (!window)
		return error_set(s->err, ENOMEM, s->at, "out of memory");
	while (from + sizeof(struct format_frame) <= s->b->file_bytes) {
		uint64_t left = s->b->file_bytes - from;
		size_t size = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
		int status = read_exactly(s->b->priv->fd, window, size, from);

		if (status)
			return error_set(s->err, status == -ENODATA ? EIO : -status, from,
					 "cannot read at offset %llu", (ull)from);
		for (const char *p = window;; p++) {
			p = memmem(p, size - (size_t)(p - window), &sync, sizeof(sync));
			if (!p)
				break;
			if (whole_record_at(s, from + (uint64_t)(p - window))) {
				*found = from + (uint64_t)(p - window);
				return 0;
			}
		}
		/* The next window overlaps by a sync word less one byte. */
		from += size > sizeof(sync) ? size - (sizeof(sync) - 1) : size;
	}
	return 0;
}

/* The record at s->at is no whole one, as *why says: the end of the file, or damage inside? */
static int stop(struct scan *s, const struct error *why)
{
	uint64_t behind;
	int status;

	if (why->code != EBADMSG && why->code != ENODATA) {
		if (s->err)
			*s->err = *why;
		return -why->code;
	}
	/* A good frame whose payload the file's end cuts off has nothing behind it. */
	if (why->code == EBADMSG) {
		status = find_whole_record(s, &behind);
		if (status)
			return status;
		if (behind)
			return error_set(s->err, EBADMSG, s->at,
					 "%s; whole records follow from offset %llu", why->message,
					 (ull)behind);
	}
	s->b->stopped = why->code == ENODATA;
	snprintf(s->b->damage, sizeof(s->b->damage), "%.200s", why->message);
	return 0;
}

static int add_record(struct scan *s, const struct format_frame *f)
{
	struct record_list *list = &s->b->priv->records;

	if (array_reserve(&list->items, list->count, &list->capacity, sizeof(*list->items)))
		return error_set(s->err, ENOMEM, s->at, "out of memory");
	list->items[list->count++] = (struct format_index_record){
		.offset = s->at, .payload_bytes = f->payload_bytes, .type = f->type};
	return 0;
}

static int add_chunk(struct scan *s, const struct format_frame *f, const struct format_chunk *head)
{
	struct chunk_table *table = &s->b->priv->chunks;
	struct format_index_chunk entry = {
		.key = head->key,
		.offset = s->at,
		.raw_bytes = head->raw_bytes,
		.stored_bytes = (uint32_t)(f->payload_bytes - sizeof(*head)),
		.codec = head->codec,
	};

	if (chunk_table_find(table, head->key, head->raw_bytes))
		return error_set(s->err, EBADMSG, s->at, "chunk at offset %llu is there twice",
				 (ull)s->at);
	if (chunk_table_reserve(table))
		return error_set(s->err, ENOMEM, s->at, "out of memory");
	chunk_table_add(table, &entry);
	return 0;
}

/* One record at s->at. 1: goes on; 0: the end of what is whole; -errno. */
static int step(struct scan *s)
{
	struct format_chunk head;
	struct format_frame f;
	struct error why;
	int status = read_frame(s->b, s->at, &f, &why);

	if (!status && f.type == RECORD_TYPE_CHUNK)
		status = read_chunk_head(s->b, s->at, &f, &head, &why);
	else if (!status)
		status = take_payload(s, &f, &why);
	if (status)
		return stop(s, &why);
	if (s->footer_seen || (s->index_seen && f.type != RECORD_TYPE_FOOTER))
		return error_set(s->err, EBADMSG, s->at, "%s record behind the %s at offset %llu",
				 format_type_name(f.type), s->footer_seen ? "footer" : "index",
				 (ull)s->at);
	if (f.type == RECORD_TYPE_INDEX)
		s->index_seen = true;
	else if (f.type == RECORD_TYPE_FOOTER)
		s->footer_seen = true;
	else
		status = f.type == RECORD_TYPE_CHUNK ? add_chunk(s, &f, &head) : add_record(s, &f);
	if (status)
		return status;
	s->at += sizeof(f) + f.payload_bytes;
	s->b->valid_bytes = s->at;
	return 1;
}

int scan_load(struct bundle *b, struct error *err)
{
	struct scan s = {.b = b, .err = err, .at = sizeof(struct format_header)};
	int status = 1;

	b->valid_bytes = s.at;
	while (status == 1 && s.at < b->file_bytes)
		status = step(&s);
	free(s.payload);
	if (status < 0)
		return status;
	if (!b->damage[0]) {
		b->stopped = !s.footer_seen;
		snprintf(b->damage, sizeof(b->damage), "%s",
			 s.footer_seen  ? "the footer does not fit the file"
			 : s.index_seen ? "the footer is missing"
					: "no index: the program that wrote it was killed, or left "
					  "by _exit or exec, or its disk was full");
	}
	return 0;
}
