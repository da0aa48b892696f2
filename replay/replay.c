/* SPDX-License-Identifier: MIT */
/* Runs every recorded launch under compiler builds A and B and writes a result bundle. */
#include "replay/replay.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base.h"
#include "replay/process.h"
#include "replay/progress.h"
#include "replay/ledger.h"
#include "replay/resume.h"
#include "replay/table.h"
#include "replay/trials.h"

#define ADDRESS_ATTEMPTS 3   /* workers tried where recorded addresses are taken */
#define START_SECONDS    120 /* for a worker to open its device */
#define JOB_SECONDS      10  /* for an idle worker to take the next case */

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
	struct process worker;
	char *driver;
	struct packet packet;
	struct device_text device;
	bool device_written;
	struct progress progress;
	struct cost own; /* of this process; the workers' is in the summary */
	struct stopwatch watch;
};

void replay_options_init(struct replay_options *o)
{
	*o = (struct replay_options){.repeats = 3,
				     .repeats_max = 20,
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

		while (kind <= TRIAL_GUARD &&
		       (strncmp(trial_kind_name(kind), text, n) || trial_kind_name(kind)[n]))
			kind++;
		if (!n || kind > TRIAL_GUARD)
			return -EINVAL;
		*trials |= 1u << kind;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

/* ---- workers ---- */

static void read_device(struct replay *p, uint64_t *refused)
{
	struct packet *m = &p->packet;
	struct device_text *d = &p->device;

	snprintf(d->name, sizeof(d->name), "%s", packet_get_text(m));
	d->software = packet_get_u64(m);
	d->major = (uint32_t)packet_get_u64(m);
	d->minor = (uint32_t)packet_get_u64(m);
	d->memory_bytes = packet_get_u64(m);
	d->driver_version = (uint32_t)packet_get_u64(m);
	*refused = packet_get_u64(m);
	p->summary->software = d->software;
	snprintf(p->summary->device, sizeof(p->summary->device), "%s", d->name);
}

/* Ends the worker and adds up what it cost. */
static void end_worker(struct replay *p, bool kill_it, char *how, size_t size)
{
	if (!p->worker.pid)
		return;
	process_end(&p->worker, kill_it, how, size);
	cost_add(&p->summary->cost, &p->worker.pulse->cost);
}

/* The worker's next message, up to the deadline that it sets itself. */
static int receive(struct replay *p, enum wire_type *type)
{
	enum activity before = stopwatch_switch(&p->watch, ACTIVITY_WAITING);
	int rc = wire_receive(p->worker.fd, type, &p->packet, &p->worker.pulse->deadline_ns,
			      &stop_signal);

	stopwatch_switch(&p->watch, before);
	return rc;
}

/* One worker, up to its READY. *refused: ranges it could not reserve. */
static int start_once(struct replay *p, uint64_t *refused, struct error *err)
{
	char how[160];
	enum wire_type type;
	struct step start = {.phase = PHASE_SETUP, .seconds = START_SECONDS};
	int rc = process_start(&p->worker, start, p->plan, p->options, p->driver, err);

	if (rc)
		return rc;
	rc = receive(p, &type);
	if (!rc && type == WIRE_READY) {
		read_device(p, refused);
		if (!p->packet.bad)
			return 0;
		rc = -EBADMSG;
	}
	if (!rc && type == WIRE_FAILED)
		rc = error_set(err, ENODEV, ERROR_NO_OFFSET, "%s: %.400s", p->driver,
			       packet_get_text(&p->packet));
	end_worker(p, true, how, sizeof(how));
	if (rc == -EINTR || rc == -ENODEV)
		return rc;
	return error_set(err, EIO, ERROR_NO_OFFSET, "no worker on %s: %s", p->driver,
			 rc == -ETIMEDOUT ? "it does not start" : how);
}

/* Ranges that another library took by chance are often free in the next process. */
static int start_worker(struct replay *p, struct error *err)
{
	uint64_t refused = 0;

	for (int i = 0; i < ADDRESS_ATTEMPTS; i++) {
		int rc = start_once(p, &refused, err);

		if (rc)
			return rc;
		if (!refused || i + 1 == ADDRESS_ATTEMPTS)
			break;
		end_worker(p, true, NULL, 0);
	}
	if (refused)
		progress_note(&p->progress,
			      "%llu recorded address ranges are taken in %d "
			      "processes: launches that need them cannot be restored",
			      (unsigned long long)refused, ADDRESS_ATTEMPTS);
	if (p->device_written)
		return 0;
	p->device_written = true;
	const struct record_device *before = resume_device(&p->resume);

	if (before &&
	    (strcmp(before->name, p->device.name) != 0 || before->software != p->device.software))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "--resume: %s was replayed on %s, not on %s", p->options->result,
				 before->name, p->device.name);
	if (before)
		return 0;
	int rc = ledger_device(&p->ledger, &p->device);

	return rc ? error_set(err, -rc, ERROR_NO_OFFSET, "writing the result: %s", strerror(-rc))
		  : 0;
}

/* ---- one case ---- */

static int read_extents(struct packet *m, struct open_case *c)
{
	uint64_t count = packet_get_u64(m);

	extents_free(&c->extents);
	if (count > packet_left(m) / (5 * sizeof(uint64_t)))
		return -EBADMSG;
	c->inputs = packet_get_hash(m);
	c->extents.items = calloc(count ? count : 1, sizeof(*c->extents.items));
	if (!c->extents.items)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		struct record_extent *x = &c->extents.items[i];

		x->address = packet_get_u64(m);
		x->size = packet_get_u64(m);
		x->arg = (uint32_t)packet_get_u64(m);
		x->dtype = (uint32_t)packet_get_u64(m);
		x->flags = (uint32_t)packet_get_u64(m);
		if (!x->size || x->address + x->size < x->address)
			return -EBADMSG;
	}
	c->extents.count = count;
	c->has_extents = true;
	return m->bad ? -EBADMSG : 0;
}

