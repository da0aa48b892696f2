/* SPDX-License-Identifier: MIT */
/* The trials of one case, in the worker: what A writes, fidelity, repeats and poison of A and B. */
#include "replay/trials.h"
#include "replay/trial_state.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/code.h"
#include "replay/fidelity.h"
#include "replay/restored.h"
#include "replay/poison.h"
#include "replay/spare.h"
#include "replay/table.h"

#define SETUP_SECONDS     60.0         /* on top of the copies */
#define SETUP_BYTES_A_SEC 1e8          /* slowest copy we wait for */
#define ENOUGH_REPEATS    20           /* of a side that varies, to know its range */
#define VARYING_BYTES     (1ull << 30) /* of repeats that vary, which are kept, for the fidelity */

static double setup_seconds(const struct trials *t)
{
	return SETUP_SECONDS + (double)ranges_bytes(&t->contents.pieces) / SETUP_BYTES_A_SEC;
}

struct moment trials_moment(const struct trials *t, enum phase phase, enum side side,
			    enum trial_kind kind, uint32_t index)
{
	return (struct moment){.phase = phase,
			       .side = side,
			       .kind = kind,
			       .index = index,
			       .seconds = t->r->options->timeout_s,
			       .setup_seconds = setup_seconds(t)};
}

/* ---- messages ---- */

void trials_post(struct trials *t, enum wire_type type)
{
	enum activity before = stopwatch_switch(&t->r->watch, ACTIVITY_SENDING);

	if (wire_send(t->r->fd, type, &t->r->packet))
		t->r->parent_gone = true;
	stopwatch_switch(&t->r->watch, before);
}

/* retry: with more caution; too_large: the device has too little memory for it. */
static void send_done(struct trials *t, bool retry, bool too_large)
{
	packet_clear(&t->r->packet);
	packet_put_u64(&t->r->packet, t->r->lost);
	packet_put_u64(&t->r->packet, retry);
	packet_put_u64(&t->r->packet, too_large);
	trials_post(t, WIRE_DONE);
}

static void send_case(struct trials *t, enum fidelity fidelity, const char *reason)
{
	packet_clear(&t->r->packet);
	packet_put_u64(&t->r->packet, fidelity);
	packet_put_text(&t->r->packet, reason);
	trials_post(t, WIRE_CASE);
}

static void send_extents(struct trials *t)
{
	struct packet *p = &t->r->packet;
	const struct extents *e = &t->written.extents;

	packet_clear(p);
	packet_put_u64(p, e->count);
	packet_put_hash(p, t->inputs);
	for (size_t i = 0; i < e->count; i++) {
		packet_put_u64(p, e->items[i].address);
		packet_put_u64(p, e->items[i].size);
		packet_put_u64(p, e->items[i].arg);
		packet_put_u64(p, e->items[i].dtype);
		packet_put_u64(p, e->items[i].flags);
	}
	trials_post(t, WIRE_EXTENTS);
	t->extents_sent = true;
}

/* Sends one trial with its contents, if it went well. */
int trials_send(struct trials *t, const struct trial_note *n, const struct outcome *o)
{
	struct packet *p = &t->r->packet;
	const struct extents *e = &t->written.extents;
	struct packet keys = {0};
	bool whole = o->status == TRIAL_STATUS_OK && o->after.chunks;
	int rc = 0;

	for (size_t i = 0; !rc && whole && i < e->count; i++)
		rc = runner_ship(t->r, &keys, &o->after, e->items[i].address, e->items[i].size);
	packet_clear(p);
	packet_put_u64(p, n->side);
	packet_put_u64(p, n->kind);
	packet_put_u64(p, n->index);
	packet_put_u64(p, o->status);
	packet_put_text(p, o->reason);
	packet_put_f64(p, o->time_us);
	packet_put_u64(p, n->stray_bytes);
	packet_put_u64(p, n->stray_address);
	packet_put_u64(p, n->unwritten_bytes);
	packet_put_u64(p, n->unwritten_address);
	packet_put_f64(p, n->step);
	packet_put_u64(p, n->seed);
	packet_put_u64(p, n->launches);
	packet_put_f64(p, n->scale);
	packet_put_u64(p, n->zeroed);
	packet_put_u64(p, n->races);
	packet_put_text(p, n->race ? n->race : "");
	packet_put_text(p, n->how ? n->how : "");
	packet_put_u64(p, n->unstored);
	packet_put_u64(p, whole ? e->count : 0);
	packet_put_bytes(p, keys.data, keys.size);
	packet_free(&keys);
	if (!rc)
		trials_post(t, WIRE_TRIAL);
	return rc;
}

