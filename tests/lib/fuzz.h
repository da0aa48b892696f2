/* SPDX-License-Identifier: MIT */
/* The fuzz target and the first byte of its inputs, which says what the rest is. */
#ifndef TESTS_LIB_FUZZ_H
#define TESTS_LIB_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_FILE    0u /* a file */
#define FUZZ_FORGED  1u /* flags, then records that get right checksums */
#define FUZZ_PAYLOAD 2u /* a record type and its MessagePack */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
