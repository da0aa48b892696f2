/* SPDX-License-Identifier: MIT */
/* The result bundle of a replay: what stands in it, written as the replay goes on. */
#include "replay/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/change.h"
#include "replay/code.h"
#include "replay/rounding.h"
#include "replay/uses.h"
#include "replay/versions.h"
#include "replay/environment.h"
#include "replay/repro.h"

#define UNSPECIFIED "unspecified"

static uint64_t unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int put_run(struct ledger *r)
{
	char directory[PATH_MAX] = "", host[256] = "";
	struct record_run run = {.tool_version = KERNELAB_VERSION,
				 .command = {(const char **)r->options->argv,
					     (size_t)r->options->argc},
				 .directory = directory,
				 .host = host,
				 .pid = (uint64_t)getpid(),
				 .start_ns = unix_ns()};

	if (!getcwd(directory, sizeof(directory)))
		directory[0] = 0;
	gethostname(host, sizeof(host) - 1);
	return bundle_put_run(r->writer, &run);
}

static int put_fact(struct ledger *r, const char *name, const char *value, const char *how)
{
	struct record_fact fact = {.name = name, .value = value, .how = how};

	return bundle_put_fact(r->writer, &fact);
}

/* --resume tells by it whether a result is this replay's. */
static int put_plan(struct ledger *r)
{
	char hex[HASH_TEXT_BYTES];

	return put_fact(r, "replay.plan", hash_text(plan_hash(r->plan, r->options), hex),
			"hash of kernels, launches, shard and trials");
}

/* analyze tells by them whether all parts are there, and are parts of one replay. */
static int put_shard(struct ledger *r)
{
	const struct shard *s = &r->plan->shard;
	char text[32], hex[HASH_TEXT_BYTES];
	int rc;

	if (!s->count)
		return 0;
	snprintf(text, sizeof(text), "%u/%u", s->index, s->count);
	rc = put_fact(r, "replay.shard", text, "part of the launches");
	return rc ? rc
		  : put_fact(r, "replay.whole",
			     hash_text(plan_hash_whole(r->plan, r->options), hex),
			     "hash of kernels, launches and trials of all parts");
}

