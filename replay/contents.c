/* SPDX-License-Identifier: MIT */
/* Bytes of restored memory on the host: as recorded before a launch, and sparse pictures of after.
 */
#include "replay/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

void contents_free(struct contents *c)
{
	if (c->before)
		for (size_t i = 0; i < c->pieces.count; i++)
			free(c->before[i]);
	free(c->before);
	free(c->variables);
	ranges_free(&c->pieces);
	*c = (struct contents){0};
}

static size_t piece_of(const struct contents *c, uint64_t address)
{
	const struct range *r = ranges_find(&c->pieces, address, 1);

	return r ? (size_t)(r - c->pieces.items) : SIZE_MAX;
}

/* Chunks that a measured launch does not touch were not recorded: GUARD_BYTE stays there. */
static int load_chunks(const struct bundle *bundle, const struct record_region *r, uint8_t *to,
		       struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->chunks.count; i++) {
		uint64_t address;
		uint32_t bytes;

		chunk_range(r->base, r->size, i, &address, &bytes);
		if (!hash_is_zero(r->chunks.items[i]))
			rc = bundle_read_chunk(bundle, r->chunks.items[i], to + (address - r->base),
					       bytes, err);
	}
	return rc;
}

static int load_region(struct contents *c, const struct bundle *bundle,
		       const struct record_launch *launch, size_t index, struct error *err)
{
	const struct record_region *r = &launch->regions.items[index];
	uint64_t address = layout_address(launch->regions.items, index);
	size_t piece;

	if (!r->size)
		return 0;
	if (!region_is_addressed(r))
		c->variables[c->variable_count++] = (struct variable){r->name, address, r->size};
	if (!r->chunks.count)
		return error_set(
			err, ENODATA, ERROR_NO_OFFSET,
			"contents of region %zu (0x%llx, %llu bytes) were not recorded%s%s", index,
			(unsigned long long)r->base, (unsigned long long)r->size,
			r->note ? ": " : "", r->note ? r->note : "");
	piece = piece_of(c, address);
	return load_chunks(bundle, r, c->before[piece] + (address - c->pieces.items[piece].base),
			   err);
}

int contents_load(struct contents *c, const struct bundle *bundle,
		  const struct record_launch *launch, struct error *err)
{
	int rc;

	*c = (struct contents){0};
	rc = layout_pieces(&c->pieces, launch->regions.items, launch->regions.count);
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET,
				 "launch %llu: regions at wild addresses",
				 (unsigned long long)launch->seq);
	c->before = calloc(c->pieces.count ? c->pieces.count : 1, sizeof(*c->before));
	c->variables = calloc(launch->regions.count + 1, sizeof(*c->variables));
	if (!c->before || !c->variables)
		goto no_memory;
	for (size_t i = 0; i < c->pieces.count; i++) {
		uint64_t size = c->pieces.items[i].size;

		c->before[i] = aligned_alloc(4096, size);
		if (!c->before[i])
			goto no_memory;
		memset(c->before[i], GUARD_BYTE, size);
		c->chunks += size / CHUNK_BYTES;
	}
	for (size_t i = 0; !rc && i < launch->regions.count; i++)
		rc = load_region(c, bundle, launch, i, err);
	if (rc)
		contents_free(c);
	return rc;
no_memory:
	rc = error_set(err, ENOMEM, ERROR_NO_OFFSET,
		       "launch %llu: no memory for %llu bytes of contents",
		       (unsigned long long)launch->seq,
		       (unsigned long long)ranges_bytes(&c->pieces));
	contents_free(c);
	return rc;
}

uint8_t *contents_chunk(const struct contents *c, size_t i)
{
	for (size_t p = 0; p < c->pieces.count; p++) {
		size_t n = c->pieces.items[p].size / CHUNK_BYTES;

		if (i < n)
			return c->before[p] + i * (size_t)CHUNK_BYTES;
		i -= n;
	}
	return NULL;
}

int contents_measured_writes(struct byteset *out, const struct record_launch *launch)
{
	for (size_t i = 0; i < launch->regions.count; i++) {
		const struct u64s *w = &launch->regions.items[i].writes;
		uint64_t base = layout_address(launch->regions.items, i);

		for (size_t k = 0; k + 1 < w->count; k += 2) {
			int rc = byteset_add(out, base + w->items[k], w->items[k + 1]);

			if (rc)
				return rc;
		}
	}
	return 0;
}

int snapshot_init(struct snapshot *s, const struct contents *base)
{
	s->base = base;
	s->chunks = calloc(base->chunks ? base->chunks : 1, sizeof(*s->chunks));
	return s->chunks ? 0 : -ENOMEM;
}

void snapshot_free(struct snapshot *s)
{
	if (s->chunks)
		for (size_t i = 0; i < s->base->chunks; i++)
			free(s->chunks[i]);
	free(s->chunks);
	*s = (struct snapshot){0};
}

int snapshot_put(struct snapshot *s, size_t chunk, const void *data)
{
	if (!s->chunks[chunk] && !memcmp(contents_chunk(s->base, chunk), data, CHUNK_BYTES))
		return 0;
	if (!s->chunks[chunk])
		s->chunks[chunk] = aligned_alloc(64, CHUNK_BYTES);
	if (!s->chunks[chunk])
		return -ENOMEM;
	memcpy(s->chunks[chunk], data, CHUNK_BYTES);
	return 0;
}

const uint8_t *snapshot_chunk(const struct snapshot *s, size_t chunk)
{
	return s->chunks[chunk] ? s->chunks[chunk] : contents_chunk(s->base, chunk);
}

