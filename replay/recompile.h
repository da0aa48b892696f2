/* SPDX-License-Identifier: MIT */
/* A side made by another Triton from the recorded IR. */
#ifndef REPLAY_RECOMPILE_H
#define REPLAY_RECOMPILE_H

#include "kernelab/error.h"
#include "replay/source.h"

#define RECOMPILE_PREFIX "triton:"

/*
 * request->text is triton:PYTHON: compiles the .source of every image of request->base (before
 * Triton 3.4 its .ttir) with the Triton of that interpreter and the options of the recorded .json,
 * by recompile.py, several at a time, without a GPU. The stages from make_ttir on are run (from
 * make_ttgir on where only .ttir is there); the Python frontend is not. Writes the bundle `path`;
 * what the compiler refuses (the text of an IR is not stable across versions) is noted there with
 * its words. `folder`: for temporary files. 0 or -errno with err.
 */
int recompile(const char *path, const char *folder, const struct source_request *request,
	      struct error *err);

/*
 * The num_warps with which it compiles the member; 0: no such, as it cannot be halved, a block has
 * no more warps, or the kernel is warp-specialised.
 */
int64_t recompile_warps(const struct suite_member *m, enum warps warps);

#endif