/* The recorded run's answers about the model stand in the result too. */
static int put_context(struct ledger *r)
{
	const struct source *s = r->plan->base;

	for (size_t i = 0; i < s->count; i++) {
		const struct bundle *b = s->bundles[i];

		for (size_t j = 0; j < b->facts.count; j++) {
			const struct record_fact *f = &b->facts.items[j];
			int rc = 0;

			if (f->name && !strncmp(f->name, "context.", 8) && bundle_fact(b, f->name))
				rc = bundle_put_fact(r->writer, f);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* ---- sides ---- */

/* A fact of any bundle of the source. */
static const char *source_fact(const struct source *s, const char *const *names, size_t count,
			       const char **which)
{
	for (size_t n = 0; n < count; n++)
		for (size_t i = 0; i < s->count; i++) {
			const char *value = bundle_fact(s->bundles[i], names[n]);

			if (value && *value) {
				*which = names[n];
				return value;
			}
		}
	return NULL;
}

static int put_side(struct ledger *r, enum side side, const struct source *s, const char *version,
		    const char *commit)
{
	/* Of the compiler under test only: PyTorch's commit says nothing about Triton or ptxas. */
	static const char *const names[] = {"compiler.commit", "triton.commit"};
	static const char *const made[] = {"compiler.version"};
	const char *unused;
	/* A side made by kernelab says itself what made it. */
	const char *maker = source_fact(s, made, 1, &unused);
	_cleanup_free_ char *found = maker ? strdup(maker) : versions_text(s);
	_cleanup_free_ char *how = NULL;
	const char *which = NULL;
	const char *known = source_fact(s, names, ARRAY_LENGTH(names), &which);
	const struct bundle *b = s->bundles[0];
	struct record_side record = {.side = side,
				     .source = s->text,
				     .version = version           ? version
						: found && *found ? found
								  : UNSPECIFIED,
				     .commit = commit  ? commit
					       : known ? known
						       : UNSPECIFIED,
				     .facts = {b->facts.items, b->facts.count}};

	how = text_format("version: %s; commit: %s%s",
			  version           ? "given on the command line"
			  : maker           ? "asked of the compiler"
			  : found && *found ? "from the images' metadata"
					    : "not found",
			  commit  ? "given on the command line"
			  : known ? "fact "
				  : "not found",
			  commit || !known ? "" : which);
	if (!how || !found)
		return -ENOMEM;
	record.how = how;
	return bundle_put_side(r->writer, &record);
}

/* What a killed or damaged recording lost is in no case of the result: the fact says so. */
static int put_problems(struct ledger *r, const struct source *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct bundle *b = s->bundles[i];
		_cleanup_free_ char *text = NULL;
		int rc;

		if (!*bundle_problem(b))
			continue;
		text = text_format("%s: %s", b->path, bundle_problem(b));
		rc = text ? put_fact(r, FACT_PARTIAL_RECORDING, text, "the recording") : -ENOMEM;
		if (rc)
			return rc;
	}
	return 0;
}

static int put_difference(void *data, const char *name, const char *a, const char *b)
{
	_cleanup_free_ char *fact = text_format(ENVIRONMENT_PREFIX "%s", name);
	_cleanup_free_ char *text =
		text_format("A: %s; B: %s", a ? a : "not set", b ? b : "not set");

	return fact && text ? put_fact(data, fact, text, "facts of the recorded runs") : -ENOMEM;
}

static int put_environment(struct ledger *r)
{
	return environment_compare(r->plan->a, r->plan->b, put_difference, r);
}

/* Another GPU or driver than that of the recording. */
static int put_other_device(struct ledger *r, const struct device_text *d)
{
	const struct source *base = r->plan->base;
	const struct record_device *x = NULL;
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; !x && i < base->count; i++)
		if (base->bundles[i]->devices.count)
			x = &base->bundles[i]->devices.items[0];
	if (!x || !x->name || d->software || x->software ||
	    (!strcmp(x->name, d->name) && x->driver_version == d->driver_version))
		return 0;
	text = text_format("recorded on %s, driver %u; replayed on %s, driver %u", x->name,
			   x->driver_version, d->name, d->driver_version);
	return text ? put_fact(r, ENVIRONMENT_PREFIX "replay", text,
			       "cuDeviceGetName, "
			       "cuDriverGetVersion")
		    : -ENOMEM;
}

static int put_families(struct ledger *r)
{
	const struct pairs *pairs = &r->plan->pairs;

	for (size_t i = 0; i < pairs->count; i++) {
		const struct suite_family *f = pairs->items[i].family;
		bool seen = !r->plan->selected[i];
		int rc;

		for (size_t j = 0; !seen && j < i; j++)
			seen = r->plan->selected[j] &&
			       hash_equal(pairs->items[j].family->key, f->key);
		if (seen)
			continue;
		struct record_family record = {.key = f->key,
					       .name = f->name,
					       .origin = f->origin,
					       .source = f->source,
					       .line = f->line};

		record.args.items = (struct record_arg *)f->args;
		record.args.count = f->arg_count;
		rc = bundle_put_family(r->writer, &record);
		if (rc)
			return rc;
		r->summary->families++;
	}
	return 0;
}

/* Launches of several devices are replayed on whatever devices there are. */
static int put_recorded_devices(struct ledger *r, const struct plan *plan)
{
	uint64_t seen = 0;
	char text[240] = "";

	for (size_t i = 0; i < plan->count; i++)
		if (plan->cases[i].launch->device < 64)
			seen |= 1ull << plan->cases[i].launch->device;
	if (!(seen & (seen - 1)))
		return 0;
	for (unsigned i = 0; i < 64; i++)
		if (seen >> i & 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u",
				 *text ? ", " : "", i);
	return put_fact(r, "replay.recorded_devices", text,
			"a launch is replayed on any device, at the recorded addresses");
}

int ledger_open(struct ledger *r, const char *path, const struct plan *plan,
		const struct replay_options *options, struct replay_summary *summary,
		const char *driver_path, const char *driver_how, struct error *err)
{
	int rc;

	*r = (struct ledger){.plan = plan, .options = options, .summary = summary};
	r->pairs = calloc(plan->pairs.count ? plan->pairs.count : 1, sizeof(*r->pairs));
	if (!r->pairs)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for results");
	for (size_t i = 0; i < plan->count; i++)
		r->pairs[plan->cases[i].pair].left++;
	rc = bundle_writer_open(&r->writer, path, BUNDLE_RESULT);
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "cannot create result %s: %s", path,
				 strerror(-rc));
	rc = put_run(r);
	if (!rc)
		rc = put_context(r);
	if (!rc)
		rc = put_fact(r, "replay.driver", driver_path, driver_how);
	if (!rc)
		rc = put_plan(r);
	if (!rc)
		rc = put_shard(r);
	if (!rc)
		rc = put_side(r, SIDE_A, plan->a, options->a_version, options->a_commit);
	if (!rc)
		rc = put_side(r, SIDE_B, plan->b, options->b_version, options->b_commit);
	if (!rc)
		rc = put_problems(r, plan->base);
	if (!rc && plan->a != plan->base)
		rc = put_problems(r, plan->a);
	if (!rc && plan->b != plan->base && plan->b != plan->a)
		rc = put_problems(r, plan->b);
	if (!rc)
		rc = put_environment(r);
	if (!rc)
		rc = put_recorded_devices(r, plan);
	if (!rc && plan->reserve.host_as_device.count)
		rc = put_fact(r, "replay.host_memory", "some as device memory",
			      "device memory lies within the same 32 MiB");
	if (!rc)
		rc = put_families(r);
	if (!rc && plan->siblings.told)
		rc = put_fact(r, "replay.siblings", plan->siblings.told, "--siblings");
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "writing %s: %s", options->result,
				 strerror(-rc));
	return 0;
}

