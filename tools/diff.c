/* SPDX-License-Identifier: MIT */
/* kernelab diff: replay under A and B, then the verdict; the result is kept only with -o. */
#include "tools/verbs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/log.h"
#include "tools/anew.h"
#include "tools/cross.h"
#include "tools/replay_rows.h"
#include "tools/verdict.h"

/* A result that goes away: a folder of its own, so that nothing else can be in its place. */
static struct {
	char folder[512], file[600];
	pid_t owner; /* a forked worker removes nothing */
} temporary;

static void temporary_remove(void)
{
	if (!temporary.folder[0] || temporary.owner != getpid())
		return;
	unlink(temporary.file);
	rmdir(temporary.folder);
	temporary.folder[0] = '\0';
}

/* unlink and rmdir are async-signal-safe; the signal then has its usual effect. */
static void on_signal(int number)
{
	temporary_remove();
	signal(number, SIG_DFL);
	raise(number);
}

static int temporary_make(const struct verb *verb)
{
	const char *base = getenv("TMPDIR");
	int n = snprintf(temporary.folder, sizeof(temporary.folder), "%s/kernelab-diff-XXXXXX",
			 base && *base ? base : "/tmp");

	if (n < 0 || (size_t)n >= sizeof(temporary.folder) || !mkdtemp(temporary.folder)) {
		log_error("%s: no folder for the result in %s: %s (give -o FILE)", verb->name,
			  base && *base ? base : "/tmp", strerror(errno));
		temporary.folder[0] = '\0';
		return 2;
	}
	temporary.owner = getpid();
	snprintf(temporary.file, sizeof(temporary.file), "%s/result.klab", temporary.folder);
	/* replay_run has handlers of its own and puts these back afterwards */
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
	return 0;
}

/* The verdict; where the stage of a fault is open, once more with crossed stages. */
static int report(const struct verb *verb, const struct replay_options *o,
		  const struct cross_options *c, struct verdict_options *v)
{
	char *result = (char *)o->result;
	struct analysis *a;
	bool added = false;
	int status = verdict_analyze(verb, v, &result, 1, &a);

	if (!status) {
		status = cross_families(verb, c, o, a, &added);
		if (status || added)
			analysis_free(a);
	}
	if (!status && added)
		status = verdict_analyze(verb, v, &result, 1, &a);
	if (!status) {
		a->results_temporary = temporary.folder[0];
		return verdict_finish(verb, v, a);
	}
	verdict_abandon(v);
	return status;
}

static int replay_and_report(const struct verb *verb, struct replay_options *o,
			     const struct cross_options *c, struct verdict_options *v)
{
	char *result = (char *)o->result;
	struct replay_summary summary;
	struct error err;

	o->anew = anew_may();
	if (replay_run(o, &summary, &err)) {
		verdict_abandon(v);
		temporary_remove();
		if (summary.addresses_taken)
			log_error("%s: cannot start anew: %s", verb->name, strerror(-anew_start()));
		log_error("%s: %s", verb->name, err.message);
		return 2;
	}
	if (summary.interrupted) {
		log_error("%s: interrupted%s%s", verb->name,
			  temporary.folder[0] ? "" : "; what was replayed is in ",
			  temporary.folder[0] ? "" : result);
		verdict_abandon(v);
		return STATUS_INTERRUPTED;
	}
	return report(verb, o, c, v);
}

int verb_diff(const struct verb *verb, int argc, char **argv)
{
	__attribute__((cleanup(verdict_abandon))) struct verdict_options v =
		VERDICT_OPTIONS_DEFAULT;
	struct cross_options c = {0};
	struct replay_options o;
	const char *device = "auto", *trials = "all";
	__attribute__((cleanup(option_texts_free))) struct option_texts dtypes = {0};
	char **operands;
	int count, status;

	replay_options_init(&o);
	o.shard = "whole"; /* judged at once: a part alone would be incomplete */
	const struct option_row rows[] = {
		REPLAY_OPTION_ROWS(o, device, trials, dtypes),
		{OPTION_TEXT, "output", 'o', "FILE",
		 "keep the result, for kernelab analyze; must not exist", &o.result},
		CROSS_OPTION_ROWS(c),
		VERDICT_OPTION_ROWS(v),
		{.kind = OPTION_END},
	};
	if (options_parse(verb, rows, argc, argv, false, &operands, &count, &status) ==
	    OPTIONS_EXIT)
		return status;
	if (replay_rows_take(verb, &o, device, trials, &dtypes))
		return verb->usage_status;
	if (!count || !o.b) {
		log_error("%s: %s; see kernelab diff --help", verb->name,
			  !count ? "no BUNDLE given" : "no source of side B given (--b)");
		return verb->usage_status;
	}
	status = cross_check(verb, &c);
	if (!status)
		status = verdict_prepare(verb, &v);
	if (status)
		return status;
	if (!o.result) {
		status = temporary_make(verb);
		if (status) {
			verdict_abandon(&v);
			return status;
		}
		o.result = temporary.file;
	}
	o.bundles = (const char *const *)operands;
	o.bundle_count = (size_t)count;
	o.argc = argc;
	o.argv = argv;
	status = replay_and_report(verb, &o, &c, &v);
	temporary_remove();
	return status;
}
