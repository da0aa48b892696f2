/* SPDX-License-Identifier: MIT */
/* What differs between the runs that A and B come from, beyond the compiler. */
#ifndef REPLAY_ENVIRONMENT_H
#define REPLAY_ENVIRONMENT_H

#include "replay/source.h"

/* Prefix of the FACTs of a result that say so. */
#define ENVIRONMENT_PREFIX "environment."

/* NULL: not set, or not known. Returns 0 to go on. */
typedef int environment_call(void *data, const char *name, const char *a, const char *b);

/*
 * Calls for each fact of the recorded runs behind the sides that is another one: driver, GPUs,
 * PyTorch, Python, and environment variables but for those that only say where the compiler and its
 * caches lie. What the compiler is stands in the SIDE records. Sides that no run made (ptxas:,
 * triton:, imported cubins) have no environment: nothing is called for them. 0, -ENOMEM, or what
 * the call gave.
 */
int environment_compare(const struct source *a, const struct source *b, environment_call *call,
			void *data);

#endif
