/* SPDX-License-Identifier: MIT */
/* Rules 1, 3, int and 9: from an output's figures to a bucket and a sentence. */
#include "analyze/decide.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/thresholds.h"

const char *rule_number(enum rule r)
{
	static const char *const numbers[RULE_COUNT] = {
#define R(id, number, name) number,
		RULES(R)
#undef R
	};

	return (unsigned)r < RULE_COUNT ? numbers[r] : "?";
}

const char *rule_name(enum rule r)
{
	static const char *const names[RULE_COUNT] = {
#define R(id, number, name) name,
		RULES(R)
#undef R
	};

	return (unsigned)r < RULE_COUNT ? names[r] : "?";
}

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
	o->rule = RULE_INTEGER;
	o->severity = (double)m->differing / (double)m->elements;
	if (o->nondeterministic && !m->beyond) {
		o->bucket = 2;
		o->provisional = true;
		snprintf(o->evidence, sizeof(o->evidence),
			 "%" PRIu64 " of %" PRIu64
			 " elements differ, each within what repeats of A give",
			 m->differing, m->elements);
		return;
	}
	o->bucket = 3;
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

/* Share of elements a step apart, where a step is more than rounding noise: narrow types only. */
static bool judge_frequency(const struct metrics *m, struct outcome *o)
{
	uint64_t n = m->elements - m->zero_both;
	double share = n ? (double)m->steps / (double)n : 0, limit = threshold(THRESHOLD_FLIPS);

	if (dtype_bytes(m->dtype) >= 4 || !n)
		return false;
	if (o->nondeterministic)
		limit += threshold(THRESHOLD_FLIPS_RUN) * (double)m->varying / (double)n;
	if (share_lower_bound(m->steps, n, 3.09) <= limit) /* 99.9 %, one-sided */
		return false;
	o->bucket = 3;
	o->rule = RULE_FREQUENCY;
	o->severity = share / limit;
	snprintf(o->evidence, sizeof(o->evidence),
		 "%.3g %% of %" PRIu64 " %s elements that are not zero are another number, most by "
		 "little; provisional limit %.3g %%",
		 100 * share, n, dtype_name(m->dtype), 100 * limit);
	return true;
}

static void judge_magnitude(const struct metrics *m, struct outcome *o)
{
	char at[128];

	o->provisional = true;
	o->rule = RULE_MAGNITUDE;
	o->severity = m->max_ratio;
	if (m->max_ratio > 1) {
		element_text(at, sizeof(at), m->dtype, &m->top[0]);
		o->bucket = 3;
		snprintf(o->evidence, sizeof(o->evidence),
			 "%" PRIu64 " of %" PRIu64
			 " elements are beyond the provisional allowance, "
			 "the worst %.3g times; %s",
			 m->beyond, m->elements, m->max_ratio, at);
		return;
	}
	if (judge_frequency(m, o))
		return;
	o->bucket = 2;
	snprintf(o->evidence, sizeof(o->evidence),
		 "%" PRIu64 " of %" PRIu64 " elements differ, max |d| %.3g, at most %.2g of the "
		 "provisional allowance%s",
		 m->differing, m->elements, m->max_abs, m->max_ratio,
		 m->ftz ? "; some denormals are flushed on one side only" : "");
}

void metrics_judge(const struct metrics *m, const char *note, bool nondeterministic,
		   struct outcome *o)
{
	*o = (struct outcome){.bucket = 1, .rule = RULE_BITS, .nondeterministic = nondeterministic};
	if (!m->differing)
		return;
	if (m->dtype == DTYPE_UNKNOWN) {
		judge_bytes(m, note, o);
	} else if (!dtype_is_float(m->dtype)) {
		judge_integers(m, o);
	} else if (m->payload + m->zero_sign == m->differing) {
		o->bucket = 2;
		o->tag = !m->payload     ? "sign of zero"
			 : !m->zero_sign ? "NaN payload"
					 : "NaN payload, zero sign";
		snprintf(o->evidence, sizeof(o->evidence),
			 "only %s differs, on %" PRIu64 " of %" PRIu64 " elements",
			 !m->payload     ? "the sign of zero"
			 : !m->zero_sign ? "the payload of NaNs"
					 : "the payload of NaNs and the sign of zero",
			 m->differing, m->elements);
	} else if (m->class_changes) {
		judge_classes(m, o);
	} else {
		judge_magnitude(m, o);
	}
}