static struct hash128 member_code(const struct ledger *r, const struct source *s,
				  const struct suite_member *m)
{
	return code_id(source_bundle(s, m), m->image->id, r->sm);
}

struct images {
	const struct record_image **items;
	size_t count, capacity;
};

/* Counts an image of PTX, or a fatbin without code for the recorded GPU, once a bundle. */
static int count_compiled(struct ledger *r, const struct source *s, const struct suite_member *m,
			  struct images *seen)
{
	const struct bundle *b = m ? source_bundle(s, m) : NULL;

	if (!m || (m->image->kind != IMAGE_PTX && (m->image->kind != IMAGE_FATBIN || m->cubin)))
		return 0;
	for (size_t i = 0; i < seen->count; i++)
		if (seen->items[i] == m->image)
			return 0;
	if (array_reserve(&seen->items, seen->count, &seen->capacity, sizeof(*seen->items)))
		return -ENOMEM;
	seen->items[seen->count++] = m->image;
	r->summary->compiled++;
	r->summary->driver_code += code_of_driver(b, m->image->id, r->sm) != NULL;
	return 0;
}

/* Which images the driver compiles here, and of which the recorded machine code is run. */
static int put_compiled(struct ledger *r)
{
	_cleanup_free_ char *value = NULL;
	struct images seen = {0};
	int rc = 0;

	for (size_t i = 0; !rc && i < r->plan->pairs.count; i++) {
		const struct pair *p = &r->plan->pairs.items[i];

		rc = count_compiled(r, r->plan->a, p->a, &seen);
		if (!rc)
			rc = count_compiled(r, r->plan->b, p->b, &seen);
	}
	free(seen.items);
	if (rc || !r->summary->compiled)
		return rc;
	value = text_format("%" PRIu64 " of %" PRIu64 " images of PTX or fatbins",
			    r->summary->driver_code, r->summary->compiled);
	return value ? put_fact(r, "replay.driver_code", value,
				"run as the machine code that the driver of the recorded run made "
				"(capture --cupti); the others were compiled by the driver here")
		     : -ENOMEM;
}

int ledger_device(struct ledger *r, const struct device_text *d, bool first)
{
	struct record_device record = {.ordinal = d->ordinal,
				       .name = d->name,
				       .cc_major = d->major,
				       .cc_minor = d->minor,
				       .memory_bytes = d->memory_bytes,
				       .driver_version = d->driver_version,
				       .software = d->software};
	int rc = bundle_put_device(r->writer, &record);

	if (first)
		r->sm = d->software ? 0 : 10 * d->major + d->minor;
	if (!rc && first)
		rc = put_fact(r, "replay.device", d->name, "cuDeviceGetName");
	if (!rc && first && d->software)
		rc = put_fact(r, "replay.level", "PTX level: ptxas not executed",
			      "the software device executes PTX");
	if (!rc && first && !d->software)
		rc = put_compiled(r);
	return rc ? rc : put_other_device(r, d);
}

/* ---- trials ---- */

