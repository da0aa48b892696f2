/* SPDX-License-Identifier: MIT */
/* An index of the cubins in Triton cache folders by size; contents decide. */
#include "shim/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kernelab/hash.h"
#include "lib/base.h"
#include "lib/environment.h"
#include "shim/map.h"

#define FILE_MAX (256u << 20)
/* A folder without an image may be one that a compiler is filling; after this it is not. */
#define SETTLED_S 30

struct indexed {
	char *path;
	size_t next; /* index plus one of the next file of that size, 0: none */
};

static struct indexed *files;
static size_t file_count, file_capacity;
static struct map by_size;      /* size → index plus one of the first */
static struct map seen_folders; /* hash of the path → anything */
static struct map root_times;   /* hash of the path → mtime plus one: listed whole at that time */

static const char *const suffixes[] = {
#define S(id, suffix) suffix,
	CACHE_SUFFIXES(S)
#undef S
};

static uint64_t text_key(const char *text)
{
	return hash_bytes(text, strlen(text)).low | 1;
}

static bool ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), s = strlen(suffix);

	return n > s && !strcmp(text + n - s, suffix);
}

static void index_file(const char *path, uint64_t size)
{
	char *copy = strdup(path);

	if (!copy || array_reserve(&files, file_count, &file_capacity, sizeof(*files)) < 0) {
		free(copy);
		return;
	}
	files[file_count].path = copy;
	files[file_count].next = (uintptr_t)map_get(&by_size, size);
	if (!map_put(&by_size, size, (void *)(uintptr_t)(file_count + 1)))
		file_count++;
	else
		free(copy);
}

/* One cache entry's folder. */
static void scan_entry(const char *folder)
{
	DIR *dir = opendir(folder);
	struct stat s;
	bool found = false;

	if (!dir)
		return;
	for (struct dirent *d; (d = readdir(dir));) {
		_cleanup_free_ char *path = NULL;

		if (!ends(d->d_name, ".cubin"))
			continue;
		path = text_format("%s/%s", folder, d->d_name);
		if (path && !stat(path, &s) && S_ISREG(s.st_mode) && s.st_size > 0) {
			index_file(path, (uint64_t)s.st_size);
			found = true;
		}
	}
	if (found || (!fstat(dirfd(dir), &s) && time(NULL) - s.st_mtime > SETTLED_S))
		map_put(&seen_folders, text_key(folder), &seen_folders);
	closedir(dir);
}

/* A folder of cache entries. Quick if nothing was added to it since the last time. */
static void scan_root(const char *root)
{
	uint64_t key = text_key(root);
	bool unsettled = false;
	struct stat s;
	DIR *dir;

	if (stat(root, &s) || !S_ISDIR(s.st_mode) ||
	    (uintptr_t)map_get(&root_times, key) == (uintptr_t)s.st_mtime + 1)
		return;
	dir = opendir(root);
	if (!dir)
		return;
	for (struct dirent *d; (d = readdir(dir));) {
		_cleanup_free_ char *folder = NULL;

		if (d->d_name[0] == '.' || (d->d_type != DT_DIR && d->d_type != DT_UNKNOWN))
			continue;
		folder = text_format("%s/%s", root, d->d_name);
		if (!folder || map_get(&seen_folders, text_key(folder)))
			continue;
		scan_entry(folder);
		unsettled |= !map_get(&seen_folders, text_key(folder));
	}
	closedir(dir);
	/* The clock of a file system is coarse: a time that is now may still see additions. */
	if (!unsettled && time(NULL) - s.st_mtime > 2)
		map_put(&root_times, key, (void *)((uintptr_t)s.st_mtime + 1));
}

/* base/triton/N of Inductor. */
static void scan_inductor(const char *base)
{
	_cleanup_free_ char *triton = text_format("%s/triton", base);
	DIR *dir = triton ? opendir(triton) : NULL;

	if (!dir)
		return;
	for (struct dirent *d; (d = readdir(dir));) {
		_cleanup_free_ char *root = NULL;

		if (d->d_name[0] == '.')
			continue;
		root = text_format("%s/%s", triton, d->d_name);
		if (root)
			scan_root(root);
	}
	closedir(dir);
}

