/* SPDX-License-Identifier: MIT */
/* How coarsely a kernel rounds on the way to each output, and whether integers stay exact in it. */
#ifndef REPLAY_PRECISION_H
#define REPLAY_PRECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/error.h"
#include "replay/stores.h"

struct precision {
	/*
	 * Of the values stored through parameter i: the largest unit roundoff of any float
	 * operation on the backward slice of the stored registers, without the last cast; and of
	 * that last cast. 0: none on the way (a copy), or nothing is stored through it.
	 */
	double inner[STORES_MAX_PARAMS], cast[STORES_MAX_PARAMS];
	/*
	 * The greatest error that the PTX ISA documents of an approximate function (ex2.approx,
	 * div.full, tanh.approx, …) on that slice, relative to its result; 0 without any.
	 */
	double function[STORES_MAX_PARAMS];
	/* sin.approx or cos.approx are among them: their error is documented for |x| <= 2 pi. */
	bool periodic[STORES_MAX_PARAMS];
	/* Floats are added atomically through parameter i (red, atom; or a loop around atom.cas).
	 */
	bool added[STORES_MAX_PARAMS];
	/*
	 * Sums and products of small integers are exact: no approximate operation, division, root
	 * or transcendental, no narrow accumulator or cast before the last one, no float constant
	 * that is no small integer.
	 */
	bool exact;
	char inexact[96]; /* the operation that is in the way, for people */
};

/*
 * Reads one entry of PTX text. What is loaded from shared memory may be anything that was stored
 * there before it in the text or around a loop, so the answer is an upper bound; rounding to tf32
 * of a product's operands is not counted. Errors as stores_find.
 */
int precision_find(struct precision *out, const char *ptx, size_t size, const char *entry,
		   struct error *err);

#endif
