/* SPDX-License-Identifier: MIT */
/* Which kernel of B belongs to which kernel of A. Pure: works on suites, opens nothing. */
#include "replay/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
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
				(struct pair_launch){m->bundle, m->launches[j]};
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

/* Of a config that was never launched: launches with its grid. */
static int use_other_launches(struct pair *p)
{
	const struct suite_member *m = NULL;

	if (!p->base->seen && p->config->options)
		m = stand_in_find(p->family, p->config->options, &p->on);
	if (!m) {
		p->reason =
			strdup(p->base->seen ? "no launch of it was recorded"
					     : "loaded, but never launched in the recording, and "
					       "no launched config has its block shapes: grid "
					       "unknown");
		return p->reason ? 0 : -ENOMEM;
	}
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

/* Launches to run a config on that only B has, and A's kernel for them. */
static int use_winner(struct pair *p, const struct suite *base, const struct suite *a)
{
	const struct suite_family *f = suite_family(base, p->family->key);
	const struct suite_member *m = NULL;
	struct partner in_a;
	int rc;

	if (f && suite_config(f, p->config->key)) {
		p->reason = strdup("another specialisation of a config that A has too, which none "
				   "of A's images has");
		return p->reason ? 0 : -ENOMEM;
	}
	/* a SPLIT_K leaves no block shape: without a launch the constexprs must be known */
	if (f && (p->b->launch_count || p->b->note))
		m = stand_in_find(f, p->b->launch_count ? NULL : p->config->options, &p->on);
	if (!m) {
		p->reason = strdup(!f ? "only B has it: nothing recorded to run it on"
				      : "only B has it, without a launch or its constexprs, or no "
					"recorded config has its block shapes: grid unknown");
		return p->reason ? 0 : -ENOMEM;
	}
	struct pair recorded = {.family = f, .config = p->on, .base = m};

	rc = side_member(a, base, "A", NULL, &recorded, &in_a);
	p->reason = recorded.reason;
	p->family = f;
	p->base = m;
	p->a = in_a.member;
	p->stand_in = text_format("only B has it: compared with config %.200s of A, the most "
				  "launched one%s, on its launches",
				  options_of(p->on),
				  p->b->launch_count ? "" : " with the same block shapes");
	if (!rc)
		rc = p->stand_in ? add_launches(p, p->on) : -ENOMEM;
	return rc;
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