uint8_t snapshot_byte(const struct snapshot *s, size_t chunk, uint32_t offset)
{
	return snapshot_chunk(s, chunk)[offset];
}

void snapshot_copy(const struct snapshot *s, uint64_t address, uint64_t size, void *out)
{
	const struct byteset shape = {.pieces = &s->base->pieces, .chunks = s->base->chunks};
	uint8_t *to = out;

	while (size) {
		size_t chunk = byteset_chunk(&shape, address);
		uint32_t offset = address % CHUNK_BYTES;
		uint64_t n = CHUNK_BYTES - offset;

		if (n > size)
			n = size;
		memcpy(to, snapshot_chunk(s, chunk) + offset, n);
		to += n;
		address += n;
		size -= n;
	}
}

int snapshot_changed(struct byteset *out, const struct snapshot *s)
{
	for (size_t i = 0; i < s->base->chunks; i++) {
		int rc = s->chunks[i] ? byteset_add_compare(out, i, contents_chunk(s->base, i),
							    s->chunks[i], false)
				      : 0;
		if (rc)
			return rc;
	}
	return 0;
}

int snapshot_differ(struct byteset *out, const struct snapshot *x, const struct snapshot *y)
{
	for (size_t i = 0; i < x->base->chunks; i++) {
		int rc = 0;

		if (x->chunks[i] || y->chunks[i])
			rc = byteset_add_compare(out, i, snapshot_chunk(x, i), snapshot_chunk(y, i),
						 false);
		if (rc)
			return rc;
	}
	return 0;
}

int snapshot_match(struct byteset *out, const struct snapshot *s, const struct byteset *within,
		   uint8_t fill, bool equal)
{
	struct byteset all;
	uint64_t filler[CHUNK_BYTES / 8];
	int rc = byteset_init(&all, &s->base->pieces);

	memset(filler, fill, sizeof(filler));
	for (size_t i = 0; !rc && i < s->base->chunks; i++)
		if (within->words[i])
			rc = byteset_add_compare(&all, i, snapshot_chunk(s, i), filler, equal);
	if (!rc) {
		byteset_and(&all, within);
		rc = byteset_or(out, &all);
	}
	byteset_free(&all);
	return rc;
}

/*
 * Of a measured launch only what it writes counts: the rest of the chunk belongs to neighbours that
 * other streams may have changed meanwhile.
 */
static int put_written(const struct bundle *bundle, const struct record_region *r,
		       const struct record_change *change, uint8_t *to, uint64_t offset,
		       uint32_t bytes, struct error *err)
{
	_cleanup_free_ uint8_t *data = malloc(bytes);
	int rc = data ? bundle_read_chunk(bundle, change->key, data, bytes, err)
		      : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for contents");

	for (size_t i = 0; !rc && i < r->writes.count; i += 2) {
		uint64_t from = r->writes.items[i], end = from + r->writes.items[i + 1];

		from = from > offset ? from : offset;
		end = end < offset + bytes ? end : offset + bytes;
		if (from < end)
			memcpy(to + (from - offset), data + (from - offset), end - from);
	}
	return rc;
}

/* Puts one recorded chunk (a chunk of a region, which may begin or end inside ours). */
static int put_change(struct snapshot *out, const struct bundle *bundle,
		      const struct record_launch *launch, const struct record_change *change,
		      struct error *err)
{
	const struct byteset shape = {.pieces = &out->base->pieces, .chunks = out->base->chunks};
	const struct record_region *r;
	uint64_t address, offset;
	uint32_t bytes;
	size_t chunk;

	if (change->region >= launch->regions.count)
		return error_set(err, EBADMSG, ERROR_NO_OFFSET,
				 "launch %llu: change of region %u of %zu",
				 (unsigned long long)launch->seq, change->region,
				 launch->regions.count);
	r = &launch->regions.items[change->region];
	if (change->chunk >= chunk_count(r->base, r->size))
		return error_set(err, EBADMSG, ERROR_NO_OFFSET,
				 "launch %llu: change of chunk %llu, beyond region %u",
				 (unsigned long long)launch->seq, (unsigned long long)change->chunk,
				 change->region);
	chunk_range(r->base, r->size, change->chunk, &address, &bytes);
	offset = address - r->base;
	address = layout_address(launch->regions.items, change->region) + offset;
	chunk = byteset_chunk(&shape, address);
	if (!out->chunks[chunk]) {
		out->chunks[chunk] = aligned_alloc(64, CHUNK_BYTES);
		if (!out->chunks[chunk])
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for contents");
		memcpy(out->chunks[chunk], contents_chunk(out->base, chunk), CHUNK_BYTES);
	}
	if (launch->measured)
		return put_written(bundle, r, change, out->chunks[chunk] + address % CHUNK_BYTES,
				   offset, bytes, err);
	return bundle_read_chunk(bundle, change->key, out->chunks[chunk] + address % CHUNK_BYTES,
				 bytes, err);
}

int snapshot_recorded(struct snapshot *out, const struct contents *base,
		      const struct bundle *bundle, const struct record_launch *launch,
		      struct error *err)
{
	const struct record_after *after = bundle_after(bundle, launch->seq);
	int rc;

	*out = (struct snapshot){0};
	if (!after)
		return error_set(err, ENOENT, ERROR_NO_OFFSET,
				 "the bundle has no contents after launch %llu",
				 (unsigned long long)launch->seq);
	rc = snapshot_init(out, base);
	if (rc)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for contents");
	for (size_t i = 0; !rc && i < after->changes.count; i++)
		rc = put_change(out, bundle, launch, &after->changes.items[i], err);
	if (rc)
		snapshot_free(out);
	return rc;
}
