/* SPDX-License-Identifier: MIT */
/* Which of A and B is nearer to A's kernel in double precision, and whether what differs are ties.
 */
#include "analyze/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/decide.h"
#include "analyze/number.h"
#include "analyze/thresholds.h"
#include "lib/base.h"

#define NO_CHUNK   SIZE_MAX
#define LIKE_TIMES 4
#define LIKE_MORE  10    /* few are few by chance */
#define TIE_SHARE  0.125 /* of an ulp: where the way rounds more coarsely, everything is near */

uint32_t reference_nearer(const struct reference_figures *f)
{
	double a = f->rms_ulp[SIDE_A], b = f->rms_ulp[SIDE_B];

	if (a > REFERENCE_NEARER * b)
		return SIDE_B;
	return b > REFERENCE_NEARER * a ? SIDE_A : SIDE_COUNT;
}

static const struct record_reference *find(const struct bundle *b, const struct record_case *c,
					   size_t index)
{
	for (size_t i = 0; i < b->references.count; i++)
		if (b->references.items[i].test_case == c->number &&
		    b->references.items[i].extent == index)
			return &b->references.items[i];
	return NULL;
}

/* Elements ascend, lie in the extent, and have a value each. */
static bool is_sound(const struct record_reference *r, uint64_t elements)
{
	if (r->values.size != r->elements.count * sizeof(double))
		return false;
	for (size_t i = 0; i < r->elements.count; i++)
		if (r->elements.items[i] >= elements ||
		    (i && r->elements.items[i] <= r->elements.items[i - 1]))
			return false;
	return true;
}

static double spacing(enum dtype t, double x)
{
	const struct number_format *f = number_format(t);
	int exponent;

	if (!f->mantissa_bits)
		return 1.0;
	exponent = fabs(x) > 0 ? ilogb(x) : f->min_exponent;
	if (exponent < f->min_exponent)
		exponent = f->min_exponent;
	return ldexp(1.0, exponent - f->mantissa_bits);
}

/* One element of both sides against its value in double. */
static void add_element(struct reference_figures *f, const struct record_extent *e, enum dtype t,
			const unsigned char *a, const unsigned char *b, double r)
{
	double x[SIDE_COUNT], ulp = spacing(t, r);
	double u = e->roundoff > 0 ? e->roundoff : 0x1p-24; /* of an integer none is noted */
	double near = (e->function + 4 * u) * fabs(r);
	int64_t order[SIDE_COUNT];

	number_load(t, a, 1, &x[SIDE_A], &order[SIDE_A]);
	number_load(t, b, 1, &x[SIDE_B], &order[SIDE_B]);
	if (!isfinite(x[SIDE_A]) || !isfinite(x[SIDE_B]) || !isfinite(r))
		return;
	f->compared++;
	for (int s = 0; s < SIDE_COUNT; s++) {
		double d = fabs(x[s] - r), relative = fabs(r) > 0 ? d / fabs(r) : 0;

		f->rms_ulp[s] += d / ulp * (d / ulp);
		f->max_ulp[s] = fmax(f->max_ulp[s], d / ulp);
		f->rms_relative[s] += relative * relative;
	}
	if (llabs(order[SIDE_A] - order[SIDE_B]) != 1 || !(e->function > 0) ||
	    near > TIE_SHARE * ulp || fabs(r - (x[SIDE_A] + x[SIDE_B]) / 2) > near)
		return;
	f->ties++;
	f->up += x[SIDE_B] > x[SIDE_A];
	f->away += fabs(x[SIDE_B]) > fabs(x[SIDE_A]);
}

struct window {
	unsigned char *data[SIDE_COUNT];
	size_t chunk;
	uint64_t address;
	uint32_t size;
};

static int move_window(struct window *w, const struct bundle *bundle, const struct record_extent *e,
		       const struct record_content *const sides[SIDE_COUNT], uint64_t address,
		       struct error *err)
{
	size_t chunk = (size_t)(address / CHUNK_BYTES - e->address / CHUNK_BYTES);
	int rc = 0;

	if (chunk == w->chunk)
		return 0;
	chunk_range(e->address, e->size, chunk, &w->address, &w->size);
	for (int s = 0; !rc && s < SIDE_COUNT; s++)
		rc = bundle_read_chunk(bundle, sides[s]->chunks.items[chunk], w->data[s], w->size,
				       err);
	w->chunk = rc ? NO_CHUNK : chunk;
	return rc;
}

static int measure(const struct bundle *bundle, const struct record_extent *e, enum dtype t,
		   const struct record_content *const sides[SIDE_COUNT],
		   struct reference_figures *out, struct error *err)
{
	const struct record_reference *r = out->record;
	uint64_t bytes = dtype_bytes(t);
	struct window w = {.data = {malloc(CHUNK_BYTES), malloc(CHUNK_BYTES)}, .chunk = NO_CHUNK};
	int rc = 0;

