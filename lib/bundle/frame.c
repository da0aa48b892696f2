/* SPDX-License-Identifier: MIT */
/* Reading single records at a known offset. pread, not mmap: a file may shrink while it is read. */
#include <errno.h>
#include <unistd.h>

#include "lib/bundle/chunk.h"
#include "lib/bundle/reader.h"

typedef unsigned long long ull;

int read_exactly(int fd, void *data, size_t size, uint64_t offset)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(fd, (char *)data + got, size - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
		got += (size_t)n;
	}
	return 0;
}

/* Only after the size was seen to be enough: the file was cut meanwhile, or the disk fails. */
static int read_failed(struct error *err, int status, uint64_t offset)
{
	if (status == -ENODATA)
		return error_set(err, EIO, offset, "file became shorter while it was read");
	return error_set(err, -status, offset, "cannot read at offset %llu", (ull)offset);
}

int read_frame(const struct bundle *b, uint64_t offset, struct format_frame *f, struct error *err)
{
	uint64_t left = offset < b->file_bytes ? b->file_bytes - offset : 0;
	int status;

	if (left < sizeof(*f))
		return error_set(err, ENODATA, offset,
				 "truncated record at offset %llu: %llu bytes left", (ull)offset,
				 (ull)left);
	status = read_exactly(b->priv->fd, f, sizeof(*f), offset);
	if (status)
		return read_failed(err, status, offset);
	status = format_frame_check(f, format_seed(&b->priv->header, offset), offset, err);
	if (status)
		return status;
	if (f->payload_bytes > left - sizeof(*f))
		return error_set(err, ENODATA, offset,
				 "truncated %s record at offset %llu: %llu bytes of %llu",
				 format_type_name(f->type), (ull)offset, (ull)(left - sizeof(*f)),
				 (ull)f->payload_bytes);
	return 0;
}

int read_payload(const struct bundle *b, uint64_t offset, const struct format_frame *f, void *data,
		 struct error *err)
{
	int status = read_exactly(b->priv->fd, data, f->payload_bytes, offset + sizeof(*f));

	if (status)
		return read_failed(err, status, offset);
	if (format_checksum(format_seed(&b->priv->header, offset), data, f->payload_bytes) !=
	    f->payload_checksum)
		return error_set(err, EBADMSG, offset,
				 "damaged record at offset %llu: checksum mismatch (%s)",
				 (ull)offset, format_type_name(f->type));
	return 0;
}

int read_chunk_head(const struct bundle *b, uint64_t offset, const struct format_frame *f,
		    struct format_chunk *head, struct error *err)
{
	int status = read_exactly(b->priv->fd, head, sizeof(*head), offset + sizeof(*f));

	if (status)
		return read_failed(err, status, offset);
	if (format_checksum(format_seed(&b->priv->header, offset), head, sizeof(*head)) !=
	    f->payload_checksum)
		return error_set(err, EBADMSG, offset,
				 "damaged record at offset %llu: checksum mismatch (chunk)",
				 (ull)offset);
	if (!chunk_sizes_valid(head->codec, head->raw_bytes, f->payload_bytes - sizeof(*head)))
		return error_set(err, ENOTSUP, offset,
				 "chunk of codec %u, %u bytes in %llu at offset %llu", head->codec,
				 head->raw_bytes, (ull)(f->payload_bytes - sizeof(*head)),
				 (ull)offset);
	return 0;
}
