/* SPDX-License-Identifier: MIT */
/* Chunk contents of an open bundle; each is checked by its key whenever it is read. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/chunk.h"
#include "lib/bundle/reader.h"
#include "lib/bundle/writer.h"

typedef unsigned long long ull;

void bundle_chunk_totals(const struct bundle *b, uint64_t *count, uint64_t *raw_bytes,
			 uint64_t *stored_bytes)
{
	const struct chunk_table *t = &b->priv->chunks;

	*count = t->count;
	*raw_bytes = *stored_bytes = 0;
	for (size_t i = 0; i < t->count; i++) {
		*raw_bytes += t->items[i].raw_bytes;
		*stored_bytes += t->items[i].stored_bytes;
	}
}

static int find_chunk(const struct bundle *b, struct hash128 key, uint32_t size,
		      const struct format_index_chunk **chunk, struct error *err)
{
	char text[HASH_TEXT_BYTES];

	*chunk = chunk_table_find(&b->priv->chunks, key, size);
	if (*chunk)
		return 0;
	*chunk = chunk_table_find_key(&b->priv->chunks, key);
	if (*chunk)
		return error_set(err, EBADMSG, (*chunk)->offset,
				 "%s: chunk %s has %u bytes, not %u", b->path, hash_text(key, text),
				 (*chunk)->raw_bytes, size);
	return error_set(err, ENOENT, ERROR_NO_OFFSET, "%s: no chunk %s of %u bytes", b->path,
			 hash_text(key, text), size);
}

/* Frame and chunk head once more from the file, against the table; then the stored bytes. */
static int read_stored(const struct bundle *b, const struct format_index_chunk *c, void *stored,
		       struct error *err)
{
	struct format_chunk head;
	struct format_frame f;
	int status = read_frame(b, c->offset, &f, err);

	if (!status && (f.type != RECORD_TYPE_CHUNK ||
			f.payload_bytes != sizeof(head) + (uint64_t)c->stored_bytes))
		status = error_set(err, EBADMSG, c->offset,
				   "record at offset %llu is not the chunk that the index lists",
				   (ull)c->offset);
	if (!status)
		status = read_chunk_head(b, c->offset, &f, &head, err);
	if (!status && (!hash_equal(head.key, c->key) || head.raw_bytes != c->raw_bytes ||
			head.codec != c->codec))
		status = error_set(err, EBADMSG, c->offset,
				   "chunk at offset %llu is not the one that the index lists",
				   (ull)c->offset);
	if (!status && c->stored_bytes) {
		status = read_exactly(b->priv->fd, stored, c->stored_bytes,
				      c->offset + sizeof(f) + sizeof(head));
		if (status)
			error_set(err, status == -ENODATA ? EIO : -status, c->offset,
				  "cannot read the chunk at offset %llu", (ull)c->offset);
	}
	if (status)
		return status == -ENODATA || status == -ENOTSUP ? -EBADMSG : status;
	return 0;
}

int bundle_read_chunk(const struct bundle *b, struct hash128 key, void *data, uint32_t size,
		      struct error *err)
{
	const struct format_index_chunk *c;
	_cleanup_free_ void *packed = NULL;
	char text[HASH_TEXT_BYTES];
	void *stored = data;
	int status = find_chunk(b, key, size, &c, err);

	if (status)
		return status;
	if (c->codec == CHUNK_LZ4) {
		stored = packed = malloc(c->stored_bytes);
		if (!packed)
			return error_set(err, ENOMEM, c->offset, "%s: out of memory", b->path);
	}
	status = read_stored(b, c, stored, err);
	if (status) {
		error_prefix(err, "%s", b->path);
		return status;
	}
	if (c->codec != CHUNK_STORED)
		status = chunk_unpack(c->codec, packed, c->stored_bytes, data, size);
	if (status || !hash_equal(hash_bytes(data, size), key))
		return error_set(err, EBADMSG, c->offset, "%s: damaged chunk %s at offset %llu: %s",
				 b->path, hash_text(key, text), (ull)c->offset,
				 status ? "it does not expand to its size" : "key mismatch");
	return 0;
}

