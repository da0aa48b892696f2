/* SPDX-License-Identifier: MIT */
/* Everything a replay will do, worked out before any device is touched. */
#include "replay/plan.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/bind.h"
#include "replay/code.h"
#include "replay/derive.h"
#include "replay/serial.h"
#include "replay/stand_in.h"
#include "replay/stored_type.h"
#include "replay/stores.h"

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++) {
		bound_free(&p->cases[i].base);
		bound_free(&p->cases[i].a);
		bound_free(&p->cases[i].b);
		for (size_t k = 0; k < p->cases[i].sibling_count; k++) {
			bound_free(&p->cases[i].siblings[k].bound);
			free(p->cases[i].siblings[k].how);
		}
		free(p->cases[i].pointers);
		free(p->cases[i].reason);
		if (p->cases[i].derived)
			derived_free(p->cases[i].derived);
		free(p->cases[i].derived);
	}
	for (size_t i = 0; p->precisions && i < 2 * p->pairs.count; i++)
		free(p->precisions[i]);
	free(p->precisions);
	free(p->cases);
	free(p->selected);
	reservations_free(&p->reserve);
	siblings_close(&p->siblings);
	pairs_free(&p->pairs);
	pair_rules_free(&p->rules);
	if (p->a != p->base)
		source_free(p->a);
	if (p->b != p->base)
		source_free(p->b);
	source_free(p->base);
	free(p);
}

/* ---- sources ---- */

static int open_side(struct source **out, struct source *base, const char *text,
		     const struct replay_options *o, const volatile int *stop, struct error *err)
{
	const struct source_request request = {.text = text,
					       .base = base,
					       .family = o->family,
					       .progress_fd = o->progress_fd,
					       .stop = stop,
					       .argc = o->argc,
					       .argv = o->argv};

	if (!text || !strcmp(text, "recorded")) {
		*out = base;
		return 0;
	}
	return source_open_text(out, &request, err);
}

static int open_sources(struct plan *p, const struct replay_options *o, const volatile int *stop,
			struct error *err)
{
	int rc;

	if (!o->bundle_count)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "no bundle given");
	if (!o->b)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "no source of B given (--b)");
	rc = source_open(&p->base, "recorded", o->bundles, o->bundle_count, err);
	if (rc)
		return rc; /* the message names the bundle */
	rc = open_side(&p->a, p->base, o->a, o, stop, err);
	if (rc)
		return error_prefix(err, "A");
	rc = open_side(&p->b, p->base, o->b, o, stop, err);
	return rc ? error_prefix(err, "B") : 0;
}

/* ---- filters ---- */

static int compile(regex_t *re, const char *text, const char *option, struct error *err)
{
	char why[160];
	int code = regcomp(re, text, REG_EXTENDED | REG_NOSUB);

	if (!code)
		return 0;
	regerror(code, re, why, sizeof(why));
	return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s '%s': %s", option, text, why);
}

static int filter(struct plan *p, const char *pattern, const char *option, bool by_config,
		  struct error *err)
{
	regex_t re;
	size_t left = 0;
	int rc;

	if (!pattern)
		return 0;
	rc = compile(&re, pattern, option, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < p->pairs.count; i++) {
		const struct pair *pair = &p->pairs.items[i];
		const char *text = by_config ? pair->config->options : pair->family->name;

		if (regexec(&re, text ? text : "", 0, NULL, 0))
			p->selected[i] = false;
		left += p->selected[i];
	}
	regfree(&re);
	return left ? 0
		    : error_set(err, ENOENT, ERROR_NO_OFFSET, "%s '%s' matches nothing in %s",
				option, pattern, p->base->bundles[0]->path);
}

static bool launch_wanted(const struct replay_options *o, uint64_t seq)
{
	bool listed = !o->launches;

	for (size_t i = 0; !listed && i < o->launch_count; i++)
		listed = o->launches[i] == seq;
	return listed && (!o->launch || o->launch == seq);
}