enum served { SERVED_MORE, SERVED_DONE, SERVED_RETRY };

/* One message of the worker. 0 with *served, or -errno (writing failed, nonsense received). */
static int serve(struct replay *p, struct open_case *c, enum wire_type type, bool *lost,
		 enum served *served)
{
	struct packet *m = &p->packet;

	*served = SERVED_MORE;
	switch (type) {
	case WIRE_CHUNK:
		return ledger_chunk(&p->ledger, m);
	case WIRE_EXTENTS:
		return read_extents(m, c);
	case WIRE_TRIAL:
		return ledger_trial(&p->ledger, c, m);
	case WIRE_CASE:
		c->fidelity = (enum fidelity)packet_get_u64(m);
		snprintf(c->reason, sizeof(c->reason), "%s", packet_get_text(m));
		c->judged = true;
		return m->bad ? -EBADMSG : 0;
	case WIRE_DONE:
		*lost = packet_get_u64(m);
		*served = packet_get_u64(m) ? SERVED_RETRY : SERVED_DONE;
		return m->bad ? -EBADMSG : 0;
	default:
		return -EBADMSG;
	}
}

/*
 * The worker is gone in the middle of a case: by the watchdog (`hang`) or by itself. Returns the
 * caution to run the case again with, or -1 where it is over. *rc: 0, or -errno of the writer.
 */
static int worker_gone(struct replay *p, struct open_case *c, bool hang, enum caution caution,
		       int *rc)
{
	struct step step, *s = &step;
	enum trial_status status = hang ? TRIAL_STATUS_HANG : TRIAL_STATUS_CRASH;
	char how[160], reason[240];

	end_worker(p, true, how, sizeof(how));
	*s = p->worker.pulse->step;
	if (s->phase == PHASE_IDLE) /* the job was not begun */
		s->phase = PHASE_SETUP;
	*rc = 0;
	if (hang)
		snprintf(reason, sizeof(reason), "no end after %.3g s", s->seconds);
	else
		snprintf(reason, sizeof(reason), "%s", how);
	if (s->phase == PHASE_PROBE && caution < CAUTION_NO_PROBE)
		return CAUTION_NO_PROBE;
	if (s->phase == PHASE_POISON && caution < CAUTION_NO_POISON)
		return CAUTION_NO_POISON;
	if (s->phase == PHASE_A || s->phase == PHASE_B)
		*rc = ledger_dead_trial(&p->ledger, c, s->side, s->kind, s->index, status, reason);
	if (s->phase == PHASE_FURTHER && s->side == SIDE_A) {
		/* A on inputs that nobody recorded: says nothing about either side */
		char why[300];

		snprintf(why, sizeof(why), "A: %s; the trials after it were not made", reason);
		*rc = ledger_dead_trial(&p->ledger, c, s->side, s->kind, s->index,
					TRIAL_STATUS_VOID, why);
		return -1;
	}
	if (s->phase == PHASE_FURTHER) {
		*rc = ledger_dead_trial(&p->ledger, c, s->side, s->kind, s->index, status, reason);
		return -1;
	}
	if (s->phase == PHASE_SETUP && s->kind >= TRIAL_PERTURBED && c->judged)
		return -1; /* what came before it stands */
	if (s->phase != PHASE_B || !c->judged) {
		c->fidelity = FIDELITY_UNFAITHFUL;
		snprintf(c->reason, sizeof(c->reason), "%s: %s",
			 s->phase == PHASE_SETUP  ? "restoring"
			 : s->phase == PHASE_BASE ? "the recorded kernel"
						  : "A in replay",
			 reason);
	}
	return -1;
}