static void scan_more(const char *list)
{
	while (list && *list) {
		size_t n = strcspn(list, ":");
		_cleanup_free_ char *root = strndup(list, n);

		if (root && *root) {
			scan_root(root);
			scan_inductor(root);
		}
		list += n + (list[n] == ':');
	}
}

/* The defaults as triton/runtime/cache.py and torch/_inductor/runtime/cache_dir_utils.py have them.
 */
static void scan_all(void)
{
	const char *triton = getenv("TRITON_CACHE_DIR"),
		   *inductor = getenv("TORCHINDUCTOR_CACHE_DIR");
	const char *home = getenv("TRITON_HOME"), *user = getenv("LOGNAME"),
		   *tmp = getenv("TMPDIR");
	_cleanup_free_ char *root = NULL, *base = NULL;

	if (triton && *triton)
		scan_root(triton);
	if (!home || !*home)
		home = getenv("HOME");
	if (home && *home && (root = text_format("%s/.triton/cache", home)))
		scan_root(root);
	if (!user || !*user)
		user = getenv("USER");
	if (inductor && *inductor)
		scan_inductor(inductor);
	else if ((base = text_format("%s/torchinductor_%s", tmp && *tmp ? tmp : "/tmp",
				     user && *user ? user : "root")))
		scan_inductor(base);
	scan_more(environment_get(ENVIRONMENT_CACHE_ROOTS));
}

static bool same_contents(const char *path, const void *data, size_t size)
{
	_cleanup_free_ char *other = NULL;
	size_t other_size = 0;

	return !file_read_all(path, size, &other, &other_size) && other_size == size &&
	       !memcmp(other, data, size);
}

static const char *look_up(const void *data, size_t size)
{
	for (size_t i = (uintptr_t)map_get(&by_size, size); i; i = files[i - 1].next)
		if (same_contents(files[i - 1].path, data, size))
			return files[i - 1].path;
	return NULL;
}

/* Only regular files: a path may come from a file that anybody wrote. */
static int read_regular(const char *path, char **data, size_t *size)
{
	struct stat s;

	if (stat(path, &s))
		return -errno;
	return S_ISREG(s.st_mode) ? file_read_all(path, FILE_MAX, data, size) : -EINVAL;
}

/* The files of image's stem beside it. True if there is metadata among them. */
static bool take_siblings(const char *image, struct cache_entry *out)
{
	const char *slash = strrchr(image, '/');
	const char *name = slash ? slash + 1 : image, *dot = strrchr(name, '.');
	int stem = dot ? (int)(dot - name) : (int)strlen(name);

	out->folder = slash ? strndup(image, (size_t)(slash - image)) : strdup(".");
	for (size_t i = 0; out->folder && i < CACHE_SUFFIX_COUNT; i++) {
		struct cache_file *f = &out->files[i];

		f->name = text_format("%.*s%s", stem, name, suffixes[i]);
		f->path = f->name ? text_format("%s/%s", out->folder, f->name) : NULL;
		if (f->path &&
		    !strcmp(f->path, image)) /* PTX loaded from a file is the image itself */
			continue;
		if (!f->path || read_regular(f->path, &f->data, &f->size) < 0)
			f->data = NULL;
	}
	if (out->files[CACHE_JSON].data || out->files[CACHE_SOURCE].data)
		return true;
	cache_entry_free(out);
	return false;
}

bool cache_find(const void *data, size_t size, const char *path, struct cache_entry *out)
{
	const char *found;

	memset(out, 0, sizeof(*out));
	if (path && take_siblings(path, out))
		return true;
	found = look_up(data, size);
	if (!found) {
		scan_all();
		found = look_up(data, size);
	}
	return found && take_siblings(found, out);
}

void cache_entry_free(struct cache_entry *e)
{
	for (size_t i = 0; i < CACHE_SUFFIX_COUNT; i++) {
		free(e->files[i].name);
		free(e->files[i].path);
		free(e->files[i].data);
	}
	free(e->folder);
	memset(e, 0, sizeof(*e));
}
