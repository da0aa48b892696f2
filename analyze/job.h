/* SPDX-License-Identifier: MIT */
/* One output of a case under judgement: its pairs of trials, and what surrounds them. */
#ifndef ANALYZE_JOB_H
#define ANALYZE_JOB_H

#include "analyze/case_trials.h"
#include "analyze/contents.h"
#include "analyze/noise.h"
#include "analyze/result.h"

/* A run of A, and its runs on the same inputs moved by a small step. */
struct vicinity {
	const struct record_trial *plain, *const *moved;
	uint32_t moved_count;
};

enum purpose {
	PURPOSE_PLAIN,
	PURPOSE_POISON,
	PURPOSE_MOVED,
	PURPOSE_SCALED,
	PURPOSE_CHAIN,
	PURPOSE_EXACT
};

/* A pair of trials to be compared. */
struct duo {
	const struct record_trial *a, *b;
	enum purpose purpose;
};

/* One output under judgement. */
struct job {
	const struct result *result;
	const struct result_config *config;
	const struct result_case *test_case;
	const struct trials *trials;
	size_t extent;
	struct contents_buffers *buffers;
	const struct record_content **a_all; /* room for all contents of A */
	size_t a_count;                      /* 0 where A is deterministic */
	struct duo *duos;
	size_t duo_count;
	struct noise_input input; /* moved_count 0: rules 5 to 8 have no ground */
	struct vicinity around;   /* of the pairs under comparison */
	struct noise noise;
	struct noise_pair *figures; /* a duo each */
};

/* Of an unstored trial contents without chunks: all such are equal, and none can be read. */
static inline const struct record_content *content_of(const struct record_trial *t, size_t extent)
{
	static const struct record_content unstored;

	return t->unstored ? &unstored : &t->contents.items[extent];
}

#endif
