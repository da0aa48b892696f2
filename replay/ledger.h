/* SPDX-License-Identifier: MIT */
/* The result bundle of a replay: what stands in it, written as the replay goes on. */
#ifndef REPLAY_LEDGER_H
#define REPLAY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"
#include "replay/plan.h"
#include "replay/wire.h"

/* The device as the worker described it. */
struct device_text {
	char name[96];
	uint32_t ordinal, major, minor, driver_version;
	uint64_t memory_bytes;
	bool software;
};

/* A case while its worker runs. */
struct open_case {
	size_t number; /* of plan.cases and of the CASE record */
	struct extents extents;
	struct hash128 inputs;
	enum fidelity fidelity;
	char reason[480];
	bool has_extents, judged;
	bool ran[SIDE_COUNT]; /* some trial came in */
};

struct pair_state {
	bool tested;
	bool written; /* its CONFIG record */
	size_t left;  /* cases without a record yet */
	char *reason; /* of the last case that could not be used */
};

struct ledger {
	struct bundle_writer *writer;
	const struct plan *plan;
	const struct replay_options *options;
	struct pair_state *pairs; /* one each of plan.pairs */
	struct replay_summary *summary;
	unsigned sm; /* of the first device; 0: software, or none yet */
};

/* Creates the file and writes RUN, FACT, SIDE and FAMILY records. -EEXIST if it is there. */
int ledger_open(struct ledger *r, const char *path, const struct plan *plan,
		const struct replay_options *options, struct replay_summary *summary,
		const char *driver_path, const char *driver_how, struct error *err);

/* A DEVICE record, and with the first the facts that go with it. */
int ledger_device(struct ledger *r, const struct device_text *d, bool first);

/* A trial's contents. */
int ledger_chunk(struct ledger *r, const struct packet *p);

/* A TRIAL message of the worker, or one that the parent makes where the worker is gone. */
int ledger_trial(struct ledger *r, struct open_case *c, struct packet *p);
int ledger_dead_trial(struct ledger *r, struct open_case *c, enum side side, enum trial_kind kind,
		      uint32_t index, enum trial_status status, const char *reason);

/* The CASE record, when nothing more of it will come. */
int ledger_case(struct ledger *r, struct open_case *c);

/*
 * Copies a case of another result of the same plan, with its trials and their contents. 0 or -errno
 * with err.
 */
int ledger_keep(struct ledger *r, const struct bundle *old, const struct record_case *kept,
		struct error *err);

/* Facts replay.cost.*: where the time went, from the summary. 0 or -errno. */
int ledger_cost(struct ledger *r);

/* CONFIG and END records, index, footer. NULL writer is allowed. First error, or 0. */
int ledger_close(struct ledger *r, const char *incomplete);

#endif
