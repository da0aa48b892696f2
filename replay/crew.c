/* SPDX-License-Identifier: MIT */
/* The workers of a replay, one a device, and the cases that each of them has in hand. */
#include "replay/crew.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/table.h"
#include "replay/reference.h"

#define START_SECONDS 60  /* for a worker to open its device */
#define JOB_SECONDS   10  /* for an idle worker to take the next case */
#define POLL_MS       200 /* how late a stop flag or a deadline may be seen */

/* ---- workers come and go ---- */

/* Ends the worker and adds up what it cost. */
static void end_worker(struct crew *w, struct post *p, bool kill_it, char *how, size_t size)
{
	if (!p->worker.pid)
		return;
	process_end(&p->worker, kill_it, how, size);
	cost_add(&w->summary->cost, &p->worker.pulse->cost);
	p->state = POST_OFF;
}

static int start_worker(struct crew *w, struct post *p, struct error *err)
{
	struct step start = {.phase = PHASE_SETUP, .seconds = START_SECONDS};
	int rc = process_start(&p->worker, p->ordinal, start, w->plan, w->options, w->driver, err);

	if (!rc)
		p->state = POST_STARTING;
	return rc;
}

/* The worker's description of its device; *refused: ranges that it could not reserve. */
static int read_device(struct crew *w, struct post *p, uint64_t *refused)
{
	struct packet *m = &w->packet;
	struct device_text *d = &p->device;

	snprintf(d->name, sizeof(d->name), "%s", packet_get_text(m));
	d->ordinal = (uint32_t)p->ordinal;
	d->software = packet_get_u64(m);
	d->major = (uint32_t)packet_get_u64(m);
	d->minor = (uint32_t)packet_get_u64(m);
	d->memory_bytes = packet_get_u64(m);
	d->driver_version = (uint32_t)packet_get_u64(m);
	*refused = packet_get_u64(m);
	return m->bad ? -EBADMSG : 0;
}

/* All devices of a result are alike: what differs on one of them would be taken for the kernels'.
 */
static int check_alike(const struct crew *w, const struct post *p, struct error *err)
{
	const struct record_device *before = resume_device(w->resume);

	if (before &&
	    (strcmp(before->name, p->device.name) != 0 || before->software != p->device.software))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "--resume: %s was replayed on %s, not on %s", w->options->result,
				 before->name, p->device.name);
	for (size_t i = 0; i < w->post_count; i++) {
		const struct post *other = &w->posts[i];

		if (other->seen && other != p &&
		    (strcmp(other->device.name, p->device.name) != 0 ||
		     other->device.memory_bytes != p->device.memory_bytes))
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "--devices: device %d is %s (%llu bytes), device %d is %s "
					 "(%llu bytes); a replay needs devices that are alike",
					 other->ordinal, other->device.name,
					 (unsigned long long)other->device.memory_bytes, p->ordinal,
					 p->device.name,
					 (unsigned long long)p->device.memory_bytes);
	}
	return 0;
}

static int note_device(struct crew *w, struct post *p, struct error *err)
{
	int rc = check_alike(w, p, err);

	if (rc)
		return rc;
	w->summary->software = p->device.software;
	snprintf(w->summary->device, sizeof(w->summary->device), "%s", p->device.name);
	if (!p->seen && !resume_device(w->resume)) {
		rc = ledger_device(w->ledger, &p->device, !w->device_written);
		if (rc)
			return error_set(err, -rc, ERROR_NO_OFFSET, "writing the result: %s",
					 strerror(-rc));
		w->device_written = true;
	}
	w->summary->devices += !p->seen;
	p->seen = true;
	p->state = POST_IDLE;
	return 0;
}

static bool any_seen(const struct crew *w)
{
	for (size_t i = 0; i < w->post_count; i++)
		if (w->posts[i].seen)
			return true;
	return false;
}

/*
 * READY. Another worker would find the same ranges taken: a fork keeps its parent's layout of
 * addresses. The whole replay may start anew, as long as none of it was done.
 */
