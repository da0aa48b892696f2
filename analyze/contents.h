/* SPDX-License-Identifier: MIT */
/* Outputs as stored in a result: compared chunk by chunk, in memory that does not depend on their
 * size. */
#ifndef ANALYZE_CONTENTS_H
#define ANALYZE_CONTENTS_H

#include "analyze/metrics.h"
#include "kernelab/bundle.h"
#include "kernelab/error.h"

/* Working memory; one a thread. NULL without memory. */
struct contents_buffers;
struct contents_buffers *contents_buffers_new(void);
void contents_buffers_free(struct contents_buffers *b);

/* True where two trials left the same bytes in an extent: only keys are looked at. */
bool contents_equal(const struct record_content *x, const struct record_content *y);

/*
 * Measures b against a, both contents of `extent`, taken as elements of type t. a_all has a_count
 * contents of A: where they differ among themselves (A nondeterministic), they are the hull that
 * metrics_add describes; a_count may be 0. Equal chunks are not compared, only A's is looked at.
 * The extent must begin and end on whole elements of t (contents_dtype says for which type it
 * does). 0, or -errno with err where a chunk is missing or damaged.
 */
int contents_compare(const struct bundle *bundle, const struct record_extent *extent, enum dtype t,
		     const struct record_content *a, const struct record_content *b,
		     const struct record_content *const *a_all, size_t a_count,
		     struct contents_buffers *buffers, struct metrics *m, struct error *err);

/*
 * Type to compare an extent as: its own, or UNKNOWN (bytes) where it begins or ends within an
 * element or has a type outside the table; *note then gets a static sentence, else NULL.
 */
enum dtype contents_dtype(const struct record_extent *extent, const char **note);

#endif
