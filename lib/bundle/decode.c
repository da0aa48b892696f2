/* SPDX-License-Identifier: MIT */
/*
 * MessagePack to records. Read by a cursor of our own: msgpack-c's unpacker allocates an array as
 * large as its header claims before it has seen one element, and its errors carry no position.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/format.h"
#include "lib/bundle/utf8.h"

struct cursor {
	const unsigned char *data;
	size_t size, at;
	uint64_t offset; /* of data[0] in the file */
	struct arena *arena;
	struct intern *lists; /* NULL: every list is copied */
	struct error *err;
	const struct codec_record *record; /* for messages */
	const char *field;
};

enum token_kind {
	TOKEN_UINT,
	TOKEN_INT,
	TOKEN_F64,
	TOKEN_BOOL,
	TOKEN_STR,
	TOKEN_BIN,
	TOKEN_ARRAY,
	TOKEN_MAP
};

struct token {
	enum token_kind kind;
	uint64_t number; /* value (TOKEN_INT: negative, two's complement), bits, length or count */
};

static int decode_record(struct cursor *c, const struct codec_record *r, void *record);

__attribute__((format(printf, 2, 3))) static int bad(struct cursor *c, const char *format, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	return error_set(c->err, EBADMSG, c->offset + c->at,
			 "%s record, field %s: %s at offset %llu", c->record->name,
			 c->field ? c->field : "(number)", what,
			 (unsigned long long)(c->offset + c->at));
}

static int no_memory(struct cursor *c)
{
	if (c->arena->over_limit)
		return error_set(c->err, EFBIG, c->offset + c->at,
				 "records need more than %llu bytes of memory, too many for a file "
				 "of this size",
				 (unsigned long long)c->arena->limit_bytes);
	return error_set(c->err, ENOMEM, c->offset + c->at, "out of memory");
}

/* `bytes` big-endian bytes behind the type byte. */
static int take_number(struct cursor *c, unsigned bytes, uint64_t *v)
{
	if (c->size - c->at < bytes)
		return bad(c, "ends within a value");
	*v = 0;
	for (unsigned i = 0; i < bytes; i++)
		*v = *v << 8 | c->data[c->at++];
	return 0;
}

static int take_signed(struct cursor *c, unsigned bytes, struct token *t)
{
	unsigned shift = 64 - 8 * bytes;
	int status = take_number(c, bytes, &t->number);

	t->number = (uint64_t)((int64_t)(t->number << shift) >> shift);
	t->kind = (int64_t)t->number < 0 ? TOKEN_INT : TOKEN_UINT;
	return status;
}

static int take_sized(struct cursor *c, struct token *t, enum token_kind kind, unsigned bytes)
{
	t->kind = kind;
	return take_number(c, bytes, &t->number);
}

/* Types that take more than one byte (MessagePack specification, "Formats"). */
static int take_long_token(struct cursor *c, unsigned char type, struct token *t)
{
	switch (type) {
	case 0xc2:
	case 0xc3:
		*t = (struct token){TOKEN_BOOL, type & 1};
		return 0;
	case 0xc4:
	case 0xc5:
	case 0xc6:
		return take_sized(c, t, TOKEN_BIN, 1u << (type - 0xc4));
	case 0xcb:
		return take_sized(c, t, TOKEN_F64, 8);
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xcf:
		return take_sized(c, t, TOKEN_UINT, 1u << (type - 0xcc));
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return take_signed(c, 1u << (type - 0xd0), t);
	case 0xd9:
	case 0xda:
	case 0xdb:
		return take_sized(c, t, TOKEN_STR, 1u << (type - 0xd9));
	case 0xdc:
	case 0xdd:
		return take_sized(c, t, TOKEN_ARRAY, 2u << (type - 0xdc));
	case 0xde:
	case 0xdf:
		return take_sized(c, t, TOKEN_MAP, 2u << (type - 0xde));
	}
	c->at--;
	return bad(c, "MessagePack type 0x%02x is not used in bundles", type);
}

