/* SPDX-License-Identifier: MIT */
/* Host memory behind device memory: taken lazily, filled with a byte that is not zero. */
#ifndef SOFTGPU_BACKING_H
#define SOFTGPU_BACKING_H

#include <stddef.h>
#include <stdint.h>

/*
 * Fresh device memory reads as this byte everywhere, so that a kernel that relies on zeros is seen.
 * 0xff by default: NaN in every float format, -1 as an index, an address that faults.
 * Takes effect for later mappings; call it before the first one.
 */
void backing_set_fill(uint8_t byte);
uint8_t backing_fill(void);

/* size bytes (rounded up to pages) that read as the fill byte. NULL without memory. */
uint8_t *backing_map(size_t size);
void backing_unmap(uint8_t *host, size_t size);

/* Whether all pages of the host's [address, address + size) are mapped. */
int backing_is_mapped(const void *address, size_t size);

/* Whether memory of unknown extent begins with bytes; reads no further than they agree. */
int backing_begins_with(const void *address, const void *bytes, size_t size);

#endif