/* A trial that ended badly or says nothing: no contents. */
int trials_send_status(struct trials *t, enum side side, enum trial_kind kind, uint32_t index,
		       enum trial_status status, const char *reason)
{
	struct trial_note n = {.side = side, .kind = kind, .index = index};
	struct outcome o = {.status = status};

	snprintf(o.reason, sizeof(o.reason), "%s", reason);
	return trials_send(t, &n, &o);
}

/* Bytes changed outside the extents, in a page that was not looked at yet. */
static int stray_of_page(struct trials *t, size_t chunk, struct page *page)
{
	const struct extents *e = &t->written.extents;
	uint64_t start = byteset_address(&t->written.bytes, chunk);
	size_t within = extents_find(e, start);
	struct range piece = {start, CHUNK_BYTES};
	struct ranges pieces = {&piece, 1, 1};
	struct byteset stray;
	int rc;

	page->stray_known = true; /* nothing can be, where all of it is one extent's */
	if (within != SIZE_MAX &&
	    start + CHUNK_BYTES <= e->items[within].address + e->items[within].size)
		return 0;
	rc = byteset_init(&stray, &pieces);
	if (!rc)
		rc = byteset_add_compare(&stray, 0, contents_chunk(&t->contents, chunk),
					 page_bytes(page), false);
	for (size_t i = 0; !rc && i < e->count; i++)
		rc = byteset_remove(&stray, e->items[i].address, e->items[i].size);
	if (!rc)
		byteset_first(&stray, &page->stray_bytes, &page->stray_address);
	byteset_free(&stray);
	return rc;
}

/* Bytes changed outside the extents. */
static int find_stray(struct trials *t, const struct outcome *o, struct trial_note *n)
{
	for (size_t i = 0; i < t->contents.chunks; i++) {
		struct page *page = o->after.chunks[i];
		int rc = page && !page->stray_known ? stray_of_page(t, i, page) : 0;

		if (rc)
			return rc;
		if (!page || !page->stray_bytes)
			continue;
		if (!n->stray_bytes)
			n->stray_address = page->stray_address;
		n->stray_bytes += page->stray_bytes;
	}
	return 0;
}

int trials_send_whole(struct trials *t, struct trial_note *n, const struct outcome *o)
{
	int rc = find_stray(t, o, n);

	return rc ? rc : trials_send(t, n, o);
}

/* ---- plain repeats ---- */

static void runs_free(struct runs *x)
{
	for (size_t i = 0; i < x->count; i++)
		outcome_free(&x->items[i]);
	free(x->items);
	byteset_free(&x->noise);
	*x = (struct runs){0};
}

static int runs_add(struct trials *t, struct runs *x, struct outcome *o)
{
	int rc = array_reserve(&x->items, x->count, &x->capacity, sizeof(*x->items));

	if (!rc && !x->count)
		rc = byteset_init(&x->noise, &t->contents.pieces);
	if (!rc && x->count)
		rc = snapshot_differ(&x->noise, &x->items[0].after, &o->after);
	if (rc) {
		outcome_free(o);
		return rc;
	}
	x->items[x->count++] = *o;
	return 0;
}

