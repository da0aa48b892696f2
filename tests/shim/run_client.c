/* SPDX-License-Identifier: MIT */
/* fork, exec, and the folder of bundles. */
#include "tests/shim/run_client.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base.h"
#include "tests/shim/cmocka_all.h"

const char *setting(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		fail_msg("%s is not set: run this by meson test", name);
	return value;
}

char *cache_cubin(const char *entry)
{
	_cleanup_free_ char *pattern = text_format("%s/*/%s.cubin", setting("CACHE"), entry);
	glob_t g;
	char *path;

	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	path = strdup(g.gl_pathv[0]);
	globfree(&g);
	return path;
}

static void become_client(const struct client_run *run, const char *mode, const char *image,
			  const char *const *environment)
{
	setenv("LD_PRELOAD", setting("SHIM"), 1);
	setenv("LD_LIBRARY_PATH", setting("FAKE"), 1);
	setenv("KERNELAB_OUTPUT", run->folder, 1);
	setenv("KERNELAB_CACHE_ROOTS", setting("CACHE"), 1);
	setenv("TRITON_HOME", run->folder, 1); /* no cache of the machine's user */
	unsetenv("TRITON_CACHE_DIR");
	unsetenv("TRITON_PTXAS_PATH");
	for (; environment && *environment; environment++)
		putenv((char *)*environment);
	execl(setting("CLIENT"), "client", mode, image, (char *)NULL);
	_exit(126);
}

int client_start(struct client_run *run, const char *mode, const char *entry,
		 const char *const *environment, int *out)
{
	_cleanup_free_ char *image = cache_cubin(entry);
	int pipes[2];
	pid_t pid;

	*run = (struct client_run){.folder = "/tmp/kernelab-shim-XXXXXX"};
	assert_non_null(mkdtemp(run->folder));
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		become_client(run, mode, image, environment);
	}
	close(pipes[1]);
	*out = pipes[0];
	return pid;
}

void client_open_bundles(struct client_run *run)
{
	_cleanup_free_ char *pattern = text_format("%s/*.klab", run->folder);
	struct error err;
	glob_t g;

	if (glob(pattern, 0, NULL, &g))
		return;
	for (size_t i = 0; i < g.gl_pathc && run->count < BUNDLES_MAX; i++) {
		if (bundle_open(&run->bundles[run->count], g.gl_pathv[i], &err) < 0)
			fail_msg("%s", err.message);
		run->count++;
	}
	globfree(&g);
}

void client_run(struct client_run *run, const char *mode, const char *entry,
		const char *const *environment)
{
	int out, pid = client_start(run, mode, entry, environment, &out);

	assert_int_equal(waitpid(pid, &run->status, 0), pid);
	close(out);
	client_open_bundles(run);
}

void client_clean(struct client_run *run)
{
	_cleanup_free_ char *command = text_format("rm -rf '%s'", run->folder);

	for (size_t i = 0; i < run->count; i++)
		bundle_close(run->bundles[i]);
	if (system(command))
		fail_msg("cannot remove %s", run->folder);
}
