/* SPDX-License-Identifier: MIT */
/* Names of the rules and of what they found. */
#include "analyze/rule.h"

#include <stddef.h>

#include "lib/base.h"

static const struct {
	const char *number, *name, *what;
} rules[RULE_COUNT] = {
#define R(id, number, name, what) [RULE_##id] = {number, name, what},
	RULES(R)
#undef R
};

const char *rule_number(enum rule r)
{
	return (unsigned)r < RULE_COUNT ? rules[r].number : "?";
}

const char *rule_name(enum rule r)
{
	return (unsigned)r < RULE_COUNT ? rules[r].name : "?";
}

const char *rule_what(enum rule r)
{
	return (unsigned)r < RULE_COUNT ? rules[r].what : "?";
}

const char *step_state_name(enum step_state s)
{
	static const char *const names[] = {
		[STEP_UNASKED] = "not asked", [STEP_PASSED] = "not fired", [STEP_FIRED] = "fired"};

	return (unsigned)s < ARRAY_LENGTH(names) ? names[s] : "?";
}

struct step step_of(double figure, double limit, const char *note)
{
	return (struct step){figure > limit ? STEP_FIRED : STEP_PASSED, figure, limit, note};
}
