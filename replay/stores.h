/* SPDX-License-Identifier: MIT */
/* Which parameters a PTX entry stores through: data flow from ld.param to st, atom, red. */
#ifndef REPLAY_STORES_H
#define REPLAY_STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/dtype.h"
#include "kernelab/error.h"

#define STORES_MAX_PARAMS 64

struct stores {
	uint64_t params; /* bit i: an address that depends on parameter i is stored through */
	bool unknown;    /* some store's address comes from memory, a call, or nowhere we follow */
	size_t statements; /* of the body */
	enum dtype dtype;  /* f32 or f64, where all its stores are of that type; else unknown */
};

/*
 * Reads one entry of PTX text. The answer is an upper bound: strides and offsets count like
 * pointers, and the caller keeps those parameters that are pointers. It chooses what to try; what
 * a launch writes is then measured (written.c). -ENOENT no such entry, -EINVAL unreadable, -E2BIG
 * more than STORES_MAX_PARAMS parameters.
 */
int stores_find(struct stores *out, const char *ptx, size_t size, const char *entry,
		struct error *err);

#endif
