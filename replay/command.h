/* SPDX-License-Identifier: MIT */
/* Runs child programs, several at a time, and collects what they say. */
#ifndef REPLAY_COMMAND_H
#define REPLAY_COMMAND_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "kernelab/error.h"

#define COMMAND_MAX_ARGUMENTS 64

struct command {
	/* In: NULL-terminated, argv[0] looked for in PATH; borrowed. */
	const char *argv[COMMAND_MAX_ARGUMENTS + 1];
	const char *log; /* file for stdout and stderr together, created or cut; borrowed */
	/* Out: of wait(2), valid once it has run. */
	int status;
	pid_t pid; /* own use */
};

/*
 * Runs all of them, at most `at_once` (0: one a usable core) at a time, without stdin. Failing
 * programs are no error: see status. Calls done(data) after each that ended (NULL allowed). Once
 * *stop is not 0 (NULL allowed) those running are killed and -EINTR is returned. 0; -errno with err
 * where a process cannot be made. Not for programs with other children: it waits for its own pids
 * only, but the caller must be single-threaded.
 */
int commands_run(struct command *items, size_t count, size_t at_once, const volatile int *stop,
		 void (*done)(void *data), void *data, struct error *err);

/* What ended it and the first lines of its log, in one line; "" where it exited with 0. malloc'ed.
 */
char *command_failure(const struct command *c);

/* Cores that this process may use. */
size_t usable_cores(void);

#endif
