/* SPDX-License-Identifier: MIT */
/* Appends whole records to a bundle file. Runs in the recorded program: never prints, never ends
 * it. */
#include "lib/bundle/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/check.h"
#include "lib/bundle/chunk.h"
#include "lib/bundle/chunk_table.h"
#include "lib/bundle/codec.h"
#include "lib/bundle/format.h"

struct bundle_writer {
	int fd;
	pid_t owner; /* a forked child must not write into its parent's file */
	dev_t device;
	ino_t inode;
	struct format_header header;
	struct hash128 zero_key; /* of CHUNK_BYTES zeros */
	bool store_only;         /* nothing is compressed */

	/* file: held while a record is appended. Guards offset and records; set under it: broken.
	 */
	pthread_mutex_t file;
	uint64_t offset;
	_Atomic int broken; /* first -errno of a write; read anywhere */
	struct format_index_record *records;
	size_t record_count, record_capacity;

	/* table: held for look-ups and additions only. Taken inside `file`, never the other way. */
	pthread_mutex_t table;
	struct chunk_table chunks;
	struct chunk_scratch *scratch; /* free list */
};

/* ---- appending ---- */

/*
 * The program may have closed our descriptor and got its number for a file of its own; and a write
 * beyond RLIMIT_FSIZE would raise SIGXFSZ in it.
 */
static int still_ours(const struct bundle_writer *w)
{
	struct stat st;

	if (fstat(w->fd, &st))
		return -errno;
	return st.st_dev == w->device && st.st_ino == w->inode ? 0 : -EBADF;
}

static int may_write(const struct bundle_writer *w, uint64_t bytes)
{
	struct rlimit limit;
	int status = still_ours(w);

	if (status)
		return status;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    w->offset + bytes > limit.rlim_cur)
		return -EFBIG;
	return 0;
}

static void skip_written(struct iovec **parts, int *count, size_t n)
{
	while (*count && n >= (*parts)->iov_len) {
		n -= (*parts)->iov_len;
		(*parts)++;
		(*count)--;
	}
	if (*count) {
		(*parts)->iov_base = (char *)(*parts)->iov_base + n;
		(*parts)->iov_len -= n;
	}
}

/* Writes all parts at w->offset. On failure the file is cut back to the last whole record. */
static int append(struct bundle_writer *w, struct iovec *parts, int count)
{
	uint64_t at = w->offset, total = 0;
	int status;

	for (int i = 0; i < count; i++)
		total += parts[i].iov_len;
	status = may_write(w, total);
	while (!status && count) {
		ssize_t n = pwritev(w->fd, parts, count, (off_t)at);

		if (n < 0 && errno != EINTR)
			status = -errno;
		else if (!n)
			status = -EIO; /* cannot happen to a file; do not turn for ever */
		if (n <= 0)
			continue;
		at += (uint64_t)n;
		skip_written(&parts, &count, (size_t)n);
	}
	if (status) {
		/* Where even that fails, the reader finds a truncated record at the end. */
		w->broken = status;
		if (at > w->offset)
			(void)!ftruncate(w->fd, (off_t)w->offset);
		return status;
	}
	w->offset = at;
	return 0;
}

/* Appends one record; `file` is held. tail may be empty. */
static int append_record(struct bundle_writer *w, uint32_t type, const void *head,
			 size_t head_bytes, const void *tail, size_t tail_bytes)
{
	struct format_frame frame;
	struct iovec parts[3] = {
		{&frame, sizeof(frame)}, {(void *)head, head_bytes}, {(void *)tail, tail_bytes}};

	if (w->broken)
		return w->broken;
	format_frame_make(&frame, format_seed(&w->header, w->offset), type, head, head_bytes,
			  head_bytes + tail_bytes);
	return append(w, parts, tail_bytes ? 3 : head_bytes ? 2 : 1);
}

static int writer_usable(const struct bundle_writer *w)
{
	return w->owner == getpid() ? w->broken : -ECHILD;
}

