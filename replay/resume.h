/* SPDX-License-Identifier: MIT */
/* A result that was stopped before its end: what of it counts in the one that goes on. */
#ifndef REPLAY_RESUME_H
#define REPLAY_RESUME_H

#include <stdbool.h>
#include <stddef.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"
#include "replay/ledger.h"

struct resume {
	struct bundle *old; /* NULL: nothing to go on from */
	char *path;         /* file that is written until what counts has been copied */
	bool *done;         /* a case of the plan each: it stands in the new result */
};

/*
 * Opens options->result, a whole result or one cut off by a crash, and compares the fact
 * "replay.plan" with this plan's. -EINVAL with err: a file of another kind, or of another replay.
 */
int resume_open(struct resume *r, const struct plan *plan, const struct replay_options *options,
		struct error *err);

/*
 * After ledger_open with r->path: copies the device and every finished case with its trials and
 * contents (not those noted as interrupted), then puts the new file in the old one's place. A
 * process that is killed before leaves the old one as it was. 0 or -errno with err.
 */
int resume_copy(struct resume *r, struct ledger *ledger, struct error *err);

/* Device of the old result; NULL without. */
const struct record_device *resume_device(const struct resume *r);

void resume_close(struct resume *r);

#endif
