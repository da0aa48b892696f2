/* SPDX-License-Identifier: MIT */
/* Where a side's kernels come from: opened bundles and their suite. */
#include "replay/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base.h"
#include "lib/bundle/files.h"
#include "lib/image/suite_image.h"
#include "replay/import.h"
#include "replay/reassemble.h"
#include "replay/recompile.h"
#include "replay/workspace.h"

void source_free(struct source *s)
{
	if (!s)
		return;
	suite_free(s->suite);
	for (size_t i = 0; i < s->count; i++)
		bundle_close(s->bundles[i]);
	free(s->bundles);
	free(s->text);
	free(s);
}

/* Opens every file; s->count grows as they open. */
static int open_all(struct source *s, char *const *files, size_t count, struct error *err)
{
	s->bundles = calloc(count ? count : 1, sizeof(*s->bundles));
	if (!s->bundles)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %zu bundles", count);
	for (size_t i = 0; i < count; i++) {
		int rc = bundle_open(&s->bundles[i], files[i], err);

		if (rc)
			return rc;
		s->count++;
		if (s->bundles[i]->kind != BUNDLE_CAPTURE)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "%s is the result of a replay, not a capture", files[i]);
	}
	return 0;
}

int source_open(struct source **out, const char *text, const char *const *paths, size_t count,
		struct error *err)
{
	struct source *s = calloc(1, sizeof(*s));
	struct bundle_paths files = {0};
	int rc;

	*out = NULL;
	if (!s || !(s->text = strdup(text))) {
		free(s);
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory to open %s", text);
	}
	rc = bundle_paths_expand(&files, (char *const *)paths, count, err);
	if (!rc)
		rc = open_all(s, files.items, files.count, err);
	bundle_paths_free(&files);
	if (!rc)
		rc = suite_build(&s->suite, s->bundles, s->count, err);
	if (!rc && !s->suite->family_count)
		rc = error_set(err, ENODATA, ERROR_NO_OFFSET, "%s%s: no kernels in it%s%s",
			       s->bundles[0]->path, s->count > 1 ? " and others" : "",
			       *bundle_problem(s->bundles[0]) ? ": " : "",
			       bundle_problem(s->bundles[0]));
	if (rc) {
		source_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Writes the bundle of a SOURCE that is none, in `folder`. */
static int make(const char *folder, const char *path, const struct source_request *r,
		struct error *err)
{
	struct import_count count;

	if (begins(r->text, REASSEMBLE_PREFIX))
		return reassemble(path, folder, r, err);
	if (begins(r->text, RECOMPILE_PREFIX))
		return recompile(path, folder, r, err);
	return import_folders(path, &r->text, 1, r->argc, r->argv, &count, err);
}

static int open_made(struct source **out, const struct source_request *r, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	const char *file;
	char *folder;
	int rc = workspace_make(&folder, "made.klab", &path, err);

	if (rc)
		return rc;
	file = path;
	rc = make(folder, path, r, err);
	if (!rc) /* stays readable by its descriptor */
		rc = source_open(out, r->text, &file, 1, err);
	workspace_remove(folder);
	return rc;
}

/* True for a folder without a bundle in it. */
static bool is_plain_folder(const char *path)
{
	struct bundle_paths files = {0};
	struct stat st;
	int rc;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return false;
	rc = bundle_paths_expand(&files, (char *const *)&path, 1, NULL);
	bundle_paths_free(&files);
	return rc == -ENOENT;
}

int source_open_text(struct source **out, const struct source_request *r, struct error *err)
{
	struct stat st;

	*out = NULL;
	if (begins(r->text, REASSEMBLE_PREFIX) || begins(r->text, RECOMPILE_PREFIX))
		return open_made(out, r, err);
	if (stat(r->text, &st))
		return error_set(err, errno, ERROR_NO_OFFSET, "source %s: %s", r->text,
				 strerror(errno));
	if (is_plain_folder(r->text))
		return open_made(out, r, err);
	return source_open(out, r->text, &r->text, 1, err);
}

/* A fatbin without code for the GPU: what the driver compiled. */
static int fatbin_ptx(const struct bundle *b, const struct suite_member *m, char **text,
		      size_t *size, struct error *err)
{
	struct fatbin_pick pick;
	int rc = suite_fatbin_pick(&pick, b, m->image, err);

	*text = steal_pointer(pick.ptx);
	*size = pick.ptx_size;
	fatbin_pick_free(&pick);
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc || *text ? rc : error_set(err, ENOENT, ERROR_NO_OFFSET, "no PTX of %s", m->entry);
}

int source_ptx(const struct source *s, const struct suite_member *m, char **text, size_t *size,
	       struct error *err)
{
	const struct bundle *b = source_bundle(s, m);
	const struct record_file *file = bundle_file(b, m->image->id, ".ptx");

	if (file)
		return bundle_read_file(b, file, text, size, err);
	if (m->cubin && m->cubin->ptx) {
		*text = strndup(m->cubin->ptx, m->cubin->ptx_size);
		*size = m->cubin->ptx_size;
		return *text ? 0 : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for PTX");
	}
	if (m->image->kind == IMAGE_PTX)
		return bundle_read_image(b, m->image, (void **)text, size, err);
	if (m->image->kind == IMAGE_FATBIN && !m->cubin)
		return fatbin_ptx(b, m, text, size, err);
	return error_set(err, ENOENT, ERROR_NO_OFFSET, "no PTX of %s", m->entry);
}
