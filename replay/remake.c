/* SPDX-License-Identifier: MIT */
/* Making the recorded images anew with another compiler: what all such sources share. */
#include "replay/remake.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define FILE_MAX (256u << 20)

/* ---- the list ---- */

static bool is_listed(const struct remake *r, const struct suite_member *m)
{
	for (size_t i = 0; i < r->count; i++)
		if (hash_equal(r->images[i].member->image->id, m->image->id))
			return true;
	return false;
}

static int add(struct remake *r, const struct suite_member *m, struct error *err)
{
	const struct source_request *q = r->request;

	if (is_listed(r, m) || (q->wants && !q->wants(q->wants_data, m)))
		return 0;
	if (array_reserve(&r->images, r->count, &r->capacity, sizeof(*r->images)))
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s",
				 r->request->text);
	r->images[r->count++] = (struct remake_image){.member = m};
	return 0;
}

static int add_all(struct remake *r, const regex_t *wanted, struct error *err)
{
	const struct suite *s = r->request->base->suite;

	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *f = &s->families[i];

		if (wanted && regexec(wanted, f->name, 0, NULL, 0))
			continue;
		for (size_t j = 0; j < f->config_count; j++)
			for (size_t k = 0; k < f->configs[j].member_count; k++) {
				int rc = add(r, &f->configs[j].members[k], err);

				if (rc)
					return rc;
			}
	}
	return 0;
}

int remake_begin(struct remake *r, const struct source_request *request, const char *folder,
		 struct error *err)
{
	regex_t wanted;
	int rc;

	*r = (struct remake){.request = request, .folder = folder};
	if (request->family && regcomp(&wanted, request->family, REG_EXTENDED | REG_NOSUB))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "--family '%s' is no regular expression", request->family);
	rc = add_all(r, request->family ? &wanted : NULL, err);
	if (request->family)
		regfree(&wanted);
	if (!rc && !r->count)
		rc = error_set(err, ENOENT, ERROR_NO_OFFSET, "%s: nothing recorded%s%s%s",
			       request->text, request->family ? " matches --family '" : "",
			       request->family ? request->family : "", request->family ? "'" : "");
	if (rc)
		remake_end(r);
	return rc;
}

void remake_end(struct remake *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->images[i].failure);
		free(r->images[i].ptxas_how);
	}
	free(r->images);
	*r = (struct remake){0};
}

/* ---- the folder ---- */

char *remake_path(const struct remake *r, size_t index, const char *suffix)
{
	return text_format("%s/%zu%s", r->folder, index, suffix);
}

