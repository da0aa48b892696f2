/* SPDX-License-Identifier: MIT */
/* The search for what separates launches that show a difference from those that do not. */
#include "analyze/scope.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/scope_text.h"
#include "analyze/trait.h"
#include "lib/base.h"

/* Below this share of failures caught less passes caught, a feature explains nothing. */
#define PARTLY_LEAST 0.5

#define TOGETHER 3 /* features that are looked for at once */

struct search {
	const struct traits *t;
	uint64_t *failed; /* a bit a unit */
	size_t words, failures, passes;
	const struct trait *best[TOGETHER]; /* NULL from the first that is not needed */
	const struct trait **able;          /* hold for every failure, each for other units */
	size_t able_count;
};

const char *scope_kind_name(enum scope_kind k)
{
	static const char *const names[] = {"none", "all", "exact", "partly", "open"};

	return names[k];
}

static size_t count_bits(const uint64_t *x, size_t words)
{
	size_t n = 0;

	for (size_t i = 0; i < words; i++)
		n += (size_t)__builtin_popcountll(x[i]);
	return n;
}

static bool equal_bits(const uint64_t *x, const uint64_t *y, size_t words)
{
	return !memcmp(x, y, words * sizeof(*x));
}

static bool contains(const uint64_t *whole, const uint64_t *part, size_t words)
{
	for (size_t i = 0; i < words; i++)
		if (part[i] & ~whole[i])
			return false;
	return true;
}

static bool find_single(struct search *s)
{
	for (size_t i = 0; i < s->t->count; i++)
		if (equal_bits(s->t->items[i].holds, s->failed, s->words)) {
			s->best[0] = &s->t->items[i];
			return true;
		}
	return false;
}

/* Only features that hold for every failure can meet in them; of equal ones the first. */
static int list_able(struct search *s)
{
	s->able = calloc(s->t->count + 1, sizeof(const void *));
	if (!s->able)
		return -ENOMEM;
	for (size_t i = 0; i < s->t->count; i++) {
		const struct trait *x = &s->t->items[i];
		bool seen = x->of_order || !contains(x->holds, s->failed, s->words);

		for (size_t k = 0; !seen && k < s->able_count; k++)
			seen = equal_bits(s->able[k]->holds, x->holds, s->words);
		if (!seen)
			s->able[s->able_count++] = x;
	}
	return 0;
}

/* All three (z may be y) together hold for exactly the units that failed. */
static bool meet(const struct search *s, const struct trait *x, const struct trait *y,
		 const struct trait *z)
{
	for (size_t i = 0; i < s->words; i++)
		if ((x->holds[i] & y->holds[i] & z->holds[i]) != s->failed[i])
			return false;
	return true;
}

/* Of two pairs the one with the lower ranks is told. That PTX or code differ is no explanation as
 * long as there is another one: `plain` leaves such features out. */
static bool find_pair(struct search *s, bool plain)
{
	int least = INT_MAX;

	for (size_t i = 0; i < s->able_count; i++)
		for (size_t k = i + 1; k < s->able_count; k++) {
			const struct trait *x = s->able[i], *y = s->able[k];
			int sum = x->rank + y->rank;

			if (sum >= least || (plain && (x->of_sides || y->of_sides)) ||
			    !meet(s, x, y, y))
				continue;
			least = sum;
			s->best[0] = x;
			s->best[1] = y;
		}
	return s->best[0] != NULL;
}

static bool find_triple(struct search *s)
{
	int least = INT_MAX;

	for (size_t i = 0; i < s->able_count; i++)
		for (size_t k = i + 1; k < s->able_count; k++)
			for (size_t j = k + 1; j < s->able_count; j++) {
				const struct trait *x = s->able[i], *y = s->able[k];
				const struct trait *z = s->able[j];
				int sum = x->rank + y->rank + z->rank;

				if (sum >= least || x->of_sides || y->of_sides || z->of_sides ||
				    !meet(s, x, y, z))
					continue;
				least = sum;
				s->best[0] = x;
				s->best[1] = y;
				s->best[2] = z;
			}
	return s->best[0] != NULL;
}

/* A config fails if any of its launches does: features of configs alone, where launches do not
 * separate. 1 if found, 0 or -ENOMEM. */
