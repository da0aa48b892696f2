/* SPDX-License-Identifier: MIT */
/* Opens the libcupti that the program has, or would get. */
#ifndef SHIM_CUPTI_FIND_H
#define SHIM_CUPTI_FIND_H

/*
 * The one that is loaded already (PyTorch links it); else the one of the Python packages that the
 * program's libraries are of (nvidia/cu13/lib, nvidia/cuda_cupti/lib, Triton's own); else by the
 * loader's path; else below CUDA_HOME, CUDA_PATH or /usr/local/cuda. So that a later import of the
 * program finds under that name what it would have found without us. dlopen handle, or NULL.
 * Leaves no dlerror() behind. *how (static) says which of these it was.
 */
void *cupti_find(const char **how);

#endif
