/* SPDX-License-Identifier: MIT */
/* Rules 5 to 9: from the figures of one pair and the measured noise to a bucket and a sentence. */
#include "analyze/noise_judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/thresholds.h"

#define Z_FREQUENCY 3.09 /* 99.9 %, one-sided */
#define PLACE_MIN   1024u
#define SHIFT_MIN   1024u
#define CLUSTER_MIN 3u

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
		       c->input->periodic && c->input->function > c->input->u
			       ? "the limit takes sin.approx or cos.approx of |x| <= 2 pi"
			       : NULL);
}

static double bias_part(double mean, double z, double limit)
{
	return fabs(z) > threshold(THRESHOLD_BIAS_Z) ? fabs(mean) / limit : 0;
}

static double update_limit(const struct noise_case *c)
{
	double rounding = c->pair->update_share > 0 ? 4 * c->input->u / c->pair->update_share : 0;

	return fmax(threshold(THRESHOLD_SLOPE_UPDATE), rounding);
}

static struct step ask_bias(const struct noise_case *c)
{
	const struct noise_pair *p = c->pair;
	double limit = threshold(is_narrow(c) ? THRESHOLD_BIAS : THRESHOLD_BIAS_WIDE);
	double slope = threshold(c->input->u > 0x1p-24 ? THRESHOLD_SLOPE_COARSE : THRESHOLD_SLOPE);
	double plain = bias_part(p->bias, p->bias_z, limit);
	double sign = bias_part(p->sign_bias, p->sign_z, limit);
	double part = bias_part(p->slope, p->slope_z, slope);
	double update = bias_part(p->update_bias, p->update_z, limit);
	double growth = bias_part(p->update_slope, p->update_slope_z, update_limit(c));
	double most = fmax(fmax(plain, fmax(sign, part)), fmax(update, growth));

