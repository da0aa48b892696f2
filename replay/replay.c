/* SPDX-License-Identifier: MIT */
/* Runs every recorded launch under compiler builds A and B and writes a result bundle. */
#include "replay/replay.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "replay/crew.h"
#include "replay/devices.h"
#include "replay/environment.h"
#include "replay/process.h"
#include "replay/progress.h"
#include "replay/ledger.h"
#include "replay/resume.h"
#include "replay/table.h"

static volatile int stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

struct replay {
	struct plan *plan;
	const struct replay_options *options;
	struct replay_summary *summary;
	struct ledger ledger;
	struct resume resume; /* what was done before; empty where nothing was */
	char *driver;
	struct devices devices;
	struct progress progress;
	struct cost own; /* of this process; the workers' is in the summary */
	struct stopwatch watch;
};

void replay_options_init(struct replay_options *o)
{
	*o = (struct replay_options){.repeats = 3,
				     .repeats_max = 100,
				     .timeout_s = 60.0,
				     .trials = TRIALS_ALL,
				     .progress_fd = STDERR_FILENO};
}

int replay_device_parse(const char *text, enum replay_device *device)
{
	static const char *const names[] = {"auto", "gpu", "soft"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (!strcmp(text, names[i])) {
			*device = (enum replay_device)i;
			return 0;
		}
	}
	return -EINVAL;
}