static int select_pairs(struct plan *p, const struct replay_options *o, struct error *err)
{
	bool all = !o->launch && !o->launches, found = all;
	int rc;

	p->selected = malloc(p->pairs.count ? p->pairs.count : 1);
	if (!p->selected)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the plan");
	memset(p->selected, true, p->pairs.count);
	rc = filter(p, o->family, "--family", false, err);
	if (!rc)
		rc = filter(p, o->config, "--config", true, err);
	for (size_t i = 0; !rc && !all && i < p->pairs.count; i++) {
		const struct pair *pair = &p->pairs.items[i];
		bool has = false;

		for (size_t j = 0; j < pair->launch_count; j++)
			has |= launch_wanted(o, pair->launches[j].launch->seq);
		p->selected[i] &= has;
		found |= p->selected[i];
	}
	if (!rc && !found)
		rc = error_set(err, ENOENT, ERROR_NO_OFFSET,
			       "launch %llu is not recorded, or not in what is selected",
			       (unsigned long long)o->launch);
	return rc;
}

/* ---- types given by hand ---- */

/* "KERNEL.ARG=TYPE" against a family: index of the argument, or -1; *dtype. */
static int64_t dtype_rule(const char *text, const struct suite_family *f, enum dtype *dtype)
{
	const char *equal = strrchr(text, '='), *dot = equal;

	while (dot && dot > text && *dot != '.')
		dot--;
	*dtype = equal ? dtype_parse(equal + 1) : DTYPE_UNKNOWN;
	if (!dot || dot == text || *dtype == DTYPE_UNKNOWN ||
	    strncmp(f->name, text, (size_t)(dot - text)) || f->name[dot - text])
		return -1;
	for (size_t i = 0; i < f->arg_count; i++) {
		const char *name = f->args[i].name;

		if (name && !strncmp(name, dot + 1, (size_t)(equal - dot - 1)) &&
		    !name[equal - dot - 1])
			return (int64_t)i;
	}
	return -1;
}

static int check_dtypes(const struct plan *p, const struct replay_options *o, struct error *err)
{
	for (size_t k = 0; k < o->dtype_count; k++) {
		bool used = false;
		enum dtype t = DTYPE_UNKNOWN;

		for (size_t i = 0; !used && i < p->pairs.count; i++)
			used = dtype_rule(o->dtypes[k], p->pairs.items[i].family, &t) >= 0;
		if (!used)
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "--dtype %s: KERNEL.ARG=TYPE is wanted, with a kernel and "
					 "argument of %s, and a type like bf16",
					 o->dtypes[k], p->base->bundles[0]->path);
	}
	return 0;
}

static void apply_dtypes(struct replay_case *c, const struct suite_family *f,
			 const struct replay_options *o)
{
	for (size_t k = 0; k < o->dtype_count; k++) {
		enum dtype t;
		int64_t arg = dtype_rule(o->dtypes[k], f, &t);

		for (size_t i = 0; arg >= 0 && i < c->pointer_count; i++)
			if (c->pointers[i].arg == (uint32_t)arg + 1)
				c->pointers[i].dtype = t;
	}
}

/* ---- cases ---- */

/* Why a launch has nothing to restore or compare; NULL if it has. malloc'ed. */
static char *missing(const struct bundle *b, const struct record_launch *l)
{
	const struct record_after *after = bundle_after(b, l->seq);
	const char *note = l->note && *l->note ? l->note : NULL;

	if (l->flags & LAUNCH_IN_CAPTURE)
		return text_format("recorded during stream capture: no contents%s%s",
				   note ? ": " : "", note ? note : "");
	if (l->flags & LAUNCH_NO_DATA)
		return text_format("recorded without contents (--no-data)");
	if (l->flags & LAUNCH_CONTENTS_MISSING)
		return text_format("contents were not recorded: %s",
				   note ? note : "no reason noted");
	if (l->flags & LAUNCH_PARAMS_UNKNOWN)
		return text_format("parameters were not recorded: %s",
				   note ? note : "the driver gave no layout");
	if (after && after->result)
		return text_format("the launch failed when it was recorded (CUresult %lld)",
				   (long long)after->result);
	if (after && after->sync_result)
		return text_format("the kernel failed when it was recorded (CUresult %lld)",
				   (long long)after->sync_result);
	return NULL;
}

