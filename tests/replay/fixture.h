/* SPDX-License-Identifier: MIT */
/* Captures made by hand: one small kernel in variants, its memory and what it should give. */
#ifndef TESTS_REPLAY_FIXTURE_H
#define TESTS_REPLAY_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelab/bundle.h"

#define FIXTURE_BASE     0x504000000ull /* a recorded allocation of 2 MiB */
#define FIXTURE_BYTES    (2u << 20)
#define FIXTURE_X        (FIXTURE_BASE + 0x1000)
#define FIXTURE_Y        (FIXTURE_BASE + 0x9000)
#define FIXTURE_ELEMENTS 1000u

/* How a variant of k(X, Y, n), y[i] = 2 x[i], goes wrong; BODY_SCALE does not. */
enum body {
	BODY_SCALE,
	BODY_OTHER,  /* y = 3 x */
	BODY_SKIP,   /* leaves the last element out */
	BODY_STRAY,  /* writes 16 KiB further on as well */
	BODY_FAULT,  /* stores to address 64 */
	BODY_LOOP,   /* never ends */
	BODY_READS,  /* y = 2 x + y */
	BODY_INDEX,  /* y = 2 x + x[y], y read as an index */
	BODY_NOISE,  /* y[5] counts the launches of the loaded module */
	BODY_PAST,   /* writes a zero behind the last element as well */
	BODY_OVER,   /* y[n-1] = 2 x[n-1] + min(x[n], 1e30), if x[n] > 1e30 */
	BODY_TILE,   /* goes through shared memory, and over a barrier */
	BODY_RACE,   /* without the barrier */
	BODY_RARE,   /* y[5] = 3 x[5] in each tenth launch of the loaded module */
	BODY_EDGE,   /* leaves the last element out where n is a multiple of 128 */
	BODY_GREAT,  /* y = 3 x where x > 20000, which is recorded nowhere */
	BODY_THIRD,  /* y = 2 x / 3 */
	BODY_COARSE, /* y = 2 x * 0.33333 */
	BODY_COUNT
};

/* PTX text of the variant. Static storage. */
const char *body_ptx(enum body b);

struct fixture {
	const char *path;
	enum body recorded; /* which kernel */
	bool no_data;       /* geometry only */
	bool stale;         /* Y holds the right result already */
	bool rare;          /* the recorded launch was a tenth one, of BODY_RARE */
	bool wrong_after;   /* the recorded result is one that the kernel does not give */
	bool no_after;
	bool no_metadata;    /* no .json and .source */
	bool failed;         /* the launch failed when it was recorded */
	bool other_arch;     /* PTX for a device that does not exist yet */
	uint64_t base;       /* 0: FIXTURE_BASE */
	const char *options; /* replaces "num_warps": 4 in the metadata */
	uint32_t launches;   /* 0: one */
	uint32_t block; /* indices that the metadata compares with n at once; 0: n is no bound */
	bool measured;  /* what is read and written is recorded, and no more than that */
	uint64_t y;     /* address of Y; 0: FIXTURE_Y */
	uint64_t size;  /* of the region; 0: FIXTURE_BYTES */
	uint32_t divisible; /* specialised for such n; 0: not */
};

/* Writes the capture. Ends the program where that fails. */
void fixture_write(const struct fixture *f);

#endif
