/* SPDX-License-Identifier: MIT */
/* Beyond the limit of shape classes: which launches still show a tail that no other one has shown.
 */
#ifndef SHIM_TAILS_H
#define SHIM_TAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/hash.h"

struct kernel;
struct params_view;

#define TAIL_BLOCKS_MAX 4u
#define TAILS_MAX       64u /* of each of the two kinds of key */

/* The block sizes of a kernel: what its tt.make_range ops span. Constexprs stand in no file. */
struct tail_blocks {
	uint32_t size[TAIL_BLOCKS_MAX]; /* descending, distinct; count 0: 16 is assumed */
	size_t count;
};

/* Looks through Triton IR for them. */
void tails_find_blocks(struct tail_blocks *blocks, const char *text, size_t size);

/* What a kernel's launches beyond its classes have shown so far. */
struct tails;

/*
 * The tail of a launch: of every integer scalar and block size the residue (exact), and what kind
 * of one it is (0, 1, block - 1, another multiple of 16, another even one, odd).
 */
struct tail_key {
	uint64_t residues, kinds; /* hashes, not 0 */
};
struct tail_key tails_key(const struct kernel *kernel, const struct params_view *params);

/*
 * True if residues or kinds have not been seen in *tails and there is room for them: then they are
 * now, and the launch is to be recorded. *tails is made at need. Caller holds table_lock.
 */
bool tails_new(_Atomic(struct tails *) *tails, struct tail_key key);

/* True if tails_new could only say no. Any thread, no lock; tails may be NULL. */
bool tails_known(const struct tails *tails, struct tail_key key);

/* True if no launch can show a new one any more: there is no room. Any thread, no lock. */
bool tails_full(const struct tails *tails);

#endif
