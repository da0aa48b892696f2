/* SPDX-License-Identifier: MIT */
/* A private temporary folder that goes away with everything in it. */
#ifndef REPLAY_WORKSPACE_H
#define REPLAY_WORKSPACE_H

#include "kernelab/error.h"

/*
 * Makes a folder of mode 0700 in TMPDIR (default /tmp). *path, and *file for what is to be written
 * in it under that name, are malloc'ed. 0 or -errno with err.
 */
int workspace_make(char **path, const char *name, char **file, struct error *err);

/* Removes the folder and what is in it, links not followed, and frees path. NULL is allowed. */
void workspace_remove(char *path);

#endif
