/* SPDX-License-Identifier: MIT */
/* Whether what lies in some memory changes a result, or the result changes by itself. */
#ifndef REPLAY_DISPUTE_H
#define REPLAY_DISPUTE_H

#include "replay/twin.h"

/* Indices of the runs: even ones have the first pattern, odd ones the second. */
#define DISPUTE_FIRST 2u
/* Runs of each pattern before anything is concluded. */
#define DISPUTE_ROUNDS 10u

/*
 * Runs a side with one pattern and with another one in turn, so that nothing but the pattern is
 * different, and sends each as a TRIAL of the twin's kind. `other` is the second pattern; the first
 * is the twin's. *by_fill: the results of the one pattern are not those of the other beyond chance
 * (lib/fisher.h); else the difference that was seen came of something else. It ends once that is
 * known or cannot become known any more, with --repeats-max of each at most. 0, or -errno with err;
 * after t->r->lost nothing is known.
 */
int dispute_run(struct trials *t, const struct twin *w, enum side side, uint8_t other,
		bool *by_fill, struct error *err);

/*
 * B varies: A is run as often as may show whether it does too. Plain, --repeats-max times in all,
 * then as often in the setting in which B varied (w may be NULL), at indices a stride of the twin's
 * apart, until it varies. 0, or -errno with err.
 */
int dispute_vary_a(struct trials *t, const struct twin *w, struct error *err);

#endif
