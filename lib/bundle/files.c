/* SPDX-License-Identifier: MIT */
/* Folders to the bundles in them. */
#include "lib/bundle/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base.h"

#define SUFFIX ".klab"

struct growing {
	char **items;
	size_t count, capacity;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes ownership of path, also on failure. */
static int add(struct growing *g, char *path)
{
	int status =
		path ? array_reserve(&g->items, g->count, &g->capacity, sizeof(char *)) : -ENOMEM;

	if (status)
		free(path);
	else
		g->items[g->count++] = path;
	return status;
}

static bool is_bundle_name(const char *name)
{
	size_t length = strlen(name), suffix = strlen(SUFFIX);

	return name[0] != '.' && length > suffix && !strcmp(name + length - suffix, SUFFIX);
}

static int add_folder(struct growing *g, const char *folder, struct error *err)
{
	const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
	size_t first = g->count;
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int status = 0;

	if (!dir)
		return error_set(err, errno, ERROR_NO_OFFSET, "%s: cannot open folder: %s", folder,
				 strerror(errno));
	while (!status && (errno = 0, entry = readdir(dir)))
		if (is_bundle_name(entry->d_name))
			status = add(g, text_format("%s%s%s", folder, slash, entry->d_name));
	if (!status && errno)
		status = -errno;
	closedir(dir);
	if (status)
		return error_set(err, -status, ERROR_NO_OFFSET, "%s: cannot read folder: %s",
				 folder, strerror(-status));
	if (g->count == first)
		return error_set(err, ENOENT, ERROR_NO_OFFSET, "no bundle in %s", folder);
	qsort(g->items + first, g->count - first, sizeof(*g->items), by_name);
	return 0;
}

int bundle_paths_expand(struct bundle_paths *out, char *const *operands, size_t count,
			struct error *err)
{
	struct growing g = {0};
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		struct stat st;

		if (operands[i][0] && !stat(operands[i], &st) && S_ISDIR(st.st_mode))
			status = add_folder(&g, operands[i], err);
		else if (add(&g, strdup(operands[i])))
			status = error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	}
	*out = (struct bundle_paths){g.items, g.count};
	if (status)
		bundle_paths_free(out);
	return status;
}

void bundle_paths_free(struct bundle_paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct bundle_paths){0};
}
