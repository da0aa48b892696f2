/* SPDX-License-Identifier: MIT */
/* Runs the program as if it had been started without us. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base.h"
#include "tools/capture.h"

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static volatile pid_t child;

/* A key of the terminal signals the whole foreground group (si_code SI_KERNEL): not twice. */
static void forward(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	if (child > 0 && info->si_code != SI_KERNEL)
		kill(child, number);
	errno = saved;
}

struct dispositions {
	struct sigaction old[ARRAY_LENGTH(forwarded)];
	sigset_t mask;
};

/* Blocks the signals until the child's number is known; what the caller ignored stays ignored. */
static void take_signals(struct dispositions *d)
{
	struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t block;

	sigemptyset(&block);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_LENGTH(forwarded); i++)
		sigaddset(&block, forwarded[i]);
	sigprocmask(SIG_BLOCK, &block, &d->mask);
	for (size_t i = 0; i < ARRAY_LENGTH(forwarded); i++) {
		sigaction(forwarded[i], NULL, &d->old[i]);
		if (d->old[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
}

static void give_back_signals(const struct dispositions *d)
{
	for (size_t i = 0; i < ARRAY_LENGTH(forwarded); i++)
		sigaction(forwarded[i], &d->old[i], NULL);
	sigprocmask(SIG_SETMASK, &d->mask, NULL);
}

/* The child: tells errno through the pipe if it cannot become the program. */
static void become(char **argv, int report, const struct dispositions *d)
{
	int error;

	give_back_signals(d);
	execvp(argv[0], argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(CAPTURE_FAILED);
	_exit(CAPTURE_NOT_FOUND);
}

static int read_report(int fd)
{
	int error = 0;
	ssize_t n;

	do
		n = read(fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(error) ? error : 0;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CAPTURE_FAILED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int capture_child_run(char **argv, struct error *err)
{
	struct dispositions d;
	int report[2], error, status;

	if (pipe2(report, O_CLOEXEC)) {
		error_set(err, errno, ERROR_NO_OFFSET, "cannot make a pipe: %s", strerror(errno));
		return CAPTURE_FAILED;
	}
	take_signals(&d);
	child = fork();
	if (!child)
		become(argv, report[1], &d);
	error = errno;
	sigprocmask(SIG_SETMASK, &d.mask, NULL);
	close(report[1]);
	if (child < 0) {
		close(report[0]);
		error_set(err, error, ERROR_NO_OFFSET, "cannot fork: %s", strerror(error));
		return CAPTURE_FAILED;
	}
	error = read_report(report[0]);
	close(report[0]);
	status = wait_for(child);
	child = 0;
	give_back_signals(&d);
	if (!error)
		return status;
	error_set(err, error, ERROR_NO_OFFSET, "cannot run %s: %s", argv[0], strerror(error));
	return error == ENOENT ? CAPTURE_NOT_FOUND : CAPTURE_NOT_EXECUTABLE;
}
