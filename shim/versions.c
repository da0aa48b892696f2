/* SPDX-License-Identifier: MIT */
/* Reads torch/version.py and triton/__init__.py; runs no Python. */
#include "shim/versions.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "lib/base.h"
#include "shim/facts.h"

#define MAPS_MAX   (64u << 20)
#define SOURCE_MAX (1u << 20)

/* The folder in front of `below` in the first mapped file that ends so: "/x/torch"; or NULL. */
static char *mapped_folder(const char *maps, const char *below)
{
	for (const char *hit = strstr(maps, below); hit; hit = strstr(hit + 1, below)) {
		const char *end = hit + strlen(below), *start = hit;

		while (start > maps && start[-1] != '\n' && start[-1] != ' ')
			start--;
		if ((*end == '\n' || *end == ' ' || !*end) && *start == '/')
			return strndup(start, (size_t)(hit - start));
	}
	return NULL;
}

/* The quoted text after "key" at the start of a line: key = 'value', key: Optional[str] = 'value'.
 */
static char *assigned(const char *source, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = source; line; line = strchr(line, '\n')) {
		const char *end, *quote;

		line += *line == '\n';
		if (strncmp(line, key, n) != 0 || !strchr(" :=", line[n]))
			continue;
		end = line + strcspn(line, "\n");
		quote = line + strcspn(line, "'\"\n");
		if (quote < end && quote + 1 + strcspn(quote + 1, "'\"\n") < end)
			return strndup(quote + 1, strcspn(quote + 1, "'\"\n"));
	}
	return NULL;
}

static int put_assigned(struct bundle_writer *w, const char *file, const char *source,
			const char *key, const char *name)
{
	_cleanup_free_ char *value = assigned(source, key);
	_cleanup_free_ char *how = text_format("%s in %s", key, file);

	return value && how ? facts_put(w, name, value, how) : 0;
}

static int put_torch(struct bundle_writer *w, const char *folder)
{
	_cleanup_free_ char *file = text_format("%s/version.py", folder), *source = NULL;
	size_t size;
	int r;

	if (!file || file_read_all(file, SOURCE_MAX, &source, &size) < 0)
		return 0;
	r = put_assigned(w, file, source, "__version__", "torch.version");
	if (r >= 0)
		r = put_assigned(w, file, source, "git_version", "torch.commit");
	if (r >= 0)
		r = put_assigned(w, file, source, "cuda", "torch.cuda");
	return r;
}

/* "fbtriton 3.7.4" of fbtriton-3.7.4.dist-info beside the package; malloc'ed, NULL if none or
 * several. */
static char *distribution(const char *folder, char **info)
{
	const char *slash = strrchr(folder, '/');
	_cleanup_free_ char *above = strndup(folder, (size_t)(slash - folder));
	DIR *dir = above ? opendir(above) : NULL;
	char *found = NULL;

	*info = NULL;
	if (!dir)
		return NULL;
	for (struct dirent *d; (d = readdir(dir));) {
		const char *name = d->d_name, *dash = strchr(name, '-');
		const char *end = strstr(name, ".dist-info");

		if (!dash || !end || strcmp(end, ".dist-info") != 0 || dash > end ||
		    !memmem(name, (size_t)(dash - name), "triton", 6))
			continue;
		if (found) { /* tritonparse, or two of them: not to be decided here */
			free(found);
			free(*info);
			*info = found = NULL;
			break;
		}
		found = text_format("%.*s %.*s", (int)(dash - name), name, (int)(end - dash - 1),
				    dash + 1);
		*info = text_format("%s/%s", above, name);
	}
	closedir(dir);
	return found;
}

