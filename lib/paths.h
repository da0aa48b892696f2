/* SPDX-License-Identifier: MIT */
/* Where the installed or built parts of kernelab lie. */
#ifndef LIB_PATHS_H
#define LIB_PATHS_H

#include "kernelab/error.h"

/* What can be looked for. */
enum part {
	PART_SHIM,      /* libkernelab-shim.so */
	PART_SOFTGPU,   /* softgpu/libcuda.so.1 */
	PART_RECOMPILE, /* recompile.py */
	PART_REPRODUCE, /* reproduce.py */
	PART_PYTEST,    /* pytest_cases.py */
	PART_GLUE       /* sitecustomize.py of the Python glue: its folder is meant */
};

/*
 * Absolute path of a part. Where KERNELAB_LIBDIR is set: in it (as installed, or in its shim/ or
 * the like as built) and nowhere else. Otherwise beside the running executable as in the build
 * folder (../shim,
 * ../softgpu, ../replay), then in the configured install folder. malloc'ed. -ENOENT with err naming
 * every place looked at.
 */
int part_find(enum part part, char **path, struct error *err);

#endif