/* ---- opening ---- */

static int writer_prepare(struct bundle_writer *w)
{
	struct stat st;
	void *zeros;

	if (fstat(w->fd, &st))
		return -errno;
	w->device = st.st_dev;
	w->inode = st.st_ino;
	zeros = calloc(1, CHUNK_BYTES);
	if (!zeros)
		return -ENOMEM;
	w->zero_key = hash_bytes(zeros, CHUNK_BYTES);
	free(zeros);
	return 0;
}

static int writer_start(struct bundle_writer *w)
{
	struct iovec part = {&w->header, sizeof(w->header)};
	int status = writer_prepare(w);

	return status ? status : append(w, &part, 1);
}

/*
 * A program that runs with a standard stream closed still prints: its words are not to land in the
 * bundle, so that never gets a number below 3. Mode 0600: a bundle holds the model's data.
 */
static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600), moved, status;

	if (fd < 0)
		return -errno;
	if (fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	status = -errno;
	close(fd);
	if (moved >= 0)
		return moved;
	if (flags & O_CREAT)
		unlink(path);
	return status;
}

/* A writer of that file, with nothing in its tables. 0 or -errno. */
static int writer_new(struct bundle_writer **out, const char *path, int flags)
{
	struct bundle_writer *w = calloc(1, sizeof(*w));
	int status;

	if (!w)
		return -ENOMEM;
	w->owner = getpid();
	w->fd = open_file(path, flags);
	if (w->fd < 0) {
		status = w->fd;
		free(w);
		return status;
	}
	pthread_mutex_init(&w->file, NULL);
	pthread_mutex_init(&w->table, NULL);
	*out = w;
	return 0;
}

int bundle_writer_open(struct bundle_writer **out, const char *path, enum bundle_kind kind)
{
	struct format_header header;
	struct bundle_writer *w;
	int status = format_header_make(&header, kind);

	if (!status)
		status = writer_new(&w, path, O_WRONLY | O_CREAT | O_EXCL);
	if (status)
		return status;
	w->header = header;
	status = writer_start(w);
	if (status) {
		unlink(path);
		bundle_writer_abandon(w);
		return status;
	}
	*out = w;
	return 0;
}

/* The lists of a file that is to be continued. */
static int take_lists(struct bundle_writer *w, const struct format_index_record *records,
		      size_t record_count, const struct chunk_table *chunks)
{
	w->records = malloc((record_count + 1) * sizeof(*w->records));
	if (!w->records)
		return -ENOMEM;
	if (record_count)
		memcpy(w->records, records, record_count * sizeof(*w->records));
	w->record_count = record_count;
	w->record_capacity = record_count + 1;
	for (size_t i = 0; i < chunks->count; i++) {
		int status = chunk_table_reserve(&w->chunks);

		if (status)
			return status;
		chunk_table_add(&w->chunks, &chunks->items[i]);
	}
	return 0;
}

int bundle_writer_continue(struct bundle_writer **out, const char *path, uint64_t end,
			   const struct format_index_record *records, size_t record_count,
			   const struct chunk_table *chunks)
{
	struct bundle_writer *w;
	int status = writer_new(&w, path, O_RDWR);

	if (status)
		return status;
	status = writer_prepare(w);
	if (!status && pread(w->fd, &w->header, sizeof(w->header), 0) != sizeof(w->header))
		status = -EIO;
	if (!status)
		status = take_lists(w, records, record_count, chunks);
	if (!status && ftruncate(w->fd, (off_t)end))
		status = -errno;
	if (status) {
		bundle_writer_abandon(w);
		return status;
	}
	w->offset = end;
	*out = w;
	return 0;
}

/* ---- structured records ---- */

