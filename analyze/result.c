/* SPDX-License-Identifier: MIT */
/* Opening a result bundle: references are resolved and checked once, here. */
#include "analyze/result.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base.h"

struct result_private {
	const struct record_family **families; /* by key */
	const struct record_trial **trials;
	struct result_case *cases;
};

#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

static int compare_family(const void *x, const void *y)
{
	const struct record_family *const *a = x, *const *b = y;

	return hash_compare((*a)->key, (*b)->key);
}

int result_config_compare(const struct record_config *x, const struct record_config *y)
{
	int order = hash_compare(x->family, y->family);

	if (!order)
		order = hash_compare(x->key, y->key);
	if (!order)
		order = hash_compare(x->a_image, y->a_image);
	return order ? order : hash_compare(x->b_image, y->b_image);
}

static int compare_config(const void *x, const void *y)
{
	const struct result_config *a = x, *b = y;
	int order = result_config_compare(a->record, b->record);

	return order ? order : ORDER(a->record->number, b->record->number);
}

static int compare_case_number(const void *x, const void *y)
{
	const struct result_case *a = x, *b = y;

	return ORDER(a->record->number, b->record->number);
}

static int compare_case_config(const void *x, const void *y)
{
	const struct result_case *a = x, *b = y;
	int order = ORDER(a->record->config, b->record->config);

	return order ? order : compare_case_number(x, y);
}

static int compare_trial(const void *x, const void *y)
{
	const struct record_trial *a = *(const struct record_trial *const *)x;
	const struct record_trial *b = *(const struct record_trial *const *)y;
	int order = ORDER(a->test_case, b->test_case);

	if (!order)
		order = ORDER(a->side, b->side);
	if (!order)
		order = ORDER(a->kind, b->kind);
	return order ? order : ORDER(a->index, b->index);
}

/* The same trial, stored later, before the unstored one. */
static int compare_trial_stored(const void *x, const void *y)
{
	int order = compare_trial(x, y);

	return order ? order
		     : (*(const struct record_trial *const *)x)->unstored -
			       (*(const struct record_trial *const *)y)->unstored;
}

/* Sorts them, and leaves out the unstored ones in whose place others are. */
static size_t sort_trials(const struct record_trial **trials, size_t count)
{
	size_t kept = 0;

	qsort(trials, count, sizeof(*trials), compare_trial_stored);
	for (size_t i = 0; i < count; i++)
		if (!kept || !trials[i]->unstored || compare_trial(&trials[kept - 1], &trials[i]))
			trials[kept++] = trials[i];
	return kept;
}

static int load_families(struct result *r, struct error *err)
{
	size_t n = r->bundle->families.count;

	if (!n)
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "%s: holds no kernel family: nothing was replayed into it",
				 r->path);
	r->priv->families = calloc(n, sizeof(*r->priv->families));
	if (!r->priv->families)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: out of memory", r->path);
	for (size_t i = 0; i < n; i++)
		r->priv->families[i] = &r->bundle->families.items[i];
	qsort(r->priv->families, n, sizeof(*r->priv->families), compare_family);
	for (size_t i = 1; i < n; i++)
		if (hash_equal(r->priv->families[i]->key, r->priv->families[i - 1]->key))
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: family %s is there twice", r->path,
					 r->priv->families[i]->name ?: "?");
	return 0;
}

static int load_sides(struct result *r, struct error *err)
{
	for (size_t i = 0; i < r->bundle->sides.count; i++) {
		const struct record_side *s = &r->bundle->sides.items[i];

		if (s->side >= SIDE_COUNT || r->sides[s->side])
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: side %" PRIu32 " is %s", r->path, s->side,
					 s->side >= SIDE_COUNT ? "unknown" : "described twice");
		r->sides[s->side] = s;
	}
	for (uint32_t side = 0; side < SIDE_COUNT; side++)
		if (!r->sides[side])
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: side %s is not described: the replay ended too early",
					 r->path, side_name(side));
	return 0;
}

