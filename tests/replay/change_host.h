/* SPDX-License-Identifier: MIT */
/* Changed inputs on the host, element by element: what the device's are compared with. */
#ifndef TESTS_REPLAY_CHANGE_HOST_H
#define TESTS_REPLAY_CHANGE_HOST_H

#include "replay/change.h"

/*
 * Changes the elements of a chunk at `address` (CHUNK_BYTES, its contents in data) in place. True
 * if anything lies in the chunk that is to be changed.
 */
bool change_chunk(const struct change *c, size_t chunk, uint64_t address, uint8_t *data);

#endif
