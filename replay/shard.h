/* SPDX-License-Identifier: MIT */
/* Part i of n of a replay: which cases belong to it. */
#ifndef REPLAY_SHARD_H
#define REPLAY_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/error.h"

#define SHARD_MAX 65536u

/* index 0 … count - 1; count 0: the whole. */
struct shard {
	uint32_t index, count;
};

/*
 * "i/n" with 0 <= i < n; "slurm" (SLURM_ARRAY_TASK_ID counted from SLURM_ARRAY_TASK_MIN, and
 * SLURM_ARRAY_TASK_COUNT), "rank" (RANK and WORLD_SIZE), "whole"; NULL: as "slurm" where
 * SLURM_ARRAY_TASK_ID is set, else the whole. -EINVAL with err, also where an array has gaps.
 */
int shard_parse(struct shard *out, const char *text, struct error *err);

/* Deals cases out one by one, so that each shard gets small and large ones of every family. */
static inline bool shard_has(const struct shard *s, size_t number)
{
	return !s->count || number % s->count == s->index;
}

#endif
