/* SPDX-License-Identifier: MIT */
/* mkdtemp below $TMPDIR or /tmp. */
#include "tests/lib/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base.h"

static char folder[512];

static void must(int good, const char *what)
{
	if (!good) {
		perror(what);
		abort();
	}
}

int scratch_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/kernelab-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	return remove(path);
}

int scratch_teardown(void **state)
{
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char *scratch_path(const char *name)
{
	char *path = text_format("%s/%s", folder, name);

	must(path != NULL, "text_format");
	return path;
}

void scratch_write(const char *path, const void *data, size_t size)
{
	_cleanup_close_ int fd = -1;

	/* A new file each time: ext4 waits for the disk when a truncated one is closed. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	must(fd >= 0, path);
	must(write(fd, data, size) == (ssize_t)size, path);
}

char *scratch_read(const char *path, size_t *size)
{
	char *data;

	must(!file_read_all(path, SIZE_MAX / 4, &data, size), path);
	return data;
}

uint64_t scratch_size(const char *path)
{
	struct stat st;

	must(!stat(path, &st), path);
	return (uint64_t)st.st_size;
}