/*
 * Runs until x has `wanted` runs or one fails: 1 then, with *failed filled; 0, or -errno.
 */
static int repeat(struct trials *t, struct runs *x, const struct ready *ready, enum phase phase,
		  enum side side, size_t wanted, struct outcome *failed, struct error *err)
{
	while (x->count < wanted && !t->r->parent_gone) {
		struct moment when =
			trials_moment(t, phase, side, TRIAL_REPEAT, (uint32_t)x->count);
		struct outcome o;
		int rc = runner_launch(t->r, ready, &when, NULL, &o, err);

		if (rc)
			return rc;
		if (o.status != TRIAL_STATUS_OK) {
			*failed = o;
			return 1;
		}
		rc = runs_add(t, x, &o);
		if (rc)
			return error_set(err, -rc, ERROR_NO_OFFSET, "no memory for repeats");
	}
	return 0;
}

/* Sends the runs from index `from` on; they are kept, to be compared with. */
static int ship_runs(struct trials *t, struct runs *x, enum side side, size_t from)
{
	for (size_t i = from; i < x->count; i++) {
		struct trial_note n = {.side = side, .kind = TRIAL_REPEAT, .index = (uint32_t)i};
		int rc = trials_send_whole(t, &n, &x->items[i]);

		if (rc)
			return rc;
	}
	return 0;
}

size_t trials_most_repeats(const struct trials *t)
{
	const struct replay_options *o = t->r->options;

	return o->repeats_max > o->repeats ? o->repeats_max : o->repeats;
}

/* A's repeats up to --repeats-max; where A varies, to `enough` of them. */
static int more_of_a(struct trials *t, size_t enough, struct error *err)
{
	size_t from = t->a_runs.count, most = trials_most_repeats(t);
	struct outcome failed = {0};
	int rc = 0;

	while (!rc && t->a_runs.count < most && !t->r->parent_gone &&
	       (t->a_runs.count < enough || byteset_is_empty(&t->a_runs.noise)))
		rc = repeat(t, &t->a_runs, &t->a, PHASE_A, SIDE_A, t->a_runs.count + 1, &failed,
			    err);
	if (rc == 1) {
		trials_send_status(t, SIDE_A, TRIAL_REPEAT, (uint32_t)t->a_runs.count,
				   failed.status, failed.reason);
		outcome_free(&failed);
		return 1;
	}
	return rc ? rc : ship_runs(t, &t->a_runs, SIDE_A, from);
}

int trials_more_of_a(struct trials *t, struct error *err)
{
	return more_of_a(t, ENOUGH_REPEATS, err);
}

/* ---- fidelity ---- */

static int recorded_scratch(const struct replay_case *c, struct ranges *out)
{
	for (size_t i = 0; i < c->base.scratch_count; i++)
		if (c->base.scratch[i].recorded &&
		    ranges_add(out, c->base.scratch[i].recorded, c->base.scratch[i].bytes))
			return -ENOMEM;
	ranges_merge(out);
	return 0;
}

/* What may lie behind it: another device, regions that were recorded in part. */
static void add_circumstances(struct trials *t, char *reason, size_t size)
{
	const struct bundle *b = t->c->bundle;
	const struct record_launch *l = t->c->launch;
	char name[128] = "";
	size_t used;

	for (size_t i = 0; i < l->regions.count; i++) {
		if (!l->regions.items[i].note || !*l->regions.items[i].note)
			continue;
		used = strlen(reason);
		snprintf(reason + used, size - used, "; region %zu: %s", i,
			 l->regions.items[i].note);
		break;
	}
	used = strlen(reason);
	if (l->note && *l->note)
		snprintf(reason + used, size - used, "; %s", l->note);
	used = strlen(reason);
	t->r->driver.cuDeviceGetName(name, sizeof(name) - 1, t->r->device);
	for (size_t i = 0; i < b->devices.count; i++)
		if (b->devices.items[i].ordinal == t->c->launch->device &&
		    b->devices.items[i].name && strcmp(b->devices.items[i].name, name))
			snprintf(reason + used, size - used, "; recorded on %s, replayed on %s",
				 b->devices.items[i].name, name);
}

