/* SPDX-License-Identifier: MIT */
/* Bytes of restored memory on the host: as recorded before a launch, and sparse pictures of after.
 */
#include "replay/contents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

void contents_free(struct contents *c)
{
	for (size_t i = 0; c->pages && i < c->chunks; i++)
		page_unref(c->pages[i]);
	free(c->pages);
	free(c->identity);
	free(c->variables);
	ranges_free(&c->pieces);
	*c = (struct contents){0};
}

/* One recorded chunk and where it goes. */
struct part {
	struct hash128 key;
	uint64_t address;
	uint32_t bytes;
};

/* Calls for every recorded chunk of the launch's regions, until one call fails. */
typedef int each_part(struct contents *c, void *data, size_t chunk, const struct part *part);

/* Chunks that a measured launch does not touch were not recorded: GUARD_BYTE stays there. */
static int for_region(struct contents *c, const struct record_region *r, uint64_t base,
		      each_part *call, void *data)
{
	const struct byteset shape = {.pieces = &c->pieces, .chunks = c->chunks};
	int rc = 0;

	for (size_t i = 0; !rc && i < r->chunks.count; i++) {
		struct part part = {.key = r->chunks.items[i]};

		chunk_range(r->base, r->size, i, &part.address, &part.bytes);
		part.address += base - r->base;
		if (!hash_is_zero(part.key))
			rc = call(c, data, byteset_chunk(&shape, part.address), &part);
	}
	return rc;
}

static int for_parts(struct contents *c, const struct record_launch *launch, each_part *call,
		     void *data, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < launch->regions.count; i++) {
		const struct record_region *r = &launch->regions.items[i];

		if (!r->size)
			continue;
		if (!r->chunks.count)
			return error_set(
				err, ENODATA, ERROR_NO_OFFSET,
				"contents of region %zu (0x%llx, %llu bytes) were not recorded%s%s",
				i, (unsigned long long)r->base, (unsigned long long)r->size,
				r->note ? ": " : "", r->note ? r->note : "");
		rc = for_region(c, r, layout_address(launch->regions.items, i), call, data);
	}
	return rc;
}

/* Follows what is laid into a chunk, so that equal contents are known without reading them. */
static int identify(struct contents *c, void *data, size_t chunk, const struct part *part)
{
	struct {
		struct hash128 before, key;
		uint64_t offset, bytes;
	} all = {c->identity[chunk], part->key, part->address % CHUNK_BYTES, part->bytes};

	(void)data;
	c->identity[chunk] = part->bytes == CHUNK_BYTES ? part->key : hash_bytes(&all, sizeof(all));
	return 0;
}

struct loading {
	const struct bundle *bundle;
	struct shelf *shelf;
	bool *fresh; /* a chunk each: its page is being filled */
	struct error *err;
};

static int load_part(struct contents *c, void *data, size_t chunk, const struct part *part)
{
	const struct loading *l = data;

	if (!l->fresh[chunk])
		return 0;
	return bundle_read_chunk(l->bundle, part->key,
				 c->pages[chunk]->data + part->address % CHUNK_BYTES, part->bytes,
				 l->err);
}

/* Pages from the shelf, or fresh ones to be filled. */
static int take_pages(struct contents *c, struct loading *l)
{
	struct page *guard = NULL;

	for (size_t i = 0; i < c->chunks; i++) {
		bool untouched = hash_is_zero(c->identity[i]);

		if (untouched && guard)
			c->pages[i] = page_ref(guard);
		else if (!untouched && l->shelf)
			c->pages[i] = shelf_get(l->shelf, c->identity[i]);
		if (c->pages[i])
			continue;
		c->pages[i] = page_uniform(GUARD_BYTE);
		if (!c->pages[i])
			return -ENOMEM;
		if (untouched)
			guard = c->pages[i];
		else
			c->pages[i]->uniform = -1;
		l->fresh[i] = !untouched;
	}
	return 0;
}

static int load(struct contents *c, struct loading *l, const struct record_launch *launch)
{
	int rc = for_parts(c, launch, identify, NULL, l->err);

	if (!rc && take_pages(c, l))
		rc = error_set(l->err, ENOMEM, ERROR_NO_OFFSET,
			       "launch %llu: no memory for %llu bytes of contents",
			       (unsigned long long)launch->seq,
			       (unsigned long long)ranges_bytes(&c->pieces));
	if (!rc)
		rc = for_parts(c, launch, load_part, l, l->err);
	for (size_t i = 0; !rc && l->shelf && i < c->chunks; i++)
		if (l->fresh[i])
			shelf_put(l->shelf, c->identity[i], c->pages[i]);
	return rc;
}

static void find_variables(struct contents *c, const struct record_launch *launch)
{
	for (size_t i = 0; i < launch->regions.count; i++) {
		const struct record_region *r = &launch->regions.items[i];

		if (!region_is_addressed(r) && r->size)
			c->variables[c->variable_count++] = (struct variable){
				r->name, layout_address(launch->regions.items, i), r->size};
	}
}

