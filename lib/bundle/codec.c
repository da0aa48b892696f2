/* SPDX-License-Identifier: MIT */
/* The registry's rows as tables that the encoder and the decoder walk. */
#include "lib/bundle/codec.h"

#include "kernelab/bundle.h"
#include "lib/base.h"

/* Rows of records and sub-records; sub-records first, because fields point at them. */
#define R(NAME, name) static const struct codec_record row_##name;
SUB_RECORDS(R)
#undef R
static const struct codec_record row_fact; /* a record that also stands inside another */

/*
 * A field's offset needs the struct's name, which F does not know: each table stands in a function
 * of its own, where `self` is that struct.
 */
#define F(number, kind, name, text) {number, FIELD_##kind, offsetof(self, name), NULL, #name, text},
#define A(number, SUB, sub, name, text) \
	{number, FIELD_ARRAY, offsetof(self, name), &row_##sub, #name, text},

#define FIELDS_FUNCTION(NAME, record)                                             \
	static const struct codec_field *fields_##record(size_t *count)           \
	{                                                                         \
		typedef struct record_##record self;                              \
		static const struct codec_field fields[] = {RECORD_##NAME(F, A)}; \
		*count = ARRAY_LENGTH(fields);                                    \
		return fields;                                                    \
	}
#define R(NAME, name) FIELDS_FUNCTION(NAME, name)
SUB_RECORDS(R)
#undef R
#define R(type, NAME, name, array) FIELDS_FUNCTION(NAME, name)
RECORDS(R)
#undef R
#undef F
#undef A

#define R(NAME, name)                                   \
	static const struct codec_record row_##name = { \
		0, #name, NULL, sizeof(struct record_##name), 0, fields_##name};
SUB_RECORDS(R)
#undef R
#define R(type, NAME, name, array)                                                     \
	static const struct codec_record row_##name = {type,                           \
						       #name,                          \
						       #array,                         \
						       sizeof(struct record_##name),   \
						       offsetof(struct bundle, array), \
						       fields_##name};
RECORDS(R)
#undef R

static const struct codec_record *const rows[] = {
#define R(type, NAME, name, array) &row_##name,
	RECORDS(R)
#undef R
#define R(NAME, name) &row_##name,
		SUB_RECORDS(R)
#undef R
};

const char *codec_kind_name(enum field_kind kind)
{
	static const char *const names[] = {
		[FIELD_U32] = "U32",     [FIELD_U64] = "U64",   [FIELD_I64] = "I64",
		[FIELD_F64] = "F64",     [FIELD_BOOL] = "BOOL", [FIELD_STR] = "STR",
		[FIELD_BYTES] = "BYTES", [FIELD_HASH] = "HASH", [FIELD_DIM3] = "DIM3",
		[FIELD_STRS] = "STRS",   [FIELD_U64S] = "U64S", [FIELD_HASHES] = "HASHES",
		[FIELD_ARRAY] = "ARRAY",
	};

	return names[kind];
}

const struct codec_record *codec_record(uint32_t type)
{
	switch (type) {
#define R(number, NAME, name, array) \
	case number:                 \
		return &row_##name;
		RECORDS(R)
#undef R
	}
	return NULL;
}

const struct codec_record *codec_row(size_t index)
{
	return index < ARRAY_LENGTH(rows) ? rows[index] : NULL;
}
