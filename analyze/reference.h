/* SPDX-License-Identifier: MIT */
/* Which of A and B is nearer to A's kernel in double precision, and whether what differs are ties.
 */
#ifndef ANALYZE_REFERENCE_H
#define ANALYZE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "kernelab/dtype.h"
#include "kernelab/error.h"

struct chain;
struct metrics;
struct outcome;

struct reference_figures {
	const struct record_reference *record; /* NULL: nobody asked, or nothing differs */
	uint64_t compared;                     /* elements with a value, finite on both sides */
	/* |a - r| and |b - r|: in ulps of the output's type at r (steps of an integer), and
	 * relative to r */
	double rms_ulp[SIDE_COUNT], max_ulp[SIDE_COUNT], rms_relative[SIDE_COUNT];
	/*
	 * Of those: a and b are neighbours, and r lies so near to their middle that the documented
	 * error of the approximate functions on the way may put it on either side.
	 */
	uint64_t ties;
	uint64_t up, away; /* ties where b > a; where |b| > |a| */
	bool integers;
};

/* Sides, or SIDE_COUNT: as near, within a factor of REFERENCE_NEARER of the rms errors. */
#define REFERENCE_NEARER 1.25
uint32_t reference_nearer(const struct reference_figures *f);

/*
 * Looks for the reference of extent `index` of a case and measures both sides' contents against it.
 * 0 (out->record NULL where there is none), or -errno with err: a chunk or the record is damaged.
 */
int reference_measure(const struct bundle *bundle, const struct record_case *c, size_t index,
		      enum dtype t, const struct record_content *a, const struct record_content *b,
		      struct reference_figures *out, struct error *err);

/*
 * Where rule 6 or int put the output into 3, no other rule fired, and all that differs on the
 * recorded inputs are ties in both directions: bucket 2. A rounding that is wrong on ties goes one
 * way, and is left. m is of the pair that decided: on other inputs too elements may differ by one
 * step only, and about as many. Pure.
 */
void reference_settle(const struct reference_figures *f, const struct record_extent *e,
		      const struct metrics *m, struct chain *chain, struct outcome *o);

/* "B is nearer: rms error …", or why there is no reference; out is cut at size. "" without one. */
char *reference_text(const struct reference_figures *f, char *out, size_t size);

#endif