/*
 * An unfaithful launch may have begun with other memory than the recorded one: a copy that the
 * device keeps was damaged on the way there, or since. Puts that first. 0 or -errno with err.
 */
static int add_restored(struct trials *t, char *reason, size_t size, struct error *err)
{
	struct moment when = trials_moment(t, PHASE_SETUP, SIDE_A, TRIAL_REPEAT, 0);
	uint64_t bytes, address;
	char place[120], before[480];
	int rc;

	runner_step(t->r, PHASE_SETUP, when.side, when.kind, when.index, when.setup_seconds);
	rc = restored_check(t->r, &bytes, &address, err);
	if (rc || !bytes)
		return rc;
	snprintf(before, sizeof(before), "%s", reason);
	snprintf(reason, size,
		 "memory was not restored: %llu bytes on the device are not as recorded, first at "
		 "%s; %.240s",
		 (unsigned long long)bytes,
		 contents_place(&t->contents, address, place, sizeof(place)), before);
	return 0;
}

/* What A's runs are beside the recording. */
struct comparison {
	enum fidelity fidelity;
	bool compared;    /* there is something recorded to compare with */
	char reason[480]; /* what was established */
};

/* 0, or -ENOMEM. */
static int compare_recorded(struct trials *t, const struct runs *runs, struct comparison *out)
{
	struct snapshot recorded = {0}, *repeats;
	struct fidelity_evidence e = {.written = &t->written.bytes,
				      .noise = &runs->noise,
				      .extents = &t->written.extents,
				      .repeat_count = runs->count};
	struct ranges scratch = {0};
	struct error err = {0};
	int rc = snapshot_recorded(&recorded, &t->contents, &runs->items[0].after, t->c->bundle,
				   t->c->launch, &err);

	*out = (struct comparison){.fidelity = FIDELITY_UNFAITHFUL, .compared = !rc};
	if (rc && rc != -ENOMEM) {
		snprintf(out->reason, sizeof(out->reason), "%s", err.message);
		return 0;
	}
	repeats = calloc(runs->count, sizeof(*repeats));
	for (size_t i = 0; repeats && i < runs->count; i++)
		repeats[i] = runs->items[i].after;
	e.recorded = &recorded;
	e.repeats = repeats;
	e.scratch = &scratch;
	if (!rc)
		rc = repeats ? recorded_scratch(t->c, &scratch) : -ENOMEM;
	if (!rc)
		rc = fidelity_judge(&e, &out->fidelity, out->reason, sizeof(out->reason));
	free(repeats);
	ranges_free(&scratch);
	snapshot_free(&recorded);
	return rc;
}

/*
 * A is run more often where its repeats are not what was recorded: that they agree, all of them or
 * in some elements, may be chance. Repeats that vary are all kept in memory: beyond 20 of them only
 * where that takes at most VARYING_BYTES. 0; 1 if A failed in that; -errno with err.
 */
static int judge_again(struct trials *t, struct comparison *c, struct error *err)
{
	size_t before = t->a_runs.count;
	uint64_t bytes = byteset_count(&t->written.bytes);
	int rc = trials_more_of_a(t, err);

	if (rc || byteset_is_empty(&t->a_runs.noise))
		return rc;
	if (t->a_runs.count > before) {
		rc = compare_recorded(t, &t->a_runs, c);
		before = t->a_runs.count;
	}
	if (rc || c->fidelity != FIDELITY_UNFAITHFUL ||
	    bytes > VARYING_BYTES / trials_most_repeats(t))
		return rc;
	rc = more_of_a(t, SIZE_MAX, err);
	if (!rc && t->a_runs.count > before)
		rc = compare_recorded(t, &t->a_runs, c);
	return rc;
}