static int find_config(struct search *s)
{
	size_t n = s->t->config_count, failing = 0;
	_cleanup_free_ bool *failed = calloc(n + 1, sizeof(*failed));

	if (!failed)
		return -ENOMEM;
	for (size_t i = 0; i < s->t->unit_count; i++)
		failed[s->t->units[i].config_index] |= s->t->units[i].failed;
	for (size_t i = 0; i < n; i++)
		failing += failed[i];
	for (size_t i = 0; i < s->t->count && failing < n; i++) {
		const struct trait *x = &s->t->items[i];
		bool same = x->of_config;

		for (size_t k = 0; same && k < s->t->unit_count; k++)
			same = trait_holds(x, k) == failed[s->t->units[k].config_index];
		if (same) {
			s->best[0] = x;
			return 1;
		}
	}
	return 0;
}

/* Share of the failures that x holds for, less the share of the passes. */
static double worth(const struct search *s, const struct trait *x)
{
	size_t in = 0, held = count_bits(x->holds, s->words);

	for (size_t i = 0; i < s->words; i++)
		in += (size_t)__builtin_popcountll(x->holds[i] & s->failed[i]);
	return (double)in / (double)s->failures - (double)(held - in) / (double)s->passes;
}

static bool find_best(struct search *s)
{
	double most = PARTLY_LEAST;

	for (size_t i = 0; i < s->t->count; i++) {
		double w = worth(s, &s->t->items[i]);

		if (w > most) {
			most = w;
			s->best[0] = &s->t->items[i];
		}
	}
	return s->best[0] != NULL;
}

/* ---- counts ---- */

/* Adds the text of x to the clause, and takes the units without it out of holds. */
static int join(const struct search *s, const struct trait *x, struct scope_clause *c,
		uint64_t *holds)
{
	char *text = c->text ? text_format("%s and %s", c->text, x->text) : strdup(x->text);

	if (!text)
		return -ENOMEM;
	free(c->text);
	c->text = text;
	for (size_t i = 0; i < s->words; i++)
		holds[i] &= x->holds[i];
	return 0;
}

/* Counts units, or configs with a unit, for which holds is set or not, among those of `within`. */
static int count_clause(const struct traits *t, const uint64_t *holds, const uint64_t *within,
			struct scope_clause *c)
{
	/* bit 0: with the features, 1: without; 2 and 3: and failed */
	_cleanup_free_ unsigned char *seen = calloc(t->config_count + 1, 1);

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < t->unit_count; i++) {
		const struct unit *u = &t->units[i];
		bool in = holds[i / 64] >> i % 64 & 1;

		if (!(within[i / 64] >> i % 64 & 1))
			continue;
		seen[u->config_index] |= (unsigned char)(in ? 1 : 2);
		if (u->failed)
			seen[u->config_index] |= (unsigned char)(in ? 4 : 8);
		if (c->of_config)
			continue;
		c->in += in;
		c->out += !in;
		c->in_failed += in && u->failed;
		c->out_failed += !in && u->failed;
	}
	for (size_t i = 0; c->of_config && i < t->config_count; i++) {
		c->in += seen[i] & 1;
		c->out += seen[i] >> 1 & 1;
		c->in_failed += seen[i] >> 2 & 1;
		c->out_failed += seen[i] >> 3 & 1;
	}
	return 0;
}

/* One clause of what was found about configs, then one about launches, within the first. */
static int make_clauses(const struct search *s, struct scope *out)
{
	_cleanup_free_ uint64_t *holds = malloc(s->words * sizeof(*holds));
	_cleanup_free_ uint64_t *within = malloc(s->words * sizeof(*within));
	int e = 0;

	if (!holds || !within)
		return -ENOMEM;
	memset(holds, 0xff, s->words * sizeof(*holds));
	for (int of_config = 1; !e && of_config >= 0; of_config--) {
		struct scope_clause *c = &out->clauses[out->clause_count];

		c->of_config = of_config;
		memcpy(within, holds, s->words * sizeof(*holds));
		for (size_t i = 0; !e && i < TOGETHER && s->best[i]; i++)
			if (s->best[i]->of_config == (bool)of_config)
				e = join(s, s->best[i], c, holds);
		if (!c->text)
			continue;
		out->clause_count++;
		if (!e)
			e = count_clause(s->t, holds, within, c);
	}
	return e;
}

/* "num_stages" of "num_stages ≥ 3" */
static size_t subject(const char *text)
{
	return strcspn(text, " =");
}

static bool same_subject(const struct trait *x, const struct trait *y)
{
	return subject(x->text) == subject(y->text) &&
	       !strncmp(x->text, y->text, subject(x->text)) && x->of_config == y->of_config;
}