static int take_token(struct cursor *c, struct token *t)
{
	unsigned char type;

	if (c->at >= c->size)
		return bad(c, "ends before a value");
	type = c->data[c->at++];
	if (type < 0x80)
		*t = (struct token){TOKEN_UINT, type};
	else if (type < 0x90)
		*t = (struct token){TOKEN_MAP, type & 15};
	else if (type < 0xa0)
		*t = (struct token){TOKEN_ARRAY, type & 15};
	else if (type < 0xc0)
		*t = (struct token){TOKEN_STR, type & 31};
	else if (type >= 0xe0)
		*t = (struct token){TOKEN_INT, (uint64_t)(int64_t)(int8_t)type};
	else
		return take_long_token(c, type, t);
	return 0;
}

/* A token of one kind; what it counts (bytes, elements of at least one byte) must be there. */
static int expect(struct cursor *c, enum token_kind kind, struct token *t)
{
	static const char *const names[] = {"an unsigned number",
					    "a negative number",
					    "a float",
					    "a boolean",
					    "text",
					    "bytes",
					    "an array",
					    "a map"};
	size_t start = c->at;
	int status = take_token(c, t);

	if (status)
		return status;
	if (t->kind != kind) {
		c->at = start;
		return bad(c, "%s where %s is wanted", names[t->kind], names[kind]);
	}
	if (kind >= TOKEN_STR && t->number > c->size - c->at) {
		size_t left = c->size - c->at;

		c->at = start;
		return bad(c, "%s of %llu, with %zu bytes left", names[kind],
			   (unsigned long long)t->number, left);
	}
	return 0;
}

static int take_u32(struct cursor *c, uint32_t *v)
{
	struct token t;
	int status = expect(c, TOKEN_UINT, &t);

	if (status)
		return status;
	if (t.number > UINT32_MAX)
		return bad(c, "%llu does not fit 32 bits", (unsigned long long)t.number);
	*v = (uint32_t)t.number;
	return 0;
}

static int take_i64(struct cursor *c, int64_t *v)
{
	struct token t;
	int status = take_token(c, &t);

	if (status)
		return status;
	if (t.kind != TOKEN_INT && (t.kind != TOKEN_UINT || t.number > INT64_MAX))
		return bad(c, "no signed 64-bit number");
	*v = (int64_t)t.number;
	return 0;
}

static int take_text(struct cursor *c, const char **text)
{
	struct token t;
	int status = expect(c, TOKEN_STR, &t);
	const char *from;
	char *copy;

	if (status)
		return status;
	if (t.number > FORMAT_TEXT_MAX)
		return bad(c, "text of %llu bytes; %u may be", (unsigned long long)t.number,
			   FORMAT_TEXT_MAX);
	from = (const char *)c->data + c->at;
	if (memchr(from, 0, t.number))
		return bad(c, "text with a NUL");
	if (utf8_valid(from, t.number) < t.number)
		return bad(c, "text that is not UTF-8");
	copy = arena_take(c->arena, t.number + 1);
	if (!copy)
		return no_memory(c);
	memcpy(copy, from, t.number);
	c->at += t.number;
	*text = copy;
	return 0;
}

/* Bytes that are alike in many records are kept once where `shared`. */
static int take_binary(struct cursor *c, struct bytes *b, struct intern *shared)
{
	struct token t;
	int status = expect(c, TOKEN_BIN, &t);
	const void *from;

	if (status)
		return status;
	from = c->data + c->at;
	if (shared) {
		b->data = intern_bytes(shared, c->arena, from, t.number);
	} else {
		void *copy = arena_take(c->arena, t.number);

		if (copy)
			memcpy(copy, from, t.number);
		b->data = copy;
	}
	if (!b->data)
		return no_memory(c);
	b->size = t.number;
	c->at += t.number;
	return 0;
}

static int take_hash(struct cursor *c, struct hash128 *h)
{
	struct token t;
	int status = expect(c, TOKEN_BIN, &t);

	if (status)
		return status;
	if (t.number != sizeof(*h))
		return bad(c, "hash of %llu bytes", (unsigned long long)t.number);
	memcpy(h, c->data + c->at, sizeof(*h));
	c->at += sizeof(*h);
	return 0;
}

static int take_hashes(struct cursor *c, struct counted *a)
{
	struct bytes b;
	int status = take_binary(c, &b, c->lists);

	if (status)
		return status;
	if (b.size % sizeof(struct hash128))
		return bad(c, "hashes of %zu bytes, not a multiple of 16", b.size);
	*a = (struct counted){(void *)b.data, b.size / sizeof(struct hash128)};
	return 0;
}

