/* SPDX-License-Identifier: MIT */
/* Rules 1, 3, int and 9: from an output's figures to steps, a bucket and a sentence. */
#include "analyze/decide.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/thresholds.h"

static int badness(const struct outcome *o)
{
	return o->bucket * 2 - (o->bucket == 3 && o->unproven);
}

int outcome_compare(const struct outcome *x, const struct outcome *y)
{
	int order = badness(x) - badness(y);

	if (order)
		return order;
	if (x->rule != y->rule) /* in bucket 3 the earlier rule is the stronger finding */
		return x->bucket == 3 ? (int)y->rule - (int)x->rule : (int)x->rule - (int)y->rule;
	return (x->severity > y->severity) - (x->severity < y->severity);
}

/* "1.5 (0x3fc00000)" */
static void value_text(char *out, size_t size, enum dtype t, double value, uint64_t bits)
{
	if (number_class(value) != NUMBER_FINITE)
		snprintf(out, size, "%s (0x%0*" PRIx64 ")", number_class_name(number_class(value)),
			 (int)dtype_bytes(t) * 2, bits);
	else if (dtype_is_float(t))
		snprintf(out, size, "%.9g (0x%0*" PRIx64 ")", value, (int)dtype_bytes(t) * 2, bits);
	else if (t == DTYPE_I64)
		snprintf(out, size, "%" PRId64, (int64_t)bits);
	else
		snprintf(out, size, "%.0f", value);
}

static void element_text(char *out, size_t size, enum dtype t, const struct metric_element *e)
{
	char a[48], b[48];

	value_text(a, sizeof(a), t, e->a, e->bits_a);
	value_text(b, sizeof(b), t, e->b, e->bits_b);
	snprintf(out, size, "element %" PRIu64 ": A %s, B %s", e->index, a, b);
}

/* The most frequent class change, and the number of others. */
static void judge_classes(const struct metrics *m, struct outcome *o)
{
	unsigned wa = 0, wb = 0;
	char at[128];

	for (unsigned a = 0; a < NUMBER_CLASSES; a++)
		for (unsigned b = 0; b < NUMBER_CLASSES; b++)
			if (m->classes[a][b] > m->classes[wa][wb])
				wa = a, wb = b;
	element_text(at, sizeof(at), m->dtype, &m->first_change);
	o->bucket = 3;
	o->rule = RULE_CLASSES;
	o->severity = (double)m->class_changes / (double)m->elements;
	if (m->class_changes == m->classes[wa][wb])
		snprintf(o->evidence, sizeof(o->evidence),
			 "%" PRIu64 " of %" PRIu64 " positions are %s in B and %s in A; first %s",
			 m->class_changes, m->elements, number_class_name(wb),
			 number_class_name(wa), at);
	else
		snprintf(o->evidence, sizeof(o->evidence),
			 "%" PRIu64 " of %" PRIu64 " positions are of another class, %" PRIu64
			 " of them %s in B and %s in A; first %s",
			 m->class_changes, m->elements, m->classes[wa][wb], number_class_name(wb),
			 number_class_name(wa), at);
}

static void judge_integers(const struct metrics *m, struct outcome *o)
{
	char at[128];

	element_text(at, sizeof(at), m->dtype, &m->first_difference);
	o->bucket = 3;
	o->rule = RULE_INTEGER;
	o->severity = (double)m->differing / (double)m->elements;
	snprintf(o->evidence, sizeof(o->evidence),
		 "integer output differs: %" PRIu64 " of %" PRIu64 " elements; first %s",
		 m->differing, m->elements, at);
}

static void judge_bytes(const struct metrics *m, const char *note, struct outcome *o)
{
	o->bucket = 3;
	o->unproven = true;
	o->rule = RULE_UNPROVEN;
	o->tag = "unknown type differs";
	o->severity = (double)m->differing / (double)m->elements;
	snprintf(o->evidence, sizeof(o->evidence),
		 "%" PRIu64 " of %" PRIu64 " bytes differ from byte %" PRIu64
		 " on, and what they mean is not known (%s)",
		 m->differing, m->elements, m->first_difference.index,
		 note ? note : "unknown element type");
}

static void judge_magnitude(const struct metrics *m, struct outcome *o)
{
	char at[128];

	element_text(at, sizeof(at), m->dtype, &m->top[0]);
	o->bucket = 3;
	o->provisional = true;
	o->rule = RULE_MAGNITUDE;
	o->severity = m->max_ratio;
	snprintf(o->evidence, sizeof(o->evidence),
		 "%" PRIu64 " of %" PRIu64
		 " elements are beyond the provisional allowance, the worst %.3g times; %s",
		 m->beyond, m->elements, m->max_ratio, at);
}

static double flip_share(const struct metrics *m)
{
	return (double)m->steps / (double)(m->elements - m->zero_both);
}

static void judge_frequency(const struct metrics *m, const struct step *step, struct outcome *o)
{
	o->bucket = 3;
	o->provisional = true;
	o->rule = RULE_FREQUENCY;
	o->severity = flip_share(m) / step->limit;
	snprintf(o->evidence, sizeof(o->evidence),
		 "%.3g %% of %" PRIu64 " %s elements that are not zero are another number, most by "
		 "little; provisional limit %.3g %%",
		 100 * flip_share(m), m->elements - m->zero_both, dtype_name(m->dtype),
		 100 * step->limit);
}

