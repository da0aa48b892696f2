/* SPDX-License-Identifier: MIT */
/* Part of diff: crosses the stages of families whose fault may come from ptxas or from before it.
 */
#ifndef TOOLS_CROSS_H
#define TOOLS_CROSS_H

#include <stdbool.h>

#include "analyze/analyze.h"
#include "replay/replay.h"
#include "tools/options.h"

struct cross_options {
	bool off, all;                 /* --no-cross, --cross */
	const char *ptxas[SIDE_COUNT]; /* --a-ptxas, --b-ptxas; NULL: as recorded */
};

/* Rows for options_parse; c is a struct cross_options. */
// clang-format off
#define CROSS_OPTION_ROWS(c)                                                                       \
	{OPTION_FLAG, "no-cross", 0, NULL,                                                         \
	 "do not replay one side's PTX by the other's ptxas to tell the stage at fault",           \
	 &(c).off},                                                                                \
	{OPTION_FLAG, "cross", 0, NULL,                                                            \
	 "do it for every suspicious family, also where PTX and versions tell", &(c).all},         \
	{OPTION_TEXT, "a-ptxas", 0, "PATH",                                                        \
	 "ptxas of side A, for that; default: the one that was recorded", &(c).ptxas[SIDE_A]},     \
	{OPTION_TEXT, "b-ptxas", 0, "PATH", "ptxas of side B", &(c).ptxas[SIDE_B]}
// clang-format on

/* Options that contradict each other, programs that are not there: 0, or 2 after one line on
 * stderr. */
int cross_check(const struct verb *verb, const struct cross_options *c);

/*
 * Crosses the stages of the families of `a` whose stage is open (--cross: of all in bucket 3 that
 * are not unproven), and adds what comes out to the result file o->result. *added: there is
 * something new in it. What cannot be crossed is added with its reason. 0, or 2 after one line on
 * stderr where the result cannot be written, or 130.
 */
int cross_families(const struct verb *verb, const struct cross_options *c,
		   const struct replay_options *o, const struct analysis *a, bool *added);

#endif
