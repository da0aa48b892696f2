/* SPDX-License-Identifier: MIT */
/* Which kernel of B belongs to which kernel of A. Pure: works on suites, opens nothing. */
#include "replay/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/grid.h"
#include "replay/partner.h"
#include "replay/stand_in.h"

void pairs_free(struct pairs *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->items[i].reason);
		free(p->items[i].stand_in);
		free(p->items[i].launches);
	}
	free(p->items);
	*p = (struct pairs){0};
}

/* Launches of p->base, of all bundles. */
static int add_launches(struct pair *p, const struct suite_config *config)
{
	size_t capacity = 0;

	for (size_t i = 0; i < config->member_count; i++) {
		const struct suite_member *m = &config->members[i];

		if (!same_kernel(m, p->base))
			continue;
		for (size_t j = 0; j < m->launch_count; j++) {
			int rc = array_reserve(&p->launches, p->launch_count, &capacity,
					       sizeof(*p->launches));

			if (rc)
				return rc;
			p->launches[p->launch_count++] =
				(struct pair_launch){.bundle = m->bundle, .launch = m->launches[j]};
		}
	}
	return 0;
}

/* The member of side (suite of A or B) for p->base. The first reason of a pair stays. */
static int side_member(const struct suite *side, const struct suite *base, const char *name,
		       const struct pair_rules *rules, struct pair *p, struct partner *out)
{
	const struct recorded_kernel k = {base, p->family, p->config, p->base};
	int rc = 0;

	*out = (struct partner){.config = p->config, .member = p->base, .pairing = PAIRING_EXACT};
	if (side != base)
		rc = partner_find(out, side, name, rules, &k);
	if (p->reason)
		free(out->reason);
	else
		p->reason = out->reason;
	return rc;
}

static enum pairing pairing_of(const struct partner *a, const struct partner *b)
{
	if (a->pairing == PAIRING_AMBIGUOUS || b->pairing == PAIRING_AMBIGUOUS)
		return PAIRING_AMBIGUOUS;
	if (!b->member)
		return PAIRING_A_ONLY;
	if (!a->member)
		return PAIRING_B_ONLY;
	return a->pairing > b->pairing ? a->pairing : b->pairing;
}

static const char *options_of(const struct suite_config *c)
{
	return c->options && *c->options ? c->options : "without options";
}

/*
 * Other block shapes than those of `on` have other grids: they are worked out for each launch.
 * *how: the first of them; NULL with *why: there is none. 0 or -ENOMEM.
 */
static int infer_grids(struct pair *p, const struct suite_member *target,
		       const struct suite_family *own, char **how, char **why)
{
	struct grid_question q = {.families = {p->family, own}, .base = p->base, .target = target};

	*how = *why = NULL;
	for (size_t i = 0; i < p->launch_count; i++) {
		struct error err;
		char *text;
		int rc;

		q.launch = p->launches[i].launch;
		rc = grid_infer(p->launches[i].grid, &text, &q, &err);
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			memset(p->launches[i].grid, 0, sizeof(p->launches[i].grid));
		if (rc && !*why)
			*why = strdup(err.message);
		if (!rc && !*how)
			*how = steal_pointer(text);
		free(text);
	}
	return *how || *why ? 0 : -ENOMEM;
}

/* No grid: not on these launches. */
static int give_up_grids(struct pair *p, const char *what, const char *why)
{
	p->reason = text_format("%s: grid unknown: %s", what, why);
	free(steal_pointer(p->launches));
	p->launch_count = 0;
	p->on = NULL;
	return p->reason ? 0 : -ENOMEM;
}

/* A config that was never launched, with block shapes of its own: on the most launched one's. */
static int use_inferred_launches(struct pair *p)
{
	static const char lacks[] = "loaded, but never launched in the recording, and no launched "
				    "config has its block shapes";
	const struct suite_member *own = p->base, *m = stand_in_find(p->family, NULL, &p->on);
	_cleanup_free_ char *how = NULL, *why = NULL;
	int rc;

	if (!m)
		return give_up_grids(p, lacks, "the family was not launched");
	p->base = m;
	rc = add_launches(p, p->on);
	if (!rc)
		rc = infer_grids(p, own, NULL, &how, &why);
	if (rc)
		return rc;
	if (!how) {
		p->base = own;
		return give_up_grids(p, lacks, why);
	}
	p->stand_in = text_format("loaded, but never launched in the recording: on launches of "
				  "config %.200s; grid %s",
				  options_of(p->on), how);
	return p->stand_in ? 0 : -ENOMEM;
}

/* Of a config that was never launched: launches with its grid. */
static int use_other_launches(struct pair *p)
{
	const struct suite_member *m = NULL;

	if (p->base->seen) {
		p->reason = strdup("no launch of it was recorded");
		return p->reason ? 0 : -ENOMEM;
	}
	if (p->config->options)
		m = stand_in_find(p->family, p->config->options, &p->on);
	if (!m)
		return use_inferred_launches(p);
	p->base = m;
	p->stand_in = text_format("loaded, but never launched in the recording: on launches of "
				  "config %.200s, which has the same block shapes",
				  options_of(p->on));
	return p->stand_in ? add_launches(p, p->on) : -ENOMEM;
}

