/* SPDX-License-Identifier: MIT */
/* What compiled the kernels of a side, in one line. */
#ifndef REPLAY_VERSIONS_H
#define REPLAY_VERSIONS_H

#include "replay/source.h"

/*
 * "triton 3.6.0, ptxas 12.8.93, torch 2.11.0" of a side's images and run, each once; malloc'ed; ""
 * if they do not say, NULL without memory.
 */
char *versions_text(const struct source *s);

#endif
