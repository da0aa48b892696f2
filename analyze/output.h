/* SPDX-License-Identifier: MIT */
/* The decision procedure on one output of a case. */
#ifndef ANALYZE_OUTPUT_H
#define ANALYZE_OUTPUT_H

#include "analyze/decide.h"
#include "analyze/job.h"

/*
 * Compares j's pairs of trials on its extent, and keeps the worst in *v (extent, dtype, note and
 * the steps of the launch as a whole set by the caller). 0, or -errno with err: contents are
 * missing or damaged, or no memory.
 */
int output_decide(struct job *j, struct output_verdict *v, struct error *err);

#endif