static int check_case(const struct result *r, const struct record_case *c, struct error *err)
{
	for (size_t i = 0; i < c->extents.count; i++) {
		const struct record_extent *e = &c->extents.items[i];

		if (!e->size || e->address + e->size < e->address)
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: case %" PRIu32 ": extent %zu is no address range",
					 r->path, c->number, i);
	}
	return 0;
}

static int load_cases(struct result *r, struct error *err)
{
	size_t n = r->bundle->cases.count;
	struct result_case *cases = calloc(n ? n : 1, sizeof(*cases));
	int e;

	if (!cases)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: out of memory", r->path);
	r->priv->cases = cases;
	for (size_t i = 0; i < n; i++) {
		cases[i].record = &r->bundle->cases.items[i];
		e = check_case(r, cases[i].record, err);
		if (e)
			return e;
	}
	qsort(cases, n, sizeof(*cases), compare_case_number);
	for (size_t i = 1; i < n; i++)
		if (cases[i].record->number == cases[i - 1].record->number)
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: case %" PRIu32 " is there twice", r->path,
					 cases[i].record->number);
	return 0;
}

/* Contents of a trial fit the extents of its case. */
static int check_trial(const struct result *r, const struct record_trial *t,
		       const struct record_case *c, struct error *err)
{
	const char *wrong = NULL;

	bool stored = t->status == TRIAL_STATUS_OK && !t->unstored;

	if (t->side >= SIDE_COUNT)
		wrong = "unknown side";
	else if (t->kind == TRIAL_RACE) /* looks at accesses, keeps no contents */
		return 0;
	else if (t->unstored && t->contents.count)
		wrong = "it is unstored, and has contents";
	else if (stored && t->contents.count != c->extents.count)
		wrong = "its contents are not one an extent";
	for (size_t i = 0; !wrong && stored && i < c->extents.count; i++) {
		const struct record_extent *e = &c->extents.items[i];

		if (t->contents.items[i].chunks.count != chunk_count(e->address, e->size))
			wrong = "it has too few or too many chunks for its extent";
	}
	if (!wrong)
		return 0;
	return error_set(err, EBADMSG, ERROR_NO_OFFSET,
			 "%s: case %" PRIu32 ", trial %s %s %" PRIu32 ": %s", r->path, t->test_case,
			 side_name(t->side), trial_kind_name(t->kind), t->index, wrong);
}

static int load_trials(struct result *r, struct error *err)
{
	size_t n = r->bundle->trials.count, cases = r->bundle->cases.count, at = 0;
	const struct record_trial **trials = calloc(n ? n : 1, sizeof(const void *));
	int e;

	if (!trials)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: out of memory", r->path);
	r->priv->trials = trials;
	for (size_t i = 0; i < n; i++)
		trials[i] = &r->bundle->trials.items[i];
	n = sort_trials(trials, n);
	for (size_t i = 0; i < n; i++) {
		const struct record_trial *t = trials[i];

		if (i && !compare_trial(&trials[i - 1], &trials[i]))
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: case %" PRIu32 ", trial %s %s %" PRIu32
					 " is there twice",
					 r->path, t->test_case, side_name(t->side),
					 trial_kind_name(t->kind), t->index);
		while (at < cases && r->priv->cases[at].record->number < t->test_case)
			at++;
		if (at == cases || r->priv->cases[at].record->number != t->test_case) {
			if (!r->bundle->complete) /* killed in the middle of the case */
				continue;
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: a trial belongs to case %" PRIu32
					 ", which is not there",
					 r->path, t->test_case);
		}
		e = check_trial(r, t, r->priv->cases[at].record, err);
		if (e)
			return e;
		if (!r->priv->cases[at].trial_count++)
			r->priv->cases[at].trials = &trials[i];
	}
	return 0;
}

static int compare_config_number(const void *x, const void *y)
{
	const struct result_config *a = x, *b = y;

	return ORDER(a->record->number, b->record->number);
}

