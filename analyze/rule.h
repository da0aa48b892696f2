/* SPDX-License-Identifier: MIT */
/* The rules of docs/numerics.md, and the chain of evidence that one output leaves on them. */
#ifndef ANALYZE_RULE_H
#define ANALYZE_RULE_H

#include <stdint.h>

/*
 * The rules in the order in which they are asked: R(id, number in reports, name, what its figure
 * counts). INTEGER is the row "int, bool, index" of the table of types: exact or 3.
 */
#define RULES(R)                                                                                   \
	R(VALID, "0", "validity",                                                                  \
	  "failed trials of B, bytes it leaves unwritten, bytes it changes outside A's outputs, "  \
	  "results that depend on poison")                                                         \
	R(BITS, "1", "bits", "elements whose bits differ")                                         \
	R(DETERMINISM, "2", "determinism", "repeats of B that differ from its first")              \
	R(CLASSES, "3", "classes", "positions of another class (NaN, +inf, -inf, finite)")         \
	R(INTEGER, "int", "integer output", "integers that differ")                                \
	R(EXACT, "4", "exact integers",                                                            \
	  "elements that differ on integer inputs, on which every order gives the same")           \
	R(RESIDUAL, "5", "residual",                                                               \
	  "greatest |d| beyond the final rounding, in standard deviations of the measured noise")  \
	R(FLIPS, "6", "frequency", "share of elements that are another number, its lower bound")   \
	R(BIAS, "7", "bias", "greatest systematic part of d, in its limits")                       \
	R(SHIFT, "7d", "distribution",                                                             \
	  "Kolmogorov's distance of the values of A and B, one step of the type forgiven")         \
	R(PLACE, "8", "place",                                                                     \
	  "share of elements that are another number in one row, column or tile, its lower bound") \
	R(CLUSTER, "8c", "config cluster",                                                         \
	  "rms distance of B from its other configs and A's, in the greatest among those")         \
	R(GROWTH, "8g", "growth", "exponent by which the residual grows with a size")              \
	R(OTHERWISE, "9", "within the measured noise", "greatest residual, in its limits")         \
	R(MAGNITUDE, "9m", "magnitude, provisional limits",                                        \
	  "greatest |d|, in provisional allowances")                                               \
	R(FREQUENCY, "9f", "frequency, provisional limits",                                        \
	  "share of elements that are another number, its lower bound")                            \
	R(UNPROVEN, "-", "unproven", "what could not be shown")

enum rule {
#define R(id, number, name, what) RULE_##id,
	RULES(R)
#undef R
		RULE_COUNT
};

/* Static storage; "?" for what is no rule. */
const char *rule_number(enum rule r); /* "0", …, "-" */
const char *rule_name(enum rule r);
const char *rule_what(enum rule r); /* what step.figure and step.limit are */

enum step_state {
	STEP_UNASKED, /* an earlier step left nothing to ask about, or it does not apply; note */
	STEP_PASSED,  /* the figure is within the limit */
	STEP_FIRED    /* of those that fired the first in the order of RULES decides */
};

const char *step_state_name(enum step_state s); /* "not asked", "not fired", "fired" */

/* What one rule looked at. Without text of its own: a result has very many of these. */
struct step {
	enum step_state state;
	double figure, limit; /* fires beyond the limit; rule_what says of what */
	const char *note;     /* static storage; NULL: none */
};

struct chain {
	struct step steps[RULE_COUNT];
};

/* A step that has fired if figure > limit. */
struct step step_of(double figure, double limit, const char *note);

#endif
