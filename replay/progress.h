/* SPDX-License-Identifier: MIT */
/* How far a long replay is: one line rewritten on a terminal, plain lines elsewhere. */
#ifndef REPLAY_PROGRESS_H
#define REPLAY_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	int fd; /* -1: silent */
	bool terminal;
	const char *unit; /* "launches" */
	size_t done, total;
	uint64_t done_bytes, total_bytes; /* of memory restored; total 0: not told */
	uint64_t start_ns, shown_ns;
};

/* unit: what is counted, in the plural; borrowed. */
void progress_start(struct progress *p, int fd, size_t total, const char *unit);
/* One more is done; shown at most five times a second on a terminal, each 10 s elsewhere. */
void progress_step(struct progress *p, const char *what);
/* Tells bytes too, and reckons the time left by them. Before the first step. */
void progress_bytes(struct progress *p, uint64_t total);
/* A line of its own. */
__attribute__((format(printf, 2, 3))) void progress_note(struct progress *p, const char *format,
							 ...);
void progress_end(struct progress *p);

#endif
