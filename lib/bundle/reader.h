/* SPDX-License-Identifier: MIT */
/* The reader's inner parts: record list, index, scan, look-up tables. */
#ifndef LIB_BUNDLE_READER_H
#define LIB_BUNDLE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "lib/bundle/arena.h"
#include "lib/bundle/chunk_table.h"
#include "lib/bundle/format.h"
#include "lib/bundle/lookup.h"

/* The structured records of a file in their order. */
struct record_list {
	struct format_index_record *items;
	size_t count, capacity;
};

struct bundle_private {
	int fd;
	struct format_header header;
	struct record_list records;
	struct chunk_table chunks;
	struct arena arena;
	struct lookup images, kernels, launches, afters, files, cases;
};

/* pread of exactly `size` bytes. 0; -ENODATA where the file ends before; -errno. */
int read_exactly(int fd, void *data, size_t size, uint64_t offset);

/*
 * Reads the frame at `offset` of a file of file_bytes and checks it and that its payload lies in
 * the file. 0; -ENODATA: the file ends within the record; -EBADMSG damaged; -ENOTSUP; other -errno.
 */
int read_frame(const struct bundle *b, uint64_t offset, struct format_frame *f, struct error *err);

/* Reads the payload of a structured record, the index or the footer and checks its checksum. */
int read_payload(const struct bundle *b, uint64_t offset, const struct format_frame *f, void *data,
		 struct error *err);

/* Reads and checks the struct format_chunk of a chunk record. -EBADMSG: checksum or sizes. */
int read_chunk_head(const struct bundle *b, uint64_t offset, const struct format_frame *f,
		    struct format_chunk *head, struct error *err);

/*
 * Fills records and chunks from index and footer. 0; -ENODATA: there are none, or damaged ones, so
 * scan; another -errno: they are whole but wrong, or the file cannot be read.
 */
int index_load(struct bundle *b, struct error *err);

/* Fills records and chunks by walking from the header; sets valid_bytes and damage. */
int scan_load(struct bundle *b, struct error *err);

#endif