/* Bits differ, and no rule has anything against it. */
static void judge_small(const struct metrics *m, struct outcome *o)
{
	o->bucket = 2;
	o->provisional = true;
	o->rule = RULE_MAGNITUDE;
	o->severity = m->max_ratio;
	if (!dtype_is_float(m->dtype)) {
		o->rule = RULE_INTEGER;
		o->severity = (double)m->differing / (double)m->elements;
		snprintf(o->evidence, sizeof(o->evidence),
			 "%" PRIu64 " of %" PRIu64
			 " elements differ, each within what repeats of A give",
			 m->differing, m->elements);
		return;
	}
	snprintf(o->evidence, sizeof(o->evidence),
		 "%" PRIu64 " of %" PRIu64 " elements differ, max |d| %.3g, at most %.2g of the "
		 "provisional allowance%s",
		 m->differing, m->elements, m->max_abs, m->max_ratio,
		 m->ftz ? "; some denormals are flushed on one side only" : "");
}

static void judge_bits(const struct metrics *m, struct outcome *o)
{
	const char *what = !m->payload     ? "the sign of zero"
			   : !m->zero_sign ? "the payload of NaNs"
					   : "the payload of NaNs and the sign of zero";

	o->bucket = 1;
	o->rule = RULE_BITS;
	if (!m->differing)
		return;
	o->bucket = 2;
	o->tag = !m->payload     ? "sign of zero"
		 : !m->zero_sign ? "NaN payload"
				 : "NaN payload, zero sign";
	snprintf(o->evidence, sizeof(o->evidence),
		 "only %s differs, on %" PRIu64 " of %" PRIu64 " elements", what, m->differing,
		 m->elements);
}

/* Rule 1 is the one that fires on what it does not find. */
static struct step ask_bits(const struct metrics *m)
{
	struct step s = {STEP_PASSED, (double)m->differing, 0, "fires where none differs"};

	if (m->payload + m->zero_sign == m->differing) {
		s.state = STEP_FIRED;
		s.note = m->differing ? "only payloads of NaNs or signs of zeros" : NULL;
	}
	return s;
}

/* Share of elements a step apart, where a step is more than rounding noise: narrow types only. */
static struct step ask_frequency(const struct metrics *m, bool nondeterministic)
{
	uint64_t n = m->elements - m->zero_both;
	double limit = threshold(THRESHOLD_FLIPS);

	if (dtype_bytes(m->dtype) >= 4)
		return (struct step){.note = "f32 and f64: nearly every element may be another"};
	if (!n)
		return (struct step){.note = "all elements are zero on both sides"};
	if (nondeterministic)
		limit += threshold(THRESHOLD_FLIPS_RUN) * (double)m->varying / (double)n;
	return step_of(share_lower_bound(m->steps, n, 3.09), limit, /* 99.9 %, one-sided */
		       NULL);
}

/* Asks every rule that the output's type has an answer to, whatever the others found. */
static void ask_all(const struct metrics *m, const char *note, bool nondeterministic,
		    struct chain *c)
{
	struct step *s = c->steps;
	bool is_float = dtype_is_float(m->dtype), known = m->dtype != DTYPE_UNKNOWN;
	const char *why = is_float ? "the output is floating point"
			  : known  ? "the output is of integers"
				   : "the element type is not known";

	s[RULE_BITS] = ask_bits(m);
	s[RULE_INTEGER] = (struct step){.note = why};
	s[RULE_CLASSES] = s[RULE_MAGNITUDE] = s[RULE_FREQUENCY] = s[RULE_INTEGER];
	s[RULE_UNPROVEN] = (struct step){.state = STEP_PASSED};
	if (is_float) {
		s[RULE_CLASSES] = step_of((double)m->class_changes, 0, NULL);
		s[RULE_MAGNITUDE] = step_of(m->max_ratio, 1, NULL);
		s[RULE_FREQUENCY] = ask_frequency(m, nondeterministic);
	} else if (known) {
		s[RULE_INTEGER] = nondeterministic ? step_of((double)m->beyond, 0,
							     "beyond the range of A's repeats")
						   : step_of((double)m->differing, 0, NULL);
	} else {
		s[RULE_UNPROVEN] = step_of((double)m->differing, 0,
					   note ? note : "bytes of unknown meaning differ");
	}
}

void metrics_judge(const struct metrics *m, const char *note, bool nondeterministic,
		   struct chain *chain, struct outcome *o)
{
	const struct step *s = chain->steps;

	*o = (struct outcome){.nondeterministic = nondeterministic};
	ask_all(m, note, nondeterministic, chain);
	if (s[RULE_BITS].state == STEP_FIRED)
		judge_bits(m, o);
	else if (s[RULE_UNPROVEN].state == STEP_FIRED)
		judge_bytes(m, note, o);
	else if (s[RULE_CLASSES].state == STEP_FIRED)
		judge_classes(m, o);
	else if (s[RULE_INTEGER].state == STEP_FIRED)
		judge_integers(m, o);
	else if (s[RULE_MAGNITUDE].state == STEP_FIRED)
		judge_magnitude(m, o);
	else if (s[RULE_FREQUENCY].state == STEP_FIRED)
		judge_frequency(m, &s[RULE_FREQUENCY], o);
	else
		judge_small(m, o);
}
