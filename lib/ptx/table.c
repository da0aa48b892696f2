/* SPDX-License-Identifier: MIT */
/* Lays out the table of regions, and turns bitmaps into ranges. */
#include "lib/ptx/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ptx/pieces.h"

#define ALIGNMENT 256u /* of the bitmaps */

static uint64_t align(uint64_t n)
{
	return (n + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* The granules that a span touches begin with the one that holds its first byte. */
static uint64_t granule_base(const struct ptx_span *s)
{
	return s->base & ~(uint64_t)(PTX_GRANULE_BYTES - 1);
}

static uint64_t granules(const struct ptx_span *s)
{
	return (s->base - granule_base(s) + s->size + PTX_GRANULE_BYTES - 1) / PTX_GRANULE_BYTES;
}

static uint64_t bitmap_bytes(const struct ptx_span *s)
{
	return align((granules(s) + 7) / 8);
}

static uint64_t head_size(size_t count)
{
	return align(sizeof(struct ptx_table) + count * sizeof(struct ptx_table_region));
}

uint64_t ptx_table_bytes(const struct ptx_span *spans, size_t count, uint64_t max_bytes,
			 uint64_t *head_bytes)
{
	uint64_t total;

	if (count > UINT32_MAX / sizeof(struct ptx_table_region))
		return 0;
	total = *head_bytes = head_size(count);
	for (size_t i = 0; i < count; i++) {
		if (spans[i].size > UINT64_MAX / 4 || spans[i].base > UINT64_MAX - spans[i].size)
			return 0;
		total += 2 * bitmap_bytes(&spans[i]);
		if (total > max_bytes)
			return 0;
	}
	return total <= max_bytes ? total : 0;
}

void ptx_table_fill(void *head, uint64_t at, const struct ptx_span *spans, size_t count)
{
	struct ptx_table table = {.count = (uint32_t)count};
	uint64_t next = at + head_size(count);
	char *to = head;

	memset(head, 0, head_size(count));
	memcpy(to, &table, sizeof(table));
	for (size_t i = 0; i < count; i++) {
		struct ptx_table_region region = {
			.base = granule_base(&spans[i]),
			.size = spans[i].base - granule_base(&spans[i]) + spans[i].size,
			.reads = next,
			.writes = next + bitmap_bytes(&spans[i]),
		};

		next += 2 * bitmap_bytes(&spans[i]);
		memcpy(to + sizeof(table) + i * sizeof(region), &region, sizeof(region));
	}
}

/* ---- ranges ---- */

struct list {
	uint64_t *items; /* pairs of first granule and behind the last one */
	size_t count, capacity;
};

static int append(struct list *l, uint64_t first, uint64_t end)
{
	if (l->count == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 16;
		uint64_t *grown = realloc(l->items, capacity * 2 * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->items = grown;
		l->capacity = capacity;
	}
	l->items[2 * l->count] = first;
	l->items[2 * l->count++ + 1] = end;
	return 0;
}

/* One bitmap among them: it begins at a byte. */
struct bitmap {
	const struct ptx_bitmaps *all;
	uint64_t at;
};

/* The same for bits of bytes that are there, from one to before `count`. Whole words at a time. */
static uint64_t next_there(const uint8_t *bits, uint64_t i, uint64_t count, bool set)
{
	while (i < count) {
		uint64_t word;

		if (i % 64 || i + 64 > count) {
			if ((bits[i / 8] >> i % 8 & 1) == set)
				return i;
			i++;
			continue;
		}
		memcpy(&word, bits + i / 8, sizeof(word));
		word = set ? word : ~word;
		if (word)
			return i + (uint64_t)__builtin_ctzll(word);
		i += 64;
	}
	return count;
}

/* How far from piece p on all pieces are that one kind. */
static uint64_t same_pieces(const uint32_t *where, uint64_t p, uint64_t end)
{
	uint32_t kind = where[p];

	while (p < end && where[p] == kind)
		p++;
	return p;
}

/* The first bit from i on that is `set` or not, else count. */
static uint64_t next_bit(const struct bitmap *b, uint64_t i, uint64_t count, bool set)
{
	const uint32_t *where = b->all->where;
	uint64_t first = 8 * b->at, piece_bits = 8 * (uint64_t)PTX_PIECE_BYTES;

	if (!where)
		return next_there(b->all->bits + b->at, i, count, set);
	while (i < count) {
		uint64_t p = (first + i) / piece_bits, start = p * piece_bits, end, found;

		if (where[p] == (set ? PTX_WHERE_ALL : PTX_WHERE_NONE))
			return i;
		if (where[p] == PTX_WHERE_NONE || where[p] == PTX_WHERE_ALL) {
			uint64_t last = (first + count + piece_bits - 1) / piece_bits;

			i = same_pieces(where, p, last) * piece_bits - first;
			continue;
		}
		end = start + piece_bits < first + count ? piece_bits : first + count - start;
		found = next_there(b->all->bits + (uint64_t)where[p] * PTX_PIECE_BYTES,
				   first + i - start, end, set);
		if (found < end)
			return start + found - first;
		i = start + end - first;
	}
	return count;
}

static int scan(struct list *l, const struct bitmap *b, uint64_t count)
{
	uint64_t first = next_bit(b, 0, count, true);

	while (first < count) {
		uint64_t end = next_bit(b, first, count, false);

		if (append(l, first, end) < 0)
			return -ENOMEM;
		first = next_bit(b, end, count, true);
	}
	return 0;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Keeps the PTX_RANGES_MAX - 1 widest gaps. */
static int merge(struct list *l)
{
	size_t kept = 0, n = l->count - 1, wide = PTX_RANGES_MAX - 1;
	uint64_t *gaps = malloc(n * sizeof(*gaps)), limit;

	if (!gaps)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		gaps[i] = l->items[2 * i + 2] - l->items[2 * i + 1];
	qsort(gaps, n, sizeof(*gaps), by_size);
	limit = gaps[n - wide - 1]; /* at most `wide` gaps are wider */
	free(gaps);
	for (size_t i = 1; i < l->count; i++) {
		if (l->items[2 * i] - l->items[2 * kept + 1] > limit) {
			kept++;
			l->items[2 * kept] = l->items[2 * i];
		}
		l->items[2 * kept + 1] = l->items[2 * i + 1];
	}
	l->count = kept + 1;
	return 0;
}

static int ranges_of(struct u64s *out, const struct bitmap *b, const struct ptx_span *s,
		     bool *merged)
{
	uint64_t lead = s->base - granule_base(s);
	struct list l = {0};
	int r = scan(&l, b, granules(s));

	if (r >= 0 && l.count > PTX_RANGES_MAX) {
		*merged = true;
		r = merge(&l);
	}
	if (r < 0) {
		free(l.items);
		return r;
	}
	for (size_t i = 0; i < l.count; i++) {
		uint64_t first = l.items[2 * i] * PTX_GRANULE_BYTES;
		uint64_t end = l.items[2 * i + 1] * PTX_GRANULE_BYTES;

		first = first > lead ? first - lead : 0;
		end = end - lead < s->size ? end - lead : s->size;
		l.items[2 * i] = first;
		l.items[2 * i + 1] = end - first;
	}
	*out = (struct u64s){l.items, 2 * l.count};
	return 0;
}

int ptx_table_ranges(const struct ptx_bitmaps *bitmaps, const struct ptx_span *spans, size_t i,
		     struct u64s *reads, struct u64s *writes, bool *merged)
{
	struct bitmap b = {.all = bitmaps};
	int r;

	for (size_t j = 0; j < i; j++)
		b.at += 2 * bitmap_bytes(&spans[j]);
	*reads = *writes = (struct u64s){0};
	r = ranges_of(reads, &b, &spans[i], merged);
	b.at += bitmap_bytes(&spans[i]);
	if (r >= 0)
		r = ranges_of(writes, &b, &spans[i], merged);
	if (r < 0) {
		free(reads->items);
		*reads = (struct u64s){0};
	}
	return r;
}
