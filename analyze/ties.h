/* SPDX-License-Identifier: MIT */
/* Integer outputs that follow from floats: indices of near ties, steps of a quantiser. */
#ifndef ANALYZE_TIES_H
#define ANALYZE_TIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/decide.h"
#include "kernelab/bundle.h"
#include "kernelab/dtype.h"
#include "kernelab/error.h"

struct ties_input {
	const struct bundle *bundle;
	const struct record_extent *extent;
	enum dtype dtype; /* an integer type */
	double h;         /* relative step of the perturbed inputs */
	const struct record_content *plain, *const *moved; /* A, and perturbed runs of A */
	size_t moved_count;
};

struct ties {
	uint64_t differing; /* elements of the pair */
	uint64_t by_one;    /* of those, by one step: a quantiser's neighbour, a flipped bit */
	uint64_t followed;  /* of those, where some perturbed run of A moves too */
	uint64_t neither;   /* of those: more than a step, where A does not move */
	uint64_t distance;  /* greatest, of a differing element */
	uint64_t reach;     /* greatest that a perturbed run of A moves; at least 1 */
	double moved; /* elements at which a perturbed run of A differs from A; mean of the runs */
	double expected; /* of a build that rounds otherwise: moved * u / h, times a margin */
	bool excused;    /* few are `neither`, none is far away, so many are likely */
};

/*
 * Is the pair (a, b) one that rounding explains? Of the differing elements at least half
 * (threshold ties_unmoved) must be a step away, or lie where A itself moves on inputs a step h
 * apart (it has few perturbed runs, so that not every near tie shows); none may be further away
 * than A moves anywhere; and their number must be likely of a Poisson variable with mean 20 (u/h)
 * times the elements that so move in a run, u = min(h, 2^-24). Exact ties move together and stay
 * ties: another choice among them is no rounding. 0, or -errno with err.
 */
int ties_measure(const struct ties_input *in, const struct record_content *a,
		 const struct record_content *b, struct ties *out, struct error *err);

/*
 * Sets the step of rule int and, where it excuses, replaces the outcome of metrics_judge by
 * bucket 2. m is of the same pair. Pure.
 */
void ties_judge(const struct ties *t, const struct metrics *m, struct chain *chain,
		struct outcome *o);

#endif
