/* SPDX-License-Identifier: MIT */
/* Values are drawn at the edges of their MessagePack encodings as often as between them. */
#include "tests/lib/record_random.h"

#include <stdlib.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "lib/base.h"

uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static uint64_t number(uint64_t *state)
{
	static const uint64_t edges[] = {1,          0x7f,        0x80,      0xff,
					 0x100,      0xffff,      0x10000,   0x7fffffff,
					 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX};
	uint64_t r = random_next(state);

	return r % 3 ? edges[r / 3 % ARRAY_LENGTH(edges)] : random_next(state) | 1;
}

static void *take(struct arena *arena, size_t count, size_t size)
{
	void *p = arena_take_array(arena, count, size);

	if (!p)
		abort();
	return p;
}

static const char *text(struct arena *arena, enum random_fill fill, uint64_t *state)
{
	static const char *const pieces[] = {"a", "triton_poi_", "ü", "…", "\U0001f600", "\n", "/"};
	static const size_t counts[] = {1, 3, 31, 32, 255, 256, 70000};
	size_t count =
		counts[random_next(state) % (fill == RANDOM_SHORT ? 2 : ARRAY_LENGTH(counts))];
	char *p = take(arena, count * 16, 1), *to = p;

	for (size_t i = 0; i < count; i++)
		to = stpcpy(to, pieces[random_next(state) % ARRAY_LENGTH(pieces)]);
	return p;
}

static size_t array_count(enum random_fill fill, uint64_t *state)
{
	static const size_t counts[] = {1, 2, 15, 16, 17};

	return counts[random_next(state) % (fill == RANDOM_SHORT ? 2 : ARRAY_LENGTH(counts))];
}

static struct bytes binary(struct arena *arena, size_t unit, enum random_fill fill, uint64_t *state)
{
	/* 4096 keys are an image of 1 GiB, the most there may be */
	static const size_t counts[] = {1, 2, 15, 16, 255, 256, 4096, 65536};
	size_t known = ARRAY_LENGTH(counts) - (unit > 1);
	size_t size = counts[random_next(state) % (fill == RANDOM_SHORT ? 2 : known)] * unit;
	unsigned char *p = take(arena, size, 1);

	for (size_t i = 0; i < size; i++)
		p[i] = (unsigned char)random_next(state);
	return (struct bytes){p, size};
}

static void fill_array(const struct codec_field *f, struct counted *a, struct arena *arena,
		       enum random_fill fill, uint64_t *state)
{
	size_t size = f->sub ? f->sub->bytes : 8;

	a->count = array_count(fill, state);
	a->items = take(arena, a->count, size);
	for (size_t i = 0; i < a->count; i++) {
		if (f->kind == FIELD_STRS)
			((const char **)a->items)[i] = i % 3 ? text(arena, fill, state) : "";
		else if (f->kind == FIELD_U64S)
			((uint64_t *)a->items)[i] = i ? number(state) : 0;
		else
			record_random(f->sub, (char *)a->items + i * size, arena, fill, state);
	}
}

static void fill_field(const struct codec_field *f, void *at, struct arena *arena,
		       enum random_fill fill, uint64_t *state)
{
	uint64_t n = number(state);

	switch (f->kind) {
	case FIELD_U32:
		*(uint32_t *)at = (uint32_t)n ? (uint32_t)n : 1;
		break;
	case FIELD_U64:
		*(uint64_t *)at = n;
		break;
	case FIELD_I64:
		*(int64_t *)at = n & 1 ? (int64_t)n : -(int64_t)(n >> 1) - 1;
		break;
	case FIELD_F64:
		n = n == 1 ? 0x8000000000000000 : random_next(state); /* -0.0, any NaN */
		memcpy(at, &n, 8);
		break;
	case FIELD_BOOL:
		*(bool *)at = true;
		break;
	case FIELD_STR:
		*(const char **)at = text(arena, fill, state);
		break;
	case FIELD_BYTES:
		*(struct bytes *)at = binary(arena, 1, fill, state);
		break;
	case FIELD_HASH:
		*(struct hash128 *)at = (struct hash128){n, random_next(state)};
		break;
	case FIELD_DIM3:
		for (int i = 0; i < 3; i++)
			((uint32_t *)at)[i] = i == 1 ? 0 : (uint32_t)number(state) | 1;
		break;
	case FIELD_HASHES: {
		struct bytes b = binary(arena, sizeof(struct hash128), fill, state);

		*(struct counted *)at =
			(struct counted){(void *)b.data, b.size / sizeof(struct hash128)};
		break;
	}
	case FIELD_STRS:
	case FIELD_U64S:
	case FIELD_ARRAY:
		fill_array(f, at, arena, fill, state);
		break;
	}
}