/*
 * Compares with the recording; sends CASE. Unfaithful is said only after A was run more often. 0; 1
 * if A failed in that; -errno with err.
 */
static int judge(struct trials *t, const struct runs *runs, struct error *err)
{
	struct comparison c = {.fidelity = FIDELITY_DERIVED};
	bool wrong;
	int rc = t->c->derived ? 0 : compare_recorded(t, runs, &c);

	wrong = c.compared && c.fidelity == FIDELITY_UNFAITHFUL;
	if (!rc && wrong && runs == &t->a_runs) {
		rc = judge_again(t, &c, err);
		wrong = c.fidelity == FIDELITY_UNFAITHFUL;
	}
	if (!rc && wrong)
		rc = add_restored(t, c.reason, sizeof(c.reason), err);
	if (rc)
		return rc;
	if (wrong)
		add_circumstances(t, c.reason, sizeof(c.reason));
	if (t->written.note[0] && strlen(c.reason) + 3 < sizeof(c.reason))
		snprintf(c.reason + strlen(c.reason), sizeof(c.reason) - strlen(c.reason), "%s%s",
			 c.reason[0] ? "; " : "", t->written.note);
	send_case(t, c.fidelity, c.reason);
	t->judged = c.fidelity != FIDELITY_UNFAITHFUL && c.fidelity != FIDELITY_UNTESTED;
	return 0;
}

/* ---- the case ---- */

/* Says why nothing can be said, as the case's fidelity. */
static void give_up(struct trials *t, enum fidelity fidelity, const char *what, const char *why)
{
	char reason[480];

	snprintf(reason, sizeof(reason), "%.40s%.430s", what, why);
	add_circumstances(t, reason, sizeof(reason));
	if (!t->extents_sent)
		send_extents(t);
	send_case(t, fidelity, reason);
}

/* A fails where it should give the reference: a trial of A, and an unfaithful case. */
static void a_failed(struct trials *t, const struct outcome *o, size_t index)
{
	if (!t->extents_sent)
		send_extents(t);
	trials_send_status(t, SIDE_A, TRIAL_REPEAT, (uint32_t)index, o->status, o->reason);
	give_up(t, FIDELITY_UNFAITHFUL, "A fails in replay: ", o->reason);
}

/* The runs of the recorded image where A is another one; else A's own. */
static int base_runs(struct trials *t, const struct runs **out, struct error *err)
{
	struct outcome failed = {0};
	const struct bound *base = &t->c->base, *a = &t->c->a;
	bool same = hash_equal(code_id(base->bundle, base->image->id, t->r->sm),
			       code_id(a->bundle, a->image->id, t->r->sm)) &&
		    !strcmp(base->entry, a->entry);
	int rc;

	*out = &t->a_runs;
	if (same || t->c->derived)
		return 0;
	rc = ready_make(&t->base, t->r, &t->c->base, err);
	if (rc)
		return rc;
	rc = repeat(t, &t->base_runs, &t->base, PHASE_BASE, SIDE_A, t->r->options->repeats, &failed,
		    err);
	if (rc == 1) {
		error_set(err, ECANCELED, ERROR_NO_OFFSET, "the recorded kernel fails: %s",
			  failed.reason);
		outcome_free(&failed);
		return -ECANCELED;
	}
	*out = &t->base_runs;
	return rc;
}

/* A copy of a chunk in which the bytes of the set are zero; most words are all or nothing. */
static void mask_bytes(uint8_t *out, const uint8_t *data, const uint64_t *words)
{
	memcpy(out, data, CHUNK_BYTES);
	for (size_t i = 0; i < BYTESET_WORDS; i++) {
		if (words[i] == UINT64_MAX)
			memset(out + 64 * i, 0, 64);
		else
			for (uint64_t w = words[i]; w; w &= w - 1)
				out[64 * i + (size_t)__builtin_ctzll(w)] = 0;
	}
}

