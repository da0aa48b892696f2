/* SPDX-License-Identifier: MIT */
/*
 * A 256-bit hash of at most one chunk that a GPU computes at the speed of its memory (the kernel is
 * made by shim/gpu_hash.py), and a CPU too: which memory of the device is in the bundle already?
 *
 * It is NH with the Toeplitz construction, twice, with keys that are random in each process. NH of
 * 32-bit words m and keys k is the sum modulo 2^64 of (m[2i] + k[2i]) * (m[2i+1] + k[2i+1]), the
 * additions modulo 2^32. Four such sums, with the keys shifted by two words each time, are equal
 * for two different messages of equal length with probability at most 2^-128, over the choice of
 * the keys (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, CRYPTO '99, theorem on NH with the
 * Toeplitz construction).
 *   1. Column t of 256 is the message of the 16-byte vectors t, t + 256, t + 512, … of the data;
 *      its four sums use the keys of the vectors' rows. Vectors beyond the end do not count, the
 *      last one is filled up with zeros.
 *   2. The 256 * 4 sums are the message of 2048 words of the second one, whose sums are the hash.
 * Different data differ in a column; either its sums are equal (2^-128) or the second messages
 * differ and their sums are equal (2^-128). So two different contents of one length have the same
 * hash with probability at most 2^-127, whatever they are: they do not depend on the keys. With a
 * million chunks in the bundle (256 GiB) and a million looked up, a wrong answer has a probability
 * of at most 2^40 * 2^-127 = 2^-87.
 */
#ifndef SHIM_NH_H
#define SHIM_NH_H

#include <stdint.h>

#define NH_COLUMNS     256u
#define NH_ROWS        64u /* of a chunk: 64 * 256 * 16 bytes */
#define NH_BYTES_MAX   (NH_ROWS * NH_COLUMNS * 16u)
#define NH_KEYS_FIRST  264u  /* words 0 and 1 are not used, so that the others are aligned */
#define NH_KEYS_SECOND 2056u /* the last two are not used */

struct nh {
	uint64_t sums[4];
};

/* The keys as the kernel has them: first, then second. Random, the same in the whole process. */
struct nh_keys {
	uint32_t first[NH_KEYS_FIRST];
	uint32_t second[NH_KEYS_SECOND];
};
const struct nh_keys *nh_keys(void);

/* Of `bytes` (1 … NH_BYTES_MAX) at data, any alignment. Pure, any thread. */
struct nh nh_hash(const void *data, uint32_t bytes);

#endif
