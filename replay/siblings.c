/* SPDX-License-Identifier: MIT */
/* Synthetic siblings: A's kernels compiled with other num_warps, for the noise floor alone. */
#include "replay/siblings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/partner.h"
#include "replay/progress.h"
#include "replay/recompile.h"

/* What one of the two compilations is about. */
struct choice {
	const struct siblings_request *request;
	enum warps warps;
};

void siblings_close(struct siblings *s)
{
	for (size_t i = 0; i < SIBLINGS_MOST; i++)
		source_free(s->sources[i]);
	free(s->told);
	*s = (struct siblings){0};
}

/* Another config of the family ran: the recording has siblings, or may have. */
static bool has_own(const struct pair *p)
{
	for (size_t i = 0; i < p->family->config_count; i++) {
		const struct suite_config *c = &p->family->configs[i];

		for (size_t k = 0; c != p->config && k < c->member_count; k++)
			if (c->members[k].launch_count)
				return true;
	}
	return false;
}

static bool same_code(const struct suite_member *x, const struct suite_member *y)
{
	return !hash_is_zero(x->code_hash) && hash_equal(x->code_hash, y->code_hash);
}

static bool needs_siblings(const struct pair *p)
{
	return p->launch_count && !p->reason && !p->on && p->a && p->b && p->a->triton &&
	       !same_code(p->a, p->b) && !has_own(p);
}

/* For source_request.wants. */
static bool is_wanted(const void *data, const struct suite_member *m)
{
	const struct choice *c = data;
	const struct siblings_request *r = c->request;

	if (!recompile_warps(m, c->warps))
		return false;
	for (size_t i = 0; i < r->pairs->count; i++)
		if (r->selected[i] && needs_siblings(&r->pairs->items[i]) &&
		    same_kernel(r->pairs->items[i].a, m))
			return true;
	return false;
}

static size_t count_wanted(const struct choice *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->request->pairs->count; i++) {
		const struct suite_member *a = c->request->pairs->items[i].a;

		n += a && is_wanted(c, a);
	}
	return n;
}

/* The kernels with one of the two num_warps. */
static int compile(struct siblings *s, size_t index, const struct choice *c, struct error *err)
{
	_cleanup_free_ char *text = text_format("%s%s", RECOMPILE_PREFIX, c->request->python);
	const struct source_request request = {.text = text,
					       .base = c->request->a,
					       .wants = is_wanted,
					       .wants_data = c,
					       .warps = c->warps,
					       .progress_fd = c->request->progress_fd,
					       .stop = c->request->stop,
					       .argc = c->request->argc,
					       .argv = c->request->argv};
	struct progress progress = {.fd = c->request->progress_fd};
	struct error why;
	int rc;

	if (!text)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for siblings");
	if (!count_wanted(c))
		return 0;
	rc = source_open_text(&s->sources[index], &request, &why);
	if (rc == -ENOEXEC) { /* a launch of one config has no siblings then, as without them */
		progress_note(&progress, "--siblings, num_warps %s: %s",
			      c->warps == WARPS_HALVED ? "halved" : "doubled", why.message);
		return 0;
	}
	return rc ? error_set(err, -rc, ERROR_NO_OFFSET, "--siblings: %s", why.message) : 0;
}

static size_t count_made(const struct source *s)
{
	return s ? s->bundles[0]->images.count : 0;
}

const struct suite_member *siblings_find(const struct siblings *s, size_t index,
					 const struct suite_member *a)
{
	const struct suite_config *config;

	return s->sources[index] ? partner_successor(s->sources[index]->suite, a, &config) : NULL;
}

/* A sibling shall differ by its warps: another compiler than A's adds its own changes. */
static void compare_versions(const struct siblings *s, const struct siblings_request *r)
{
	struct progress progress = {.fd = r->progress_fd};

	for (size_t i = 0; i < r->pairs->count; i++)
		for (size_t k = 0; k < SIBLINGS_MOST; k++) {
			const struct suite_member *a = r->pairs->items[i].a;
			const struct suite_member *m = a ? siblings_find(s, k, a) : NULL;

			if (!m || !m->triton ||
			    !strcmp(m->triton->triton_version, a->triton->triton_version))
				continue;
			progress_note(&progress,
				      "--siblings: %s has Triton %s, A is of %s: what changed "
				      "between them counts as noise within the siblings' bounds",
				      r->python, m->triton->triton_version,
				      *a->triton->triton_version ? a->triton->triton_version
								 : "an unknown one");
			return;
		}
}

int siblings_open(struct siblings *s, const struct siblings_request *r, struct error *err)
{
	static const enum warps warps[SIBLINGS_MOST] = {WARPS_HALVED, WARPS_DOUBLED};
	int rc = 0;

	*s = (struct siblings){0};
	for (size_t i = 0; !rc && r->python && i < SIBLINGS_MOST; i++) {
		const struct choice choice = {r, warps[i]};

		rc = compile(s, i, &choice, err);
	}
	if (!rc && r->python) {
		s->told = text_format("%zu images with num_warps halved and %zu with num_warps "
				      "doubled, by %s",
				      count_made(s->sources[0]), count_made(s->sources[1]),
				      r->python);
		if (!s->told)
			rc = error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for siblings");
		compare_versions(s, r);
	}
	if (rc)
		siblings_close(s);
	return rc;
}