/* The grid of a config on another one's launch; `inferred` is that of pair_launch. */
static int other_grid(uint32_t grid[3], const uint32_t inferred[3],
		      const struct record_launch *launch, const struct pair *pair,
		      const struct suite_member *m, struct error *err)
{
	if (!stand_in_valid(launch, pair->base, m))
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "specialised for other arguments than this launch has");
	if (stand_in_grid(grid, launch, pair->base, m) ||
	    stand_in_same_shapes(pair->config->options, pair->on->options))
		return 0;
	if (inferred[0]) {
		memcpy(grid, inferred, 3 * sizeof(*grid));
		return 0;
	}
	return error_set(err, EINVAL, ERROR_NO_OFFSET,
			 "grid unknown: it was not launched with these sizes");
}

static int bind_side(struct replay_case *c, struct bound *out, const struct pair *pair,
		     const struct pair_launch *l, const struct source *s,
		     const struct suite_member *m, const char *side)
{
	struct record_launch launch = *c->launch; /* a bound launch keeps nothing of it */
	struct error err;
	int rc = 0;

	if (pair->on && m != pair->base && (side[0] == 'B' || pair->pairing != PAIRING_B_ONLY))
		rc = other_grid(launch.grid, l->grid, c->launch, pair, m, &err);
	if (!rc)
		rc = bound_make(out, c->bundle, &launch, pair->base, m, source_bundle(s, m), &err);
	if (rc == -ENOMEM)
		return rc;
	if (rc && !c->reason) {
		c->reason = text_format("%s: %s", side, err.message);
		return c->reason ? 0 : -ENOMEM;
	}
	return 0;
}

/* Siblings that cannot be bound (an argument specialised away) are left out: others may do. */
static int bind_siblings(struct replay_case *c, const struct plan *p, const struct pair *pair)
{
	for (size_t i = 0; i < SIBLINGS_MOST && !pair->on && !c->reason; i++) {
		const struct suite_member *m = siblings_find(&p->siblings, i, pair->a);
		struct sibling *s = &c->siblings[c->sibling_count];
		int rc;

		if (!m || !m->triton)
			continue;
		rc = bound_make(&s->bound, c->bundle, c->launch, pair->base, m,
				source_bundle(p->siblings.sources[i], m), NULL);
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			continue;
		c->sibling_count++;
		s->how = text_format("num_warps=%lld in place of %lld",
				     (long long)m->triton->num_warps,
				     (long long)pair->a->triton->num_warps);
		if (!s->how)
			return -ENOMEM;
	}
	return 0;
}

/* How long the launch's sums are, by the recorded kernel's Triton IR; 0: not known. */
static uint64_t serial_length(const struct plan *p, const struct pair *pair,
			      const struct record_launch *launch)
{
	const struct bundle *b = source_bundle(p->base, pair->base);
	const struct record_file *file = bundle_file(b, pair->base->image->id, ".ttir");
	struct serial_argument arguments[STORES_MAX_PARAMS] = {0};
	_cleanup_free_ char *text = NULL;
	uint64_t length = 0;
	size_t size, count;
	const struct record_param *layout = member_params(pair->base, &count);

	if (!file || bundle_read_file(b, file, &text, &size, NULL))
		return 0;
	for (size_t i = 0; i < count && i < STORES_MAX_PARAMS; i++) {
		const struct record_arg *arg = member_arg(pair->base, i);

		if (!arg || arg->pointer || !arg->type || arg->type[0] != 'i')
			continue;
		arguments[i].known = true;
		arguments[i].value = launch_scalar(launch, &layout[i]);
	}
	return serial_find(&length, text, size, arguments, STORES_MAX_PARAMS) ? 0 : length;
}

