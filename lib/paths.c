/* SPDX-License-Identifier: MIT */
/* Where the shim, the software device and scripts lie, in a build folder and when installed. */
#include "lib/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/environment.h"

/* Below a folder of parts: as installed, then as built (the same place twice is looked at once). */
static const struct {
	const char *name, *installed, *built;
} parts[] = {
	[PART_SHIM] = {"libkernelab-shim.so", "libkernelab-shim.so", "shim/libkernelab-shim.so"},
	[PART_SOFTGPU] = {"software device libcuda.so.1", "softgpu/libcuda.so.1",
			  "softgpu/libcuda.so.1"},
	[PART_RECOMPILE] = {"recompile.py", "recompile.py", "replay/recompile.py"},
	[PART_REPRODUCE] = {"reproduce.py", "reproduce.py", "replay/reproduce.py"},
	[PART_PYTEST] = {"pytest_cases.py", "pytest_cases.py", "replay/pytest_cases.py"},
	[PART_GLUE] = {"the Python glue", "glue/sitecustomize.py", "scripts/glue/sitecustomize.py"},
};

struct search {
	char *found;
	char looked[320]; /* every place, for the message */
};

static void look_at(struct search *s, const char *folder, const char *below)
{
	_cleanup_free_ char *path = text_format("%s/%s", folder, below);
	_cleanup_free_ char *real = NULL;
	size_t used = strlen(s->looked);
	char *slash;

	if (s->found || !path)
		return;
	snprintf(s->looked + used, sizeof(s->looked) - used, "%s%s", used ? ", " : "", path);
	if (access(path, R_OK))
		return;
	/* Only the folder is made canonical: the file's own name is what the loader looks for. */
	slash = strrchr(path, '/');
	*slash = 0;
	real = realpath(path, NULL);
	if (real)
		s->found = text_format("%s/%s", real, slash + 1);
}

static void look_below(struct search *s, const char *folder, enum part part)
{
	look_at(s, folder, parts[part].installed);
	if (strcmp(parts[part].installed, parts[part].built) != 0)
		look_at(s, folder, parts[part].built);
}

/* The folder above that of the running program: build/ of build/tools/kernelab. */
static void look_beside_program(struct search *s, enum part part)
{
	char program[PATH_MAX];
	_cleanup_free_ char *folder = NULL;
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	if (n <= 0)
		return;
	program[n] = 0;
	slash = strrchr(program, '/');
	if (!slash)
		return;
	*slash = 0;
	folder = text_format("%s/..", program);
	if (folder)
		look_at(s, folder, parts[part].built);
}

int part_find(enum part part, char **path, struct error *err)
{
	const char *chosen = environment_get(ENVIRONMENT_LIBDIR);
	struct search s = {0};

	if (chosen) {
		look_below(&s, chosen, part);
	} else {
		look_beside_program(&s, part);
		look_below(&s, KERNELAB_LIBDIR_DEFAULT, part);
	}
	if (!s.found)
		return error_set(err, ENOENT, ERROR_NO_OFFSET, "%s not found; looked at %s%s",
				 parts[part].name, s.looked,
				 chosen ? " (KERNELAB_LIBDIR is set)" : "");
	*path = s.found;
	return 0;
}