int ledger_chunk(struct ledger *r, const struct packet *p)
{
	struct hash128 key;

	if (!p->size || p->size > CHUNK_BYTES)
		return -EBADMSG;
	return bundle_put_chunk(r->writer, p->data, (uint32_t)p->size, &key);
}

static void count_failure(struct ledger *r, uint32_t status)
{
	if (status != TRIAL_STATUS_OK && status != TRIAL_STATUS_VOID)
		r->summary->failures++;
}

/* Reads the keys, an array an extent; every count is checked against the extent's size. */
static int read_contents(struct packet *p, const struct open_case *c, uint64_t count,
			 struct record_content **out, struct hash128 **keys)
{
	size_t total = packet_left(p) / sizeof(struct hash128), used = 0;

	*out = NULL;
	*keys = NULL;
	if (count && count != c->extents.count)
		return -EBADMSG;
	*out = calloc(count ? count : 1, sizeof(**out));
	*keys = calloc(total ? total : 1, sizeof(**keys));
	if (!*out || !*keys)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		const struct record_extent *x = &c->extents.items[i];
		uint64_t n = packet_get_u64(p);

		if (p->bad || n != chunk_count(x->address, x->size) || n > total - used)
			return -EBADMSG;
		(*out)[i].chunks = (struct hashes){*keys + used, n};
		for (uint64_t j = 0; j < n; j++)
			(*keys)[used++] = packet_get_hash(p);
	}
	return p->bad ? -EBADMSG : 0;
}

int ledger_trial(struct ledger *r, struct open_case *c, struct packet *p)
{
	struct record_trial t = {.test_case = (uint32_t)c->number};
	_cleanup_free_ struct record_content *contents = NULL;
	_cleanup_free_ struct hash128 *keys = NULL;
	uint64_t count;
	int rc;

	t.side = (uint32_t)packet_get_u64(p);
	t.kind = (uint32_t)packet_get_u64(p);
	t.index = (uint32_t)packet_get_u64(p);
	t.status = (uint32_t)packet_get_u64(p);
	t.reason = packet_get_text(p);
	t.time_us = packet_get_f64(p);
	t.stray_bytes = packet_get_u64(p);
	t.stray_address = packet_get_u64(p);
	t.unwritten_bytes = packet_get_u64(p);
	t.unwritten_address = packet_get_u64(p);
	t.step = packet_get_f64(p);
	t.seed = packet_get_u64(p);
	t.launches = (uint32_t)packet_get_u64(p);
	t.scale = packet_get_f64(p);
	t.zeroed = packet_get_u64(p);
	t.races = packet_get_u64(p);
	t.race = packet_get_text(p);
	t.how = packet_get_text(p);
	t.unstored = packet_get_u64(p);
	count = packet_get_u64(p);
	if (p->bad || t.side >= SIDE_COUNT)
		return -EBADMSG;
	rc = read_contents(p, c, count, &contents, &keys);
	if (rc)
		return rc;
	t.contents.items = contents;
	t.contents.count = count;
	c->ran[t.side] = true;
	count_failure(r, t.status);
	return bundle_put_trial(r->writer, &t);
}

int ledger_dead_trial(struct ledger *r, struct open_case *c, enum side side, enum trial_kind kind,
		      uint32_t index, enum trial_status status, const char *reason)
{
	struct record_trial t = {.test_case = (uint32_t)c->number,
				 .side = side,
				 .kind = kind,
				 .index = index,
				 .status = status,
				 .reason = reason};

	c->ran[side] = true;
	count_failure(r, status);
	return bundle_put_trial(r->writer, &t);
}

/* ---- cases and configs ---- */

static void count_case(struct replay_summary *s, enum fidelity f, bool derived)
{
	if (derived) {
		s->derived += f == FIDELITY_DERIVED;
		return;
	}
	s->cases++;
	s->faithful += f == FIDELITY_FAITHFUL;
	s->nondeterministic += f == FIDELITY_NONDETERMINISTIC;
	s->unfaithful += f == FIDELITY_UNFAITHFUL;
	s->untested += f == FIDELITY_UNTESTED;
}

