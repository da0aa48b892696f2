/* SPDX-License-Identifier: MIT */
/* The kernel that computes shim/nh.h, as PTX: shim/gpu_hash.py makes it. */
#ifndef SHIM_GPU_HASH_PTX_H
#define SHIM_GPU_HASH_PTX_H

/*
 * Entry `kernelab_hash`: pointers to pieces (address, a multiple of 16, and bytes: 64 bits each)
 * and to room for a struct nh a piece; a block of 256 threads a piece. Its keys are the module's
 * variable `keys`, a struct nh_keys.
 */
extern const char gpu_hash_ptx[];

#endif
