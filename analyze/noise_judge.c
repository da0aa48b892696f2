/* SPDX-License-Identifier: MIT */
/* Rules 5 to 9: from the figures of one pair and the measured noise to a bucket and a sentence. */
#include "analyze/noise_judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyze/thresholds.h"

#define Z_FREQUENCY 3.09 /* 99.9 %, one-sided */
#define PLACE_MIN   1024u

static bool is_narrow(const struct noise_case *c)
{
	return ldexp(1, -number_format(c->input->dtype)->mantissa_bits - 1) > c->input->u;
}

static bool is_narrow_type(const struct noise_case *c)
{
	return dtype_bytes(c->input->dtype) < 4;
}

/* Elements beyond the limit are those where A itself jumps, and so many are likely. */
static bool excused(const struct noise_case *c)
{
	double mean =
		threshold(THRESHOLD_JUMP_FACTOR) * c->input->u / c->input->h * c->noise->jumps;

	return c->pair->beyond == c->pair->excused &&
	       poisson_tail(mean, c->pair->beyond) > threshold(THRESHOLD_JUMP_CHANCE);
}

static struct step ask_residual(const struct noise_case *c)
{
	struct step s = step_of(c->pair->max_residual, c->noise->limit, NULL);

	if (s.state == STEP_FIRED && excused(c)) {
		s.state = STEP_PASSED;
		s.note = "beyond the limit only where A itself jumps on perturbed inputs";
	}
	return s;
}

static double flips_limit(const struct noise_case *c)
{
	double siblings = c->noise->sibling_flips, limit;

	if (!is_narrow(c))
		return fmax(threshold(THRESHOLD_FLIPS_COARSE), 2 * siblings);
	limit = fmax(threshold(THRESHOLD_FLIPS_FLOOR),
		     threshold(THRESHOLD_FLIPS_PREDICTED) * c->noise->predicted);
	return fmax(limit, fmin(20 * siblings, 3 * siblings + 0.02));
}

static struct step ask_flips(const struct noise_case *c)
{
	if (!is_narrow_type(c))
		return (struct step){.note = "16- and 8-bit outputs only"};
	return step_of(share_lower_bound(c->pooled_flips, c->pooled, Z_FREQUENCY), flips_limit(c),
		       NULL);
}

static double bias_part(double mean, double z, double limit)
{
	return fabs(z) > threshold(THRESHOLD_BIAS_Z) ? fabs(mean) / limit : 0;
}

static struct step ask_bias(const struct noise_case *c)
{
	const struct noise_pair *p = c->pair;
	double limit = threshold(is_narrow(c) ? THRESHOLD_BIAS : THRESHOLD_BIAS_WIDE);
	double slope = threshold(c->input->u > 0x1p-24 ? THRESHOLD_SLOPE_COARSE : THRESHOLD_SLOPE);
	double plain = bias_part(p->bias, p->bias_z, limit);
	double sign = bias_part(p->sign_bias, p->sign_z, limit);
	double part = bias_part(p->slope, p->slope_z, slope);
	double most = fmax(plain, fmax(sign, part));

	return step_of(most, 1,
		       most <= 0       ? NULL
		       : most == part  ? "d grows with a: a scale"
		       : most == plain ? "d has one sign"
				       : "d goes away from or towards zero");
}

static struct step ask_place(const struct noise_case *c)
{
	double limit = threshold(THRESHOLD_PLACE), flips = flips_limit(c);

	if (!is_narrow(c) || !is_narrow_type(c))
		return (struct step){.note = "outputs coarser than the way to them only"};
	if (c->noise->elements < PLACE_MIN)
		return (struct step){.note = "fewer than 1024 elements"};
	limit = fmax(limit, threshold(THRESHOLD_PLACE_SIBLINGS) * c->noise->sibling_place);
	if (flips > threshold(THRESHOLD_FLIPS_FLOOR))
		limit = fmax(limit, threshold(THRESHOLD_PLACE_FLIPS) * flips);
	return step_of(c->noise->place, limit, c->noise->place_what);
}

/* ---- sentences ---- */