/* Notes whether the case proves anything of its pair. */
static int note_pair(struct ledger *r, const struct open_case *c)
{
	struct pair_state *p = &r->pairs[r->plan->cases[c->number].pair];
	bool good = c->fidelity == FIDELITY_FAITHFUL || c->fidelity == FIDELITY_NONDETERMINISTIC;

	if (r->plan->cases[c->number].derived) /* rests on the launch that it comes from */
		return 0;
	if (good && c->ran[SIDE_A] && c->ran[SIDE_B]) {
		p->tested = true;
		return 0;
	}
	free(p->reason);
	p->reason = text_format("launch %llu: %s%s%s",
				(unsigned long long)r->plan->cases[c->number].launch->seq,
				fidelity_name(c->fidelity), c->reason[0] ? ": " : "", c->reason);
	return p->reason ? 0 : -ENOMEM;
}

/* Names the module variable that the extent lies in. */
static void set_variable(const struct replay_case *c, struct record_extent *x)
{
	const struct record_launch *l = c->launch;

	for (size_t i = 0; address_is_stand_in(x->address) && i < l->regions.count; i++)
		if (x->address - layout_address(l->regions.items, i) < l->regions.items[i].size)
			x->global = l->regions.items[i].name;
}

static int put_config(struct ledger *r, size_t i)
{
	const struct pair *p = &r->plan->pairs.items[i];
	struct pair_state *state = &r->pairs[i];
	int rc;
	struct record_config c = {.number = (uint32_t)i,
				  .family = p->family->key,
				  .key = p->config->key,
				  .options = p->config->options,
				  .pairing = p->pairing,
				  .tested = state->tested,
				  .stand_in = p->stand_in};

	if (p->a) {
		c.a_image = p->a->image->id;
		c.a_ptxas = p->a->image->ptxas;
		c.a_python = p->a->note ? p->a->note->python_hash : NULL;
	}
	if (p->b) {
		c.b_image = p->b->image->id;
		c.b_ptxas = p->b->image->ptxas;
		c.b_python = p->b->note ? p->b->note->python_hash : NULL;
	}
	if (p->a && p->b) {
		c.same_code = !hash_is_zero(p->a->code_hash) &&
			      hash_equal(p->a->code_hash, p->b->code_hash);
		c.same_ptx =
			!hash_is_zero(p->a->ptx_hash) && hash_equal(p->a->ptx_hash, p->b->ptx_hash);
		/* One and the same image has the same code, even if it cannot be read. */
		if (hash_equal(member_code(r, r->plan->a, p->a), member_code(r, r->plan->b, p->b)))
			c.same_code = c.same_ptx = true;
	}
	if (!state->tested)
		c.reason = p->reason              ? p->reason
			   : state->reason        ? state->reason
			   : r->plan->shard.count ? "its launches are in other shards"
						  : "not reached";
	r->summary->configs++;
	r->summary->configs_tested += state->tested;
	state->written = true;
	rc = uses_put(r->writer, r->plan, i);
	return rc ? rc : bundle_put_config(r->writer, &c);
}

/* With the last launch of a config its record: a replay that is killed later keeps the config. */
static int config_done(struct ledger *r, size_t pair)
{
	struct pair_state *state = &r->pairs[pair];

	return --state->left || state->written ? 0 : put_config(r, pair);
}

int ledger_case(struct ledger *r, struct open_case *c)
{
	const struct replay_case *rc_case = &r->plan->cases[c->number];
	const struct pair *pair = &r->plan->pairs.items[rc_case->pair];
	const char *slash = strrchr(rc_case->bundle->path, '/');
	_cleanup_free_ char *params = launch_params_text(rc_case->launch, pair->base);
	_cleanup_free_ char *repro = repro_text(r->plan, r->options, r->summary->software, rc_case);
	struct record_case record = {.number = (uint32_t)c->number,
				     .config = (uint32_t)rc_case->pair,
				     .bundle = slash ? slash + 1 : rc_case->bundle->path,
				     .seq = rc_case->launch->seq,
				     .shape_class = rc_case->launch->shape_class,
				     .fidelity = c->fidelity,
				     .fidelity_reason = c->reason,
				     .params = params,
				     .repro = repro,
				     .test = member_is_test(rc_case->bundle, pair->base),
				     .inputs = c->inputs};
	int rc;

	if (!params || !repro)
		return -ENOMEM;
	if (rc_case->derived) {
		record.derived = rc_case->derived->text;
		if (c->fidelity == FIDELITY_UNFAITHFUL) /* there is nothing to be faithful to */
			record.fidelity = FIDELITY_UNTESTED;
	}
	memcpy(record.grid, rc_case->launch->grid, sizeof(record.grid));
	record.extents.items = c->extents.items;
	record.extents.count = c->extents.count;
	for (size_t i = 0; i < c->extents.count; i++) {
		rounding_note(rc_case, &c->extents.items[i]);
		set_variable(rc_case, &c->extents.items[i]);
	}
	count_case(r->summary, (enum fidelity)record.fidelity, rc_case->derived);
	rc = note_pair(r, c);
	if (!rc)
		rc = bundle_put_case(r->writer, &record);
	return rc ? rc : config_done(r, rc_case->pair);
}