/* Extents must be ascending pairs inside their region. */
static void fit_pairs(struct u64s *pairs, uint64_t size)
{
	pairs->count &= ~(size_t)1;
	while (pairs->count && 3 * (pairs->count / 2) > size)
		pairs->count -= 2;
	for (size_t i = 0; i < pairs->count; i += 2) {
		pairs->items[i] = 3 * (i / 2);
		pairs->items[i + 1] = 1 + i / 2 % 3;
	}
}

/* The ranges of check_record: keys make the size, and nothing wraps. */
static void make_valid(const struct codec_record *r, void *record)
{
	if (!strcmp(r->name, "image")) {
		struct record_image *i = record;

		i->size = i->chunks.count ? i->chunks.count * CHUNK_BYTES - 7 : i->size >> 34;
	} else if (!strcmp(r->name, "file")) {
		struct record_file *f = record;

		f->size = f->chunks.count ? f->chunks.count * CHUNK_BYTES - 7 : f->size >> 34;
	} else if (!strcmp(r->name, "launch")) {
		struct record_launch *l = record;

		for (size_t i = 0; i < l->regions.count && !l->measured; i++)
			l->regions.items[i].reads = l->regions.items[i].writes = (struct u64s){0};
	} else if (!strcmp(r->name, "region")) {
		struct record_region *g = record;

		g->base = g->base >> 1 | 1;
		g->size = g->size >> 2;
		if (g->chunks.count)
			g->size = g->chunks.count * CHUNK_BYTES - g->base % CHUNK_BYTES;
		g->reservation_base >>= 1;
		fit_pairs(&g->reads, g->size);
		fit_pairs(&g->writes, g->size);
		g->reservation_size >>= 1;
	} else if (!strcmp(r->name, "extent")) {
		struct record_extent *e = record;

		e->address >>= 1;
		e->size >>= 1;
	} else if (!strcmp(r->name, "param")) {
		struct record_param *p = record;

		p->offset >>= 1;
		p->size >>= 1;
	}
}

void record_random(const struct codec_record *r, void *record, struct arena *arena,
		   enum random_fill fill, uint64_t *state)
{
	size_t count;
	const struct codec_field *fields = r->fields(&count);

	memset(record, 0, r->bytes);
	for (size_t i = 0; i < count; i++)
		if (fill == RANDOM_ALL || fill == RANDOM_SHORT ||
		    (fill == RANDOM_SOME && random_next(state) % 2))
			fill_field(&fields[i], (char *)record + fields[i].offset, arena, fill,
				   state);
	make_valid(r, record);
}

static bool text_equal(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool array_equal(const struct codec_field *f, const struct counted *a,
			const struct counted *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (f->kind == FIELD_STRS) {
			if (!text_equal(((char **)a->items)[i], ((char **)b->items)[i]))
				return false;
		} else if (f->kind == FIELD_ARRAY) {
			if (record_difference(f->sub, (char *)a->items + i * f->sub->bytes,
					      (char *)b->items + i * f->sub->bytes))
				return false;
		}
	}
	if (f->kind == FIELD_U64S)
		return !a->count || !memcmp(a->items, b->items, a->count * 8);
	if (f->kind == FIELD_HASHES)
		return !a->count || !memcmp(a->items, b->items, a->count * 16);
	return true;
}

static bool field_equal(const struct codec_field *f, const void *a, const void *b)
{
	const struct bytes *x = a, *y = b;

	switch (f->kind) {
	case FIELD_U32:
		return !memcmp(a, b, 4);
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_F64:
		return !memcmp(a, b, 8);
	case FIELD_BOOL:
		return *(const bool *)a == *(const bool *)b;
	case FIELD_STR:
		return text_equal(*(char *const *)a, *(char *const *)b);
	case FIELD_BYTES:
		return x->size == y->size && (!x->size || !memcmp(x->data, y->data, x->size));
	case FIELD_HASH:
		return !memcmp(a, b, 16);
	case FIELD_DIM3:
		return !memcmp(a, b, 12);
	default:
		return array_equal(f, a, b);
	}
}

const char *record_difference(const struct codec_record *r, const void *a, const void *b)
{
	size_t count;
	const struct codec_field *fields = r->fields(&count);

	for (size_t i = 0; i < count; i++)
		if (!field_equal(&fields[i], (const char *)a + fields[i].offset,
				 (const char *)b + fields[i].offset))
			return fields[i].name;
	return NULL;
}