static int put_record(struct bundle_writer *w, uint32_t type, const void *record)
{
	const struct codec_record *row = codec_record(type);
	_cleanup_free_ char *data = NULL;
	size_t size;
	int status = writer_usable(w);

	if (!status)
		status = check_record(type, record, NULL);
	if (!status)
		status = codec_encode(row, record, &data, &size);
	if (status)
		return status;
	pthread_mutex_lock(&w->file);
	status = w->broken;
	if (!status)
		status = array_reserve(&w->records, w->record_count, &w->record_capacity,
				       sizeof(*w->records));
	if (!status) {
		struct format_index_record entry = {
			.offset = w->offset, .payload_bytes = size, .type = type};

		status = append_record(w, type, data, size, NULL, 0);
		if (!status)
			w->records[w->record_count++] = entry;
	}
	pthread_mutex_unlock(&w->file);
	return status;
}

#define R(type, NAME, name, array)                                                    \
	int bundle_put_##name(struct bundle_writer *w, const struct record_##name *r) \
	{                                                                             \
		return put_record(w, type, r);                                        \
	}
RECORDS(R)
#undef R

/* ---- chunks ---- */

static bool has_chunk(struct bundle_writer *w, struct hash128 key, uint32_t size)
{
	bool found;

	pthread_mutex_lock(&w->table);
	found = chunk_table_find(&w->chunks, key, size) != NULL;
	pthread_mutex_unlock(&w->table);
	return found;
}

static struct chunk_scratch *take_scratch(struct bundle_writer *w)
{
	struct chunk_scratch *s;

	pthread_mutex_lock(&w->table);
	s = w->scratch;
	if (s)
		w->scratch = s->next;
	pthread_mutex_unlock(&w->table);
	return s ? s : chunk_scratch_new();
}

static void give_scratch(struct bundle_writer *w, struct chunk_scratch *s)
{
	pthread_mutex_lock(&w->table);
	s->next = w->scratch;
	w->scratch = s;
	pthread_mutex_unlock(&w->table);
}

bool bundle_writer_has_chunk(struct bundle_writer *w, struct hash128 key, uint32_t size)
{
	return has_chunk(w, key, size);
}

/* A key is handed out only after its chunk is in the file, whichever thread wrote it. */
static int append_chunk(struct bundle_writer *w, struct hash128 key, uint32_t raw_bytes,
			enum chunk_codec codec, const void *stored, uint32_t stored_bytes)
{
	struct format_chunk head = {.key = key, .raw_bytes = raw_bytes, .codec = codec};
	struct format_index_chunk entry = {
		.key = key, .raw_bytes = raw_bytes, .stored_bytes = stored_bytes, .codec = codec};
	int status;

	pthread_mutex_lock(&w->file);
	status = w->broken;
	if (!status && has_chunk(w, key, raw_bytes)) {
		pthread_mutex_unlock(&w->file);
		return 0;
	}
	if (!status) {
		pthread_mutex_lock(&w->table);
		status = chunk_table_reserve(&w->chunks);
		pthread_mutex_unlock(&w->table);
	}
	if (!status) {
		entry.offset = w->offset;
		status = append_record(w, RECORD_TYPE_CHUNK, &head, sizeof(head), stored,
				       stored_bytes);
	}
	if (!status) {
		pthread_mutex_lock(&w->table);
		chunk_table_add(&w->chunks, &entry);
		pthread_mutex_unlock(&w->table);
	}
	pthread_mutex_unlock(&w->file);
	return status;
}

void bundle_writer_store_only(struct bundle_writer *w)
{
	w->store_only = true;
}

static int pack_and_append(struct bundle_writer *w, struct hash128 key, const void *data,
			   uint32_t size)
{
	struct chunk_scratch *s;
	enum chunk_codec codec;
	const void *stored;
	uint32_t stored_bytes;
	int status;

	if (w->store_only)
		return append_chunk(w, key, size, CHUNK_STORED, data, size);
	s = take_scratch(w);
	if (!s)
		return -ENOMEM;
	codec = chunk_pack(s, data, size, &stored, &stored_bytes);
	status = append_chunk(w, key, size, codec, stored, stored_bytes);
	give_scratch(w, s);
	return status;
}

