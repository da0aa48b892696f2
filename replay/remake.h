/* SPDX-License-Identifier: MIT */
/* Making the recorded images anew with another compiler: what all such sources share. */
#ifndef REPLAY_REMAKE_H
#define REPLAY_REMAKE_H

#include <stddef.h>

#include "kernelab/error.h"
#include "replay/made.h"
#include "replay/source.h"

/* One recorded image. In the folder its files are "<index>.<suffix>". */
struct remake_image {
	const struct suite_member *member; /* one that is in it */
	char *failure;                     /* why it could not be made; NULL */
	char *ptxas_how;                   /* replaces the general one; NULL */
};

struct remake {
	const struct source_request *request;
	const char *folder;
	struct remake_image *images;
	size_t count, capacity;
};

/* Lists each image of the request's base once. -ENOENT with err where none is wanted. */
int remake_begin(struct remake *r, const struct source_request *request, const char *folder,
		 struct error *err);
void remake_end(struct remake *r);

/* "<folder>/<index><suffix>", malloc'ed; NULL without memory. */
char *remake_path(const struct remake *r, size_t index, const char *suffix);

/* Writes one of an image's files. 0 or -errno with err. */
int remake_put(const struct remake *r, size_t index, const char *suffix, const char *data,
	       size_t size, struct error *err);

/* What is told of all images made. */
struct remake_tool {
	const char *loader;    /* "ptxas", "triton" */
	const char *version;   /* e.g. "ptxas 13.0.88 -O1" */
	const char *commit;    /* or NULL */
	const char *how;       /* how those were found out */
	const char *command;   /* what was run for an image, for people */
	const char *ptxas;     /* its version, or NULL: as the cubin says */
	const char *ptxas_how; /* or NULL */
	bool metadata;         /* N.json, N.ttgir … were made too; else the recorded ones hold */
};

/*
 * Writes the bundle `path`: N.cubin of every image without failure, with N.ptx and, by
 * tool->metadata, what stands beside it in the folder or was recorded; the outcome of each image;
 * facts about the tool. 0; -ENOEXEC with the first failure where no image at all could be made.
 */
int remake_write(struct remake *r, const char *path, const struct remake_tool *tool,
		 struct error *err);

#endif
