/* SPDX-License-Identifier: MIT */
/* What a replay would do, for people to review: the table of pairs and the list of launches. */
#ifndef REPLAY_TABLE_H
#define REPLAY_TABLE_H

#include <stdio.h>

#include "replay/plan.h"

/*
 * The pairing as lines of tab-separated fields: FAMILY, CONFIG, CONFIG OF B, PAIRING, LAUNCHES,
 * OPTIONS, OPTIONS OF B, REASON; a line with names first, "-" where there is none. A copy with
 * other configs of B is what --pair reads. Then counts on lines with #.
 */
void table_pairs(const struct plan *plan, FILE *out);

/* Configs with their launches, what is not tested and why; memory needed, untested in total. */
void table_launches(const struct plan *plan, FILE *out);

/* Bytes of the regions of a launch: what is restored for each run of it. */
uint64_t launch_region_bytes(const struct record_launch *l);

#endif
