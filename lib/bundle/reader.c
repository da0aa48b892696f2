/* SPDX-License-Identifier: MIT */
/* Opening a bundle: header, record list, decoding, look-up tables. */
#include "lib/bundle/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/check.h"
#include "lib/bundle/codec.h"

/*
 * Decoded records may take this many times the file's size: MessagePack is denser than structs, a
 * crafted file (maps of no entry, one byte each) much denser than any that is written.
 */
#define MEMORY_FACTOR 32u
#define MEMORY_EXTRA  (16u << 20)

typedef unsigned long long ull;

static int open_file(struct bundle *b, const char *path, struct error *err)
{
	struct bundle_private *p = b->priv;
	struct stat st;
	int status;

	/* O_NONBLOCK: a FIFO must not hang us; without effect on files. */
	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p->fd < 0)
		return error_set(err, errno, ERROR_NO_OFFSET, "cannot open: %s", strerror(errno));
	if (fstat(p->fd, &st))
		return error_set(err, errno, ERROR_NO_OFFSET, "cannot stat: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "not a file");
	b->file_bytes = (uint64_t)st.st_size;
	if (b->file_bytes < sizeof(p->header))
		return error_set(err, EINVAL, b->file_bytes,
				 "not a kernelab bundle: %llu bytes, less than a file header",
				 (ull)b->file_bytes);
	status = read_exactly(p->fd, &p->header, sizeof(p->header), 0);
	if (status)
		return error_set(err, -status, 0, "cannot read the file header");
	return format_header_check(&p->header, err);
}

static void *array_of(struct bundle *b, const struct codec_record *row)
{
	return (char *)b + row->array_offset;
}

/* Room for all records of each type at once; counts start at 0 again for decoding. */
static int make_arrays(struct bundle *b, struct error *err)
{
	const struct record_list *list = &b->priv->records;
	const struct codec_record *row;

	for (size_t i = 0; i < list->count; i++)
		((struct counted *)array_of(b, codec_record(list->items[i].type)))->count++;
	for (size_t i = 0; (row = codec_row(i)) && row->type; i++) {
		struct counted *array = array_of(b, row);

		if (array->count) {
			array->items = arena_take_array(&b->priv->arena, array->count, row->bytes);
			if (!array->items)
				return error_set(err, ENOMEM, ERROR_NO_OFFSET,
						 "out of memory for %zu %s records", array->count,
						 row->name);
		}
		array->count = 0;
	}
	return 0;
}

static int decode_one(struct bundle *b, const struct format_index_record *e, char *payload,
		      struct intern *lists, struct error *err)
{
	const struct codec_record *row = codec_record(e->type);
	struct counted *array = array_of(b, row);
	void *record = (char *)array->items + array->count * row->bytes;
	struct format_frame f;
	int status = read_frame(b, e->offset, &f, err);

	if (status)
		return status;
	if (f.type != e->type || f.payload_bytes != e->payload_bytes)
		return error_set(err, EBADMSG, e->offset,
				 "%s record at offset %llu is not the one that the index lists",
				 format_type_name(f.type), (ull)e->offset);
	status = read_payload(b, e->offset, &f, payload, err);
	if (!status)
		status = codec_decode(row, payload, f.payload_bytes, e->offset + sizeof(f),
				      &b->priv->arena, lists, record, err);
	if (status)
		return status;
	status = check_record(e->type, record, err);
	if (status) {
		if (err)
			err->offset = e->offset;
		return error_prefix(err, "record at offset %llu", (ull)e->offset);
	}
	array->count++;
	return 0;
}

static int decode_all(struct bundle *b, struct error *err)
{
	const struct record_list *list = &b->priv->records;
	_cleanup_free_ char *payload = NULL;
	struct intern lists = {0};
	uint64_t largest = 1;
	int status = make_arrays(b, err);

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].payload_bytes > largest)
			largest = list->items[i].payload_bytes;
	payload = malloc(largest);
	if (!payload)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < list->count && !status; i++)
		status = decode_one(b, &list->items[i], payload, &lists, err);
	intern_free(&lists);
	return status;
}

#define BUILD(lookup, array, record, field, kind)                                       \
	lookup_build(&p->lookup, b->array.items, b->array.count, sizeof(struct record), \
		     offsetof(struct record, field), kind)

static int build_lookups(struct bundle *b, struct error *err)
{
	struct bundle_private *p = b->priv;

	if (BUILD(images, images, record_image, id, LOOKUP_HASH) ||
	    BUILD(files, files, record_file, image, LOOKUP_HASH) ||
	    BUILD(kernels, kernels, record_kernel, number, LOOKUP_U32) ||
	    BUILD(launches, launches, record_launch, seq, LOOKUP_U64) ||
	    BUILD(afters, afters, record_after, seq, LOOKUP_U64) ||
	    BUILD(cases, cases, record_case, number, LOOKUP_U32))
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	return 0;
}

/* A stopped writer leaves no index: then the file itself is walked. */
static int load(struct bundle *b, struct error *err)
{
	int status = index_load(b, err);

	if (!status) {
		b->complete = true;
		b->valid_bytes = b->file_bytes;
	} else if (status == -ENODATA) {
		b->priv->records.count = 0;
		status = scan_load(b, err);
	}
	if (status)
		return status;
	b->priv->arena.limit_bytes = b->file_bytes * MEMORY_FACTOR + MEMORY_EXTRA;
	status = decode_all(b, err);
	if (!status)
		status = build_lookups(b, err);
	if (!status)
		status = check_links(b, err);
	return status;
}

int bundle_open(struct bundle **out, const char *path, struct error *err)
{
	struct bundle *b = calloc(1, sizeof(*b));
	int status;

	if (b) {
		b->priv = calloc(1, sizeof(*b->priv));
		if (b->priv)
			b->priv->fd = -1;
		b->path = strdup(path);
	}
	if (!b || !b->priv || !b->path) {
		bundle_close(b);
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: out of memory", path);
	}
	status = open_file(b, path, err);
	if (!status) {
		b->kind = (enum bundle_kind)b->priv->header.kind;
		b->version = b->priv->header.version;
		status = load(b, err);
	}
	if (status) {
		error_prefix(err, "%s", path);
		bundle_close(b);
		return status;
	}
	*out = b;
	return 0;
}

void bundle_close(struct bundle *b)
{
	struct bundle_private *p;

	if (!b)
		return;
	p = b->priv;
	if (p) {
		if (p->fd >= 0)
			close(p->fd);
		free(p->records.items);
		chunk_table_free(&p->chunks);
		arena_free(&p->arena);
		lookup_free(&p->images);
		lookup_free(&p->files);
		lookup_free(&p->kernels);
		lookup_free(&p->launches);
		lookup_free(&p->afters);
		lookup_free(&p->cases);
		free(p);
	}
	free(b->path);
	free(b);
}
