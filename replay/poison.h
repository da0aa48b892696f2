/* SPDX-License-Identifier: MIT */
/* Trials with poisoned outputs: what is left unwritten, and results that depend on the pattern. */
#ifndef REPLAY_POISON_H
#define REPLAY_POISON_H

#include "replay/trial_state.h"

/* A run of A with poison, for written.c: data is a struct trials. */
int poison_run(void *data, const struct byteset *poison, unsigned pattern, bool probe,
	       struct snapshot *after, struct error *err);

/*
 * A under both patterns; where its own result is another one then, the pattern is void (the memory
 * is read too, or A varies). 0; -ECANCELED where A fails on one; or -errno, with err.
 */
int poison_a(struct trials *t, struct error *err);
/* Sends these trials. 0 or -ENOMEM. */
int poison_a_ship(struct trials *t);

/*
 * B under both patterns; where they give two results, it is found out whether the patterns do that
 * or chance. 0, or -errno with err; after t->r->lost some trials are missing.
 */
int poison_b(struct trials *t, struct error *err);

#endif