/*
 * What the launch sees: its parameters without hidden scratch, and all restored memory without the
 * bytes that it only writes, so that configs of one sweep get the same.
 */
static int inputs_identity(struct hash128 *out, const struct replay_case *c,
			   const struct contents *contents, const struct byteset *only_written)
{
	_cleanup_free_ uint8_t *masked = malloc(CHUNK_BYTES);
	struct packet p = {0};

	if (!masked)
		return -ENOMEM;
	for (size_t i = 0; i < c->base.layout_count; i++) {
		const struct record_param *x = &c->base.layout[i];
		bool hidden = false;

		for (size_t k = 0; k < c->base.scratch_count; k++)
			hidden |= c->base.scratch[k].offset == x->offset;
		if (!hidden && (uint64_t)x->offset + x->size <= c->base.params_bytes)
			packet_put_bytes(&p, c->base.params + x->offset, x->size);
	}
	for (size_t i = 0; i < contents->chunks; i++) {
		const uint64_t *words = only_written->words[i];
		struct page *page = contents->pages[i];

		if (words)
			mask_bytes(masked, page_bytes(page), words);
		packet_put_u64(&p, byteset_address(only_written, i));
		packet_put_hash(&p, words ? hash_bytes(masked, CHUNK_BYTES)
					  : page_hash(page, 0, CHUNK_BYTES));
	}
	*out = hash_bytes(p.data, p.size);
	packet_free(&p);
	return p.bad ? -ENOMEM : 0;
}

/* What the launch was seen to write when it was recorded. */
static int find_measured(struct trials *t)
{
	int rc = byteset_init(&t->measured, &t->contents.pieces);

	return rc ? rc : contents_measured_writes(&t->measured, t->c->launch);
}

/*
 * Everything of A. 0: go on with B; 1: the case is over (told the parent); 2: run it again with
 * more caution; -errno.
 */
static int run_a(struct trials *t, struct error *err)
{
	const struct runs *reference;
	struct outcome failed = {0};
	int rc =
		repeat(t, &t->a_runs, &t->a, PHASE_A, SIDE_A, t->r->options->repeats, &failed, err);

	if (rc == 1) {
		a_failed(t, &failed, t->a_runs.count);
		outcome_free(&failed);
	}
	if (rc)
		return rc;
	rc = find_measured(t);
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "no memory for measured extents");
	struct written_input in = {.contents = &t->contents,
				   .measured = t->c->launch->measured ? &t->measured : NULL,
				   .plain = &t->a_runs.items[0].after,
				   .noise = &t->a_runs.noise,
				   .pointers = t->c->pointers,
				   .pointer_count = t->c->pointer_count,
				   .stores_known = t->c->stores_known,
				   .probe = t->caution == CAUTION_NONE,
				   .poison = t->caution != CAUTION_NO_POISON,
				   .run = poison_run,
				   .data = t};
	rc = written_find(&t->written, &in, err);
	if (!rc)
		rc = poison_a(t, err);
	if (rc == -ECANCELED && t->caution < CAUTION_NO_POISON)
		return 2;
	if (rc)
		return rc;
	rc = inputs_identity(&t->inputs, t->c, &t->contents, &t->written.poisonable);
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "no memory for the inputs' identity");
	send_extents(t);
	rc = ship_runs(t, &t->a_runs, SIDE_A, 0);
	if (!rc)
		rc = poison_a_ship(t);
	if (!rc && !byteset_is_empty(&t->a_runs.noise))
		rc = trials_more_of_a(t, err);
	if (!rc)
		rc = base_runs(t, &reference, err);
	if (!rc)
		rc = judge(t, reference, err);
	if (rc == 1)
		give_up(t, FIDELITY_UNFAITHFUL, "A fails in some repeats", "");
	return rc;
}

