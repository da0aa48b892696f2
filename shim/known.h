/* SPDX-License-Identifier: MIT */
/* Which contents are in the bundle: hash of a chunk as the device computes it → its key. */
#ifndef SHIM_KNOWN_H
#define SHIM_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/hash.h"
#include "shim/nh.h"

/*
 * Enters contents that a bundle_put_chunk has just stored. The hash must be of the very bytes that
 * were stored (nh_hash), not of the device's memory, which another stream may have changed since.
 * False: not entered, since the table would take more than a quarter of KERNELAB_HOST_MEMORY, or
 * more than is left of that. Any thread.
 */
bool known_add(struct nh hash, uint32_t bytes, struct hash128 key);

struct known_query {
	uint32_t bytes;
	struct hash128 *key; /* filled if contents of that hash and length are in the bundle */
};

/* One query a hash. Returns the bytes of those that were found. Any thread. */
uint64_t known_find(const struct nh *hashes, const struct known_query *queries, size_t count);

/* After fork. */
void known_forget(void);

#endif
