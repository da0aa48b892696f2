/* SPDX-License-Identifier: MIT */
/* What the files of wrappers share. */
#ifndef SHIM_WRAPPING_H
#define SHIM_WRAPPING_H

#include "shim/guard.h"
#include "shim/hooks.h"
#include "shim/recorder.h"

#define IMAGE_FILE_MAX (1u << 30)

/* The real function; without a driver that has it, what a program without a driver would get. */
#define REAL_OR_RETURN(entry)                              \
	do {                                               \
		if (!hooks_ready() || !real.entry)         \
			return CUDA_ERROR_NOT_INITIALIZED; \
	} while (0)

#endif