/*
 * True if x could be told in place of `told`: it holds for the same launches, or for the same among
 * those for which `other` (may be NULL) holds.
 */
static bool tells_as_much(const struct search *s, const struct trait *x, const struct trait *told,
			  const struct trait *other)
{
	if (same_subject(x, told))
		return false;
	if (!other)
		return equal_bits(x->holds, s->failed, s->words);
	return x->of_config == told->of_config && !x->of_order && !x->of_sides &&
	       meet(s, other, x, x);
}

/* What could be told in place of the feature of launches, the last of the clauses. */
static int note_also(const struct search *s, struct scope *out)
{
	bool second = s->best[1] && !s->best[1]->of_config;
	const struct trait *told = s->best[second], *other = s->best[!second];

	for (size_t i = 0; i < s->t->count; i++) {
		const struct trait *x = &s->t->items[i];

		if (!tells_as_much(s, x, told, other))
			continue;
		if (array_reserve(&out->also, out->also_count, &out->also_capacity,
				  sizeof(*out->also)))
			return -ENOMEM;
		out->also[out->also_count] = strdup(x->text);
		if (!out->also[out->also_count])
			return -ENOMEM;
		out->also_count++;
	}
	return 0;
}

static void count_units(const struct traits *t, struct scope *out)
{
	size_t last = SIZE_MAX;

	out->configs = t->config_count;
	out->launches = t->unit_count;
	for (size_t i = 0; i < t->unit_count; i++) {
		if (!t->units[i].failed)
			continue;
		out->launches_failed++;
		out->configs_failed += t->units[i].config_index != last; /* neighbours */
		last = t->units[i].config_index;
	}
}

static int conclude(struct search *s, struct scope *out)
{
	int e = list_able(s);

	if (e)
		return e;
	if (find_single(s) || find_pair(s, true) || find_triple(s) || find_pair(s, false)) {
		out->kind = SCOPE_EXACT;
	} else {
		e = find_config(s);
		if (e < 0)
			return e;
		out->kind = e || find_best(s) ? SCOPE_PARTLY : SCOPE_OPEN;
	}
	e = make_clauses(s, out);
	/* of several features in one clause it would not be clear which one is meant */
	if (e || out->kind != SCOPE_EXACT || s->best[2] || (s->best[1] && out->clause_count < 2))
		return e;
	return note_also(s, out);
}

static int search_units(const struct traits *t, struct scope *out)
{
	struct search s = {.t = t, .words = t->unit_count / 64 + 1};
	_cleanup_free_ uint64_t *failed = calloc(s.words, sizeof(*failed));
	int e;

	if (!failed)
		return -ENOMEM;
	for (size_t i = 0; i < t->unit_count; i++)
		failed[i / 64] |= (uint64_t)t->units[i].failed << i % 64;
	s.failed = failed;
	s.failures = out->launches_failed;
	s.passes = out->launches - out->launches_failed;
	e = conclude(&s, out);
	free(s.able);
	return e;
}

static int find_scope(const struct analysis *a, struct family_verdict *f)
{
	struct scope *s = &f->scope;
	struct traits t;
	int e = traits_find(&t, f, f->outcome.bucket);

	if (!e) {
		count_units(&t, s);
		if (s->launches_failed == s->launches)
			s->kind = s->launches ? SCOPE_ALL : SCOPE_NONE;
		else if (s->launches_failed)
			e = search_units(&t, s);
	}
	if (!e && s->launches_failed)
		e = scope_text(a, f, &t);
	traits_free(&t);
	return e;
}

int scope_families(struct analysis *a, struct error *err)
{
	for (size_t i = 0; i < a->family_count; i++) {
		struct family_verdict *f = &a->families[i];

		if (f->outcome.bucket < 2 || f->outcome.unproven)
			continue;
		if (find_scope(a, f))
			return error_set(err, ENOMEM, ERROR_NO_OFFSET, "out of memory");
	}
	return 0;
}

void scope_clear(struct scope *s)
{
	for (size_t i = 0; i < s->also_count; i++)
		free(s->also[i]);
	free(s->also);
	for (size_t i = 0; i < s->clause_count; i++)
		free(s->clauses[i].text);
	free(s->outputs);
	free(s->types);
	free(s->trials);
	free(s->place);
	free(s->text);
	*s = (struct scope){0};
}