static int pair_one(struct pairs *out, const struct suite *base, const struct suite *a,
		    const struct suite *b, const struct pair_rules *rules, struct pair p)
{
	struct partner in_a, in_b = {0};
	int rc = array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items));

	if (rc)
		return rc;
	rc = side_member(a, base, "A", NULL, &p, &in_a);
	if (!rc)
		rc = side_member(b, base, "B", rules, &p, &in_b);
	p.a = in_a.member;
	p.b = in_b.member;
	p.b_config = in_b.config;
	p.pairing = pairing_of(&in_a, &in_b);
	if (!rc)
		rc = add_launches(&p, p.config);
	if (!rc && !p.launch_count && !p.reason)
		rc = use_other_launches(&p);
	out->items[out->count++] = p;
	return rc;
}

/* True if some pair already uses this kernel as B. */
static bool is_used(const struct pairs *p, const struct suite_member *m)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].b && same_kernel(p->items[i].b, m))
			return true;
	return false;
}

/* The grid of what only B has, on launches of a config with other block shapes. */
static int use_inferred_grids(struct pair *p, const struct suite_family *own, bool needed)
{
	_cleanup_free_ char *how = NULL, *why = NULL, *before = p->stand_in;
	int rc = infer_grids(p, p->b, own, &how, &why);

	if (rc || (!how && !needed)) {
		before = NULL;
		return rc;
	}
	p->stand_in = how ? text_format("%s; grid %s", before, how) : NULL;
	if (!how)
		return give_up_grids(p, "only B has it, with block shapes of its own", why);
	return p->stand_in ? 0 : -ENOMEM;
}

/* Config p->on of A, by its member m: its launches, and A's kernel for them. */
static int use_launches(struct pair *p, const struct suite_family *f, const struct suite_member *m,
			const struct suite *a, const struct suite *base, bool inferred)
{
	const struct suite_family *own = p->family;
	struct pair recorded = {.family = f, .config = p->on, .base = m};
	struct partner in_a;
	int rc = side_member(a, base, "A", NULL, &recorded, &in_a);

	p->reason = recorded.reason;
	p->family = f;
	p->base = m;
	p->a = in_a.member;
	p->stand_in =
		text_format("only B has it: compared with config %.200s of A, the most "
			    "launched one%s, on its launches",
			    options_of(p->on),
			    p->b->launch_count || inferred ? "" : " with the same block shapes");
	if (!rc)
		rc = p->stand_in ? add_launches(p, p->on) : -ENOMEM;
	if (!rc && !p->reason && p->b->note &&
	    !stand_in_same_shapes(p->config->options, p->on->options))
		rc = use_inferred_grids(p, own, inferred);
	return rc;
}

/* Launches to run a config on that only B has, and A's kernel for them. */
static int use_winner(struct pair *p, const struct suite *base, const struct suite *a)
{
	const struct suite_family *f = suite_family(base, p->family->key);
	const struct suite_member *m = NULL;
	bool inferred;

	if (f && suite_config(f, p->config->key)) {
		p->reason = strdup("another specialisation of a config that A has too, which none "
				   "of A's images has");
		return p->reason ? 0 : -ENOMEM;
	}
	/* a SPLIT_K leaves no block shape: without a launch the constexprs must be known */
	if (f && (p->b->launch_count || p->b->note))
		m = stand_in_find(f, p->b->launch_count ? NULL : p->config->options, &p->on);
	inferred = !m && f && p->b->note;
	if (inferred)
		m = stand_in_find(f, NULL, &p->on);
	if (!m) {
		p->reason = strdup(!f ? "only B has it: nothing recorded to run it on"
				      : "only B has it, without a launch or its constexprs, or no "
					"recorded config has its block shapes: grid unknown");
		return p->reason ? 0 : -ENOMEM;
	}
	return use_launches(p, f, m, a, base, inferred);
}

static int add_b_only(struct pairs *out, const struct suite *base, const struct suite *a,
		      const struct suite_family *family, const struct suite_config *config,
		      const struct suite_member *m)
{
	struct pair p = {.family = family,
			 .config = config,
			 .b = m,
			 .b_config = config,
			 .pairing = PAIRING_B_ONLY};
	int rc = array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items));

	if (rc)
		return rc;
	rc = use_winner(&p, base, a);
	out->items[out->count++] = p;
	return rc;
}

/* Calls pair_one for each different kernel of the base suite, or add_b_only for those of b. */
static int walk(struct pairs *out, const struct suite *base, const struct suite *a,
		const struct suite *b, const struct pair_rules *rules, bool b_only)
{
	const struct suite *s = b_only ? b : base;

	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *f = &s->families[i];

		for (size_t j = 0; j < f->config_count; j++) {
			const struct suite_config *c = &f->configs[j];

			for (size_t k = 0; k < c->member_count; k++) {
				struct pair p = {.family = f, .config = c, .base = &c->members[k]};
				int rc = 0;

				if (is_repeated(c, k))
					continue;
				if (!b_only)
					rc = pair_one(out, base, a, b, rules, p);
				else if (!is_used(out, &c->members[k]))
					rc = add_b_only(out, base, a, f, c, &c->members[k]);
				if (rc)
					return rc;
			}
		}
	}
	return 0;
}

int pairs_build(struct pairs *out, const struct suite *base, const struct suite *a,
		const struct suite *b, const struct pair_rules *rules)
{
	int rc;

	*out = (struct pairs){0};
	rc = walk(out, base, a, b, rules, false);
	if (!rc && b != base)
		rc = walk(out, base, a, b, rules, true);
	if (rc)
		pairs_free(out);
	return rc;
}