	if (!w.data[SIDE_A] || !w.data[SIDE_B])
		rc = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	for (size_t i = 0; !rc && i < r->elements.count; i++) {
		uint64_t address = e->address + r->elements.items[i] * bytes;
		double value;

		rc = move_window(&w, bundle, e, sides, address, err);
		if (rc)
			break;
		memcpy(&value, (const unsigned char *)r->values.data + i * sizeof(value),
		       sizeof(value));
		add_element(out, e, t, w.data[SIDE_A] + (address - w.address),
			    w.data[SIDE_B] + (address - w.address), value);
	}
	free(w.data[SIDE_A]);
	free(w.data[SIDE_B]);
	for (int s = 0; !rc && out->compared && s < SIDE_COUNT; s++) {
		out->rms_ulp[s] = sqrt(out->rms_ulp[s] / (double)out->compared);
		out->rms_relative[s] = sqrt(out->rms_relative[s] / (double)out->compared);
	}
	return rc;
}

int reference_measure(const struct bundle *bundle, const struct record_case *c, size_t index,
		      enum dtype t, const struct record_content *a, const struct record_content *b,
		      struct reference_figures *out, struct error *err)
{
	const struct record_extent *e = &c->extents.items[index];
	const struct record_content *const sides[SIDE_COUNT] = {a, b};

	*out = (struct reference_figures){.record = find(bundle, c, index),
					  .integers = !dtype_is_float(t)};
	if (!out->record)
		return 0;
	if (!is_sound(out->record, e->size / dtype_bytes(t)))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "the reference of extent %zu of case %" PRIu32 " is damaged",
				 index, c->number);
	/* An extent that is compared as another type than it was read as has none. */
	if (t != (enum dtype)e->dtype || !out->record->elements.count)
		return 0;
	return measure(bundle, e, t, sides, out, err);
}

static bool fires_otherwise(const struct chain *chain, enum rule but)
{
	for (unsigned r = 0; r < RULE_OTHERWISE; r++)
		if (r != (unsigned)but && chain->steps[r].state == STEP_FIRED)
			return true;
	return false;
}

/* So many in one direction alone are no accident (JUMP_CHANCE). */
static bool goes_one_way(const struct reference_figures *f)
{
	double chance = 2 * pow(0.5, (double)f->ties);
	bool one = !f->up || f->up == f->ties || !f->away || f->away == f->ties;

	return one && chance <= threshold(THRESHOLD_JUMP_CHANCE);
}

/* The pair that decided may have other inputs, of which there is no reference. */
static bool is_alike(const struct reference_figures *f, const struct metrics *m)
{
	bool by_one = f->integers ? m->max_abs <= 1 : m->max_ulp <= 1;

	return by_one && m->differing <= LIKE_TIMES * f->record->differing + LIKE_MORE;
}

void reference_settle(const struct reference_figures *f, const struct record_extent *e,
		      const struct metrics *m, struct chain *chain, struct outcome *o)
{
	struct step *s;

	if (!f->record || o->bucket != 3 || o->unproven ||
	    (o->rule != RULE_FLIPS && o->rule != RULE_INTEGER) || fires_otherwise(chain, o->rule))
		return;
	s = &chain->steps[o->rule];
	if (!f->ties || f->ties != f->compared || f->compared != f->record->differing ||
	    !is_alike(f, m))
		return;
	if (goes_one_way(f)) {
		s->note = "ties by the reference, and B goes the same way in all of them";
		return;
	}
	s->state = STEP_PASSED;
	s->note = "ties, by the reference in double precision";
	chain->steps[RULE_OTHERWISE] = (struct step){STEP_FIRED, (double)f->ties, (double)f->ties,
						     "fires where no other does"};
	*o = (struct outcome){.bucket = 2,
			      .rule = RULE_OTHERWISE,
			      .tag = "ties",
			      .nondeterministic = o->nondeterministic,
			      .severity = (double)f->ties};
	snprintf(o->evidence, sizeof(o->evidence),
		 "all %" PRIu64 " elements that differ are ties: the reference in double precision "
		 "lies between two neighbours, in their middle up to the documented error of the "
		 "approximate functions on the way (%.3g)",
		 f->ties, e->function);
}

char *reference_text(const struct reference_figures *f, char *out, size_t size)
{
	static const char *const nearer[] = {"A is nearer", "B is nearer", "as near"};
	const struct record_reference *r = f->record;
	int n;

	*out = 0;
	if (!r)
		return out;
	if (!f->compared) {
		snprintf(out, size, "none: %s",
			 r->reason && *r->reason ? r->reason
						 : "no differing element that was reached has one");
		return out;
	}
	n = snprintf(out, size,
		     "%s: rms error A %.3g, B %.3g %s, greatest %.3g and %.3g; relative %.2g and "
		     "%.2g; of %" PRIu64 " elements that differ %" PRIu64 " compared, %" PRIu64
		     " ties",
		     nearer[reference_nearer(f)], f->rms_ulp[SIDE_A], f->rms_ulp[SIDE_B],
		     f->integers ? "steps" : "ulp", f->max_ulp[SIDE_A], f->max_ulp[SIDE_B],
		     f->rms_relative[SIDE_A], f->rms_relative[SIDE_B], r->differing, f->compared,
		     f->ties);
	if (r->lost_places && n > 0 && (size_t)n < size)
		snprintf(out + n, size - (size_t)n,
			 "; %" PRIu32 " instructions without a value in double, the first %s",
			 r->lost_places, r->lost ? r->lost : "?");
	return out;
}
