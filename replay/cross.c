/* SPDX-License-Identifier: MIT */
/* Replays with the compiler's stages crossed: one side's PTX assembled by the other's ptxas. */
#include "replay/cross.h"

#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "replay/made.h"
#include "replay/partner.h"
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

/* Machine code of the image made from member m, in the made bundle's suite; zero: none. */
static struct hash128 made_code(const struct source *made, const struct suite_member *m)
{
	const struct suite_config *config;
	const struct suite_member *found = partner_successor(made->suite, m, &config);

	return found ? found->code_hash : (struct hash128){0};
}

static void count_same(const struct source *from, const struct source *made, uint32_t *same,
		       uint32_t *images)
{
	const struct suite *s = from->suite;

	for (size_t i = 0; i < s->family_count; i++)
		for (size_t k = 0; k < s->families[i].config_count; k++) {
			const struct suite_config *c = &s->families[i].configs[k];

			for (size_t n = 0; n < c->member_count; n++) {
				struct hash128 code = made_code(made, &c->members[n]);

				*images += !hash_is_zero(code);
				*same += !hash_is_zero(code) &&
					 hash_equal(code, c->members[n].code_hash);
			}
		}
}

int cross_rebuild(const struct cross *c, uint32_t *same, uint32_t *images, struct error *err)
{
	struct source *base = NULL, *from = NULL, *made = NULL;
	_cleanup_free_ char *path = NULL;
	const char *file;
	char *folder;
	int rc = workspace_make(&folder, "rebuilt.klab", &path, err);

	*same = *images = 0;
	if (rc)
		return rc;
	file = path;
	rc = assemble(c, path, folder, err);
	if (!rc)
		rc = source_open(&made, c->ptxas, &file, 1, err);
	if (!rc)
		rc = open_sources(c, &base, &from, err);
	if (!rc)
		count_same(from ? from : base, made, same, images);
	source_free(made);
	source_free(from);
	source_free(base);
	workspace_remove(folder);
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
	rc = workspace_make(&folder, "crossed.klab", &path, err);
	if (rc)
		return rc;
	rc = assemble(c, path, folder, err);
	o.b = path;
	o.b_version = o.b_commit = NULL;
	o.family = c->family;
	o.launches = c->launches;
	o.launch_count = c->launch_count;
	o.result = c->result;
	o.pair_file = NULL;
	o.shard = "whole";
	o.resume = o.dry_run = o.pairs = o.anew = false;
	if (!rc)
		rc = replay_run(&o, summary, err);
	workspace_remove(folder);
	return rc;
}
