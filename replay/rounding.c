/* SPDX-License-Identifier: MIT */
/* What the PTX tells of how coarsely an output is rounded, noted on its extent. */
#include "replay/rounding.h"

#include <math.h>

#include "kernelab/dtype.h"
#include "replay/change.h"
#include "replay/precision.h"

/* The largest roundoff on the way to an output, by one side's PTX; the last cast counts where the
 * output itself is finer. */
static double side_roundoff(const struct precision *p, const struct record_extent *x)
{
	size_t first = x->arg ? x->arg - 1 : 0;
	size_t end = x->arg ? x->arg : STORES_MAX_PARAMS;
	double u = 0;

	for (size_t i = first; i < end; i++) {
		u = fmax(u, p->inner[i]);
		if (p->cast[i] > dtype_roundoff(x->dtype))
			u = fmax(u, p->cast[i]);
	}
	return u;
}

/* The greatest error that is documented of an approximate function on the way to an output. */
static void set_function(const struct precision *p, struct record_extent *x)
{
	size_t first = x->arg ? x->arg - 1 : 0;
	size_t end = x->arg ? x->arg : STORES_MAX_PARAMS;

	for (size_t i = first; i < end; i++) {
		x->function = fmax(x->function, p->function[i]);
		x->flags |= p->periodic[i] ? EXTENT_PERIODIC : 0;
	}
}

/* A's: a B that computes in a coarser type than A must not widen its own allowance by that. B's
 * where A has no PTX that tells. */
static void set_roundoff(const struct replay_case *c, struct record_extent *x)
{
	bool a = c->precision[SIDE_A];
	const struct precision *p = c->precision[a ? SIDE_A : SIDE_B];
	double u;

	if (!p || (x->arg && x->arg > STORES_MAX_PARAMS))
		return;
	set_function(p, x); /* of a quantiser's integers too */
	if (!dtype_roundoff(x->dtype))
		return;
	u = side_roundoff(p, x);
	x->serial = c->serial;
	x->roundoff = u > 0 ? u : x->dtype == DTYPE_F64 ? 0x1p-53 : 0x1p-24;
	if (u > 0)
		x->roundoff_how = a ? "PTX of A" : "PTX of B";
	else
		x->roundoff_how =
			a ? "PTX of A: copied, not computed" : "PTX of B: copied, not computed";
}

static void set_added(const struct replay_case *c, struct record_extent *x)
{
	static const uint32_t flags[SIDE_COUNT] = {EXTENT_ADDED_A, EXTENT_ADDED_B};

	for (int s = 0; s < SIDE_COUNT; s++)
		if (c->precision[s] && x->arg && x->arg <= STORES_MAX_PARAMS &&
		    dtype_is_float((enum dtype)x->dtype) && c->precision[s]->added[x->arg - 1])
			x->flags |= flags[s];
}

void rounding_note(const struct replay_case *c, struct record_extent *x)
{
	set_roundoff(c, x);
	set_added(c, x);
}
