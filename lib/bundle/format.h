/* SPDX-License-Identifier: MIT */
/* The fixed-width structures of a bundle file: docs/format.md in C. */
#ifndef LIB_BUNDLE_FORMAT_H
#define LIB_BUNDLE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"
#include "kernelab/hash.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structures are written as they lie");

#define FORMAT_VERSION      1u
#define FORMAT_MAGIC        0x0a1a0a0d42414c4bULL /* "KLAB\r\n\x1a\n" */
#define FORMAT_SYNC         0x4345524bu           /* "KREC" */
#define FORMAT_FOOTER_MAGIC 0x0a444e4542414c4bULL /* "KLABEND\n" */
#define FORMAT_RECORD_MAX   (256u << 20)          /* payload bytes of a structured record */
#define FORMAT_TEXT_MAX     (16u << 20)           /* bytes of one STR */
#define FORMAT_FILE_MAX     (1u << 30)            /* bytes of an image or file */
#define FORMAT_INDEX_MAX    (4ULL << 30)          /* payload bytes of the index */

enum chunk_codec { CHUNK_ZERO = 0, CHUNK_LZ4 = 1, CHUNK_STORED = 2 };

/* First in the file. */
struct format_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* sizeof(struct format_header) */
	uint32_t kind;         /* enum bundle_kind */
	uint32_t chunk_bytes;
	uint64_t created_ns; /* Unix time */
	uint8_t uuid[16];    /* random; its first half seeds every checksum of the file */
	uint64_t reserved;   /* 0 */
	uint64_t checksum;   /* XXH3-64, seed 0, of the 56 bytes before */
};

/* In front of each record's payload. */
struct format_frame {
	uint32_t sync;
	uint32_t type;
	uint64_t payload_bytes;
	uint32_t flags; /* 0 in version 1 */
	uint32_t reserved;
	uint64_t payload_checksum; /* of the payload; of a chunk: of its struct format_chunk only */
	uint64_t frame_checksum;   /* of the 32 bytes before */
};

/* Start of a chunk's payload; the stored bytes follow, covered by the key. */
struct format_chunk {
	struct hash128 key;
	uint32_t raw_bytes;
	uint32_t codec; /* enum chunk_codec */
};

/* Payload of the index: this, then the record entries, then the chunk entries. */
struct format_index {
	uint64_t record_count;
	uint64_t chunk_count;
};

struct format_index_record {
	uint64_t offset; /* of the frame */
	uint64_t payload_bytes;
	uint32_t type;
	uint32_t reserved;
};

struct format_index_chunk {
	struct hash128 key;
	uint64_t offset; /* of the frame */
	uint32_t raw_bytes;
	uint32_t stored_bytes;
	uint32_t codec;
	uint32_t reserved;
};

/* Payload of the last record: points at the index. */
struct format_footer {
	uint64_t index_offset; /* of the frame */
	uint64_t index_bytes;  /* payload */
	uint64_t magic;
};

#define FORMAT_FOOTER_BYTES (sizeof(struct format_frame) + sizeof(struct format_footer))

_Static_assert(sizeof(struct format_header) == 64, "on disk");
_Static_assert(offsetof(struct format_header, kind) == 16, "on disk");
_Static_assert(offsetof(struct format_header, created_ns) == 24, "on disk");
_Static_assert(offsetof(struct format_header, uuid) == 32, "on disk");
_Static_assert(offsetof(struct format_header, checksum) == 56, "on disk");
_Static_assert(sizeof(struct format_frame) == 40, "on disk");
_Static_assert(offsetof(struct format_frame, payload_bytes) == 8, "on disk");
_Static_assert(offsetof(struct format_frame, payload_checksum) == 24, "on disk");
_Static_assert(offsetof(struct format_frame, frame_checksum) == 32, "on disk");
_Static_assert(sizeof(struct format_chunk) == 24, "on disk");
_Static_assert(offsetof(struct format_chunk, raw_bytes) == 16, "on disk");
_Static_assert(sizeof(struct format_index) == 16, "on disk");
_Static_assert(sizeof(struct format_index_record) == 24, "on disk");
_Static_assert(offsetof(struct format_index_record, type) == 16, "on disk");
_Static_assert(sizeof(struct format_index_chunk) == 40, "on disk");
_Static_assert(offsetof(struct format_index_chunk, raw_bytes) == 24, "on disk");
_Static_assert(sizeof(struct format_footer) == 24, "on disk");

/* XXH3-64 with a seed. */
uint64_t format_checksum(uint64_t seed, const void *data, size_t size);

/* Seed of the checksums of a record whose frame is at `offset`: a copied or moved record is none.
 */
uint64_t format_seed(const struct format_header *h, uint64_t offset);

/* Fills all fields of a header: time and uuid from the system. 0 or -errno. */
int format_header_make(struct format_header *h, enum bundle_kind kind);
/* 0 if this reader can read it; otherwise -errno with what is wrong (offset 0 … 63). */
int format_header_check(const struct format_header *h, struct error *err);

/*
 * Fills a frame. head is what payload_checksum covers: the payload, of a chunk its first
 * sizeof(struct format_chunk) bytes.
 */
void format_frame_make(struct format_frame *f, uint64_t seed, uint32_t type, const void *head,
		       size_t head_bytes, uint64_t payload_bytes);

/*
 * Checks sync word and frame checksum, then that type, flags and length are ones of this version.
 * -EBADMSG: not a frame, or a damaged one; -ENOTSUP: a good frame that this version does not know.
 */
int format_frame_check(const struct format_frame *f, uint64_t seed, uint64_t offset,
		       struct error *err);

/* Name of a record type ("launch", "chunk", "index", "footer"), or NULL. */
const char *format_type_name(uint32_t type);

#endif
