/* SPDX-License-Identifier: MIT */
/* A folder with one recorded launch that runs without kernelab: a script, cubins, memory. */
#ifndef REPLAY_EXPORT_H
#define REPLAY_EXPORT_H

#include "kernelab/error.h"
#include "replay/replay.h"

/*
 * Writes the new folder `path` with repro.py, repro.json, memory.bin and the cubins of A and, where
 * options->b is given, of B, for launch options->launch. -EEXIST: the folder is there; -ENOENT: no
 * such launch; -ENOTSUP with the reason where the launch cannot stand alone; -errno with err. A
 * folder that is not whole is removed.
 */
int export_launch(const struct replay_options *options, const char *path, struct error *err);

#endif