/* A race is the code's: one launch of each shape class is looked at. */
static bool first_of_class(const struct plan *p, const struct replay_case *c)
{
	if (c->derived || c->reason)
		return false;
	for (size_t i = p->count - 1; i-- > 0 && p->cases[i].pair == c->pair;)
		if (p->cases[i].look_for_races &&
		    hash_equal(p->cases[i].launch->shape_class, c->launch->shape_class))
			return false;
	return true;
}

/* `derived`, which the case takes over, in place of the launch; NULL: the launch itself. */
static int add_case(struct plan *p, const struct replay_options *o, size_t index,
		    const struct pair_launch *l, const struct stores *stores, bool stores_known,
		    struct derived *derived)
{
	const struct record_launch *launch = derived ? &derived->launch : l->launch;
	const struct pair *pair = &p->pairs.items[index];
	bool all = !stores_known || stores->unknown;
	struct replay_case *c;
	int rc = array_reserve(&p->cases, p->count, &p->capacity, sizeof(*p->cases));

	if (rc) {
		if (derived)
			derived_free(derived);
		free(derived);
		return rc;
	}
	c = &p->cases[p->count++];
	*c = (struct replay_case){.pair = index,
				  .bundle = p->base->bundles[l->bundle],
				  .launch = launch,
				  .derived = derived,
				  .share = derived ? p->cases[p->count - 2].share : p->shares++,
				  .stores_known = !all,
				  .precision = {p->precisions[2 * index],
						p->precisions[2 * index + 1]}};
	c->serial = serial_length(p, pair, launch);
	c->reason = missing(c->bundle, launch);
	rc = bind_side(c, &c->base, pair, l, p->base, pair->base, "recorded kernel");
	if (!rc)
		rc = bind_side(c, &c->a, pair, l, p->a, pair->a, "A");
	if (!rc)
		rc = bind_side(c, &c->b, pair, l, p->b, pair->b, "B");
	if (!rc)
		rc = bind_siblings(c, p, pair);
	if (!rc)
		rc = launch_pointers(&c->pointers, &c->pointer_count, c->bundle, launch, pair->base,
				     stores->params, all, stores->dtype);
	c->look_for_races = first_of_class(p, c);
	if (!rc)
		apply_dtypes(c, pair->family, o);
	if (!rc && !c->reason) {
		rc = layout_add_reservations(&p->reserve, launch->regions.items,
					     launch->regions.count);
		if (rc == -EOVERFLOW) {
			c->reason = strdup("regions at impossible addresses");
			rc = c->reason ? 0 : -ENOMEM;
		}
	}
	return rc;
}

/* The launch, and once a pair one that is derived from it. */
static int add_launch(struct plan *p, const struct replay_options *o, size_t index,
		      const struct pair_launch *l, const struct stores *stores, bool stores_known,
		      bool *derived)
{
	int rc = add_case(p, o, index, l, stores, stores_known, NULL);
	struct derived *d;

	if (rc || *derived || p->pairs.items[index].on || !(o->trials & TRIALS_DERIVED) ||
	    p->cases[p->count - 1].reason)
		return rc;
	*derived = true;
	d = malloc(sizeof(*d));
	if (!d)
		return -ENOMEM;
	rc = derive_launch(d, p->base, &p->pairs.items[index], l->launch);
	if (rc > 0)
		return add_case(p, o, index, l, stores, stores_known, d);
	free(d);
	return rc;
}

/* Triton's IR knows more types than PTX. */
static void find_stored_type(const struct plan *p, const struct pair *pair, struct stores *out)
{
	const struct bundle *b = source_bundle(p->base, pair->base);
	const struct record_file *file = bundle_file(b, pair->base->image->id, ".ttir");
	_cleanup_free_ char *text = NULL;
	enum dtype t;
	size_t size;

	if (!file || bundle_read_file(b, file, &text, &size, NULL))
		return;
	t = ir_stored_type(text, size);
	if (t != DTYPE_UNKNOWN)
		out->dtype = t;
}

