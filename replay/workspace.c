/* SPDX-License-Identifier: MIT */
/* A private temporary folder that goes away with everything in it. */
#include "replay/workspace.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"

int workspace_make(char **path, const char *name, char **file, struct error *err)
{
	const char *base = getenv("TMPDIR");

	base = base && *base ? base : "/tmp";
	*path = text_format("%s/kernelab-side-XXXXXX", base);
	*file = NULL;
	if (*path && mkdtemp(*path)) {
		*file = text_format("%s/%s", *path, name);
		if (*file)
			return 0;
		rmdir(*path);
		errno = ENOMEM;
	}
	error_set(err, *path ? errno : ENOMEM, ERROR_NO_OFFSET, "no temporary folder in %s: %s",
		  base, strerror(*path ? errno : ENOMEM));
	free(*path);
	*path = NULL;
	return err ? -err->code : -EIO;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

void workspace_remove(char *path)
{
	if (path)
		nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(path);
}
