/* SPDX-License-Identifier: MIT */
/* Records to MessagePack with msgpack-c's packer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nothing in the recorded program may abort: msgpack-c's headers assert. */
#ifndef NDEBUG
#define NDEBUG
#endif
#include <msgpack.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/format.h"
#include "lib/bundle/utf8.h"

static int encode_record(msgpack_packer *pk, const struct codec_record *r, const void *record);

static bool is_empty(const struct codec_field *f, const void *at)
{
	static const char zero[16];

	switch (f->kind) {
	case FIELD_U32:
		return !*(const uint32_t *)at;
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64: /* by its bits, so that -0.0 is kept */
		return !memcmp(at, zero, 8);
	case FIELD_BOOL:
		return !*(const bool *)at;
	case FIELD_STR:
		return !*(const char *const *)at || !**(const char *const *)at;
	case FIELD_BYTES:
		return !((const struct bytes *)at)->size;
	case FIELD_HASH:
		return !memcmp(at, zero, 16);
	case FIELD_DIM3:
		return !memcmp(at, zero, 12);
	case FIELD_STRS:
	case FIELD_U64S:
	case FIELD_HASHES:
	case FIELD_ARRAY:
		return !((const struct counted *)at)->count;
	}
	return true;
}

/* The packer's callbacks fail only without memory. */
static int packed(int status)
{
	return status ? -ENOMEM : 0;
}

static int pack_text(msgpack_packer *pk, const char *text)
{
	_cleanup_free_ char *repaired = NULL;
	size_t size;

	if (!text)
		text = "";
	size = strlen(text);
	if (utf8_valid(text, size) < size) {
		if (size > FORMAT_TEXT_MAX)
			return -EMSGSIZE;
		text = repaired = utf8_repair(text, size, &size);
		if (!text)
			return -ENOMEM;
	}
	if (size > FORMAT_TEXT_MAX)
		return -EMSGSIZE;
	if (msgpack_pack_str(pk, size))
		return -ENOMEM;
	return packed(msgpack_pack_str_body(pk, text, size));
}

static int pack_binary(msgpack_packer *pk, const void *data, size_t size)
{
	if (size > FORMAT_RECORD_MAX)
		return -EMSGSIZE;
	if (msgpack_pack_bin(pk, size))
		return -ENOMEM;
	return packed(msgpack_pack_bin_body(pk, data, size));
}

static int pack_dim3(msgpack_packer *pk, const uint32_t *v)
{
	int failed = msgpack_pack_array(pk, 3);

	for (int i = 0; i < 3; i++)
		failed |= msgpack_pack_uint32(pk, v[i]);
	return packed(failed);
}

static int pack_array(msgpack_packer *pk, const struct codec_field *f, const struct counted *a)
{
	int status;

	if (!a->items)
		return -EINVAL;
	if (a->count > FORMAT_RECORD_MAX)
		return -EMSGSIZE;
	if (msgpack_pack_array(pk, a->count))
		return -ENOMEM;
	status = 0;
	for (size_t i = 0; i < a->count && !status; i++) {
		if (f->kind == FIELD_STRS)
			status = pack_text(pk, ((const char *const *)a->items)[i]);
		else if (f->kind == FIELD_U64S)
			status = packed(msgpack_pack_uint64(pk, ((const uint64_t *)a->items)[i]));
		else
			status = encode_record(pk, f->sub,
					       (const char *)a->items + i * f->sub->bytes);
	}
	return status;
}

static int pack_value(msgpack_packer *pk, const struct codec_field *f, const void *at)
{
	const struct bytes *b = at;
	const struct counted *a = at;

	switch (f->kind) {
	case FIELD_U32:
		return packed(msgpack_pack_uint32(pk, *(const uint32_t *)at));
	case FIELD_U64:
		return packed(msgpack_pack_uint64(pk, *(const uint64_t *)at));
	case FIELD_I64:
		return packed(msgpack_pack_int64(pk, *(const int64_t *)at));
	case FIELD_F64:
		return packed(msgpack_pack_double(pk, *(const double *)at));
	case FIELD_BOOL:
		return packed(msgpack_pack_true(pk));
	case FIELD_STR:
		return pack_text(pk, *(const char *const *)at);
	case FIELD_BYTES:
		return b->data ? pack_binary(pk, b->data, b->size) : -EINVAL;
	case FIELD_HASH:
		return pack_binary(pk, at, sizeof(struct hash128));
	case FIELD_DIM3:
		return pack_dim3(pk, at);
	case FIELD_HASHES:
		if (!a->items)
			return -EINVAL;
		if (a->count > FORMAT_RECORD_MAX / sizeof(struct hash128))
			return -EMSGSIZE;
		return pack_binary(pk, a->items, a->count * sizeof(struct hash128));
	case FIELD_STRS:
	case FIELD_U64S:
	case FIELD_ARRAY:
		return pack_array(pk, f, a);
	}
	return -EINVAL;
}

static int encode_record(msgpack_packer *pk, const struct codec_record *r, const void *record)
{
	size_t count, present = 0;
	const struct codec_field *fields = r->fields(&count);

	for (size_t i = 0; i < count; i++)
		present += !is_empty(&fields[i], (const char *)record + fields[i].offset);
	if (msgpack_pack_map(pk, present))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const void *at = (const char *)record + fields[i].offset;
		int status;

		if (is_empty(&fields[i], at))
			continue;
		if (msgpack_pack_uint32(pk, fields[i].number))
			return -ENOMEM;
		status = pack_value(pk, &fields[i], at);
		if (status)
			return status;
	}
	return 0;
}

/* Refuses to grow beyond a record's bound, so that a huge record costs no more than that. */
struct bounded_buffer {
	msgpack_sbuffer buffer;
	bool full;
};

static int bounded_write(void *data, const char *bytes, size_t size)
{
	struct bounded_buffer *b = data;

	if (size > FORMAT_RECORD_MAX - b->buffer.size) {
		b->full = true;
		return -1;
	}
	return msgpack_sbuffer_write(&b->buffer, bytes, size);
}

int codec_encode(const struct codec_record *r, const void *record, char **data, size_t *size)
{
	struct bounded_buffer b = {0};
	msgpack_packer pk;
	int status;

	msgpack_sbuffer_init(&b.buffer);
	msgpack_packer_init(&pk, &b, bounded_write);
	status = encode_record(&pk, r, record);
	if (status) {
		msgpack_sbuffer_destroy(&b.buffer);
		return b.full ? -EMSGSIZE : status;
	}
	*size = b.buffer.size;
	*data = msgpack_sbuffer_release(&b.buffer);
	return 0;
}
