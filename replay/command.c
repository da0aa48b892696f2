/* SPDX-License-Identifier: MIT */
/* Runs child programs, several at a time, and collects what they say. */
#include "replay/command.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base.h"

#define POLL_US     5000
#define LOG_MAX     (1u << 20)
#define FAILURE_MAX 320 /* a reason stands in tables */
/* What the child exits with where the program cannot be started, as a shell does. */
#define STATUS_NOT_RUN 127

size_t usable_cores(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) < 1)
		return 1;
	return (size_t)CPU_COUNT(&set);
}

static void become(const struct command *c)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int log = open(c->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		_exit(STATUS_NOT_RUN);
	execvp(c->argv[0], (char *const *)c->argv);
	dprintf(2, "cannot run %s: %s\n", c->argv[0], strerror(errno));
	_exit(STATUS_NOT_RUN);
}

static int start(struct command *c, struct error *err)
{
	c->pid = fork();
	if (c->pid < 0)
		return error_set(err, errno, ERROR_NO_OFFSET, "cannot start %s: %s", c->argv[0],
				 strerror(errno));
	if (!c->pid)
		become(c);
	return 0;
}

static void kill_all(struct command *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (items[i].pid <= 0)
			continue;
		kill(items[i].pid, SIGKILL);
		while (waitpid(items[i].pid, &items[i].status, 0) < 0 && errno == EINTR)
			;
		items[i].pid = 0;
	}
}

/* Takes those that have ended; their number. */
static size_t reap(struct command *items, size_t count, void (*done)(void *data), void *data)
{
	size_t ended = 0;

	for (size_t i = 0; i < count; i++) {
		if (items[i].pid <= 0 ||
		    waitpid(items[i].pid, &items[i].status, WNOHANG) != items[i].pid)
			continue;
		items[i].pid = 0;
		ended++;
		if (done)
			done(data);
	}
	return ended;
}

int commands_run(struct command *items, size_t count, size_t at_once, const volatile int *stop,
		 void (*done)(void *data), void *data, struct error *err)
{
	size_t next = 0, running = 0;

	at_once = at_once ? at_once : usable_cores();
	for (size_t i = 0; i < count; i++)
		items[i].pid = 0;
	while (next < count || running) {
		int rc = 0;

		while (!rc && next < count && running < at_once) {
			rc = start(&items[next++], err);
			running += !rc;
		}
		if (!rc && stop && *stop)
			rc = error_set(err, EINTR, ERROR_NO_OFFSET, "interrupted");
		if (rc) {
			kill_all(items, next);
			return rc;
		}
		size_t ended = reap(items, next, done, data);

		running -= ended;
		if (!ended)
			usleep(POLL_US);
	}
	return 0;
}

char *command_failure(const struct command *c)
{
	_cleanup_free_ char *log = NULL;
	char how[48];
	size_t size = 0, n = 0;

	if (WIFEXITED(c->status) && !WEXITSTATUS(c->status))
		return strdup("");
	if (WIFSIGNALED(c->status))
		snprintf(how, sizeof(how), "signal %d", WTERMSIG(c->status));
	else
		snprintf(how, sizeof(how), "status %d", WEXITSTATUS(c->status));
	if (file_read_all(c->log, LOG_MAX, &log, &size))
		size = 0;
	for (size_t i = 0; i < size && n < FAILURE_MAX; i++) { /* one line, blanks squeezed */
		char ch = log[i];

		if (ch == '\n' || ch == '\t' || ch == '\r' || ch == 0)
			ch = ' ';
		if (ch != ' ' || (n && log[n - 1] != ' '))
			log[n++] = ch;
	}
	while (n && (log[n - 1] == ' ' || ((unsigned char)log[n - 1] & 0x80)))
		n--;
	return text_format("%s: %.*s", how, (int)n, n ? log : "");
}
