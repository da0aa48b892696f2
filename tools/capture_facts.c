/* SPDX-License-Identifier: MIT */
/* Facts that must be found before the program runs: nothing is started inside it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/image/context.h"
#include "lib/log.h"
#include "tools/capture.h"

struct facts_file {
	FILE *f;
	const char *how;
};

/* A value is one field of one line: tabs and newlines become spaces. */
static void put_text(FILE *f, const char *text)
{
	for (; *text; text++)
		fputc(*text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text, f);
}

static void put(FILE *f, const char *name, const char *value, const char *how)
{
	fprintf(f, "%s\t", name);
	put_text(f, value);
	fputc('\t', f);
	put_text(f, how);
	fputc('\n', f);
}

static int take_answer(const char *fact, const char *value, void *data)
{
	struct facts_file *file = data;

	put(file->f, fact, value, file->how);
	return 0;
}

/* Output of `path --version`, at most size - 1 bytes; false if it could not be run. */
static bool ask_version(const char *path, char *text, size_t size)
{
	int pipes[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(pipes))
		return false;
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		execl(path, path, "--version", (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	while (pid > 0 && used + 1 < size &&
	       (n = read(pipes[0], text + used, size - 1 - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		used += (size_t)n;
	}
	text[used] = 0;
	close(pipes[0]);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

/* "Cuda compilation tools, release 12.8, V12.8.93" */
static void put_ptxas(FILE *f)
{
	const char *path = getenv("TRITON_PTXAS_PATH"), *version;
	_cleanup_free_ char *how = NULL;
	char text[1024];
	size_t n;

	if (!path || !*path)
		return;
	if (!ask_version(path, text, sizeof(text)) || !(version = strstr(text, ", V"))) {
		log_warning("capture: %s --version tells no version", path);
		put(f, "ptxas.version_unknown", path, "TRITON_PTXAS_PATH --version");
		return;
	}
	version += 3;
	n = strspn(version, "0123456789.");
	text[(size_t)(version - text) + n] = 0;
	how = text_format("%s --version (TRITON_PTXAS_PATH)", path);
	put(f, "ptxas.version", version, how ? how : "TRITON_PTXAS_PATH");
	put(f, "ptxas.path", path, "TRITON_PTXAS_PATH");
}

int capture_facts_write(const char *path, const struct capture_options *o, struct error *err)
{
	_cleanup_free_ char *how =
		o->text[ENVIRONMENT_CONTEXT]
			? text_format("context file %s", o->text[ENVIRONMENT_CONTEXT])
			: NULL;
	struct facts_file file = {.how = how ? how : "context file"};
	int r = 0;

	file.f = fopen(path, "wxe");
	if (!file.f)
		return error_set(err, errno, ERROR_NO_OFFSET, "cannot create %s: %s", path,
				 strerror(errno));
	if (o->text[ENVIRONMENT_CONTEXT])
		r = context_file_read(o->text[ENVIRONMENT_CONTEXT], take_answer, &file, err);
	if (o->text[ENVIRONMENT_COMMIT])
		put(file.f, "compiler.commit", o->text[ENVIRONMENT_COMMIT],
		    "kernelab capture --commit");
	if (o->text[ENVIRONMENT_LABEL])
		put(file.f, "run.label", o->text[ENVIRONMENT_LABEL], "kernelab capture --label");
	put_ptxas(file.f);
	if (fclose(file.f) && r >= 0)
		r = error_set(err, errno, ERROR_NO_OFFSET, "cannot write %s: %s", path,
			      strerror(errno));
	return r;
}
