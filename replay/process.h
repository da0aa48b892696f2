/* SPDX-License-Identifier: MIT */
/* The parent's end of a worker process, and the choice of the driver that workers open. */
#ifndef REPLAY_PROCESS_H
#define REPLAY_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernelab/error.h"
#include "replay/plan.h"
#include "replay/pulse.h"
#include "replay/wire.h"

struct process {
	pid_t pid;           /* 0: none */
	int fd;              /* -1: none */
	struct pulse *pulse; /* of the process, or of the one that ended last; NULL: none yet */
};

/*
 * Forks a worker. It ignores SIGINT, dies with the parent, and holds no other descriptor of a
 * worker. The caller must not have touched the driver. It opens device `ordinal`; its first step,
 * with its limit, is `first`.
 * 0 or -errno with err.
 */
int process_start(struct process *w, int ordinal, struct step first, const struct plan *plan,
		  const struct replay_options *options, const char *driver_path, struct error *err);

/* Ends it (SIGKILL unless it has ended by itself) and says in words how it ended. */
void process_end(struct process *w, bool kill_it, char *how, size_t size);

/* Ends it and gives the pulse back. */
void process_close(struct process *w);

/*
 * The libcuda.so.1 to open: options->driver or KERNELAB_DRIVER where given; else by
 * options->device the system's if it has a device, or the software device. Tried in a child
 * process. malloc'ed; *count is how many devices it has. `how` gets one sentence about the choice.
 * -ENODEV with err.
 */
int driver_choose(const struct replay_options *options, char **path, size_t *count, char *how,
		  size_t size, struct error *err);

#endif