	return step_of(most, 1,
		       most <= 0        ? NULL
		       : most == growth ? "d grows with the update in place: its scale"
		       : most == update ? "d goes with or against the update in place"
		       : most == part   ? "d grows with a: a scale"
		       : most == plain  ? "d has one sign"
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

static struct step ask_shift(const struct noise_case *c)
{
	const struct distribution_figures *d = &c->noise->distribution;

	if (d->elements < SHIFT_MIN)
		return (struct step){.note = "fewer than 1024 finite elements"};
	return step_of(d->distance, threshold(THRESHOLD_SHIFT), NULL);
}

static struct step ask_cluster(const struct noise_case *c)
{
	const struct noise *n = c->noise;
	double spread = sqrt(n->cluster * n->cluster + n->floor * n->floor);

	if (n->members < CLUSTER_MIN)
		return (struct step){.note = "fewer than three other results of A and B on these "
					     "inputs"};
	return step_of(spread > 0     ? n->apart / spread
		       : n->apart > 0 ? INFINITY
				      : 0,
		       threshold(THRESHOLD_CLUSTER), NULL);
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

	int length;

	length = snprintf(
		o->evidence, sizeof(o->evidence),
		"B differs systematically: %s, %.3g times the limit (mean %.3g, away from zero "
		"%.3g, slope %.3g; z %.3g, %.3g, %.3g)",
		s->note, s->figure, p->bias, p->sign_bias, p->slope, p->bias_z, p->sign_z,
		p->slope_z);
	if (p->update_share > 0 && (size_t)length < sizeof(o->evidence))
		snprintf(o->evidence + length, sizeof(o->evidence) - (size_t)length,
			 "; along the update %.3g, slope on it %.3g, z %.3g, %.3g", p->update_bias,
			 p->update_slope, p->update_z, p->update_slope_z);
}

static void say_place(const struct noise_case *c, const struct step *s, struct outcome *o)
{
	snprintf(o->evidence, sizeof(o->evidence),
		 "differences are concentrated: in one %s, from element %" PRIu64
		 " on, at least %.3g %% of the elements are another number; limit %.3g %%",
		 c->noise->place_what, c->noise->place_index, 100 * s->figure, 100 * s->limit);
}

static void say_shift(const struct noise_case *c, struct outcome *o)
{
	const struct distribution_figures *d = &c->noise->distribution;

	snprintf(o->evidence, sizeof(o->evidence),
		 "the values of B are distributed otherwise: Kolmogorov's distance %.3g near %.4g, "
		 "limit %.3g; medians A %.4g, B %.4g, 1 %% to 99 %% A %.4g to %.4g, B %.4g to %.4g",
		 d->distance, d->at, threshold(THRESHOLD_SHIFT), d->quantiles[0][2],
		 d->quantiles[1][2], d->quantiles[0][0], d->quantiles[0][4], d->quantiles[1][0],
		 d->quantiles[1][4]);
}

static void say_cluster(const struct noise_case *c, struct outcome *o)
{
	const struct noise *n = c->noise;

	snprintf(o->evidence, sizeof(o->evidence),
		 "B of this config lies outside the %zu other results of A and B on these inputs: "
		 "rms %.3g from their mean, they at most %.3g from each other's, noise floor %.3g",
		 n->members, n->apart, n->cluster, n->floor);
}

static void say(const struct noise_case *c, const struct step *s, struct outcome *o)
{
	switch (o->rule) {
	case RULE_RESIDUAL:
		say_residual(c, o);
		break;
	case RULE_FLIPS:
		say_flips(c, s, o);
		break;
	case RULE_BIAS:
		say_bias(c, s, o);
		break;
	case RULE_SHIFT:
		say_shift(c, o);
		break;
	case RULE_PLACE:
		say_place(c, s, o);
		break;
	default:
		say_cluster(c, o);
	}
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

/* What the floor rests on beside A's perturbed runs and its own configs. */
static void say_synthetic(const struct noise_input *in, struct outcome *o)
{
	size_t used = strlen(o->evidence);

	if (in->synthetic)
		snprintf(o->evidence + used, sizeof(o->evidence) - used,
			 "; %zu synthetic sibling%s of A in the noise", in->synthetic,
			 in->synthetic == 1 ? "" : "s");
	used = strlen(o->evidence);
	if (in->left_out)
		snprintf(o->evidence + used, sizeof(o->evidence) - used,
			 "; %zu synthetic sibling%s left out, suspicious beside A (%s)",
			 in->left_out, in->left_out == 1 ? "" : "s", in->left_out_why);
}

bool noise_judges(const struct metrics *m)
{
	return dtype_is_float(m->dtype) && !m->class_changes &&
	       m->payload + m->zero_sign < m->differing;
}

static void conclude(const struct noise_case *c, const struct metrics *m, struct chain *chain,
		     struct outcome *o)
{
	static const enum rule order[] = {RULE_RESIDUAL, RULE_FLIPS, RULE_BIAS,
					  RULE_SHIFT,    RULE_PLACE, RULE_CLUSTER};
	struct step *s = chain->steps;

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (s[order[i]].state != STEP_FIRED)
			continue;
		o->rule = order[i];
		o->severity = s[o->rule].figure / s[o->rule].limit;
		say(c, &s[o->rule], o);
		return;
	}
	o->bucket = 2;
	o->rule = RULE_OTHERWISE;
	s[RULE_OTHERWISE] = (struct step){STEP_FIRED, c->pair->max_residual / c->noise->limit, 1,
					  "fires where no other does"};
	say_small(c, m, o);
}

void noise_judge(const struct noise_case *c, const struct metrics *m, struct chain *chain,
		 struct outcome *o)
{
	struct step *s = chain->steps;
	bool nondeterministic = o->nondeterministic;
	struct step later = {.note = "asked on the recorded inputs only"};

	s[RULE_RESIDUAL] = ask_residual(c);
	s[RULE_FLIPS] = c->plain ? ask_flips(c) : later;
	s[RULE_BIAS] = c->plain ? ask_bias(c) : later;
	s[RULE_SHIFT] = c->plain ? ask_shift(c) : later;
	s[RULE_PLACE] = c->plain ? ask_place(c) : later;
	s[RULE_CLUSTER] = c->plain ? ask_cluster(c) : later;
	s[RULE_GROWTH] = (struct step){.note = "asked of families in bucket 2 with three sizes"};
	s[RULE_OTHERWISE] = (struct step){.note = "an earlier rule fired"};
	s[RULE_MAGNITUDE] = s[RULE_FREQUENCY] =
		(struct step){.note = "rules 5 to 8 take its place"};
	*o = (struct outcome){.bucket = 3, .nondeterministic = nondeterministic};
	conclude(c, m, chain, o);
	say_synthetic(c->input, o);
}
