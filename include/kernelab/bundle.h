/* SPDX-License-Identifier: MIT */
/* Reading and writing bundles (.klab files): docs/format.md is the specification. */
#ifndef KERNELAB_BUNDLE_H
#define KERNELAB_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "kernelab/hash.h"
#include "kernelab/records.h"

/* Contents are cut where the address (or, for files and images, the offset) is a multiple of this.
 */
#define CHUNK_BYTES 262144u

enum bundle_kind { BUNDLE_CAPTURE = 1, BUNDLE_RESULT = 2 };

/* ---- the address arithmetic of chunks, shared by everyone ---- */

/* Number of chunks of [base, base + size): 0 for size 0. base + size must not wrap. */
uint64_t chunk_count(uint64_t base, uint64_t size);
/* Chunk `index` of that range: *address (first byte) and *bytes (1 … CHUNK_BYTES). index < count.
 */
void chunk_range(uint64_t base, uint64_t size, uint64_t index, uint64_t *address, uint32_t *bytes);

/* ---- writing ---- */

/*
 * A writer appends whole records; a process that is killed leaves a file that reads up to its last
 * whole record. Nothing is buffered in user space between calls: when a call returns, its record
 * has been handed to the kernel with write(2). Threads: one writer may be used by several threads,
 * each call is atomic. All functions return 0 or -errno; after a failed write the writer is broken
 * and every later call returns that first -errno (nothing half-written follows a good record).
 */
struct bundle_writer;

/* Creates path (O_EXCL: -EEXIST if it is there) and writes the header. */
int bundle_writer_open(struct bundle_writer **out, const char *path, enum bundle_kind kind);

/*
 * Goes on with a bundle that was closed: its index and footer are taken away, so that it is
 * unfinished until the writer is closed again. Nobody else may be writing it. -EBADMSG with err
 * where it is not whole.
 */
int bundle_writer_append(struct bundle_writer **out, const char *path, struct error *err);

/* Chunks from now on are not compressed (zero ones still take no room). Before other threads use w.
 */
void bundle_writer_store_only(struct bundle_writer *w);

/* One function a record type: int bundle_put_launch(w, &launch) and so on. Copies everything. */
#define R(type, NAME, name, array) \
	int bundle_put_##name(struct bundle_writer *w, const struct record_##name *r);
RECORDS(R)
#undef R

/*
 * Stores bytes (1 … CHUNK_BYTES) once: hashes, and if the key is new writes a chunk record (zero,
 * LZ4 or stored, whichever is smallest). *key gets the hash. size is part of a chunk's identity.
 */
int bundle_put_chunk(struct bundle_writer *w, const void *data, uint32_t size, struct hash128 *key);

/*
 * Stores `size` bytes that lie at address `base` (0 for files and images) as chunks.
 * keys must have room for chunk_count(base, size). data points to the byte at `base`.
 */
int bundle_put_content(struct bundle_writer *w, uint64_t base, const void *data, uint64_t size,
		       struct hash128 *keys);

/* Bytes in the file so far. */
uint64_t bundle_writer_size(const struct bundle_writer *w);

/* Writes index and footer, closes, frees. NULL is allowed. First error, or 0. */
int bundle_writer_close(struct bundle_writer *w);
/* Closes the descriptor and frees without writing a byte. */
void bundle_writer_abandon(struct bundle_writer *w);
/*
 * For the child after fork: closes the descriptor and nothing else. The memory stays, since another
 * thread of the parent may have been changing it.
 */
void bundle_writer_forsake(struct bundle_writer *w);

/* ---- reading ---- */

/*
 * A bundle in memory: every record except chunk contents. Immutable after bundle_open; any number
 * of threads may read it at once. Trusts nothing in the file.
 */
struct bundle {
	char *path;
	enum bundle_kind kind;
	uint32_t version;
	bool complete;        /* index and footer were there */
	bool stopped;         /* not complete, but what is there is whole: the writer was stopped */
	uint64_t valid_bytes; /* file offset behind the last whole record */
	uint64_t file_bytes;
	char damage[256]; /* not complete: what was found at valid_bytes; else "" */
#define R(type, NAME, name, array)           \
	struct {                             \
		struct record_##name *items; \
		size_t count;                \
	} array;
	RECORDS(R)
#undef R
	struct bundle_private *priv;
};

/*
 * Opens and decodes. A file without footer (killed writer) or with damage at its end is read up to
 * its last whole record; complete is false then. A file whose header is not a bundle's, of a newer
 * version, or with a damaged record that has whole records behind it is an error. 0 or -errno with
 * err.
 */
int bundle_open(struct bundle **out, const char *path, struct error *err);
void bundle_close(struct bundle *b); /* NULL is allowed */

/* Number of distinct chunks, their bytes before compression and in the file. */
void bundle_chunk_totals(const struct bundle *b, uint64_t *count, uint64_t *raw_bytes,
			 uint64_t *stored_bytes);

/*
 * Reads chunk `key` into data, which has room for `size` bytes; its stored size must equal size.
 * -ENOENT no such chunk, -EBADMSG damaged or other size. Any thread.
 */
int bundle_read_chunk(const struct bundle *b, struct hash128 key, void *data, uint32_t size,
		      struct error *err);

/* The inverse of bundle_put_content; keys->count must equal chunk_count(base, size). */
int bundle_read_content(const struct bundle *b, uint64_t base, uint64_t size,
			const struct hashes *keys, void *data, struct error *err);

/* Copies one chunk of src into w (no-op if w has it). */
int bundle_copy_chunk(struct bundle_writer *w, const struct bundle *src, struct hash128 key,
		      struct error *err);

/* Look-ups; NULL if there is none. */
const struct record_image *bundle_image(const struct bundle *b, struct hash128 id);
const struct record_kernel *bundle_kernel(const struct bundle *b, uint32_t number);
const struct record_after *bundle_after(const struct bundle *b, uint64_t seq);
const struct record_launch *bundle_launch(const struct bundle *b, uint64_t seq);
/* File of an image whose name ends in suffix (".json"); image zero: of the run. */
const struct record_file *bundle_file(const struct bundle *b, struct hash128 image,
				      const char *suffix);
/*
 * Name of the FILE with the machine code that the driver of the recorded run made of a PTX image or
 * fatbin for sm_%u (capture --cupti). Where it made several for one architecture (other JIT
 * options), those behind the first end in .2, .3, …
 */
#define DRIVER_CUBIN_NAME "driver.sm_%u.cubin"
/* That file, if it made exactly one for the architecture, whose image it is; else NULL. */
const struct record_file *bundle_driver_cubin(const struct bundle *b, struct hash128 image,
					      unsigned sm);
/* Whether f is such a file of any image, and for which architecture. */
bool file_is_driver_cubin(const struct record_file *f, unsigned *sm);
/* How many images are PTX or fatbins, and of how many of these there is such a file. */
void bundle_count_driver_cubins(const struct bundle *b, size_t *images, size_t *with);
/* Value of the last FACT of that name, or NULL. */
const char *bundle_fact(const struct bundle *b, const char *name);
/* Why a capture may lack something: it was killed, damaged, or recording stopped. "" where whole.
 */
const char *bundle_problem(const struct bundle *b);

/* Whole contents of an image or file, malloc'ed with one NUL behind; the caller frees. */
int bundle_read_image(const struct bundle *b, const struct record_image *image, void **data,
		      size_t *size, struct error *err);
int bundle_read_file(const struct bundle *b, const struct record_file *file, char **data,
		     size_t *size, struct error *err);

#endif