static int take_dim3(struct cursor *c, uint32_t *v)
{
	struct token t;
	int status = expect(c, TOKEN_ARRAY, &t);

	if (!status && t.number != 3)
		return bad(c, "%llu numbers where 3 are wanted", (unsigned long long)t.number);
	for (int i = 0; i < 3 && !status; i++)
		status = take_u32(c, &v[i]);
	return status;
}

static int take_array(struct cursor *c, const struct codec_field *f, struct counted *a)
{
	size_t bytes = f->kind == FIELD_ARRAY  ? f->sub->bytes
		       : f->kind == FIELD_STRS ? sizeof(char *)
					       : sizeof(uint64_t);
	struct token t;
	int status = expect(c, TOKEN_ARRAY, &t);

	if (status)
		return status;
	a->items = arena_take_array(c->arena, t.number, bytes);
	if (!a->items)
		return no_memory(c);
	a->count = t.number;
	for (size_t i = 0; i < a->count && !status; i++) {
		void *item = (char *)a->items + i * bytes;
		struct token number;

		if (f->kind == FIELD_STRS) {
			status = take_text(c, item);
		} else if (f->kind == FIELD_U64S) {
			status = expect(c, TOKEN_UINT, &number);
			if (!status)
				*(uint64_t *)item = number.number;
		} else {
			const struct codec_record *outer = c->record;

			status = decode_record(c, f->sub, item);
			if (!status)
				c->record = outer;
		}
	}
	return status;
}

static int take_value(struct cursor *c, const struct codec_field *f, void *at)
{
	struct token t;
	int status;

	switch (f->kind) {
	case FIELD_U32:
		return take_u32(c, at);
	case FIELD_U64:
		status = expect(c, TOKEN_UINT, &t);
		if (!status)
			*(uint64_t *)at = t.number;
		return status;
	case FIELD_I64:
		return take_i64(c, at);
	case FIELD_F64:
		status = expect(c, TOKEN_F64, &t);
		if (!status)
			memcpy(at, &t.number, sizeof(double));
		return status;
	case FIELD_BOOL:
		status = expect(c, TOKEN_BOOL, &t);
		if (!status)
			*(bool *)at = t.number != 0;
		return status;
	case FIELD_STR:
		return take_text(c, at);
	case FIELD_BYTES:
		return take_binary(c, at, NULL);
	case FIELD_HASH:
		return take_hash(c, at);
	case FIELD_DIM3:
		return take_dim3(c, at);
	case FIELD_HASHES:
		return take_hashes(c, at);
	case FIELD_STRS:
	case FIELD_U64S:
	case FIELD_ARRAY:
		return take_array(c, f, at);
	}
	return bad(c, "unknown kind");
}

static const struct codec_field *find_field(const struct codec_record *r, uint32_t number)
{
	size_t count;
	const struct codec_field *fields = r->fields(&count);

	for (size_t i = 0; i < count; i++)
		if (fields[i].number == number)
			return &fields[i];
	return NULL;
}

/* Nesting is that of the registry's rows, so the recursion is as deep as they are. */
static int decode_record(struct cursor *c, const struct codec_record *r, void *record)
{
	uint32_t number = 0, last = 0;
	struct token t = {TOKEN_MAP, 0};
	int status;

	c->record = r;
	c->field = NULL;
	status = expect(c, TOKEN_MAP, &t);
	for (uint64_t i = 0; i < t.number && !status; i++) {
		const struct codec_field *f;

		c->record = r;
		c->field = NULL;
		status = take_u32(c, &number);
		if (status)
			break;
		f = find_field(r, number);
		if (!f)
			return bad(c, "unknown field number %u", number);
		if (number <= last)
			return bad(c, "field number %u behind %u", number, last);
		last = number;
		c->field = f->name;
		status = take_value(c, f, (char *)record + f->offset);
	}
	return status;
}

int codec_decode(const struct codec_record *r, const void *data, size_t size, uint64_t offset,
		 struct arena *arena, struct intern *lists, void *record, struct error *err)
{
	struct cursor c = {.data = data,
			   .size = size,
			   .offset = offset,
			   .arena = arena,
			   .lists = lists,
			   .err = err};
	int status = decode_record(&c, r, record);

	if (!status && c.at != size) {
		c.field = NULL;
		return bad(&c, "%zu bytes behind the record", size - c.at);
	}
	return status;
}