static void say_residual(const struct noise_case *c, struct outcome *o)
{
	const struct metric_element *w = &c->pair->worst;

	snprintf(o->evidence, sizeof(o->evidence),
		 "%" PRIu64 " of %" PRIu64
		 " elements are beyond %.3g sigma of the measured noise on "
		 "%s, the worst by %.3g sigma: element %" PRIu64 ": A %.9g, B %.9g",
		 c->pair->beyond, c->noise->elements, c->noise->limit, c->inputs,
		 c->pair->max_residual, w->index, w->a, w->b);
}

static void say_flips(const struct noise_case *c, const struct step *s, struct outcome *o)
{
	snprintf(o->evidence, sizeof(o->evidence),
		 "%.3g %% of %" PRIu64
		 " %s elements that are not zero are another number; rounding "
		 "predicts %.2g %%, limit %.3g %%",
		 100 * (double)c->pooled_flips / (double)c->pooled, c->pooled,
		 dtype_name(c->input->dtype), 100 * c->noise->predicted, 100 * s->limit);
}

static void say_bias(const struct noise_case *c, const struct step *s, struct outcome *o)
{
	const struct noise_pair *p = c->pair;

	snprintf(o->evidence, sizeof(o->evidence),
		 "B differs systematically: %s, %.3g times the limit (mean %.3g, away from zero "
		 "%.3g, slope %.3g; z %.3g, %.3g, %.3g)",
		 s->note, s->figure, p->bias, p->sign_bias, p->slope, p->bias_z, p->sign_z,
		 p->slope_z);
}

static void say_place(const struct noise_case *c, const struct step *s, struct outcome *o)
{
	snprintf(o->evidence, sizeof(o->evidence),
		 "differences are concentrated: in one %s, from element %" PRIu64
		 " on, at least %.3g %% of the elements are another number; limit %.3g %%",
		 c->noise->place_what, c->noise->place_index, 100 * s->figure, 100 * s->limit);
}

static void say_small(const struct noise_case *c, const struct metrics *m, struct outcome *o)
{
	o->severity = c->pair->max_residual / c->noise->limit;
	snprintf(o->evidence, sizeof(o->evidence),
		 "%" PRIu64 " of %" PRIu64 " elements differ on %s, max |d| %.3g, at most %.2g of "
		 "%.3g sigma of the measured noise%s%s",
		 m->differing, m->elements, c->inputs, m->max_abs, c->pair->max_residual,
		 c->noise->limit,
		 c->pair->beyond ? ", but for elements at which A itself jumps" : "",
		 m->ftz ? "; some denormals are flushed on one side only" : "");
}

void noise_judge(const struct noise_case *c, const struct metrics *m, struct chain *chain,
		 struct outcome *o)
{
	static const enum rule order[] = {RULE_RESIDUAL, RULE_FLIPS, RULE_BIAS, RULE_PLACE};
	struct step *s = chain->steps;
	bool nondeterministic = o->nondeterministic;
	struct step later = {.note = "asked on the recorded inputs only"};

	s[RULE_RESIDUAL] = ask_residual(c);
	s[RULE_FLIPS] = c->plain ? ask_flips(c) : later;
	s[RULE_BIAS] = c->plain ? ask_bias(c) : later;
	s[RULE_PLACE] = c->plain ? ask_place(c) : later;
	s[RULE_OTHERWISE] = (struct step){.note = "an earlier rule fired"};
	s[RULE_MAGNITUDE] = s[RULE_FREQUENCY] =
		(struct step){.note = "rules 5 to 8 take its place"};
	*o = (struct outcome){.bucket = 3, .nondeterministic = nondeterministic};
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (s[order[i]].state != STEP_FIRED)
			continue;
		o->rule = order[i];
		o->severity = s[o->rule].figure / s[o->rule].limit;
		if (o->rule == RULE_RESIDUAL)
			say_residual(c, o);
		else if (o->rule == RULE_FLIPS)
			say_flips(c, &s[RULE_FLIPS], o);
		else if (o->rule == RULE_BIAS)
			say_bias(c, &s[RULE_BIAS], o);
		else
			say_place(c, &s[RULE_PLACE], o);
		return;
	}
	o->bucket = 2;
	o->rule = RULE_OTHERWISE;
	s[RULE_OTHERWISE] = (struct step){STEP_FIRED, c->pair->max_residual / c->noise->limit, 1,
					  "fires where no other does"};
	say_small(c, m, o);
}