static int run_b(struct trials *t, struct error *err)
{
	struct outcome failed = {0};
	int rc = ready_make(&t->b, t->r, &t->c->b, err);

	if (rc == -ENOMEM)
		return rc;
	if (rc) {
		rc = trials_send_status(t, SIDE_B, TRIAL_REPEAT, 0, TRIAL_STATUS_LAUNCH_ERROR,
					err->message);
		return rc;
	}
	rc = repeat(t, &t->b_runs, &t->b, PHASE_B, SIDE_B, t->r->options->repeats, &failed, err);
	if (rc < 0)
		return rc;
	if (ship_runs(t, &t->b_runs, SIDE_B, 0))
		return -ENOMEM;
	if (rc == 1) {
		rc = trials_send_status(t, SIDE_B, TRIAL_REPEAT, (uint32_t)t->b_runs.count,
					failed.status, failed.reason);
		outcome_free(&failed);
		return rc;
	}
	if (!byteset_is_empty(&t->b_runs.noise) && t->a_runs.count < trials_most_repeats(t)) {
		rc = trials_more_of_a(t, err);
		if (rc)
			return rc < 0 ? rc : 0;
	}
	t->needed = !byteset_is_empty(&t->a_runs.noise) || !byteset_is_empty(&t->b_runs.noise);
	rc = spare_compare(t, &t->a_runs.items[0].after, &t->b_runs.items[0].after);
	if (!rc)
		rc = poison_b(t, err);
	if (rc || t->r->lost || !t->judged)
		return rc;
	return trials_further(t, err);
}

static int open_case(struct trials *t, struct error *err)
{
	int rc;

	runner_step(t->r, PHASE_SETUP, SIDE_A, TRIAL_REPEAT, 0,
		    SETUP_SECONDS + (double)launch_region_bytes(t->c->launch) / SETUP_BYTES_A_SEC);
	stopwatch_switch(&t->r->watch, ACTIVITY_DISK);
	rc = contents_load(&t->contents, &t->r->shelf, t->c->bundle, t->c->launch, err);
	stopwatch_switch(&t->r->watch, ACTIVITY_HOST);
	if (rc)
		return rc;
	runner_step(t->r, PHASE_SETUP, SIDE_A, TRIAL_REPEAT, 0, setup_seconds(t));
	rc = runner_take(t->r, &t->contents, err);
	return rc ? rc : ready_make(&t->a, t->r, &t->c->a, err);
}

static void close_case(struct trials *t)
{
	struct ready *all[] = {&t->base, &t->a, &t->b};

	for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
		ready_free(all[i], t->r);
	board_drop(&t->r->board);
	runs_free(&t->a_runs);
	runs_free(&t->b_runs);
	runs_free(&t->base_runs);
	for (size_t i = 0; i < ARRAY_LENGTH(t->a_poison); i++)
		outcome_free(&t->a_poison[i]);
	written_free(&t->written);
	byteset_free(&t->measured);
	byteset_free(&t->state);
	free(t->spared);
	contents_free(&t->contents);
}

void trials_run(struct runner *r, const struct replay_case *c, enum caution caution)
{
	struct trials t = {.r = r, .c = c, .caution = caution};
	struct error err = {0};
	int rc = open_case(&t, &err);

	if (!rc)
		rc = run_a(&t, &err);
	if (!rc && !r->lost)
		rc = run_b(&t, &err);
	if (rc < 0) {
		if (!err.message[0])
			error_set(&err, -rc, ERROR_NO_OFFSET, "%s", strerror(-rc));
		give_up(&t, rc == -E2BIG ? FIDELITY_UNTESTED : FIDELITY_UNFAITHFUL, "",
			err.message);
		if (r->driver.cuCtxSynchronize() != CUDA_SUCCESS)
			r->lost = true;
	}
	close_case(&t);
	send_done(&t, rc == 2, rc == -E2BIG);
}
