/* SPDX-License-Identifier: MIT */
/* Looks through bitmaps on the device: of which pieces no bit is set, or all are. */
#ifndef SHIM_PIECES_H
#define SHIM_PIECES_H

#include <stdint.h>

#include "drv/entries.h"

/* The kernel in the current context; NULL: it cannot be loaded. Unloaded with the context. */
CUfunction pieces_load(void);

/*
 * Writes an enum ptx_piece_kind (a byte each) of `count` pieces of bitmaps, ordered on the stream.
 * bitmaps: a multiple of 16; both of the device.
 */
CUresult pieces_look(CUfunction function, CUdeviceptr bitmaps, uint64_t count, CUdeviceptr kinds,
		     CUstream stream);

#endif
