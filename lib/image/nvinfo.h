/* SPDX-License-Identifier: MIT */
/* .nv.info sections: the attributes that a cubin gives about its kernels. */
#ifndef LIB_IMAGE_NVINFO_H
#define LIB_IMAGE_NVINFO_H

#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"
#include "lib/image/cubin.h"

/*
 * Reads .nv.info.<entry> (size bytes, at `offset` of the file) into k: parameters in order and
 * params_bytes, max_threads. 0, -EINVAL or -ENOMEM with err.
 */
int nvinfo_kernel(struct cubin_kernel *k, const uint8_t *data, size_t size, uint64_t offset,
		  struct error *err);

/* Register count of symbol number `symbol` in the image's .nv.info; 0 if it is not there. */
uint32_t nvinfo_registers(const uint8_t *data, size_t size, uint32_t symbol);

#endif