int replay_trials_parse(const char *text, uint32_t *trials)
{
	*trials = 0;
	if (!strcmp(text, "all") || !strcmp(text, "none")) {
		*trials = *text == 'a' ? TRIALS_ALL : 0;
		return 0;
	}
	for (;;) {
		size_t n = strcspn(text, ",");
		uint32_t kind = TRIAL_POISON;

		if (n == 7 && !strncmp(text, "derived", n)) {
			*trials |= TRIALS_DERIVED;
			if (!text[n])
				return 0;
			text += n + 1;
			continue;
		}

		while (kind < TRIAL_KINDS &&
		       (strncmp(trial_kind_name(kind), text, n) || trial_kind_name(kind)[n]))
			kind++;
		if (!n || kind >= TRIAL_KINDS)
			return -EINVAL;
		*trials |= 1u << kind;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

/* ---- the whole ---- */

static void print_plan(const struct replay *p)
{
	FILE *out = p->options->out ? p->options->out : stdout;

	if (p->options->pairs)
		table_pairs(p->plan, out);
	if (p->options->dry_run)
		table_launches(p->plan, out);
}

static bool runs(const struct replay_options *o)
{
	return !o->dry_run && !o->pairs;
}

/* True for a case of this shard that is still to be run. */
static bool is_mine(const struct replay *p, size_t number)
{
	return shard_has(&p->plan->shard, p->plan->cases[number].share) &&
	       !(p->resume.done && p->resume.done[number]);
}

static bool is_wanted(const void *data, size_t number)
{
	return is_mine(data, number);
}

/* Cases that cannot be run stand in the result with their reason. */
static int note_reasons(struct replay *p, struct error *err)
{
	for (size_t i = 0; i < p->plan->count; i++) {
		struct open_case c = {.number = i, .fidelity = FIDELITY_UNTESTED};
		int rc;

		if (!p->plan->cases[i].reason || !is_mine(p, i))
			continue;
		snprintf(c.reason, sizeof(c.reason), "%s", p->plan->cases[i].reason);
		rc = ledger_case(&p->ledger, &c);
		if (rc)
			return error_set(err, -rc, ERROR_NO_OFFSET, "writing %s: %s",
					 p->options->result, strerror(-rc));
	}
	return 0;
}

static int run_crew(struct replay *p, struct error *err)
{
	struct post posts[DEVICES_MOST] = {0};
	struct crew crew = {.plan = p->plan,
			    .options = p->options,
			    .summary = p->summary,
			    .ledger = &p->ledger,
			    .resume = &p->resume,
			    .progress = &p->progress,
			    .watch = &p->watch,
			    .stop = &stop_signal,
			    .driver = p->driver,
			    .posts = posts,
			    .post_count = p->devices.count};
	uint64_t bytes = 0;
	int rc = queue_make(&crew.queue, p->plan, p->devices.count, is_wanted, p);

	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "no memory for the queue of launches");
	for (size_t i = 0; i < p->devices.count; i++)
		posts[i].ordinal = p->devices.items[i];
	for (size_t i = 0; i < crew.queue.unit_count; i++)
		bytes += crew.queue.units[i].bytes;
	progress_start(&p->progress, p->options->progress_fd, crew.queue.case_count, "launches");
	progress_bytes(&p->progress, bytes);
	rc = crew_run(&crew, err);
	progress_end(&p->progress);
	queue_free(&crew.queue);
	return rc;
}

static int run_all(struct replay *p, struct error *err)
{
	int rc = note_reasons(p, err);

	if (!rc)
		rc = run_crew(p, err);
	if (stop_signal && (!rc || rc == -EINTR)) {
		p->summary->interrupted = true;
		rc = 0;
	}
	return rc;
}

/* Ctrl-C, the batch system's end, a terminal that goes away: all leave a valid result. */
static const int stops[] = {SIGINT, SIGTERM, SIGHUP};

/* A signal that the caller ignores (nohup) stays ignored. */
static void catch_signals(struct sigaction *old)
{
	struct sigaction action = {.sa_handler = on_signal};

	stop_signal = 0;
	for (size_t i = 0; i < ARRAY_LENGTH(stops); i++)
		if (!sigaction(stops[i], NULL, &old[i]) && old[i].sa_handler != SIG_IGN)
			sigaction(stops[i], &action, NULL);
}

static void release_signals(const struct sigaction *old)
{
	for (size_t i = 0; i < ARRAY_LENGTH(stops); i++)
		sigaction(stops[i], &old[i], NULL);
}

static void note_problems(struct replay *p, const struct source *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (*bundle_problem(s->bundles[i]))
			progress_note(&p->progress, "%s: not whole, what is there is replayed: %s",
				      s->bundles[i]->path, bundle_problem(s->bundles[i]));
}

/* What this process did itself; what it waited for is the workers' time. */
static void finish_cost(struct replay *p)
{
	stopwatch_switch(&p->watch, ACTIVITY_HOST);
	p->summary->wall_ns = 0;
	for (size_t i = 0; i < ACTIVITY_COUNT; i++)
		p->summary->wall_ns += p->own.ns[i];
	p->summary->writing_ns = p->own.ns[ACTIVITY_DISK];
}

static int note_difference(void *data, const char *name, const char *a, const char *b)
{
	struct replay *p = data;

	progress_note(&p->progress, "beside the compiler %s differs: A: %s; B: %s", name,
		      a ? a : "not set", b ? b : "not set");
	return 0;
}

static int run_device(struct replay *p, struct error *err)
{
	char how[200];
	size_t there;
	int rc = driver_choose(p->options, &p->driver, &there, how, sizeof(how), err), closed;

	if (!rc)
		rc = devices_parse(&p->devices, p->options->devices, there, err);
	if (rc)
		return rc;
	if (p->options->device == REPLAY_DEVICE_AUTO && !strncmp(how, "no GPU", 6))
		progress_note(&p->progress, "%s (PTX level: ptxas is not executed)", how);
	note_problems(p, p->plan->base);
	environment_compare(p->plan->a, p->plan->b, note_difference, p);
	if (p->plan->a != p->plan->base)
		note_problems(p, p->plan->a);
	if (p->plan->b != p->plan->base && p->plan->b != p->plan->a)
		note_problems(p, p->plan->b);
	if (p->options->resume && !access(p->options->result, F_OK)) {
		rc = resume_open(&p->resume, p->plan, p->options, err);
		if (rc)
			return rc;
	}
	stopwatch_start(&p->watch, &p->own, ACTIVITY_DISK);
	rc = ledger_open(&p->ledger, p->resume.old ? p->resume.path : p->options->result, p->plan,
			 p->options, p->summary, p->driver, how, err);
	if (!rc && p->resume.old)
		rc = resume_copy(&p->resume, &p->ledger, err);
	if (rc) {
		ledger_close(&p->ledger, err ? err->message : "failed");
		return rc;
	}
	rc = run_all(p, err);
	if (p->summary->addresses_taken && !p->resume.old)
		unlink(p->options->result);
	finish_cost(p);
	if (!rc)
		rc = ledger_cost(&p->ledger);
	closed = ledger_close(&p->ledger, p->summary->interrupted ? "interrupted"
					  : rc                    ? err->message
								  : NULL);
	if (!rc && closed)
		rc = error_set(err, -closed, ERROR_NO_OFFSET, "writing %s: %s", p->options->result,
			       strerror(-closed));
	return rc;
}

static int check_options(const struct replay_options *o, struct error *err)
{
	if (runs(o) && !o->result)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "no result file given (-o)");
	if (runs(o) && !o->resume && !access(o->result, F_OK))
		return error_set(err, EEXIST, ERROR_NO_OFFSET,
				 "%s exists; nothing is overwritten (--resume goes on with it)",
				 o->result);
	if (o->repeats < 1 || o->repeats > REPLAY_MAX_REPEATS)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "--repeats must be 1 to %u",
				 REPLAY_MAX_REPEATS);
	if (o->repeats_max > REPLAY_MAX_REPEATS)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "--repeats-max must be at most %u",
				 REPLAY_MAX_REPEATS);
	return 0;
}

int replay_run(const struct replay_options *options, struct replay_summary *summary,
	       struct error *err)
{
	struct replay p = {.options = options, .summary = summary};
	struct sigaction old[ARRAY_LENGTH(stops)];
	struct error own;
	int rc;

	err = err ? err : &own;
	*summary = (struct replay_summary){0};
	p.progress.fd = options->progress_fd;
	rc = check_options(options, err);
	catch_signals(old);
	if (!rc)
		rc = plan_make(&p.plan, options, &stop_signal, err);
	if (!rc && !runs(options))
		print_plan(&p);
	else if (!rc)
		rc = run_device(&p, err);
	summary->addresses_taken &= !stop_signal; /* whoever stopped it wants no other */
	release_signals(old);
	free(p.driver);
	resume_close(&p.resume);
	plan_free(p.plan);
	return rc;
}
