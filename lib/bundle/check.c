/* SPDX-License-Identifier: MIT */
/* Record types that have something to hold by themselves. */
#include "lib/bundle/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/bundle/reader.h"
#include "lib/pairs.h"

static bool wraps(uint64_t base, uint64_t size)
{
	return size && base + (size - 1) < base;
}

__attribute__((format(printf, 2, 3))) static int bad(struct error *err, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s", text);
}

static int check_chunks(struct error *err, const char *what, uint64_t base, uint64_t size,
			const struct hashes *chunks)
{
	if (wraps(base, size))
		return bad(err, "%s: %llu bytes at 0x%llx reach beyond the address space", what,
			   (unsigned long long)size, (unsigned long long)base);
	if (chunks && chunks->count && chunks->count != chunk_count(base, size))
		return bad(err, "%s: %zu chunk keys for %llu chunks", what, chunks->count,
			   (unsigned long long)chunk_count(base, size));
	return 0;
}

/* Pairs within the region, and keys that are missing only where nothing says they must be there. */
static int check_extents(struct error *err, const char *what, bool measured,
			 const struct record_region *r)
{
	if (!pairs_valid(&r->reads, r->size) || !pairs_valid(&r->writes, r->size))
		return bad(err, "%s: extents that are not ascending pairs inside it", what);
	if (!measured && (r->reads.count || r->writes.count))
		return bad(err, "%s: extents in a launch that is not measured", what);
	for (size_t i = 0; i < r->chunks.count; i++) {
		uint64_t address;
		uint32_t bytes;

		if (!hash_is_zero(r->chunks.items[i]))
			continue;
		chunk_range(r->base, r->size, i, &address, &bytes);
		if (!measured || pairs_touch(&r->reads, address - r->base, bytes) ||
		    pairs_touch(&r->writes, address - r->base, bytes))
			return bad(err, "%s: chunk %zu has no key", what, i);
	}
	return 0;
}

static int check_launch(const struct record_launch *l, struct error *err)
{
	int status = 0;

	for (size_t i = 0; i < l->regions.count && !status; i++) {
		const struct record_region *r = &l->regions.items[i];
		char what[64];

		snprintf(what, sizeof(what), "launch %llu, region %zu", (unsigned long long)l->seq,
			 i);
		status = check_chunks(err, what, r->base, r->size, &r->chunks);
		if (!status)
			status = check_extents(err, what, l->measured, r);
		if (!status && wraps(r->reservation_base, r->reservation_size))
			status = bad(err, "%s: its reservation reaches beyond the address space",
				     what);
	}
	return status;
}

static int check_kernel(const struct record_kernel *k, struct error *err)
{
	for (size_t i = 0; i < k->params.count; i++)
		if (k->params.items[i].size > UINT32_MAX - k->params.items[i].offset)
			return bad(err, "kernel %u, parameter %zu: offset and size overflow",
				   k->number, i);
	return 0;
}

static int check_case(const struct record_case *c, struct error *err)
{
	int status = 0;

	for (size_t i = 0; i < c->extents.count && !status; i++) {
		const struct record_extent *e = &c->extents.items[i];
		char what[64];

		snprintf(what, sizeof(what), "case %u, extent %zu", c->number, i);
		status = check_chunks(err, what, e->address, e->size, NULL);
	}
	return status;
}

/* Keys of zero chunks cost 16 bytes each for 256 KiB, so a size is not bounded by the file's. */
static int check_whole(struct error *err, const char *what, uint64_t size,
		       const struct hashes *chunks)
{
	if (size > FORMAT_FILE_MAX)
		return bad(err, "%s of %llu bytes; %u may be", what, (unsigned long long)size,
			   FORMAT_FILE_MAX);
	return check_chunks(err, what, 0, size, chunks);
}

int check_record(uint32_t type, const void *record, struct error *err)
{
	switch (type) {
	case RECORD_TYPE_IMAGE: {
		const struct record_image *i = record;

		return check_whole(err, "image", i->size, &i->chunks);
	}
	case RECORD_TYPE_FILE: {
		const struct record_file *f = record;

		return check_whole(err, "file", f->size, &f->chunks);
	}
	case RECORD_TYPE_KERNEL:
		return check_kernel(record, err);
	case RECORD_TYPE_LAUNCH:
		return check_launch(record, err);
	case RECORD_TYPE_CASE:
		return check_case(record, err);
	}
	return 0;
}

static int check_after(const struct record_after *a, const struct record_launch *l,
		       struct error *err)
{
	for (size_t i = 0; i < a->changes.count; i++) {
		const struct record_change *c = &a->changes.items[i];
		const struct record_region *r;

		if (c->region >= l->regions.count)
			return bad(err, "after launch %llu: change of region %u of %zu",
				   (unsigned long long)a->seq, c->region, l->regions.count);
		r = &l->regions.items[c->region];
		if (c->chunk >= chunk_count(r->base, r->size))
			return bad(err,
				   "after launch %llu: change of chunk %llu of %llu in region %u",
				   (unsigned long long)a->seq, (unsigned long long)c->chunk,
				   (unsigned long long)chunk_count(r->base, r->size), c->region);
	}
	return 0;
}

static int check_trial(const struct record_trial *t, const struct record_case *c, struct error *err)
{
	int status = 0;

	if (t->contents.count > c->extents.count)
		return bad(err, "trial of case %u: %zu contents for %zu extents", c->number,
			   t->contents.count, c->extents.count);
	for (size_t i = 0; i < t->contents.count && !status; i++) {
		const struct record_extent *e = &c->extents.items[i];
		char what[64];

		snprintf(what, sizeof(what), "trial of case %u, extent %zu", c->number, i);
		status = check_chunks(err, what, e->address, e->size, &t->contents.items[i].chunks);
	}
	return status;
}

int check_links(const struct bundle *b, struct error *err)
{
	int status = 0;

	for (size_t i = 0; i < b->afters.count && !status; i++) {
		const struct record_launch *l = bundle_launch(b, b->afters.items[i].seq);

		if (l)
			status = check_after(&b->afters.items[i], l, err);
	}
	for (size_t i = 0; i < b->trials.count && !status; i++) {
		size_t at = lookup_number(&b->priv->cases, b->trials.items[i].test_case);

		if (at != SIZE_MAX)
			status = check_trial(&b->trials.items[i], &b->cases.items[at], err);
	}
	return status;
}