int bundle_put_chunk(struct bundle_writer *w, const void *data, uint32_t size, struct hash128 *key)
{
	bool zero;
	int status = writer_usable(w);

	if (status)
		return status;
	if (!size || size > CHUNK_BYTES)
		return -EINVAL;
	zero = chunk_is_zero(data, size);
	*key = zero && size == CHUNK_BYTES ? w->zero_key : hash_bytes(data, size);
	if (has_chunk(w, *key, size))
		return 0;
	if (zero)
		return append_chunk(w, *key, size, CHUNK_ZERO, NULL, 0);
	return pack_and_append(w, *key, data, size);
}

int bundle_put_content(struct bundle_writer *w, uint64_t base, const void *data, uint64_t size,
		       struct hash128 *keys)
{
	uint64_t count = chunk_count(base, size);

	if (size && base + (size - 1) < base)
		return -EINVAL;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t address;
		uint32_t bytes;
		int status;

		chunk_range(base, size, i, &address, &bytes);
		status =
			bundle_put_chunk(w, (const char *)data + (address - base), bytes, &keys[i]);
		if (status)
			return status;
	}
	return 0;
}

/* ---- closing ---- */

uint64_t bundle_writer_size(const struct bundle_writer *w)
{
	struct bundle_writer *writer = (struct bundle_writer *)w;
	uint64_t size;

	pthread_mutex_lock(&writer->file);
	size = w->offset;
	pthread_mutex_unlock(&writer->file);
	return size;
}

/* The payload in one buffer, because its checksum goes in front of it. */
static int append_index(struct bundle_writer *w)
{
	size_t record_bytes = w->record_count * sizeof(*w->records);
	size_t chunk_bytes = w->chunks.count * sizeof(*w->chunks.items);
	struct format_index counts = {w->record_count, w->chunks.count};
	struct format_footer footer = {.index_offset = w->offset, .magic = FORMAT_FOOTER_MAGIC};
	size_t bytes = sizeof(counts) + record_bytes + chunk_bytes;
	_cleanup_free_ char *payload = NULL;
	int status;

	if (bytes > FORMAT_INDEX_MAX)
		return -EFBIG;
	payload = malloc(bytes);
	if (!payload)
		return -ENOMEM;
	memcpy(payload, &counts, sizeof(counts));
	if (record_bytes)
		memcpy(payload + sizeof(counts), w->records, record_bytes);
	if (chunk_bytes)
		memcpy(payload + sizeof(counts) + record_bytes, w->chunks.items, chunk_bytes);
	footer.index_bytes = bytes;
	status = append_record(w, RECORD_TYPE_INDEX, payload, bytes, NULL, 0);
	if (status)
		return status;
	return append_record(w, RECORD_TYPE_FOOTER, &footer, sizeof(footer), NULL, 0);
}

int bundle_writer_close(struct bundle_writer *w)
{
	int status;

	if (!w)
		return 0;
	status = writer_usable(w);
	if (!status) {
		pthread_mutex_lock(&w->file);
		status = w->broken ? w->broken : append_index(w);
		pthread_mutex_unlock(&w->file);
	}
	/* Some file systems report a full disk only here. */
	if (!still_ours(w) && close(w->fd) && !status && errno != EINTR)
		status = -errno;
	w->fd = -1;
	bundle_writer_abandon(w);
	return status;
}

void bundle_writer_forsake(struct bundle_writer *w)
{
	if (w->fd >= 0 && !still_ours(w))
		close(w->fd);
}

void bundle_writer_abandon(struct bundle_writer *w)
{
	struct chunk_scratch *next;

	if (!w)
		return;
	if (w->fd >= 0 && !still_ours(w))
		close(w->fd);
	for (struct chunk_scratch *s = w->scratch; s; s = next) {
		next = s->next;
		chunk_scratch_free(s);
	}
	chunk_table_free(&w->chunks);
	free(w->records);
	free(w);
}
