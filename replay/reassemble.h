/* SPDX-License-Identifier: MIT */
/* A side made by another ptxas, or by other flags of it, from the recorded PTX. */
#ifndef REPLAY_REASSEMBLE_H
#define REPLAY_REASSEMBLE_H

#include "kernelab/error.h"
#include "replay/source.h"

#define REASSEMBLE_PREFIX "ptxas:"

/*
 * request->text is ptxas:PATH[,flag…]: assembles the PTX of every image of request->base (the
 * recorded .ptx, else the one recovered from the cubin) for the target that the PTX names, as
 * Triton does (-lineinfo, --fmad=false where the kernel has no fp fusion, its ptx_options) and with
 * the flags given, several at a time. PTX of a newer version than that ptxas reads is tried again
 * with the version lowered, which ptxas_how of the image tells. Writes the bundle `path`; what
 * ptxas refuses is noted there with its words. `folder`: for temporary files. 0 or -errno with err.
 */
int reassemble(const char *path, const char *folder, const struct source_request *request,
	       struct error *err);

#endif
