/* SPDX-License-Identifier: MIT */
/* Kernels of a folder (a Triton or Inductor cache, or plain cubins) as a capture bundle. */
#include "replay/import.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base.h"
#include "replay/made.h"

#define FILE_MAX (256u << 20)

static bool ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), s = strlen(suffix);

	return n > s && !strcmp(text + n - s, suffix);
}

/* Only regular files: a folder may hold anything. -ENOENT where there is none. */
static int read_regular(const char *path, char **data, size_t *size)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? file_read_all(path, FILE_MAX, data, size) : -ENOENT;
}

/* The files of the cubin's stem beside it. */
static int read_siblings(struct made_image *image, struct error *err)
{
	static const char *const suffixes[] = MADE_SUFFIXES;
	size_t stem = strlen(image->path) - strlen(".cubin");

	for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++) {
		struct made_file *f = &image->files[i];
		const char *slash;
		int rc;

		f->path = text_format("%.*s%s", (int)stem, image->path, suffixes[i]);
		slash = f->path ? strrchr(f->path, '/') : NULL;
		f->name = f->path ? strdup(slash ? slash + 1 : f->path) : NULL;
		if (!f->name)
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory to import");
		rc = read_regular(f->path, &f->data, &f->size);
		if (rc && rc != -ENOENT)
			return error_set(err, -rc, ERROR_NO_OFFSET, "%s: %s", f->path,
					 strerror(-rc));
	}
	return 0;
}

static int import_file(struct made *made, const char *path, struct import_count *count,
		       struct error *err)
{
	struct made_image image = {.loader = "kernelab import", .path = strdup(path)};
	struct error why;
	struct hash128 id;
	int rc = image.path ? read_regular(path, &image.data, &image.size) : -ENOMEM;

	if (rc)
		error_set(err, -rc, ERROR_NO_OFFSET, "%s: %s", path, strerror(-rc));
	else
		rc = read_siblings(&image, err);
	if (!rc) {
		rc = made_add(made, &image, &id, &why);
		if (rc == -EINVAL || rc == -ENOEXEC) {
			if (!count->unread++)
				snprintf(count->first, sizeof(count->first), "%.190s", why.message);
			rc = 0;
		} else if (rc) {
			error_set(err, -rc, ERROR_NO_OFFSET, "%s", why.message);
		} else {
			count->cubins++;
			count->metadata += image.files[0].data != NULL;
		}
	}
	made_image_clear(&image);
	return rc;
}

/* By name, so that the bundle does not depend on the order of a folder. */
static int by_name(const FTSENT **x, const FTSENT **y)
{
	return strcmp((*x)->fts_name, (*y)->fts_name);
}

static int walk(struct made *made, const char *folder, struct import_count *count,
		struct error *err)
{
	char *const roots[] = {(char *)folder, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, by_name);
	int rc = 0;

	if (!fts)
		return error_set(err, errno, ERROR_NO_OFFSET, "%s: %s", folder, strerror(errno));
	for (FTSENT *e; !rc && (e = fts_read(fts));) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
			rc = error_set(err, e->fts_errno, ERROR_NO_OFFSET, "%s: %s", e->fts_path,
				       strerror(e->fts_errno));
		else if ((e->fts_info == FTS_F || e->fts_info == FTS_SL) &&
			 ends(e->fts_name, ".cubin"))
			rc = import_file(made, e->fts_path, count, err);
	}
	fts_close(fts);
	return rc;
}

int import_folders(const char *path, const char *const *folders, size_t count, int argc,
		   char **argv, struct import_count *out, struct error *err)
{
	struct made made;
	int rc = made_open(&made, path, argc, argv, err);

	*out = (struct import_count){0};
	for (size_t i = 0; !rc && i < count; i++) {
		size_t before = out->cubins;

		rc = walk(&made, folders[i], out, err);
		if (!rc && out->cubins == before)
			rc = error_set(err, ENOENT, ERROR_NO_OFFSET, "no readable .cubin in %s%s%s",
				       folders[i], out->unread ? ": " : "", out->first);
		if (!rc)
			rc = made_fact(&made, "import.folder", folders[i],
				       "kernels were imported from it; no run recorded them", err);
	}
	if (!rc)
		return made_close(&made, err);
	made_abandon(&made);
	return rc;
}
