/* SPDX-License-Identifier: MIT */
/* Structured records to and from MessagePack, driven by the tables of kernelab/records.h. */
#ifndef LIB_BUNDLE_CODEC_H
#define LIB_BUNDLE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/records.h"
#include "lib/bundle/arena.h"
#include "lib/bundle/intern.h"

enum field_kind {
	FIELD_U32,
	FIELD_U64,
	FIELD_I64,
	FIELD_F64,
	FIELD_BOOL,
	FIELD_STR,
	FIELD_BYTES,
	FIELD_HASH,
	FIELD_DIM3,
	FIELD_STRS,
	FIELD_U64S,
	FIELD_HASHES,
	FIELD_ARRAY
};

struct codec_record;

struct codec_field {
	uint32_t number;
	enum field_kind kind;
	size_t offset;                  /* in the record's struct */
	const struct codec_record *sub; /* FIELD_ARRAY: of its items */
	const char *name, *text;
};

struct codec_record {
	uint32_t type;       /* 0: stands only inside others */
	const char *name;    /* as in RECORDS: "launch" */
	const char *array;   /* member of struct bundle; NULL of a sub-record */
	size_t bytes;        /* of the struct */
	size_t array_offset; /* of `array` in struct bundle */
	const struct codec_field *(*fields)(size_t *count); /* numbers ascending */
};

/* All counted arrays of records.h have this shape. */
struct counted {
	void *items;
	size_t count;
};

/* "U32", "ARRAY of param", … as in the registry's comment. */
const char *codec_kind_name(enum field_kind kind);
/* Row of a record type, or NULL. */
const struct codec_record *codec_record(uint32_t type);
/* All rows, records first and then sub-records, in the registry's order; NULL behind the last. */
const struct codec_record *codec_row(size_t index);

/*
 * Encodes `record` (the struct of row `r`). *data is malloc'ed. Text that is not UTF-8 has its bad
 * bytes replaced by U+FFFD. -EMSGSIZE: larger than a record may be; -EINVAL: an array with a count
 * but no items; -ENOMEM.
 */
int codec_encode(const struct codec_record *r, const void *record, char **data, size_t *size);

/*
 * Decodes exactly `size` bytes into *record (zeroed by the caller). Strings, arrays and bytes are
 * copied into the arena; equal lists of hashes share their memory if `lists` is not NULL. Unknown,
 * repeated or disordered field numbers, other types than the row's, counts beyond the data, texts
 * with NUL or bad UTF-8, and bytes left over are errors; `offset` is added to the position for err.
 * 0 or -errno (-EBADMSG, -ENOMEM, -EFBIG: the arena's limit).
 */
int codec_decode(const struct codec_record *r, const void *data, size_t size, uint64_t offset,
		 struct arena *arena, struct intern *lists, void *record, struct error *err);

#endif