/* The commit that HEAD of a git checkout names, without running git. malloc'ed or NULL. */
static char *git_head(const char *top)
{
	_cleanup_free_ char *path = text_format("%s/.git/HEAD", top), *head = NULL, *ref = NULL;
	_cleanup_free_ char *ref_path = NULL, *packed_path = NULL, *packed = NULL;
	size_t size = 0, n;
	const char *at;

	if (!path || file_read_all(path, SOURCE_MAX, &head, &size) < 0)
		return NULL;
	head[strcspn(head, "\r\n")] = 0;
	if (strncmp(head, "ref: ", 5) != 0)
		return strdup(head);
	if (strstr(head, ".."))
		return NULL;
	ref_path = text_format("%s/.git/%s", top, head + 5);
	if (ref_path && file_read_all(ref_path, SOURCE_MAX, &ref, &size) >= 0) {
		ref[strcspn(ref, "\r\n")] = 0;
		return strdup(ref);
	}
	packed_path = text_format("%s/.git/packed-refs", top);
	if (!packed_path || file_read_all(packed_path, 64 * SOURCE_MAX, &packed, &size) < 0)
		return NULL;
	n = strlen(head + 5);
	for (at = packed; (at = strstr(at, head + 5)); at += n)
		if (at - packed >= 41 && at[-1] == ' ' && (at[n] == '\n' || !at[n]))
			return strndup(at - 41, 40);
	return NULL;
}

/* 7 to 40 hexadecimal digits and nothing else. */
static bool is_commit(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n >= 7 && n <= 40 && !text[n];
}

/* A git_commit of pip's direct_url.json: "commit_id": "…". malloc'ed or NULL. */
static char *installed_from(const char *info)
{
	_cleanup_free_ char *path = text_format("%s/direct_url.json", info), *text = NULL;
	size_t size = 0;
	const char *at, *quote;

	if (!path || file_read_all(path, SOURCE_MAX, &text, &size) < 0)
		return NULL;
	at = strstr(text, "\"commit_id\"");
	quote = at ? strchr(at + strlen("\"commit_id\""), '"') : NULL;
	return quote ? strndup(quote + 1, strcspn(quote + 1, "\"")) : NULL;
}

static int put_commit(struct bundle_writer *w, char *commit, const char *how)
{
	int r = commit && is_commit(commit) ? facts_put(w, "triton.commit", commit, how) : -ENOENT;

	free(commit);
	return r;
}

/*
 * The commit of a Triton, from the first of these that tells one: its version (3.6.0+git1234abcd),
 * what pip noted when it installed from a repository, the checkout that it lies in
 * (TOP/python/triton).
 */
static int put_triton_commit(struct bundle_writer *w, const char *folder, const char *source,
			     const char *info)
{
	_cleanup_free_ char *version = assigned(source, "__version__");
	const char *git = version ? strstr(version, "+git") : NULL, *end;
	_cleanup_free_ char *top = NULL;
	int r = -ENOENT;

	if (git)
		r = put_commit(w, strndup(git + 4, strspn(git + 4, "0123456789abcdef")),
			       "its version");
	if (r == -ENOENT && info)
		r = put_commit(w, installed_from(info), "direct_url.json of its installation");
	end = folder + strlen(folder) - strlen("/python/triton");
	if (r == -ENOENT && end > folder && !strcmp(end, "/python/triton")) {
		top = strndup(folder, (size_t)(end - folder));
		r = put_commit(w, top ? git_head(top) : NULL, "HEAD of the checkout it lies in");
	}
	return r == -ENOENT ? 0 : r;
}

static int put_triton(struct bundle_writer *w, const char *folder)
{
	_cleanup_free_ char *file = text_format("%s/__init__.py", folder), *source = NULL;
	_cleanup_free_ char *info = NULL, *package = distribution(folder, &info);
	size_t size;
	int r;

	if (!file || file_read_all(file, SOURCE_MAX, &source, &size) < 0)
		return 0;
	r = put_assigned(w, file, source, "__version__", "triton.version");
	if (r >= 0 && package)
		r = facts_put(w, "triton.package", package, info);
	if (r >= 0)
		r = put_triton_commit(w, folder, source, info);
	return r < 0 ? r : facts_put(w, "triton.folder", folder, "its loaded library");
}

int versions_write(struct bundle_writer *w, bool *done)
{
	_cleanup_free_ char *maps = NULL, *torch = NULL, *triton = NULL;
	size_t size;
	int r = 0;

	if (file_read_all("/proc/self/maps", MAPS_MAX, &maps, &size) < 0)
		return 0;
	torch = mapped_folder(maps, "/lib/libtorch_cpu.so");
	triton = mapped_folder(maps, "/_C/libtriton.so");
	*done = torch && triton;
	if (torch)
		r = put_torch(w, torch);
	if (r >= 0 && triton)
		r = put_triton(w, triton);
	return r;
}
