/* SPDX-License-Identifier: MIT */
/* A capture bundle of kernels that no run recorded: imported, reassembled or recompiled ones. */
#ifndef REPLAY_MADE_H
#define REPLAY_MADE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"

/* Files of a Triton cache entry that are kept with an image; .llir is left out for its size. */
#define MADE_SUFFIXES                                         \
	{                                                     \
		".json", ".source", ".ttir", ".ttgir", ".ptx" \
	}
#define MADE_SUFFIX_COUNT 5

struct made_file {
	char *name, *path; /* path: where it was read; NULL where it was made */
	char *data;        /* NULL: there is none */
	size_t size;
};

/* Owned by the caller, cleared with made_image_clear. */
struct made_image {
	char *data; /* a cubin */
	size_t size;
	const char *loader; /* "kernelab import", "ptxas", "triton" */
	char *path;         /* file, where it has one */
	char *ptxas;        /* version that made it; NULL: what the cubin says */
	char *ptxas_how;    /* how that was determined */
	struct made_file files[MADE_SUFFIX_COUNT]; /* in the order of MADE_SUFFIXES */
};
void made_image_clear(struct made_image *m);

struct made_kernel {
	struct hash128 image;
	char *entry;
};

struct made {
	struct bundle_writer *writer;
	char *path;
	struct hash128 *ids; /* images written */
	size_t count, capacity;
	struct made_kernel *kernels; /* by KERNEL.number */
	size_t kernel_count, kernel_capacity;
	uint64_t launches;
};

/* Creates the bundle and writes its RUN record. argc and argv: the command, for that record. */
int made_open(struct made *m, const char *path, int argc, char **argv, struct error *err);

/*
 * Writes the image once, its files, and a KERNEL record for each entry that its cubin has. *id
 * gets its identity. -EINVAL with err where it is no cubin that can be read.
 */
int made_add(struct made *m, const struct made_image *image, struct hash128 *id, struct error *err);

/*
 * Writes, of the launches in `from` of image `base`, what tells how image `id` in its place is
 * launched: geometry and parameters, no contents. The TMA descriptors in them: made_tensor_maps,
 * once a bundle.
 */
int made_launches(struct made *m, const struct bundle *from, struct hash128 base, struct hash128 id,
		  struct error *err);
int made_tensor_maps(struct made *m, const struct bundle *from, struct error *err);

int made_fact(struct made *m, const char *name, const char *value, const char *how,
	      struct error *err);

/*
 * What became of a recorded image: FACT "made.<base>" with the new image's id, or "failed.<base>"
 * with the reason.
 */
int made_outcome(struct made *m, struct hash128 base, const struct hash128 *id, const char *reason,
		 struct error *err);
/* Reads them back. True with *id where `b` has a successor of base. */
bool made_successor(const struct bundle *b, struct hash128 base, struct hash128 *id);
/* The reason, or NULL. */
const char *made_failure(const struct bundle *b, struct hash128 base);

/* END record, footer; frees. */
int made_close(struct made *m, struct error *err);
/* Frees without finishing; removes the file. */
void made_abandon(struct made *m);

#endif