/* Sends the job and serves its messages. *again: the caution to run it with once more, or -1. */
static int attempt(struct replay *p, struct open_case *c, enum caution caution, int *again,
		   struct error *err)
{
	bool lost = false;
	int rc;

	*again = -1;
	packet_clear(&p->packet);
	packet_put_u64(&p->packet, c->number);
	packet_put_u64(&p->packet, caution);
	pulse_set(p->worker.pulse, (struct step){.phase = PHASE_IDLE, .seconds = JOB_SECONDS});
	wire_send(p->worker.fd, WIRE_JOB, &p->packet); /* a dead worker shows below */
	for (;;) {
		enum wire_type type;
		enum served served;

		rc = receive(p, &type);
		if (rc == -EINTR)
			return rc;
		if (rc == -ETIMEDOUT || rc == -EPIPE) {
			*again = worker_gone(p, c, rc == -ETIMEDOUT, caution, &rc);
			break;
		}
		if (!rc)
			rc = serve(p, c, type, &lost, &served);
		if (rc)
			break;
		if (served == SERVED_MORE)
			continue;
		if (served == SERVED_RETRY)
			*again = caution == CAUTION_NONE ? CAUTION_NO_PROBE : CAUTION_NO_POISON;
		break;
	}
	if (lost)
		end_worker(p, false, NULL, 0);
	return rc ? error_set(err, -rc, ERROR_NO_OFFSET, "launch %llu: %s",
			      (unsigned long long)p->plan->cases[c->number].launch->seq,
			      strerror(-rc))
		  : 0;
}

static int run_case(struct replay *p, size_t number, struct error *err)
{
	const struct replay_case *planned = &p->plan->cases[number];
	struct open_case c = {.number = number, .fidelity = FIDELITY_UNTESTED};
	int again = CAUTION_NONE, rc = 0;

	snprintf(c.reason, sizeof(c.reason), "%s", planned->reason ? planned->reason : "");
	while (!planned->reason && again >= 0) {
		if (!p->worker.pid) {
			p->summary->restarts += p->device_written;
			rc = start_worker(p, err);
			if (rc)
				break;
		}
		rc = attempt(p, &c, (enum caution)again, &again, err);
		if (rc)
			break;
	}
	if (rc == -EINTR) {
		c.fidelity = FIDELITY_UNTESTED;
		snprintf(c.reason, sizeof(c.reason), "interrupted");
	}
	if (!rc || rc == -EINTR) {
		int written = ledger_case(&p->ledger, &c);

		if (written)
			rc = error_set(err, -written, ERROR_NO_OFFSET, "writing %s: %s",
				       p->options->result, strerror(-written));
	}
	extents_free(&c.extents);
	return rc;
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

static int run_all(struct replay *p, struct error *err)
{
	size_t runnable = 0;
	uint64_t bytes = 0;
	int rc = 0;

	for (size_t i = 0; i < p->plan->count; i++)
		if (!p->plan->cases[i].reason && is_mine(p, i)) {
			runnable++;
			bytes += launch_region_bytes(p->plan->cases[i].launch);
		}
	progress_start(&p->progress, p->options->progress_fd, runnable, "launches");
	progress_bytes(&p->progress, bytes);
	for (size_t i = 0; !rc && i < p->plan->count && !stop_signal; i++) {
		const struct replay_case *c = &p->plan->cases[i];

		if (!is_mine(p, i))
			continue;
		rc = run_case(p, i, err);
		if (c->reason)
			continue;
		p->progress.done_bytes += launch_region_bytes(c->launch);
		progress_step(&p->progress, p->plan->pairs.items[c->pair].family->name);
	}
	progress_end(&p->progress);
	if (stop_signal && (!rc || rc == -EINTR)) {
		p->summary->interrupted = true;
		rc = 0;
	}
	end_worker(p, true, NULL, 0);
	process_close(&p->worker);
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

static int run_device(struct replay *p, struct error *err)
{
	char how[200];
	int rc = driver_choose(p->options, &p->driver, how, sizeof(how), err), closed;

	if (rc)
		return rc;
	if (p->options->device == REPLAY_DEVICE_AUTO && !strncmp(how, "no GPU", 6))
		progress_note(&p->progress, "%s (PTX level: ptxas is not executed)", how);
	note_problems(p, p->plan->base);
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
	struct replay p = {.options = options, .summary = summary, .worker = {.fd = -1}};
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
	release_signals(old);
	packet_free(&p.packet);
	free(p.driver);
	resume_close(&p.resume);
	plan_free(p.plan);
	return rc;
}
