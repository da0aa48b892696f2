/* SPDX-License-Identifier: MIT */
/* One line a field, indented by depth. */
#include "tests/lib/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/reader.h"

static void dump_record(const struct codec_record *r, const void *record, int depth, FILE *to);

static void dump_hash(struct hash128 h, FILE *to)
{
	char text[HASH_TEXT_BYTES];

	fprintf(to, " %s", hash_text(h, text));
}

static void dump_array(const struct codec_field *f, const struct counted *a, int depth, FILE *to)
{
	for (size_t i = 0; i < a->count; i++) {
		if (f->kind == FIELD_STRS) {
			fprintf(to, " \"%s\"", ((const char **)a->items)[i]);
		} else if (f->kind == FIELD_U64S) {
			fprintf(to, " %" PRIu64, ((uint64_t *)a->items)[i]);
		} else if (f->kind == FIELD_HASHES) {
			dump_hash(((struct hash128 *)a->items)[i], to);
		} else {
			fprintf(to, "\n%*s%s %zu", depth * 2, "", f->sub->name, i);
			dump_record(f->sub, (char *)a->items + i * f->sub->bytes, depth + 1, to);
		}
	}
}

/* False where the field reads as absent. */
static bool is_there(const struct codec_field *f, const void *at)
{
	static const size_t sizes[] = {
		[FIELD_U32] = 4,  [FIELD_U64] = 8,   [FIELD_I64] = 8,  [FIELD_F64] = 8,
		[FIELD_BOOL] = 1, [FIELD_HASH] = 16, [FIELD_DIM3] = 12};
	static const char zeros[16];

	if (f->kind == FIELD_STR)
		return *(const char *const *)at != NULL;
	if (f->kind == FIELD_BYTES)
		return ((const struct bytes *)at)->size;
	if (f->kind < ARRAY_LENGTH(sizes) && sizes[f->kind])
		return memcmp(at, zeros, sizes[f->kind]) != 0;
	return ((const struct counted *)at)->count;
}

static void dump_value(const struct codec_field *f, const void *at, int depth, FILE *to)
{
	const struct bytes *b = at;
	const uint32_t *v = at;

	switch (f->kind) {
	case FIELD_U32:
		fprintf(to, " %" PRIu32, *v);
		break;
	case FIELD_U64:
		fprintf(to, " %" PRIu64, *(const uint64_t *)at);
		break;
	case FIELD_I64:
		fprintf(to, " %" PRId64, *(const int64_t *)at);
		break;
	case FIELD_F64:
		fprintf(to, " %a", *(const double *)at);
		break;
	case FIELD_BOOL:
		fprintf(to, " true");
		break;
	case FIELD_STR:
		fprintf(to, " \"%s\"", *(const char *const *)at);
		break;
	case FIELD_BYTES:
		fputc(' ', to);
		for (size_t i = 0; i < b->size; i++)
			fprintf(to, "%02x", ((const unsigned char *)b->data)[i]);
		break;
	case FIELD_HASH:
		dump_hash(*(const struct hash128 *)at, to);
		break;
	case FIELD_DIM3:
		fprintf(to, " %" PRIu32 " %" PRIu32 " %" PRIu32, v[0], v[1], v[2]);
		break;
	default:
		dump_array(f, at, depth, to);
	}
}

static void dump_record(const struct codec_record *r, const void *record, int depth, FILE *to)
{
	size_t count;
	const struct codec_field *fields = r->fields(&count);

	for (size_t i = 0; i < count; i++) {
		const void *at = (const char *)record + fields[i].offset;

		if (!is_there(&fields[i], at))
			continue;
		fprintf(to, "\n%*s%s", depth * 2, "", fields[i].name);
		dump_value(&fields[i], at, depth + 1, to);
	}
}

void bundle_dump(const struct bundle *b, FILE *to)
{
	static const char *const codecs[] = {"zero", "lz4", "stored"};
	const struct chunk_table *t = &b->priv->chunks;
	const struct codec_record *row;

	fprintf(to, "version %u, kind %d, %s\n", b->version, (int)b->kind,
		b->complete ? "complete" : b->damage);
	for (size_t i = 0; (row = codec_row(i)) && row->type; i++) {
		const struct counted *a = (const void *)((const char *)b + row->array_offset);

		for (size_t j = 0; j < a->count; j++) {
			fprintf(to, "%s %zu", row->name, j);
			dump_record(row, (char *)a->items + j * row->bytes, 1, to);
			fputc('\n', to);
		}
	}
	for (size_t i = 0; i < t->count; i++) {
		const struct format_index_chunk *c = &t->items[i];
		_cleanup_free_ char *data = malloc(c->raw_bytes);
		struct error err;

		fprintf(to, "chunk");
		dump_hash(c->key, to);
		fprintf(to, ", %u bytes in %u, %s: %s\n", c->raw_bytes, c->stored_bytes,
			codecs[c->codec],
			bundle_read_chunk(b, c->key, data, c->raw_bytes, &err) ? err.message
									       : "whole");
	}
}