static int ready(struct crew *w, struct post *p, struct error *err)
{
	uint64_t refused;
	int rc = read_device(w, p, &refused);

	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "nonsense from a worker");
	if (refused && w->options->anew && !any_seen(w) && !*w->stop) {
		progress_note(w->progress,
			      "%llu recorded address ranges are taken in this process: the replay "
			      "starts anew in another one",
			      (unsigned long long)refused);
		w->summary->addresses_taken = true;
		return error_set(err, EADDRNOTAVAIL, ERROR_NO_OFFSET,
				 "recorded addresses are taken in this process");
	}
	if (refused)
		progress_note(w->progress,
			      "%llu recorded address ranges are taken in this process: launches "
			      "that need them cannot be restored; start the replay again, another "
			      "process may find them free",
			      (unsigned long long)refused);
	return note_device(w, p, err);
}

static size_t living(const struct crew *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->post_count; i++)
		n += w->posts[i].state != POST_DEAD;
	return n;
}

/* "device 1 (NVIDIA H200)" */
static const char *post_name(const struct post *p, char *out, size_t size)
{
	snprintf(out, size, "device %d%s%s%s", p->ordinal, p->device.name[0] ? " (" : "",
		 p->device.name, p->device.name[0] ? ")" : "");
	return out;
}

/* ---- cases that wait for another device ---- */

/* The post's case is not for this device. Another that has not tried it takes it. 0 or -errno. */
static int hold_case(struct crew *w, struct post *p, struct error *err)
{
	if (array_reserve(&w->held, w->held_count, &w->held_capacity, sizeof(*w->held)))
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a launch");
	w->held[w->held_count++] =
		(struct held){p->c, p->caution, p->tried | UINT64_C(1) << (p - w->posts)};
	p->c.extents = (struct extents){0};
	p->has_case = false;
	return 0;
}

static bool other_may_try(const struct crew *w, uint64_t tried)
{
	for (size_t i = 0; i < w->post_count; i++)
		if (w->posts[i].state != POST_DEAD && !(tried >> i & 1))
			return true;
	return false;
}

static void drop_held(struct crew *w, size_t index)
{
	w->held_count--;
	memmove(&w->held[index], &w->held[index + 1], (w->held_count - index) * sizeof(*w->held));
}

static bool take_held(struct crew *w, struct post *p)
{
	for (size_t i = 0; i < w->held_count; i++) {
		const struct held *h = &w->held[i];

		if (h->tried >> (p - w->posts) & 1)
			continue;
		p->c = h->c;
		p->caution = h->caution;
		p->tried = h->tried;
		p->has_case = true;
		drop_held(w, i);
		return true;
	}
	return false;
}

/*
 * The worker did not get ready. Where others do, the replay goes on without this device; a device
 * that was ready before may be lost, and the replay is over only with the last one.
 */
static int not_ready(struct crew *w, struct post *p, const char *why, int code, struct error *err)
{
	char how[160], name[128];

	end_worker(w, p, true, how, sizeof(how));
	p->state = POST_DEAD;
	if (!living(w))
		return error_set(err, code == -EPIPE || code == -ETIMEDOUT ? EIO : -code,
				 ERROR_NO_OFFSET, "no worker on %s of %s: %s",
				 post_name(p, name, sizeof(name)), w->driver,
				 why                  ? why
				 : code == -ETIMEDOUT ? "it does not start"
						      : how);
	progress_note(w->progress, "%s cannot be used and is left out: %s",
		      post_name(p, name, sizeof(name)), why ? why : how);
	return p->has_case ? hold_case(w, p, err) : 0;
}

/* ---- cases ---- */

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

static void send_job(struct crew *w, struct post *p)
{
	packet_clear(&w->packet);
	packet_put_u64(&w->packet, p->c.number);
	packet_put_u64(&w->packet, p->caution);
	pulse_set(p->worker.pulse, (struct step){.phase = PHASE_IDLE, .seconds = JOB_SECONDS});
	wire_send(p->worker.fd, WIRE_JOB, &w->packet); /* a dead worker shows when it is read */
	p->state = POST_BUSY;
}