static int keep_trial(struct ledger *r, const struct bundle *old, const struct record_trial *t,
		      struct open_case *c, struct error *err)
{
	for (size_t i = 0; i < t->contents.count; i++) {
		const struct hashes *keys = &t->contents.items[i].chunks;

		for (size_t j = 0; j < keys->count; j++) {
			int rc = bundle_copy_chunk(r->writer, old, keys->items[j], err);

			if (rc)
				return rc;
		}
	}
	if (t->side < SIDE_COUNT)
		c->ran[t->side] = true;
	count_failure(r, t->status);
	return bundle_put_trial(r->writer, t);
}

int ledger_keep(struct ledger *r, const struct bundle *old, const struct record_case *kept,
		struct error *err)
{
	struct open_case c = {.number = kept->number, .fidelity = (enum fidelity)kept->fidelity};
	int rc = 0;

	snprintf(c.reason, sizeof(c.reason), "%s",
		 kept->fidelity_reason ? kept->fidelity_reason : "");
	for (size_t i = 0; !rc && i < old->trials.count; i++)
		if (old->trials.items[i].test_case == kept->number)
			rc = keep_trial(r, old, &old->trials.items[i], &c, err);
	if (rc)
		return error_set(err, -rc, ERROR_NO_OFFSET, "launch %llu: %s",
				 (unsigned long long)kept->seq, strerror(-rc));
	count_case(r->summary, c.fidelity, kept->derived && *kept->derived);
	rc = note_pair(r, &c);
	if (!rc)
		rc = bundle_put_case(r->writer, kept);
	if (!rc)
		rc = config_done(r, r->plan->cases[kept->number].pair);
	return rc ? error_set(err, -rc, ERROR_NO_OFFSET, "%s", strerror(-rc)) : 0;
}

static int put_cost(struct ledger *r, const char *what, double value, const char *how)
{
	_cleanup_free_ char *name = text_format(FACT_COST "%s", what);
	char text[32];

	snprintf(text, sizeof(text), "%.9g", value);
	return name ? put_fact(r, name, text, how) : -ENOMEM;
}

int ledger_cost(struct ledger *r)
{
	const struct replay_summary *s = r->summary;
	const struct cost *c = &s->cost;
	const struct {
		const char *name;
		double value;
		const char *how;
	} rows[] = {{"wall_s", (double)s->wall_ns * 1e-9, "first worker's start to the end"},
		    {"writing_s", (double)s->writing_ns * 1e-9, "the parent's, beside the workers"},
		    {"devices", (double)s->devices, "used side by side"},
#define E(name, text) {#name, (double)c->name, text},
		    COUNTS(E)
#undef E
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < ARRAY_LENGTH(rows); i++)
		rc = put_cost(r, rows[i].name, rows[i].value, rows[i].how);
	for (enum activity a = 0; !rc && a < ACTIVITY_COUNT; a++) {
		char name[48];

		snprintf(name, sizeof(name), "%s_s", activity_name(a));
		rc = put_cost(r, name, (double)c->ns[a] * 1e-9, activity_text(a));
	}
	return rc;
}

int ledger_close(struct ledger *r, const char *incomplete)
{
	int rc = 0, closed;

	if (!r->writer) {
		free(r->pairs);
		return 0;
	}
	for (size_t i = 0; !rc && i < r->plan->pairs.count; i++)
		if (r->plan->selected[i] && !r->pairs[i].written)
			rc = put_config(r, i);
	if (!rc) {
		struct record_end end = {.clean = !incomplete,
					 .incomplete = incomplete,
					 .launches = r->plan->shares,
					 .recorded = r->summary->cases,
					 .time_ns = unix_ns()};

		rc = bundle_put_end(r->writer, &end);
	}
	closed = bundle_writer_close(r->writer);
	r->writer = NULL;
	for (size_t i = 0; i < r->plan->pairs.count; i++)
		free(r->pairs[i].reason);
	free(r->pairs);
	return rc ? rc : closed;
}
