/* SPDX-License-Identifier: MIT */
/* Replays with the compiler's stages crossed: one side's PTX assembled by the other's ptxas. */
#include "replay/cross.h"

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "replay/reassemble.h"
#include "replay/source.h"
#include "replay/workspace.h"

/* Opens the recorded run, and on top of it the source of the side, where that is another one. */
static int open_sources(const struct cross *c, struct source **base, struct source **from,
			struct error *err)
{
	const struct replay_options *o = c->options;
	const char *text = c->from == SIDE_A ? o->a : o->b;
	struct source_request request = {.text = text,
					 .family = c->family,
					 .progress_fd = -1,
					 .argc = o->argc,
					 .argv = o->argv};
	int rc = source_open(base, "recorded", o->bundles, o->bundle_count, err);

	*from = NULL;
	if (rc || !text || !strcmp(text, "recorded"))
		return rc;
	request.base = *base;
	return source_open_text(from, &request, err);
}

/* Writes the bundle of the crossed side. */
static int assemble(const struct cross *c, const char *path, const char *folder, struct error *err)
{
	_cleanup_free_ char *text = text_format("%s%s", REASSEMBLE_PREFIX, c->ptxas);
	struct source *base = NULL, *from = NULL;
	struct source_request request = {.text = text,
					 .family = c->family,
					 .launches = true, /* B's own geometry holds */
					 .progress_fd = c->options->progress_fd,
					 .argc = c->options->argc,
					 .argv = c->options->argv};
	int rc = text ? open_sources(c, &base, &from, err)
		      : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", c->ptxas);

	if (!rc) {
		request.base = from ? from : base;
		rc = reassemble(path, folder, &request, err);
	}
	source_free(from);
	source_free(base);
	return rc;
}

int cross_replay(const struct cross *c, struct replay_summary *summary, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	struct replay_options o = *c->options;
	char *folder;
	int rc;

	if (strchr(c->ptxas, ',')) /* it would be taken for a flag */
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: a comma in its name", c->ptxas);
	rc = workspace_make(&folder, err);
	if (rc)
		return rc;
	path = text_format("%s/crossed.klab", folder);
	rc = path ? assemble(c, path, folder, err)
		  : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", c->ptxas);
	o.b = path;
	o.b_version = o.b_commit = NULL;
	o.family = c->family;
	o.launches = c->launches;
	o.launch_count = c->launch_count;
	o.result = c->result;
	o.pair_file = NULL;
	o.shard = "whole";
	o.resume = o.dry_run = o.pairs = false;
	if (!rc)
		rc = replay_run(&o, summary, err);
	workspace_remove(folder);
	return rc;
}
