/* SPDX-License-Identifier: MIT */
/* The trials of one case while they run, as trials.c and further.c share them. */
#ifndef REPLAY_TRIAL_STATE_H
#define REPLAY_TRIAL_STATE_H

#include "replay/trials.h"
#include "replay/written.h"

/* One side's plain repeats. */
struct runs {
	struct outcome *items;
	size_t count, capacity;
	struct byteset noise; /* bytes at which they differ from the first */
};

struct trials {
	struct runner *r;
	const struct replay_case *c;
	enum caution caution;
	struct contents contents;
	struct ready base, a, b;
	struct runs a_runs, b_runs, base_runs;
	struct byteset measured; /* what the recorded launch was seen to write */
	struct written written;
	struct outcome a_poison[2];
	char void_reason[2][160]; /* why a poison pattern says nothing */
	struct hash128 inputs;
	bool extents_sent;
	bool differ; /* a trial of B gave other bytes than A's */
	bool judged; /* the recorded kernel reproduced what was recorded */
	bool needed; /* the outputs of all trials are: a side varies, B gave another or failed */
	struct spared *spared; /* trials that were sent without their contents */
	size_t spared_count, spared_capacity;
	struct byteset state; /* bytes that are read and written */
};

/* What a TRIAL message says beside the outcome. */
struct trial_note {
	enum side side;
	enum trial_kind kind;
	uint32_t index;
	uint64_t stray_bytes, stray_address;
	uint64_t unwritten_bytes, unwritten_address;
	double step;
	uint64_t seed;
	uint32_t launches;
	double scale;
	bool zeroed;
	uint64_t races;
	const char *race; /* borrowed; NULL: none */
	const char *how;  /* likewise */
	bool unstored;    /* the run went well, its contents are not sent */
};

/* A trial that may have to be run again for its contents (replay/spare.h). */
struct spared {
	struct trial_note note;
	struct setting setting;
	struct change change; /* the setting's */
	bool whole;
	enum look look;
	void (*check)(struct trials *t, const struct outcome *o, char *why, size_t size);
};

/* What begins, with the time it may take. */
struct moment trials_moment(const struct trials *t, enum phase phase, enum side side,
			    enum trial_kind kind, uint32_t index);

/* Sends r->packet. */
void trials_post(struct trials *t, enum wire_type type);
/* Sends one trial with its contents, if it went well. 0 or -ENOMEM, as the next two. */
int trials_send(struct trials *t, const struct trial_note *n, const struct outcome *o);
/* The same for a run that went well and was read back whole, with its stray bytes. */
int trials_send_whole(struct trials *t, struct trial_note *n, const struct outcome *o);
/* A trial that ended badly or says nothing: no contents. */
int trials_send_status(struct trials *t, enum side side, enum trial_kind kind, uint32_t index,
		       enum trial_status status, const char *reason);

/* How often a side is run where results vary: --repeats-max, at least --repeats. */
size_t trials_most_repeats(const struct trials *t);
/* A's repeats up to that number; some 20 where A varies. 0; 1 if A failed in one; -errno with err.
 */
int trials_more_of_a(struct trials *t, struct error *err);

/*
 * Trials on changed inputs and of several launches, on a case whose A and B ran. 0, or -errno with
 * err. After r->lost some are missing.
 */
int trials_further(struct trials *t, struct error *err);

/* Runs of A's synthetic siblings, where B differs: the last trials of a case. As trials_further. */
int trials_siblings(struct trials *t, struct error *err);

#endif
