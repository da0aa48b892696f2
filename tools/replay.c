/* SPDX-License-Identifier: MIT */
/* kernelab replay: runs recorded launches under builds A and B and writes the result. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/log.h"
#include "replay/replay.h"
#include "tools/anew.h"
#include "tools/options.h"
#include "tools/replay_rows.h"
#include "tools/verbs.h"

static void print_summary(const struct replay_options *o, const struct replay_summary *s)
{
	fprintf(stderr,
		"kernelab: %" PRIu64 " of %" PRIu64 " configs of %" PRIu64
		" families tested, %" PRIu64 " launches on %s: %" PRIu64 " faithful, %" PRIu64
		" nondeterministic, %" PRIu64 " unfaithful, %" PRIu64 " untested; %" PRIu64
		" derived launches; %" PRIu64 " failed trials, %" PRIu64
		" worker restarts; result in %s\n",
		s->configs_tested, s->configs, s->families, s->cases,
		s->device[0] ? s->device : "no device", s->faithful, s->nondeterministic,
		s->unfaithful, s->untested, s->derived, s->failures, s->restarts, o->result);
}

/* What is not machine code yet: whose compiler is at work. */
static void print_compiled(const struct replay_summary *s)
{
	if (s->compiled)
		fprintf(stderr,
			"kernelab: of %" PRIu64 " images of PTX or fatbins %" PRIu64
			" ran as the machine code that the recorded run's driver made (capture "
			"--cupti), %" PRIu64 " were compiled by the driver here\n",
			s->compiled, s->driver_code, s->compiled - s->driver_code);
}

static double share(const struct cost *c, enum activity a)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ACTIVITY_COUNT; i++)
		sum += c->ns[i];
	return sum ? 100.0 * (double)c->ns[a] / (double)sum : 0;
}

/* A byte a nanosecond is a GB/s. */
static void tell_rate(const char *before, uint64_t bytes, const char *what, uint64_t ns)
{
	fprintf(stderr, "%s%.3f GB %s", before, (double)bytes * 1e-9, what);
	if (bytes && ns)
		fprintf(stderr, " (%.0f GB/s)", (double)bytes / (double)ns);
}

/* Where the time went, the greatest shares first. */
static void print_cost(const struct replay_summary *s)
{
	const struct cost *c = &s->cost;
	double seconds = (double)s->wall_ns * 1e-9;
	bool told[ACTIVITY_COUNT] = {0};

	fprintf(stderr,
		"kernelab: %" PRIu64 " trials in %.2f s (%.0f/s); workers' time:", c->trials,
		seconds, seconds > 0 ? (double)c->trials / seconds : 0);
	for (size_t n = 0; n < ACTIVITY_COUNT; n++) {
		enum activity most = ACTIVITY_COUNT;

		for (enum activity a = 0; a < ACTIVITY_COUNT; a++)
			if (!told[a] && (most == ACTIVITY_COUNT || c->ns[a] > c->ns[most]))
				most = a;
		told[most] = true;
		if (share(c, most) >= 0.5)
			fprintf(stderr, "%s %s %.0f %%", n ? "," : "", activity_name(most),
				share(c, most));
	}
	fprintf(stderr,
		"; PCIe %.3f GB up (%.3f GB of recorded contents), %.3f GB down; on the device",
		(double)c->uploaded_bytes * 1e-9, (double)c->input_bytes * 1e-9,
		(double)c->downloaded_bytes * 1e-9);
	tell_rate(" ", c->restored_bytes, "restored", c->ns[ACTIVITY_RESTORING]);
	tell_rate(", ", c->changed_bytes, "changed", c->ns[ACTIVITY_CHANGING]);
	tell_rate(", ", c->compared_bytes, "compared", c->ns[ACTIVITY_COMPARING]);
	fputc('\n', stderr);
}

int verb_replay(const struct verb *verb, int argc, char **argv)
{
	struct replay_options o;
	struct replay_summary summary;
	struct error err;
	const char *device = "auto", *trials = "all";
	__attribute__((cleanup(option_texts_free))) struct option_texts dtypes = {0};
	char **operands;
	int count, status, rc;

	replay_options_init(&o);
	const struct option_row rows[] = {
		REPLAY_OPTION_ROWS(o, device, trials, dtypes),
		{OPTION_TEXT, "output", 'o', "FILE",
		 "result to write; must not exist, but for --resume", &o.result},
		{OPTION_TEXT, "shard", 0, "I/N",
		 "replay part I of N (from 0); or slurm (default in a Slurm array), rank, whole",
		 &o.shard},
		{OPTION_FLAG, "resume", 0, NULL,
		 "go on with the result of a replay that was stopped", &o.resume},
		{OPTION_FLAG, "dry-run", 'n', NULL,
		 "list what would run and what not, with the memory needed; run nothing",
		 &o.dry_run},
		{OPTION_FLAG, "pairs", 0, NULL,
		 "print which config of B belongs to which recorded one; run nothing", &o.pairs},
		{0},
	};
	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (replay_rows_take(verb, &o, device, trials, &dtypes))
		return verb->usage_status;
	if (!count || !o.b || (!o.result && !o.dry_run && !o.pairs)) {
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
	o.anew = anew_may();
	rc = replay_run(&o, &summary, &err);
	if (rc && summary.addresses_taken)
		log_error("replay: cannot start anew: %s", strerror(-anew_start()));
	if (rc) {
		log_error("replay: %s", err.message);
		return 2;
	}
	if (!o.dry_run && !o.pairs) {
		print_summary(&o, &summary);
		print_compiled(&summary);
		print_cost(&summary);
	}
	return summary.interrupted ? STATUS_INTERRUPTED : 0;
}
