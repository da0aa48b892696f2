/* SPDX-License-Identifier: MIT */
/* The memory around one launch on its way into the bundle. */
#ifndef SHIM_CONTENTS_H
#define SHIM_CONTENTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "kernelab/bundle.h"
#include "shim/pending.h"
#include "shim/regions.h"
#include "shim/ring.h"

struct contents_region {
	struct hash128 *keys; /* one a chunk, zero: not fetched */
	uint64_t count;
	bool fetched;    /* all that was chosen was issued */
	atomic_int lost; /* CUresult of copies that did not arrive; 0: none. Workers set it */
	char *note;      /* why it was not fetched; malloc'ed. The issuing thread sets it */
};

/* Copies of one point in time, before or after a launch. */
struct contents {
	/* Set before contents_init. */
	struct bundle_writer *w;
	const struct regions *regions;
	struct pending *pending; /* the record that needs them: held until all are stored */
	struct ring *ring;
	CUstream stream;
	double room_s; /* longest wait for room in the ring */
	double copy_s; /* longest time until a copy is done */
	/* Where to read instead of at the addresses themselves, or NULL. While copies are issued.
	 */
	const struct copies_source *source;
	bool known; /* hashes of what is stored are entered in shim/known.h */

	struct contents_region *items;
	size_t count;      /* one a region */
	atomic_int error;  /* first -errno of the writer */
	CUresult result;   /* first error of a copy when it was issued */
	uint64_t budget;   /* taken for the keys */
	struct slot *slot; /* being filled */
};

/* Which bytes of a region are meant: all chunks that one of the pairs touches; both NULL: all. */
struct contents_choice {
	const struct u64s *reads, *writes;
};

/* 0 or -ENOMEM: host memory, also of shim/budget.h. */
int contents_init(struct contents *c);
void contents_free(struct contents *c);

/* Bytes of the chosen chunks. */
uint64_t contents_bytes(const struct record_region *region, const struct contents_choice *which);

/*
 * Hashes the chosen chunks of region `number` on the device, at once, and fills the keys of those
 * whose contents are in the bundle already: contents_fetch leaves these out. Only of a measured
 * launch. Waits for the stream, at most copy_s. Where this cannot be done nothing is filled; sets
 * `known`. With KERNELAB_HASH=verify they are fetched all the same, and compared.
 */
void contents_look_up(struct contents *c, uint32_t number, const struct contents_choice *which);

/*
 * Issues copies of the chosen chunks of region `number` in the stream; workers store them, fill
 * keys and release pending. False, with note, if not all could be issued; copies may still get
 * lost. Host memory is read at once: the stream must be idle then. So it must for a pageable ring.
 */
bool contents_fetch(struct contents *c, uint32_t number, const struct contents_choice *which);

/* Submits the last slot. After the last contents_fetch. */
void contents_flush(struct contents *c);

/* FACTs: bytes copied, bytes known already, memory taken. At the end. 0 or -errno. */
int contents_write_facts(struct bundle_writer *w);

#endif