/* The case is over: its record. */
static int write_case(struct crew *w, struct open_case *open, struct error *err)
{
	const struct replay_case *c = &w->plan->cases[open->number];
	int rc = ledger_case(w->ledger, open);

	extents_free(&open->extents);
	w->progress->done_bytes += launch_region_bytes(c->launch);
	progress_step(w->progress, w->plan->pairs.items[c->pair].family->name);
	return rc ? error_set(err, -rc, ERROR_NO_OFFSET, "writing %s: %s", w->options->result,
			      strerror(-rc))
		  : 0;
}

static int close_case(struct crew *w, struct post *p, struct error *err)
{
	p->has_case = false;
	return write_case(w, &p->c, err);
}

/* No device is left that could run them: their records say why. */
static int close_held(struct crew *w, struct error *err)
{
	for (size_t i = 0; i < w->held_count;) {
		struct open_case c = w->held[i].c;
		int rc;

		if (other_may_try(w, w->held[i].tried)) {
			i++;
			continue;
		}
		drop_held(w, i);
		rc = write_case(w, &c, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Gives an idle post something to do; false: there is nothing any more. */
static bool take_case(struct crew *w, struct post *p)
{
	size_t number;

	if (p->has_case || take_held(w, p))
		return true;
	if (!queue_take(&w->queue, &p->unit, &number))
		return false;
	p->c = (struct open_case){.number = number, .fidelity = FIDELITY_UNTESTED};
	p->caution = CAUTION_NONE;
	p->tried = 0;
	p->has_case = true;
	return true;
}

/*
 * The worker is gone in the middle of a case: by the watchdog (`hang`) or by itself. *again: the
 * case is to be run again with p->caution. 0, or -errno of the writer.
 */
static int worker_gone(struct crew *w, struct post *p, bool hang, bool *again)
{
	struct open_case *c = &p->c;
	enum trial_status status = hang ? TRIAL_STATUS_HANG : TRIAL_STATUS_CRASH;
	char how[160], reason[240], why[300];
	struct step s;

	end_worker(w, p, true, how, sizeof(how));
	s = p->worker.pulse->step;
	if (s.phase == PHASE_IDLE) /* the job was not begun */
		s.phase = PHASE_SETUP;
	if (hang)
		snprintf(reason, sizeof(reason), "no end after %.3g s", s.seconds);
	else
		snprintf(reason, sizeof(reason), "%s", how);
	*again = (s.phase == PHASE_PROBE && p->caution < CAUTION_NO_PROBE) ||
		 (s.phase == PHASE_POISON && p->caution < CAUTION_NO_POISON);
	if (*again) {
		p->caution = s.phase == PHASE_PROBE ? CAUTION_NO_PROBE : CAUTION_NO_POISON;
		return 0;
	}
	if (s.phase == PHASE_FURTHER && s.side == SIDE_A) {
		/* A on inputs that nobody recorded: says nothing about either side */
		snprintf(why, sizeof(why), "A: %s; the trials after it were not made", reason);
		return ledger_dead_trial(w->ledger, c, s.side, s.kind, s.index, TRIAL_STATUS_VOID,
					 why);
	}
	if (s.phase == PHASE_FURTHER)
		return ledger_dead_trial(w->ledger, c, s.side, s.kind, s.index, status, reason);
	if (s.phase == PHASE_SETUP && s.kind >= TRIAL_PERTURBED && c->judged)
		return 0; /* what came before it stands */
	if (s.phase != PHASE_B || !c->judged) {
		c->fidelity = FIDELITY_UNFAITHFUL;
		snprintf(c->reason, sizeof(c->reason), "%s: %s",
			 s.phase == PHASE_SETUP  ? "restoring"
			 : s.phase == PHASE_BASE ? "the recorded kernel"
						 : "A in replay",
			 reason);
	}
	return s.phase == PHASE_A || s.phase == PHASE_B
		       ? ledger_dead_trial(w->ledger, c, s.side, s.kind, s.index, status, reason)
		       : 0;
}

/* The device's memory does not hold the launch: another one's may, where it is free. */
static int too_large(struct crew *w, struct post *p, struct error *err)
{
	const struct replay_case *c = &w->plan->cases[p->c.number];
	char name[128];

	if (!other_may_try(w, p->tried | UINT64_C(1) << (p - w->posts)))
		return close_case(w, p, err);
	if (!p->told_large)
		progress_note(w->progress,
			      "%s: launch %llu of %s %s; what does not fit there goes to another "
			      "device",
			      post_name(p, name, sizeof(name)), (unsigned long long)c->launch->seq,
			      c->bundle->path, p->c.reason);
	p->told_large = true;
	return hold_case(w, p, err);
}

/* DONE: the case is over, or to be run again with more caution, or on another device. */
static int done(struct crew *w, struct post *p, struct error *err)
{
	bool lost = packet_get_u64(&w->packet), again = packet_get_u64(&w->packet);
	bool large = packet_get_u64(&w->packet);

	if (w->packet.bad)
		return error_set(err, EBADMSG, ERROR_NO_OFFSET, "nonsense from a worker");
	p->state = POST_IDLE;
	if (lost)
		end_worker(w, p, false, NULL, 0);
	if (large)
		return too_large(w, p, err);
	if (!again)
		return close_case(w, p, err);
	p->caution = p->caution == CAUTION_NONE ? CAUTION_NO_PROBE : CAUTION_NO_POISON;
	return 0;
}

/* ---- messages ---- */

/* One message of a busy worker. */
static int serve_busy(struct crew *w, struct post *p, enum wire_type type, struct error *err)
{
	struct packet *m = &w->packet;
	int rc = -EBADMSG;

	switch (type) {
	case WIRE_CHUNK:
		rc = ledger_chunk(w->ledger, m);
		break;
	case WIRE_EXTENTS:
		rc = read_extents(m, &p->c);
		break;
	case WIRE_TRIAL:
		rc = ledger_trial(w->ledger, &p->c, m);
		break;
	case WIRE_REFERENCE:
		rc = reference_put(w->ledger, p->c.number, m);
		break;
	case WIRE_CASE:
		p->c.fidelity = (enum fidelity)packet_get_u64(m);
		snprintf(p->c.reason, sizeof(p->c.reason), "%s", packet_get_text(m));
		p->c.judged = true;
		rc = m->bad ? -EBADMSG : 0;
		break;
	case WIRE_DONE:
		return done(w, p, err);
	default:
		break;
	}
	return rc ? error_set(err, -rc, ERROR_NO_OFFSET, "launch %llu: %s",
			      (unsigned long long)w->plan->cases[p->c.number].launch->seq,
			      strerror(-rc))
		  : 0;
}

/* The worker has ended, or its time is over. */
static int ended(struct crew *w, struct post *p, int code, struct error *err)
{
	bool again = false;
	int rc;

	if (p->state == POST_STARTING)
		return not_ready(w, p, NULL, code, err);
	if (!p->has_case) {
		end_worker(w, p, true, NULL, 0);
		return 0;
	}
	rc = worker_gone(w, p, code == -ETIMEDOUT, &again);
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "writing %s: %s", w->options->result,
				 strerror(-rc));
	return again ? 0 : close_case(w, p, err);
}

static int serve(struct crew *w, struct post *p, struct error *err)
{
	enum wire_type type;
	int rc = wire_receive(p->worker.fd, &type, &w->packet, &p->worker.pulse->deadline_ns,
			      w->stop);

	if (rc == -EINTR)
		return rc;
	if (rc == -ETIMEDOUT || rc == -EPIPE)
		return ended(w, p, rc, err);
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "a worker's message: %s",
				 strerror(-rc));
	if (p->state == POST_BUSY)
		return serve_busy(w, p, type, err);
	if (p->state == POST_STARTING && type == WIRE_READY)
		return ready(w, p, err);
	if (p->state == POST_STARTING && type == WIRE_FAILED) {
		char why[400];

		snprintf(why, sizeof(why), "%s", packet_get_text(&w->packet));
		snprintf(p->device.name, sizeof(p->device.name), "%s", packet_get_text(&w->packet));
		return not_ready(w, p, why, -ENODEV, err);
	}
	return error_set(err, EBADMSG, ERROR_NO_OFFSET, "nonsense from a worker");
}

/* ---- the loop ---- */

static bool is_awaited(const struct post *p)
{
	return p->state == POST_STARTING || p->state == POST_BUSY;
}

static bool is_overdue(const struct post *p)
{
	uint64_t deadline = atomic_load(&p->worker.pulse->deadline_ns);

	return deadline && monotonic_ns() >= deadline;
}

/* Starts workers and sends jobs. *waiting: how many are awaited. */
static int keep_busy(struct crew *w, size_t *waiting, struct error *err)
{
	int rc = close_held(w, err);

	*waiting = 0;
	for (size_t i = 0; !rc && i < w->post_count; i++) {
		struct post *p = &w->posts[i];

		if (p->state == POST_OFF && take_case(w, p)) {
			w->summary->restarts += p->seen;
			rc = start_worker(w, p, err);
		} else if (p->state == POST_IDLE && take_case(w, p)) {
			send_job(w, p);
		}
		*waiting += is_awaited(p);
	}
	return rc;
}

/* Waits for messages and deadlines. */
static int wait_and_serve(struct crew *w, struct error *err)
{
	struct pollfd *fds = calloc(w->post_count, sizeof(*fds));
	enum activity before;
	int rc = 0;

	if (!fds)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory to wait");
	for (size_t i = 0; i < w->post_count; i++)
		fds[i] =
			(struct pollfd){.fd = is_awaited(&w->posts[i]) ? w->posts[i].worker.fd : -1,
					.events = POLLIN};
	before = stopwatch_switch(w->watch, ACTIVITY_WAITING);
	if (poll(fds, (nfds_t)w->post_count, POLL_MS) < 0 && errno != EINTR)
		rc = error_set(err, errno, ERROR_NO_OFFSET, "poll: %s", strerror(errno));
	stopwatch_switch(w->watch, before);
	for (size_t i = 0; !rc && i < w->post_count; i++) {
		if (fds[i].fd < 0)
			continue;
		if (fds[i].revents)
			rc = serve(w, &w->posts[i], err);
		else if (is_overdue(&w->posts[i]))
			rc = ended(w, &w->posts[i], -ETIMEDOUT, err);
	}
	free(fds);
	return rc;
}

/* What was in hand when the replay was stopped. */
static int note_interrupted(struct crew *w, struct error *err)
{
	for (size_t i = 0; i < w->post_count; i++) {
		struct post *p = &w->posts[i];
		int rc;

		if (!p->has_case)
			continue;
		p->c.fidelity = FIDELITY_UNTESTED;
		snprintf(p->c.reason, sizeof(p->c.reason), "interrupted");
		rc = close_case(w, p, err);
		if (rc)
			return rc;
	}
	for (; w->held_count; w->held_count--) {
		struct open_case *c = &w->held[w->held_count - 1].c;
		int rc;

		c->fidelity = FIDELITY_UNTESTED;
		snprintf(c->reason, sizeof(c->reason), "interrupted");
		rc = write_case(w, c, err);
		if (rc)
			return rc;
	}
	return -EINTR;
}

int crew_run(struct crew *w, struct error *err)
{
	size_t waiting;
	int rc = 0;

	for (size_t i = 0; i < w->post_count; i++) {
		w->posts[i].worker.fd = -1;
		w->posts[i].unit = SIZE_MAX;
	}
	for (;;) {
		rc = *w->stop ? -EINTR : keep_busy(w, &waiting, err);
		if (rc || !waiting)
			break;
		rc = wait_and_serve(w, err);
		if (rc)
			break;
	}
	if (rc == -EINTR)
		rc = note_interrupted(w, err);
	for (size_t i = 0; i < w->post_count; i++) {
		end_worker(w, &w->posts[i], true, NULL, 0);
		process_close(&w->posts[i].worker);
		extents_free(&w->posts[i].c.extents);
	}
	while (w->held_count)
		extents_free(&w->held[--w->held_count].c.extents);
	free(w->held);
	packet_free(&w->packet);
	return rc;
}
