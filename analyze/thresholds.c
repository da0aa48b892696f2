/* SPDX-License-Identifier: MIT */
/* The table of thresholds, expanded. */
#include "analyze/thresholds.h"

static struct threshold_row rows[THRESHOLD_COUNT] = {
#define T(id, text, number, is_provisional, why) \
	[THRESHOLD_##id] = {.name = text,        \
			    .reason = why,       \
			    .value = number,     \
			    .initial = number,   \
			    .provisional = is_provisional},
	THRESHOLDS(T)
#undef T
};

const struct threshold_row *threshold_row(enum threshold t)
{
	return &rows[t];
}

double threshold(enum threshold t)
{
	return rows[t].value;
}

void threshold_set(enum threshold t, double value)
{
	rows[t].value = value;
}
