/* SPDX-License-Identifier: MIT */
/* Making and checking of file headers and record frames. */
#include "lib/bundle/format.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t format_checksum(uint64_t seed, const void *data, size_t size)
{
	return XXH3_64bits_withSeed(data, size, seed);
}

uint64_t format_seed(const struct format_header *h, uint64_t offset)
{
	uint64_t half;

	memcpy(&half, h->uuid, sizeof(half));
	return half ^ offset;
}

int format_header_make(struct format_header *h, enum bundle_kind kind)
{
	struct timespec now;

	*h = (struct format_header){
		.magic = FORMAT_MAGIC,
		.version = FORMAT_VERSION,
		.header_bytes = sizeof(*h),
		.kind = kind,
		.chunk_bytes = CHUNK_BYTES,
	};
	if (clock_gettime(CLOCK_REALTIME, &now))
		return -errno;
	h->created_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	for (size_t got = 0; got < sizeof(h->uuid);) {
		ssize_t n = getrandom(h->uuid + got, sizeof(h->uuid) - got, 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			got += (size_t)n;
	}
	h->checksum = format_checksum(0, h, offsetof(struct format_header, checksum));
	return 0;
}

int format_header_check(const struct format_header *h, struct error *err)
{
	if (h->magic != FORMAT_MAGIC)
		return error_set(err, EINVAL, 0, "not a kernelab bundle");
	/* Version first: what a newer one means by the rest is unknown. */
	if (h->version != FORMAT_VERSION &&
	    h->checksum == format_checksum(0, h, offsetof(struct format_header, checksum)))
		return error_set(err, ENOTSUP, offsetof(struct format_header, version),
				 "bundle of format version %u; this kernelab reads version %u",
				 h->version, FORMAT_VERSION);
	if (h->checksum != format_checksum(0, h, offsetof(struct format_header, checksum)))
		return error_set(err, EBADMSG, offsetof(struct format_header, checksum),
				 "damaged file header: checksum mismatch (format version %u, this "
				 "kernelab reads version %u)",
				 h->version, FORMAT_VERSION);
	if (h->header_bytes != sizeof(*h))
		return error_set(err, EINVAL, offsetof(struct format_header, header_bytes),
				 "file header of %u bytes, not %zu", h->header_bytes, sizeof(*h));
	if (h->kind != BUNDLE_CAPTURE && h->kind != BUNDLE_RESULT)
		return error_set(err, ENOTSUP, offsetof(struct format_header, kind),
				 "unknown kind of bundle %u", h->kind);
	if (h->chunk_bytes != CHUNK_BYTES)
		return error_set(err, ENOTSUP, offsetof(struct format_header, chunk_bytes),
				 "chunks of %u bytes; this kernelab reads chunks of %u",
				 h->chunk_bytes, CHUNK_BYTES);
	if (h->reserved)
		return error_set(err, ENOTSUP, offsetof(struct format_header, reserved),
				 "reserved field of the file header is not zero");
	return 0;
}

void format_frame_make(struct format_frame *f, uint64_t seed, uint32_t type, const void *head,
		       size_t head_bytes, uint64_t payload_bytes)
{
	*f = (struct format_frame){
		.sync = FORMAT_SYNC,
		.type = type,
		.payload_bytes = payload_bytes,
		.payload_checksum = format_checksum(seed, head, head_bytes),
	};
	f->frame_checksum = format_checksum(seed, f, offsetof(struct format_frame, frame_checksum));
}

const char *format_type_name(uint32_t type)
{
	switch (type) {
#define R(number, NAME, name, array) \
	case number:                 \
		return #name;
		RECORDS(R)
#undef R
	case RECORD_TYPE_CHUNK:
		return "chunk";
	case RECORD_TYPE_INDEX:
		return "index";
	case RECORD_TYPE_FOOTER:
		return "footer";
	}
	return NULL;
}

/* Payload sizes that a record type may have. */
static void payload_limits(uint32_t type, uint64_t *least, uint64_t *most)
{
	*least = 0;
	*most = FORMAT_RECORD_MAX;
	if (type == RECORD_TYPE_CHUNK) {
		*least = sizeof(struct format_chunk);
		*most = *least + CHUNK_BYTES;
	} else if (type == RECORD_TYPE_INDEX) {
		*least = sizeof(struct format_index);
		*most = FORMAT_INDEX_MAX;
	} else if (type == RECORD_TYPE_FOOTER) {
		*least = *most = sizeof(struct format_footer);
	}
}

int format_frame_check(const struct format_frame *f, uint64_t seed, uint64_t offset,
		       struct error *err)
{
	uint64_t least, most;

	if (f->sync != FORMAT_SYNC)
		return error_set(err, EBADMSG, offset,
				 "damaged record at offset %llu: no record starts there",
				 (unsigned long long)offset);
	if (f->frame_checksum !=
	    format_checksum(seed, f, offsetof(struct format_frame, frame_checksum)))
		return error_set(err, EBADMSG, offset,
				 "damaged record at offset %llu: frame checksum mismatch",
				 (unsigned long long)offset);
	if (!format_type_name(f->type))
		return error_set(err, ENOTSUP, offset, "record of unknown type %u at offset %llu",
				 f->type, (unsigned long long)offset);
	if (f->flags || f->reserved)
		return error_set(err, ENOTSUP, offset,
				 "%s record with unknown flags 0x%x at offset %llu",
				 format_type_name(f->type), f->flags | f->reserved,
				 (unsigned long long)offset);
	payload_limits(f->type, &least, &most);
	if (f->payload_bytes < least || f->payload_bytes > most)
		return error_set(err, ENOTSUP, offset,
				 "%s record of %llu bytes at offset %llu; from %llu to %llu may be",
				 format_type_name(f->type), (unsigned long long)f->payload_bytes,
				 (unsigned long long)offset, (unsigned long long)least,
				 (unsigned long long)most);
	return 0;
}