/* Which parameters A's kernel stores through; false without readable PTX. */
static bool find_stores(const struct plan *p, const struct pair *pair, struct stores *out)
{
	_cleanup_free_ char *ptx = NULL;
	size_t size;

	bool known;

	*out = (struct stores){0};
	known = !source_ptx(p->base, pair->base, &ptx, &size, NULL) &&
		!stores_find(out, ptx, size, pair->base->entry, NULL);
	find_stored_type(p, pair, out);
	return known;
}

/* Precision of a side's kernel; NULL without readable PTX. */
static struct precision *find_precision(const struct source *s, const struct suite_member *m)
{
	_cleanup_free_ char *ptx = NULL;
	struct precision *out;
	size_t size;

	if (source_ptx(s, m, &ptx, &size, NULL))
		return NULL;
	out = malloc(sizeof(*out));
	if (out && precision_find(out, ptx, size, m->entry, NULL)) {
		free(out);
		return NULL;
	}
	return out;
}

/* B's arguments may stand elsewhere than the recorded kernel's: its figures by name. */
static void sort_by_argument(struct precision *p, const struct suite_member *base,
			     const struct suite_member *m)
{
	struct precision own = *p;
	const struct signature *to = base->triton ? base->triton->signature : NULL;
	const struct signature *from = m->triton ? m->triton->signature : NULL;

	if (!to || !from)
		return;
	for (size_t i = 0; i < to->arg_count && i < STORES_MAX_PARAMS; i++) {
		p->inner[i] = p->cast[i] = p->function[i] = 0;
		p->added[i] = false;
		for (size_t k = 0; k < from->arg_count && k < STORES_MAX_PARAMS; k++) {
			if (strcmp(to->args[i].name ? to->args[i].name : "",
				   from->args[k].name ? from->args[k].name : ""))
				continue;
			p->inner[i] = own.inner[k];
			p->cast[i] = own.cast[k];
			p->function[i] = own.function[k];
			p->added[i] = own.added[k];
			break;
		}
	}
}

static void find_precisions(struct plan *p, size_t index)
{
	const struct pair *pair = &p->pairs.items[index];
	const struct source *sources[SIDE_COUNT] = {p->a, p->b};
	const struct suite_member *members[SIDE_COUNT] = {pair->a, pair->b};

	for (size_t s = 0; s < SIDE_COUNT; s++) {
		struct precision *found =
			members[s] ? find_precision(sources[s], members[s]) : NULL;

		if (found)
			sort_by_argument(found, pair->base, members[s]);
		p->precisions[2 * index + s] = found;
	}
}

static int add_cases(struct plan *p, const struct replay_options *o, struct error *err)
{
	p->precisions = calloc(2 * p->pairs.count + 1, sizeof(*p->precisions));
	if (!p->precisions)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the plan");
	for (size_t i = 0; i < p->pairs.count; i++) {
		const struct pair *pair = &p->pairs.items[i];
		struct stores stores;
		bool known, derived = false;

		if (!p->selected[i] || pair->reason)
			continue;
		known = find_stores(p, pair, &stores);
		find_precisions(p, i);
		for (size_t j = 0; j < pair->launch_count; j++) {
			int rc;

			if (!launch_wanted(o, pair->launches[j].launch->seq))
				continue;
			rc = add_launch(p, o, i, &pair->launches[j], &stores, known, &derived);
			if (rc)
				return error_set(err, -rc, ERROR_NO_OFFSET,
						 "no memory for the plan");
		}
	}
	if (layout_settle(&p->reserve))
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the plan");
	return 0;
}