int remake_put(const struct remake *r, size_t index, const char *suffix, const char *data,
	       size_t size, struct error *err)
{
	_cleanup_free_ char *path = remake_path(r, index, suffix);
	_cleanup_close_ int fd =
		path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	size_t done = 0;

	while (fd >= 0 && done < size) {
		ssize_t n = write(fd, data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return fd >= 0 && done == size
		       ? 0
		       : error_set(err, errno ? errno : EIO, ERROR_NO_OFFSET, "%s: writing %s: %s",
				   r->request->text, path ? path : r->folder,
				   strerror(errno ? errno : EIO));
}

/* ---- the bundle ---- */

/* One file of the new image: what was made, else what was recorded. */
static int take_file(const struct remake *r, size_t index, const char *suffix, bool made,
		     struct made_file *out, struct error *err)
{
	const struct suite_member *m = r->images[index].member;
	const struct bundle *b = source_bundle(r->request->base, m);
	const struct record_file *recorded = bundle_file(b, m->image->id, suffix);
	int rc = -ENOENT;

	if (made) {
		_cleanup_free_ char *path = remake_path(r, index, suffix);

		rc = path ? file_read_all(path, FILE_MAX, &out->data, &out->size) : -ENOMEM;
		if (rc && rc != -ENOENT)
			return error_set(err, -rc, ERROR_NO_OFFSET, "%s: %s", path ? path : suffix,
					 strerror(-rc));
	}
	if (rc && recorded) {
		rc = bundle_read_file(b, recorded, &out->data, &out->size, err);
		if (rc)
			return rc;
	}
	if (!out->data)
		return 0;
	out->name = recorded ? strdup(recorded->name) : text_format("%.100s%s", m->entry, suffix);
	return out->name ? 0 : error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", suffix);
}

static int load(const struct remake *r, size_t index, const struct remake_tool *tool,
		struct made_image *image, struct error *err)
{
	static const char *const suffixes[] = MADE_SUFFIXES;
	const char *how = r->images[index].ptxas_how ? r->images[index].ptxas_how : tool->ptxas_how;
	_cleanup_free_ char *path = remake_path(r, index, ".cubin");
	int rc = path ? file_read_all(path, FILE_MAX, &image->data, &image->size) : -ENOMEM;

	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "%s: %s", path ? path : "cubin",
				 strerror(-rc));
	image->loader = tool->loader;
	if ((tool->ptxas && !(image->ptxas = strdup(tool->ptxas))) ||
	    (how && !(image->ptxas_how = strdup(how))))
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for %s", path);
	for (size_t i = 0; !rc && i < ARRAY_LENGTH(suffixes); i++) {
		bool made = tool->metadata || !strcmp(suffixes[i], ".ptx");

		rc = take_file(r, index, suffixes[i], made, &image->files[i], err);
	}
	return rc;
}

static int write_made(const struct remake *r, const struct remake_image *one, struct hash128 id,
		      struct made *made, struct error *err)
{
	const struct source *base = r->request->base;
	int rc = made_outcome(made, one->member->image->id, &id, NULL, err);

	for (size_t i = 0; !rc && r->request->launches && i < base->count; i++)
		rc = made_launches(made, base->bundles[i], one->member->image->id, id, err);
	return rc;
}

static int write_one(struct remake *r, size_t index, const struct remake_tool *tool,
		     struct made *made, struct error *err)
{
	struct remake_image *one = &r->images[index];
	struct made_image image = {0};
	struct hash128 id;
	struct error why;
	int rc;

	if (!one->failure) {
		rc = load(r, index, tool, &image, &why);
		if (!rc)
			rc = made_add(made, &image, &id, &why);
		made_image_clear(&image);
		if (!rc)
			return write_made(r, one, id, made, err);
		one->failure = strdup(why.message);
		if (!one->failure)
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s", why.message);
	}
	return made_outcome(made, one->member->image->id, NULL, one->failure, err);
}

static int write_facts(struct made *made, const struct remake_tool *tool, struct error *err)
{
	int rc = made_fact(made, "compiler.version", tool->version, tool->how, err);

	if (!rc && tool->commit && *tool->commit)
		rc = made_fact(made, "compiler.commit", tool->commit, tool->how, err);
	if (!rc)
		rc = made_fact(made, "compiler.command", tool->command, "run for each image", err);
	return rc;
}

int remake_write(struct remake *r, const char *path, const struct remake_tool *tool,
		 struct error *err)
{
	struct made made;
	size_t failed = 0;
	int rc = made_open(&made, path, r->request->argc, r->request->argv, err);

	if (rc)
		return rc;
	rc = write_facts(&made, tool, err);
	for (size_t i = 0; !rc && i < r->count; i++) {
		rc = write_one(r, i, tool, &made, err);
		failed += r->images[i].failure != NULL;
	}
	for (size_t i = 0; !rc && r->request->launches && i < r->request->base->count; i++)
		rc = made_tensor_maps(&made, r->request->base->bundles[i], err);
	if (!rc && failed == r->count)
		rc = error_set(err, ENOEXEC, ERROR_NO_OFFSET, "%s: none of %zu images; %s: %s",
			       r->request->text, r->count, r->images[0].member->entry,
			       r->images[0].failure);
	if (!rc)
		return made_close(&made, err);
	made_abandon(&made);
	return rc;
}
