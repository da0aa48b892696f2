/* SPDX-License-Identifier: MIT */
/* Where a side's kernels come from: opened bundles and their suite. */
#ifndef REPLAY_SOURCE_H
#define REPLAY_SOURCE_H

#include <stddef.h>

#include "kernelab/bundle.h"
#include "kernelab/error.h"
#include "lib/image/suite.h"

struct source {
	char *text; /* as given */
	struct bundle **bundles;
	size_t count;
	struct suite *suite;
};

/*
 * Opens bundles and folders of bundles and builds their suite. A result bundle is refused. `text`
 * names them in messages and records. 0 or -errno with err; frees what it opened then.
 */
int source_open(struct source **out, const char *text, const char *const *paths, size_t count,
		struct error *err);

/*
 * Opens a SOURCE of the command line other than "recorded": a bundle or a folder of bundles.
 * -ENOTSUP for the forms that are not there yet (ptxas:, triton:, cache and cubin folders).
 */
int source_open_text(struct source **out, const char *text, struct error *err);
void source_free(struct source *s);

/* The bundle that a member of s->suite belongs to. */
static inline struct bundle *source_bundle(const struct source *s, const struct suite_member *m)
{
	return s->bundles[m->bundle];
}

/* Text of the member's PTX: .ptx file or recovered; malloc'ed; -ENOENT without one. */
int source_ptx(const struct source *s, const struct suite_member *m, char **text, size_t *size,
	       struct error *err);

#endif