/* Hands each config its cases: both are sorted by config number for this. */
static int distribute_cases(struct result *r, struct error *err)
{
	size_t n = r->bundle->cases.count, at = 0;
	struct result_case *cases = r->priv->cases;

	qsort(cases, n, sizeof(*cases), compare_case_config);
	for (size_t i = 0; i < n; i++) {
		uint32_t config = cases[i].record->config;

		while (at < r->config_count && r->configs[at].record->number < config)
			at++;
		if (at == r->config_count || r->configs[at].record->number != config) {
			if (!r->bundle->complete) /* killed before the config's last launch */
				continue;
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: case %" PRIu32 " belongs to config %" PRIu32
					 ", which is not there",
					 r->path, cases[i].record->number, config);
		}
		if (!r->configs[at].case_count++)
			r->configs[at].cases = &cases[i];
	}
	return 0;
}

static int load_configs(struct result *r, struct error *err)
{
	size_t n = r->bundle->configs.count;
	int e;

	r->configs = calloc(n ? n : 1, sizeof(*r->configs));
	if (!r->configs)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: out of memory", r->path);
	r->config_count = n;
	for (size_t i = 0; i < n; i++) {
		const struct record_config *c = &r->bundle->configs.items[i];
		struct record_family key = {.key = c->family};
		const struct record_family *wanted = &key, **found;

		found = bsearch(&wanted, r->priv->families, r->bundle->families.count,
				sizeof(*r->priv->families), compare_family);
		if (!found)
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: config %" PRIu32
					 " belongs to a family that is not there",
					 r->path, c->number);
		r->configs[i] = (struct result_config){.record = c, .family = *found};
	}
	qsort(r->configs, n, sizeof(*r->configs), compare_config_number);
	for (size_t i = 1; i < n; i++)
		if (r->configs[i].record->number == r->configs[i - 1].record->number)
			return error_set(err, EBADMSG, ERROR_NO_OFFSET,
					 "%s: config %" PRIu32 " is there twice", r->path,
					 r->configs[i].record->number);
	e = distribute_cases(r, err);
	if (e)
		return e;
	qsort(r->configs, n, sizeof(*r->configs), compare_config);
	return 0;
}

/* Whether the replay came to its end, and where it ran. */
static void load_circumstances(struct result *r)
{
	const struct bundle *b = r->bundle;

	for (size_t i = 0; i < b->devices.count; i++)
		if (b->devices.items[i].software)
			r->software = true;
	if (!b->complete)
		r->incomplete = b->damage[0] ? b->damage : "the replay was cut off";
	for (size_t i = 0; i < b->ends.count; i++)
		if (!b->ends.items[i].clean)
			r->incomplete = b->ends.items[i].incomplete ?: "the replay did not finish";
}

static int load(struct result *r, struct error *err)
{
	int e;

	if (r->bundle->kind != BUNDLE_RESULT)
		return error_set(err, EINVAL, ERROR_NO_OFFSET,
				 "%s: is a capture, not a result: replay it first (kernelab diff "
				 "does both)",
				 r->path);
	e = load_sides(r, err);
	if (!e)
		e = load_families(r, err);
	if (!e)
		e = load_cases(r, err);
	if (!e)
		e = load_trials(r, err);
	if (!e)
		e = load_configs(r, err);
	if (!e)
		load_circumstances(r);
	return e;
}

int result_open(struct result **out, const char *path, struct error *err)
{
	struct result *r = calloc(1, sizeof(*r));
	int e;

	*out = NULL;
	if (r)
		r->priv = calloc(1, sizeof(*r->priv));
	if (!r || !r->priv) {
		free(r);
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: out of memory", path);
	}
	e = bundle_open(&r->bundle, path, err);
	if (!e) {
		r->path = r->bundle->path;
		e = load(r, err);
	}
	if (e) {
		result_close(r);
		return e;
	}
	*out = r;
	return 0;
}

void result_close(struct result *r)
{
	if (!r)
		return;
	free(r->priv->families);
	free(r->priv->trials);
	free(r->priv->cases);
	free(r->priv);
	free(r->configs);
	bundle_close(r->bundle);
	free(r);
}
