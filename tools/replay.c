/* SPDX-License-Identifier: MIT */
/* kernelab replay: runs recorded launches under builds A and B and writes the result. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/log.h"
#include "replay/replay.h"
#include "tools/options.h"
#include "tools/verbs.h"

/* Exit status of an interrupted program, as the shell has it. */
#define STATUS_INTERRUPTED 130

static void print_summary(const struct replay_options *o, const struct replay_summary *s)
{
	fprintf(stderr,
		"kernelab: %" PRIu64 " of %" PRIu64 " configs of %" PRIu64
		" families tested, %" PRIu64 " launches on %s: %" PRIu64 " faithful, %" PRIu64
		" nondeterministic, %" PRIu64 " unfaithful, %" PRIu64 " untested; %" PRIu64
		" failed trials, %" PRIu64 " worker restarts; result in %s\n",
		s->configs_tested, s->configs, s->families, s->cases,
		s->device[0] ? s->device : "no device", s->faithful, s->nondeterministic,
		s->unfaithful, s->untested, s->failures, s->restarts, o->result);
}

int verb_replay(const struct verb *verb, int argc, char **argv)
{
	struct replay_options o;
	struct replay_summary summary;
	struct error err;
	const char *device = "auto";
	char **operands;
	int count, status, rc;

	replay_options_init(&o);
	const struct option_row rows[] = {
		{OPTION_TEXT, "b", 'b', "SOURCE",
		 "kernels of side B: a bundle, a folder of bundles, or recorded", &o.b},
		{OPTION_TEXT, "a", 'a', "SOURCE",
		 "kernels of side A; default recorded: those of BUNDLE", &o.a},
		{OPTION_TEXT, "output", 'o', "FILE", "result to write; must not exist", &o.result},
		{OPTION_TEXT, "family", 0, "REGEX", "only families whose entry name matches",
		 &o.family},
		{OPTION_TEXT, "config", 0, "REGEX",
		 "only configs whose options match, as ls prints them", &o.config},
		{OPTION_COUNT, "launch", 0, "SEQ", "only the launch of that number", &o.launch},
		{OPTION_COUNT, "repeats", 0, "N", "identical runs of A and of B; default 3",
		 &o.repeats},
		{OPTION_COUNT, "repeats-max", 0, "N", "runs of A where A or B varies; default 20",
		 &o.repeats_max},
		{OPTION_SECONDS, "timeout", 0, "SECONDS", "limit of one launch; default 60",
		 &o.timeout_s},
		{OPTION_TEXT, "device", 0, "WHICH", "auto, gpu or soft; default auto", &device},
		{OPTION_TEXT, "a-version", 0, "TEXT", "version of side A, for the report",
		 &o.a_version},
		{OPTION_TEXT, "a-commit", 0, "TEXT", "commit of side A", &o.a_commit},
		{OPTION_TEXT, "b-version", 0, "TEXT", "version of side B", &o.b_version},
		{OPTION_TEXT, "b-commit", 0, "TEXT", "commit of side B", &o.b_commit},
		{OPTION_FLAG, "dry-run", 'n', NULL, "list what would run, and run nothing",
		 &o.dry_run},
		{0},
	};
	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (replay_device_parse(device, &o.device)) {
		log_error("replay: --device %s: auto, gpu or soft", device);
		return verb->usage_status;
	}
	if (!count || !o.b || (!o.result && !o.dry_run)) {
		log_error("replay: %s; see kernelab replay --help",
			  !count ? "no BUNDLE given"
			  : !o.b ? "no source of side B given (--b)"
				 : "no result file given (-o)");
		return verb->usage_status;
	}
	o.bundles = (const char *const *)operands;
	o.bundle_count = (size_t)count;
	o.argc = argc;
	o.argv = argv;
	rc = replay_run(&o, &summary, &err);
	if (rc) {
		log_error("replay: %s", err.message);
		return 2;
	}
	if (!o.dry_run)
		print_summary(&o, &summary);
	return summary.interrupted ? STATUS_INTERRUPTED : 0;
}