int contents_load(struct contents *c, struct shelf *shelf, const struct bundle *bundle,
		  const struct record_launch *launch, struct error *err)
{
	_cleanup_free_ bool *fresh = NULL;
	struct loading l = {.bundle = bundle, .shelf = shelf, .err = err};
	int rc;

	*c = (struct contents){0};
	rc = layout_pieces(&c->pieces, launch->regions.items, launch->regions.count);
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET,
				 "launch %llu: regions at wild addresses",
				 (unsigned long long)launch->seq);
	c->chunks = ranges_bytes(&c->pieces) / CHUNK_BYTES;
	c->pages = calloc(c->chunks + 1, sizeof(struct page *));
	c->identity = calloc(c->chunks + 1, sizeof(*c->identity));
	c->variables = calloc(launch->regions.count + 1, sizeof(*c->variables));
	l.fresh = fresh = calloc(c->chunks + 1, sizeof(*fresh));
	if (!c->pages || !c->identity || !c->variables || !fresh)
		rc = error_set(err, ENOMEM, ERROR_NO_OFFSET, "launch %llu: no memory for contents",
			       (unsigned long long)launch->seq);
	if (!rc)
		find_variables(c, launch);
	if (!rc)
		rc = load(c, &l, launch);
	if (rc)
		contents_free(c);
	return rc;
}

const uint8_t *contents_chunk(const struct contents *c, size_t i)
{
	return page_bytes(c->pages[i]);
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

const char *contents_place(const struct contents *c, uint64_t address, char *text, size_t size)
{
	snprintf(text, size, "0x%llx", (unsigned long long)address);
	for (size_t i = 0; i < c->variable_count; i++)
		if (address - c->variables[i].address < c->variables[i].size)
			snprintf(text, size, "%s + 0x%llx",
				 c->variables[i].name ? c->variables[i].name : "?",
				 (unsigned long long)(address - c->variables[i].address));
	return text;
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
			page_unref(s->chunks[i]);
	free(s->chunks);
	*s = (struct snapshot){0};
}

int snapshot_put(struct snapshot *s, size_t chunk, const void *data)
{
	if (!s->chunks[chunk] && !memcmp(contents_chunk(s->base, chunk), data, CHUNK_BYTES))
		return 0;
	page_unref(s->chunks[chunk]);
	s->chunks[chunk] = page_new();
	if (!s->chunks[chunk])
		return -ENOMEM;
	memcpy(s->chunks[chunk]->data, data, CHUNK_BYTES);
	return 0;
}

const uint8_t *snapshot_chunk(const struct snapshot *s, size_t chunk)
{
	return page_bytes(snapshot_page(s, chunk));
}

struct page *snapshot_page(const struct snapshot *s, size_t chunk)
{
	return s->chunks[chunk] ? s->chunks[chunk] : s->base->pages[chunk];
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
							    page_bytes(s->chunks[i]), false)
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

		if (x->chunks[i] != y->chunks[i])
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
	static _Thread_local uint64_t filler[CHUNK_BYTES / 8];
	int rc = byteset_init(&all, &s->base->pieces);

	memset(filler, fill, sizeof(filler));
	for (size_t i = 0; !rc && i < s->base->chunks; i++) {
		struct page *p = snapshot_page(s, i);

		if (within->words[i] && !(p->uniform == fill && !equal))
			rc = byteset_add_compare(&all, i, page_bytes(p), filler, equal);
	}
	if (!rc)
		rc = byteset_and(&all, within);
	if (!rc)
		rc = byteset_or(out, &all);
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
static int put_change(struct snapshot *out, const struct snapshot *like,
		      const struct bundle *bundle, const struct record_launch *launch,
		      const struct record_change *change, struct error *err)
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
	if (bytes == CHUNK_BYTES && like && like->chunks[chunk] && !out->chunks[chunk] &&
	    hash_equal(page_hash(like->chunks[chunk], 0, CHUNK_BYTES), change->key)) {
		out->chunks[chunk] = page_ref(like->chunks[chunk]);
		return 0;
	}
	if (!out->chunks[chunk]) {
		out->chunks[chunk] = page_new();
		if (!out->chunks[chunk])
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for contents");
		memcpy(out->chunks[chunk]->data, contents_chunk(out->base, chunk), CHUNK_BYTES);
	}
	if (launch->measured)
		return put_written(bundle, r, change,
				   out->chunks[chunk]->data + address % CHUNK_BYTES, offset, bytes,
				   err);
	return bundle_read_chunk(bundle, change->key,
				 out->chunks[chunk]->data + address % CHUNK_BYTES, bytes, err);
}

int snapshot_recorded(struct snapshot *out, const struct contents *base,
		      const struct snapshot *like, const struct bundle *bundle,
		      const struct record_launch *launch, struct error *err)
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
		rc = put_change(out, like, bundle, launch, &after->changes.items[i], err);
	if (rc)
		snapshot_free(out);
	return rc;
}
