/* SPDX-License-Identifier: MIT */
/* Where in an output the differing elements lie: tiles, edges, rows and columns. */
#include "analyze/spread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define TILES_MAX (UINT64_C(1) << 24)

struct walk {
	struct spread *s;
	const struct shape *shape;
	unsigned char *hit; /* a byte a tile; NULL: not known */
	uint64_t across;    /* tiles in a row of tiles */
};

static void see(struct walk *w, uint64_t index)
{
	struct spread *s = w->s;
	uint64_t row = index / w->shape->columns, column = index % w->shape->columns;

	s->first_row = s->differing && s->first_row < row ? s->first_row : row;
	s->first_column = s->differing && s->first_column < column ? s->first_column : column;
	s->last_row = s->last_row > row ? s->last_row : row;
	s->last_column = s->last_column > column ? s->last_column : column;
	s->first = s->differing ? s->first : index;
	s->last = index;
	s->differing++;
	if (w->hit)
		w->hit[row / w->shape->tile_rows * w->across + column / w->shape->tile_columns] = 1;
}

static int walk_chunks(struct walk *w, const struct bundle *bundle,
		       const struct record_extent *extent, uint32_t bytes,
		       const struct record_content *a, const struct record_content *b,
		       struct error *err)
{
	_cleanup_free_ unsigned char *raw_a = malloc(CHUNK_BYTES), *raw_b = malloc(CHUNK_BYTES);
	uint64_t first = 0;

	if (!raw_a || !raw_b)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < a->chunks.count; i++) {
		uint64_t address;
		uint32_t size;
		int e;

		chunk_range(extent->address, extent->size, i, &address, &size);
		if (!hash_equal(a->chunks.items[i], b->chunks.items[i])) {
			e = bundle_read_chunk(bundle, a->chunks.items[i], raw_a, size, err);
			if (!e)
				e = bundle_read_chunk(bundle, b->chunks.items[i], raw_b, size, err);
			if (e)
				return e;
			for (uint32_t k = 0; k + bytes <= size; k += bytes)
				if (memcmp(raw_a + k, raw_b + k, bytes) != 0)
					see(w, first + k / bytes);
		}
		first += size / bytes;
	}
	return 0;
}

static void count_tiles(struct walk *w, uint64_t down)
{
	struct spread *s = w->s;

	s->tiles = down * w->across;
	for (uint64_t i = 0; i < s->tiles; i++)
		s->tiles_hit += w->hit[i];
	s->edge_rows = down > 1 && s->differing && s->first_row / w->shape->tile_rows == down - 1;
	s->edge_columns = w->across > 1 && s->differing &&
			  s->first_column / w->shape->tile_columns == w->across - 1;
}

int spread_find(struct spread *s, const struct bundle *bundle, const struct record_extent *extent,
		uint32_t bytes, const struct record_content *a, const struct record_content *b,
		const struct shape *shape, struct error *err)
{
	_cleanup_free_ unsigned char *hit = NULL;
	struct walk w = {.s = s, .shape = shape};
	uint64_t down = 0;
	int e;

	*s = (struct spread){.elements = extent->size / bytes};
	if (a->chunks.count != b->chunks.count)
		return error_set(err, EBADMSG, ERROR_NO_OFFSET, "contents of another size");
	if (shape->tile_rows && shape->tile_columns) {
		down = (shape->rows + shape->tile_rows - 1) / shape->tile_rows;
		w.across = (shape->columns + shape->tile_columns - 1) / shape->tile_columns;
		/* the last element must lie in a tile, whatever the shape says */
		if (down && w.across && down <= TILES_MAX / w.across && down * w.across > 1 &&
		    (s->elements - 1) / shape->columns < shape->rows) {
			hit = calloc(down * w.across, 1);
			if (!hit)
				return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
			w.hit = hit;
		}
	}
	e = walk_chunks(&w, bundle, extent, bytes, a, b, err);
	if (!e && w.hit)
		count_tiles(&w, down);
	return e;
}

/* "row 3", "rows 0–63"; nothing where it is all of them. */
static int range_text(char *out, size_t size, const char *what, uint64_t first, uint64_t last,
		      uint64_t count)
{
	if (first == 0 && last + 1 == count)
		return 0;
	if (first == last)
		return snprintf(out, size, "%s %" PRIu64 " of %" PRIu64, what, first, count);
	return snprintf(out, size, "%ss %" PRIu64 "–%" PRIu64 " of %" PRIu64, what, first, last,
			count);
}

void spread_text(const struct spread *s, const struct shape *shape, char *out, size_t size)
{
	char rows[96] = "", columns[96] = "", tiles[160] = "", *at = tiles;
	const char *edge = s->edge_rows && s->edge_columns ? ", the last corner"
			   : s->edge_rows                  ? ", all in the last row of tiles"
			   : s->edge_columns               ? ", all in the last column of tiles"
							   : "";

	*out = '\0';
	if (!s->differing)
		return;
	if (s->tiles && s->tiles_hit < s->tiles)
		snprintf(at, sizeof(tiles),
			 "%" PRIu64 " of %" PRIu64 " tiles (%" PRIu64 "x%" PRIu64 ")%s",
			 s->tiles_hit, s->tiles, shape->tile_rows, shape->tile_columns, edge);
	if (!strncmp(shape->how, "flat", 4)) /* rows of a picture only */
		range_text(rows, sizeof(rows), "element", s->first, s->last, s->elements);
	else if (shape->rows > 1)
		range_text(rows, sizeof(rows), "row", s->first_row, s->last_row, shape->rows);
	if (strncmp(shape->how, "flat", 4) != 0)
		range_text(columns, sizeof(columns), shape->rows > 1 ? "column" : "element",
			   s->first_column, s->last_column, shape->columns);
	if (!*tiles && !*rows && !*columns)
		return;
	snprintf(out, size, "only in %s%s%s%s%s", tiles, *tiles && (*rows || *columns) ? ": " : "",
		 rows, *rows && *columns ? ", " : "", columns);
}
