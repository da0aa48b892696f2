/* SPDX-License-Identifier: MIT */
/* kernelab verify: one line a bundle, and before it one line a fault. */
#include "tools/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/bundle/files.h"
#include "lib/bundle/verify.h"
#include "lib/log.h"

/* Beyond this many, faults of one bundle are counted only, and that is said. */
#define FAULTS_SHOWN 50u

/* From good to worse: of several bundles the worst counts. */
#define STATUS_GOOD       0
#define STATUS_UNFINISHED 1
#define STATUS_BAD        2

struct shown {
	const char *path;
	uint64_t count; /* faults */
	double start_s, last_s;
	bool on_line; /* a progress line stands on the terminal */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void wipe_progress(struct shown *s)
{
	if (s->on_line)
		fprintf(stderr, "\r\033[K");
	s->on_line = false;
}

/* On stderr: in place on a terminal twice a second, else a line every ten seconds. */
static void show_progress(void *user, uint64_t done_bytes, uint64_t total_bytes)
{
	struct shown *s = user;
	bool terminal = isatty(STDERR_FILENO);
	double now = now_s(), rate;

	if (now - s->last_s < (terminal ? 0.5 : 10))
		return;
	s->last_s = now;
	rate = (double)done_bytes / (now - s->start_s);
	fprintf(stderr, "%s%s: %.1f of %.1f GB, %.2f GB/s, %.0f s left%s", terminal ? "\r" : "",
		s->path, (double)done_bytes * 1e-9, (double)total_bytes * 1e-9, rate * 1e-9,
		(double)(total_bytes - done_bytes) / rate, terminal ? "\033[K" : "\n");
	s->on_line = terminal;
}

/* A fault that comes from reading names the file already. */
static void show_fault(void *user, const char *fault)
{
	struct shown *s = user;
	size_t length = strlen(s->path);

	if (s->count++ >= FAULTS_SHOWN)
		return;
	wipe_progress(s);
	if (!strncmp(fault, s->path, length) && fault[length] == ':')
		printf("%s\n", fault);
	else
		printf("%s: %s\n", s->path, fault);
}

static int verify_one(const char *path)
{
	static const char *const words[] = {"good", "unfinished", "BAD"};
	struct shown shown = {.path = path, .start_s = now_s()};
	struct verify_calls calls = {show_fault, show_progress, &shown};
	struct verify_totals totals;
	struct bundle *b;
	struct error err;
	int status, verdict;

	if (bundle_open(&b, path, &err)) {
		printf("%s\n", err.message);
		return STATUS_BAD;
	}
	shown.last_s = shown.start_s;
	status = bundle_verify(b, &calls, &totals);
	wipe_progress(&shown);
	if (status)
		printf("%s: cannot be checked: %s\n", path, strerror(-status));
	if (totals.faults > FAULTS_SHOWN)
		printf("%s: %" PRIu64 " more faults\n", path, totals.faults - FAULTS_SHOWN);
	if (totals.behind)
		printf("%s: records that lead to one which was not written yet: %" PRIu64 "\n",
		       path, totals.behind);
	verdict = status || totals.faults ? STATUS_BAD
		  : totals.unfinished     ? STATUS_UNFINISHED
					  : STATUS_GOOD;
	printf("%s: %s, %s, %" PRIu64 " records, %" PRIu64 " chunks of %" PRIu64
	       " bytes in a file of %" PRIu64 "\n",
	       path, words[verdict], b->kind == BUNDLE_RESULT ? "result" : "capture",
	       totals.records, totals.chunks, totals.chunk_bytes, b->file_bytes);
	bundle_close(b);
	return verdict;
}

int verb_verify(const struct verb *verb, int argc, char **argv)
{
	static const struct option_row rows[] = {{.kind = OPTION_END}};
	struct bundle_paths paths;
	int operand_count, status, worst = STATUS_GOOD;
	struct error err;
	char **operands;

	if (options_parse(verb, rows, argc, argv, false, &operands, &operand_count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (!operand_count) {
		log_error("verify: no bundle given");
		return verb->usage_status;
	}
	if (bundle_paths_expand(&paths, operands, (size_t)operand_count, &err)) {
		log_error("%s", err.message);
		return STATUS_BAD;
	}
	for (size_t i = 0; i < paths.count; i++)
		if ((status = verify_one(paths.items[i])) > worst)
			worst = status;
	bundle_paths_free(&paths);
	if (fflush(stdout)) {
		log_error("cannot write to standard output: %m");
		return STATUS_BAD;
	}
	return worst;
}