int bundle_read_content(const struct bundle *b, uint64_t base, uint64_t size,
			const struct hashes *keys, void *data, struct error *err)
{
	uint64_t count;
	int status = 0;

	if (size && base + (size - 1) < base)
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "%s: contents beyond the address space", b->path);
	count = chunk_count(base, size);
	if (keys->count != count)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: %zu chunk keys for %llu chunks",
				 b->path, keys->count, (ull)count);
	for (uint64_t i = 0; i < count && !status; i++) {
		uint64_t address;
		uint32_t bytes;

		chunk_range(base, size, i, &address, &bytes);
		status = bundle_read_chunk(b, keys->items[i], (char *)data + (address - base),
					   bytes, err);
	}
	return status;
}

int bundle_copy_chunk(struct bundle_writer *w, const struct bundle *src, struct hash128 key,
		      struct error *err)
{
	const struct format_index_chunk *c = chunk_table_find_key(&src->priv->chunks, key);
	_cleanup_free_ void *data = NULL;
	char text[HASH_TEXT_BYTES];
	struct hash128 written;
	int status;

	if (!c)
		return error_set(err, ENOENT, ERROR_NO_OFFSET, "%s: no chunk %s", src->path,
				 hash_text(key, text));
	if (bundle_writer_has_chunk(w, key, c->raw_bytes))
		return 0;
	data = malloc(c->raw_bytes);
	if (!data)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: out of memory", src->path);
	status = bundle_read_chunk(src, key, data, c->raw_bytes, err);
	if (status)
		return status;
	status = bundle_put_chunk(w, data, c->raw_bytes, &written);
	if (status)
		return error_set(err, -status, ERROR_NO_OFFSET, "cannot write chunk %s: %s",
				 hash_text(key, text), strerror(-status));
	return 0;
}

/*
 * Chunks may be zero ones, which take no bytes in the file: a size in a record is believed only as
 * far as there are keys, and those were read from the file.
 */
static int read_whole(const struct bundle *b, uint64_t size, const struct hashes *keys, char **data,
		      struct error *err)
{
	_cleanup_free_ char *buffer = NULL;
	int status;

	if (keys->count != chunk_count(0, size) || size >= SIZE_MAX)
		return error_set(err, ENOENT, ERROR_NO_OFFSET, "%s: its contents are not there",
				 b->path);
	buffer = malloc(size + 1);
	if (!buffer)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: out of memory for %llu bytes",
				 b->path, (ull)size);
	status = bundle_read_content(b, 0, size, keys, buffer, err);
	if (status)
		return status;
	buffer[size] = 0;
	*data = steal_pointer(buffer);
	return 0;
}

int bundle_read_image(const struct bundle *b, const struct record_image *image, void **data,
		      size_t *size, struct error *err)
{
	char text[HASH_TEXT_BYTES];
	char *bytes;
	int status = read_whole(b, image->size, &image->chunks, &bytes, err);

	if (status) {
		error_prefix(err, "image %s", hash_text(image->id, text));
		return status;
	}
	if (!hash_equal(hash_bytes(bytes, image->size), image->id)) {
		free(bytes);
		return error_set(err, EBADMSG, ERROR_NO_OFFSET,
				 "%s: image %s: its bytes do not give its id", b->path,
				 hash_text(image->id, text));
	}
	*data = bytes;
	*size = image->size;
	return 0;
}

int bundle_read_file(const struct bundle *b, const struct record_file *file, char **data,
		     size_t *size, struct error *err)
{
	int status = read_whole(b, file->size, &file->chunks, data, err);

	if (status) {
		error_prefix(err, "file %s", file->name ? file->name : "(no name)");
		return status;
	}
	*size = file->size;
	return 0;
}
