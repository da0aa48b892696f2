/* SPDX-License-Identifier: MIT */
/* Where a side's kernels come from: opened bundles and their suite. */
#ifndef REPLAY_SOURCE_H
#define REPLAY_SOURCE_H

#include <stdbool.h>
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

/* num_warps of what triton:PYTHON compiles. */
enum warps { WARPS_RECORDED, WARPS_HALVED, WARPS_DOUBLED };

/* What a SOURCE of the command line needs to be opened. */
struct source_request {
	const char *text;          /* SOURCE, other than "recorded" */
	const struct source *base; /* the recorded run, whose images are made anew */
	const char *family;        /* extended regular expression: only those are made; or NULL */
	bool launches;             /* what is made gets the geometry of the base's launches */
	/* only images of which this is true of a member are made anew; NULL: all */
	bool (*wants)(const void *data, const struct suite_member *m);
	const void *wants_data;
	enum warps warps;         /* triton: */
	int progress_fd;          /* for long work; -1: silent */
	const volatile int *stop; /* not 0: give up with -EINTR; may be NULL */
	int argc;                 /* the command line, for the records */
	char **argv;
};

/*
 * Opens a SOURCE: a bundle, a folder of bundles, a folder of cubins (a Triton or Inductor cache),
 * ptxas:PATH[,flag…], triton:PYTHON. Whatever its form, it becomes bundles first: what is not one
 * yet is written as one into a temporary folder, which is gone again when this returns. 0 or -errno
 * with err.
 */
int source_open_text(struct source **out, const struct source_request *request, struct error *err);
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
