/* SPDX-License-Identifier: MIT */
/* Opens the libcupti that the program has, or would get. */
#include "shim/cupti_find.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

#define SITES_MAX 8u

struct loaded {
	char *library;          /* path of a libcupti, or NULL */
	char *sites[SITES_MAX]; /* ".../site-packages" */
	size_t site_count;
};

static void add_site(struct loaded *l, const char *path)
{
	static const char *const names[] = {"/site-packages/", "/dist-packages/"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		const char *at = strstr(path, names[i]);
		size_t n = at ? (size_t)(at - path) + strlen(names[i]) - 1 : 0;
		bool known = !at || l->site_count == SITES_MAX;

		for (size_t k = 0; !known && k < l->site_count; k++)
			known = strlen(l->sites[k]) == n && !strncmp(l->sites[k], path, n);
		if (known)
			continue;
		l->sites[l->site_count] = strndup(path, n);
		if (l->sites[l->site_count])
			l->site_count++;
	}
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct loaded *l = data;

	if (!slash)
		return 0;
	if (!l->library && !strncmp(slash, "/libcupti.so", strlen("/libcupti.so")))
		l->library = strdup(info->dlpi_name);
	add_site(l, info->dlpi_name);
	return 0;
}

/* The last match that can be opened: of several versions the newest. */
static void *open_match(const char *pattern)
{
	void *library = NULL;
	glob_t found;

	if (!pattern || glob(pattern, 0, NULL, &found))
		return NULL;
	for (size_t i = found.gl_pathc; !library && i-- > 0;)
		library = dlopen(found.gl_pathv[i], RTLD_LAZY | RTLD_LOCAL);
	globfree(&found);
	return library;
}

static void *open_below(const char *folder, const char *const *patterns, size_t count)
{
	void *library = NULL;

	for (size_t i = 0; folder && *folder && !library && i < count; i++) {
		_cleanup_free_ char *pattern = text_format("%s/%s", folder, patterns[i]);

		library = open_match(pattern);
	}
	return library;
}

static void *of_packages(const struct loaded *l)
{
	static const char *const patterns[] = {
		"nvidia/cu[1-9][0-9]/lib/libcupti.so.[1-9]*",
		"nvidia/cuda_cupti/lib/libcupti.so.[1-9]*",
		"triton/backends/nvidia/lib/cupti/libcupti.so.[1-9]*",
	};
	void *library = NULL;

	for (size_t i = 0; !library && i < l->site_count; i++)
		library = open_below(l->sites[i], patterns, ARRAY_LENGTH(patterns));
	return library;
}

static void *by_loader(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
					    "libcupti.so"};
	void *library = NULL;

	for (size_t i = 0; !library && i < ARRAY_LENGTH(names); i++)
		library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	return library;
}

static void *of_toolkit(void)
{
	static const char *const patterns[] = {"extras/CUPTI/lib64/libcupti.so",
					       "lib64/libcupti.so", "lib/libcupti.so"};
	const char *folders[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
	void *library = NULL;

	for (size_t i = 0; !library && i < ARRAY_LENGTH(folders); i++)
		library = open_below(folders[i], patterns, ARRAY_LENGTH(patterns));
	return library;
}

void *cupti_find(const char **how)
{
	struct loaded l = {0};
	void *library = NULL;

	dl_iterate_phdr(visit, &l);
	*how = "loaded by the program";
	if (l.library)
		library = dlopen(l.library, RTLD_LAZY | RTLD_NOLOAD);
	if (!library) {
		*how = "of the program's Python packages";
		library = of_packages(&l);
	}
	if (!library) {
		*how = "by the loader's path";
		library = by_loader();
	}
	if (!library) {
		*how = "of the CUDA toolkit";
		library = of_toolkit();
	}
	dlerror();
	free(l.library);
	for (size_t i = 0; i < l.site_count; i++)
		free(l.sites[i]);
	return library;
}