static int open_siblings(struct plan *p, const struct replay_options *o, const volatile int *stop,
			 struct error *err)
{
	const struct siblings_request request = {.python = o->siblings,
						 .a = p->a,
						 .pairs = &p->pairs,
						 .selected = p->selected,
						 .progress_fd = o->progress_fd,
						 .stop = stop,
						 .argc = o->argc,
						 .argv = o->argv};

	return siblings_open(&p->siblings, &request, err);
}

int plan_make(struct plan **out, const struct replay_options *options, const volatile int *stop,
	      struct error *err)
{
	struct plan *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the plan");
	rc = open_sources(p, options, stop, err);
	if (!rc)
		rc = shard_parse(&p->shard, options->shard, err);
	if (!rc && options->pair_file)
		rc = pair_rules_read(&p->rules, options->pair_file, p->base->suite, p->b->suite,
				     err);
	if (!rc && pairs_build(&p->pairs, p->base->suite, p->a->suite, p->b->suite, &p->rules))
		rc = error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the plan");
	if (!rc && !p->pairs.count)
		rc = error_set(err, ENOENT, ERROR_NO_OFFSET, "no kernel in %s",
			       p->base->bundles[0]->path);
	if (!rc)
		rc = select_pairs(p, options, err);
	if (!rc)
		rc = check_dtypes(p, options, err);
	if (!rc)
		rc = open_siblings(p, options, stop, err);
	if (!rc)
		rc = add_cases(p, options, err);
	if (rc) {
		plan_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

/* ---- identity ---- */

static void hash_member(struct hash_state *h, const struct source *s, const struct suite_member *m)
{
	struct hash128 id = {0};

	/* An image made anew by a compiler may hold the name of a temporary file. */
	if (m)
		id = hash_is_zero(m->code_hash) ? m->image->id : m->code_hash;
	hash_state_add(h, &id, sizeof(id));
	if (m && (m->image->kind == IMAGE_PTX || m->image->kind == IMAGE_FATBIN))
		code_add(h, source_bundle(s, m), m->image->id);
}

static struct hash128 hash_plan(const struct plan *p, const struct replay_options *o,
				const struct shard *shard)
{
	const uint64_t numbers[] = {
		o->repeats,     o->repeats_max, o->trials,
		o->store_all,   shard->index,   shard->count,
		p->pairs.count, p->count,       (uint64_t)(o->reference_s * 1e3)};
	struct hash_state *h = hash_state_new();
	struct hash128 hash = {0};

	if (!h)
		return hash;
	hash_state_add_text(h, "replay.plan");
	hash_state_add(h, numbers, sizeof(numbers));
	for (size_t i = 0; i < o->dtype_count; i++)
		hash_state_add_text(h, o->dtypes[i]);
	for (size_t i = 0; i < p->pairs.count; i++) {
		const struct pair *pair = &p->pairs.items[i];

		hash_state_add(h, &pair->config->key, sizeof(pair->config->key));
		hash_state_add(h, &p->selected[i], sizeof(p->selected[i]));
		hash_member(h, p->base, pair->base);
		hash_member(h, p->a, pair->a);
		hash_member(h, p->b, pair->b);
		for (size_t k = 0; pair->a && k < SIBLINGS_MOST; k++)
			hash_member(h, p->siblings.sources[k],
				    siblings_find(&p->siblings, k, pair->a));
	}
	for (size_t i = 0; i < p->count; i++) {
		hash_state_add(h, &p->cases[i].pair, sizeof(p->cases[i].pair));
		hash_state_add(h, &p->cases[i].launch->seq, sizeof(p->cases[i].launch->seq));
		hash_state_add(h, &p->cases[i].launch->time_ns,
			       sizeof(p->cases[i].launch->time_ns));
	}
	hash = hash_state_end(h);
	hash_state_free(h);
	return hash;
}

struct hash128 plan_hash(const struct plan *p, const struct replay_options *o)
{
	return hash_plan(p, o, &p->shard);
}

struct hash128 plan_hash_whole(const struct plan *p, const struct replay_options *o)
{
	return hash_plan(p, o, &(struct shard){0});
}
