/* SPDX-License-Identifier: MIT */
/* Kernels of a folder (a Triton or Inductor cache, or plain cubins) as a capture bundle. */
#ifndef REPLAY_IMPORT_H
#define REPLAY_IMPORT_H

#include <stddef.h>

#include "kernelab/error.h"

struct import_count {
	size_t cubins;   /* found */
	size_t metadata; /* of which with .json */
	size_t unread;   /* files that are no readable cubin */
	char first[200]; /* why the first of those is not */
};

/*
 * Writes every *.cubin below the folders, at any depth, with the files of the same stem beside it,
 * into the new bundle `path`; links to folders are not followed. argc, argv: the command, for the
 * RUN record. 0; -ENOENT "no .cubin in FOLDER"; -errno with err, nothing is left then.
 */
int import_folders(const char *path, const char *const *folders, size_t count, int argc,
		   char **argv, struct import_count *out, struct error *err);

#endif
