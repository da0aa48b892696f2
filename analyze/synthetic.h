/* SPDX-License-Identifier: MIT */
/* Synthetic siblings: A with other num_warps, as far as its results are A's but for rounding. */
#ifndef ANALYZE_SYNTHETIC_H
#define ANALYZE_SYNTHETIC_H

#include "analyze/job.h"
#include "kernelab/error.h"

/*
 * Adds the case's TRIAL_SIBLING results to the input's others where A has no config of its own
 * beside it on the recorded inputs. Each is judged beside A first, as a B without siblings would
 * be: one that would land in bucket 3, by a fault of the compiler with those num_warps, is left out
 * and counted. Call before noise_measure of the recorded inputs; elsewhere it does nothing. 0, or
 * -errno with err.
 */
int synthetic_admit(struct job *j, struct error *err);

#endif
