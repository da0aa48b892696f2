/* SPDX-License-Identifier: MIT */
/* Bytes of restored memory on the host: as recorded before a launch, and sparse pictures of after.
 */
#ifndef REPLAY_CONTENTS_H
#define REPLAY_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"
#include "replay/byteset.h"
#include "replay/layout.h"
#include "replay/page.h"
#include "replay/shelf.h"

/*
 * Stands in mapped memory that no region covers (guard bands between and behind allocations), and
 * in chunks that a measured launch does not touch. Not zero, so that reads of it show.
 */
#define GUARD_BYTE 0xc7

/* A module variable among a launch's regions. Borrowed from the bundle. */
struct variable {
	const char *name;
	uint64_t address, size; /* at its stand-in address */
};

/* The pieces of one launch and all their bytes before it. */
struct contents {
	struct ranges pieces;
	struct variable *variables;
	size_t variable_count;
	struct page **pages;      /* a chunk each, numbered as in a byteset */
	struct hash128 *identity; /* a chunk each: equal ones, equal bytes; zero: all GUARD_BYTE */
	size_t chunks;
};

/*
 * Lays out the launch's regions and reads their recorded contents, as far as the shelf (may be
 * NULL) does not have them. -ENODATA where contents of a region are missing, -EOVERFLOW for wild
 * addresses, -ENOMEM, or what reading the bundle gave.
 */
int contents_load(struct contents *c, struct shelf *shelf, const struct bundle *bundle,
		  const struct record_launch *launch, struct error *err);
void contents_free(struct contents *c);

/* The CHUNK_BYTES of chunk number i before the launch. */
const uint8_t *contents_chunk(const struct contents *c, size_t i);

/* Adds what a measured launch was seen to write, in whole granules. 0 or -ENOMEM. */
int contents_measured_writes(struct byteset *out, const struct record_launch *launch);

/* For people: "0x7f0012340010", or "acc + 0x10" where it is a module variable. Returns text. */
const char *contents_place(const struct contents *c, uint64_t address, char *text, size_t size);

/* Memory at one moment; a chunk that equals the contents before the launch is NULL. */
struct snapshot {
	const struct contents *base;
	struct page **chunks;
};

int snapshot_init(struct snapshot *s, const struct contents *base);
void snapshot_free(struct snapshot *s);

/* Keeps a copy of the chunk if it differs from before. 0 or -ENOMEM. */
int snapshot_put(struct snapshot *s, size_t chunk, const void *data);

/* The chunk's bytes: the kept copy or those before the launch. */
const uint8_t *snapshot_chunk(const struct snapshot *s, size_t chunk);
struct page *snapshot_page(const struct snapshot *s, size_t chunk);

uint8_t snapshot_byte(const struct snapshot *s, size_t chunk, uint32_t offset);

/* Copies [address, address + size), which must lie in one piece. */
void snapshot_copy(const struct snapshot *s, uint64_t address, uint64_t size, void *out);

/* Adds the bytes that differ from before the launch, or between x and y. */
int snapshot_changed(struct byteset *out, const struct snapshot *s);
int snapshot_differ(struct byteset *out, const struct snapshot *x, const struct snapshot *y);

/*
 * Adds those bytes of `within` that equal (or, with `equal` false, differ from) a fill byte.
 */
int snapshot_match(struct byteset *out, const struct snapshot *s, const struct byteset *within,
		   uint8_t fill, bool equal);

/*
 * The recorded contents after the launch; of a measured launch what lies outside its write extents
 * stays as before. -ENOENT where the bundle has no AFTER record, -EBADMSG
 * where it names a region or chunk that the launch does not have. What `like` (may be NULL) holds
 * already, by its hash, is not read again: all of such a chunk is as recorded.
 */
int snapshot_recorded(struct snapshot *out, const struct contents *base,
		      const struct snapshot *like, const struct bundle *bundle,
		      const struct record_launch *launch, struct error *err);

#endif
