/* SPDX-License-Identifier: MIT */
/* The kernel of one side that stands in for a recorded one, and by which rule. */
#include "replay/partner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/bind.h"
#include "replay/made.h"

bool same_kernel(const struct suite_member *x, const struct suite_member *y)
{
	return hash_equal(x->image->id, y->image->id) && !strcmp(x->entry, y->entry);
}

/* True if an earlier member of the config is the same image and entry (of another bundle). */
bool is_repeated(const struct suite_config *c, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (same_kernel(&c->members[i], &c->members[index]))
			return true;
	return false;
}

/* Number of the first launch; UINT64_MAX where none was recorded. */
static uint64_t first_launch(const struct suite_member *m)
{
	return m->launch_count ? m->launches[0]->seq : UINT64_MAX;
}

/* How many different kernels of the config, of that specialisation, come before m by first launch.
 */
static size_t position_of(const struct suite_config *c, const struct suite_member *m, size_t *total)
{
	size_t before = 0;

	*total = 0;
	for (size_t i = 0; i < c->member_count; i++) {
		const struct suite_member *other = &c->members[i];

		if (is_repeated(c, i) || !hash_equal(other->special, m->special))
			continue;
		(*total)++;
		before += first_launch(other) < first_launch(m);
	}
	return before;
}

static bool shares_grid(const struct suite_member *x, const struct suite_member *y)
{
	for (size_t i = 0; i < x->class_count; i++)
		for (size_t j = 0; j < y->class_count; j++)
			if (!memcmp(x->classes[i].grid, y->classes[j].grid,
				    sizeof(x->classes[i].grid)))
				return true;
	return false;
}

/* Different kernels of the config with (or without regard to) a specialisation. */
static size_t collect(const struct suite_config *c, const struct hash128 *special,
		      const struct suite_member **found, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < c->member_count && n < max; i++)
		if (!is_repeated(c, i) && (!special || hash_equal(c->members[i].special, *special)))
			found[n++] = &c->members[i];
	return n;
}

static const struct suite_member *only_with_grid(const struct suite_member *const *found, size_t n,
						 const struct suite_member *base)
{
	const struct suite_member *hit = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!shares_grid(found[i], base))
			continue;
		if (hit)
			return NULL;
		hit = found[i];
	}
	return hit;
}

static bool all_same_code(const struct suite_member *const *found, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (hash_is_zero(found[i]->code_hash) ||
		    !hash_equal(found[i]->code_hash, found[0]->code_hash))
			return false;
	return true;
}

/* Rule 3: the member of config c that stands for base (of config base_config). */
static const struct suite_member *choose(const struct suite_config *c,
					 const struct suite_config *base_config,
					 const struct suite_member *base, char **reason)
{
	_cleanup_free_ const struct suite_member **found =
		calloc(c->member_count + 1, sizeof(struct suite_member *));
	const struct suite_member *hit;
	size_t n, total, other_total;

	if (!found)
		return NULL;
	n = collect(c, &base->special, found, c->member_count);
	if (!n)
		n = collect(c, NULL, found, c->member_count);
	for (size_t i = 0; i < n; i++) /* the recorded image itself is among them */
		if (same_kernel(found[i], base))
			return found[i];
	if (n == 1 || (n && all_same_code(found, n)))
		return found[0];
	size_t position = position_of(base_config, base, &total);

	for (size_t i = 0; i < n; i++)
		if (hash_equal(found[i]->special, base->special) &&
		    position_of(c, found[i], &other_total) == position && other_total == total &&
		    first_launch(found[i]) != UINT64_MAX)
			return found[i];
	hit = only_with_grid(found, n, base);
	if (!hit)
		*reason = text_format("%zu images of this config and none told apart by "
				      "specialisation, position or grid",
				      n);
	return hit;
}

/* ---- the config ---- */

/* True if the other suite has exactly this config: it is no candidate for another one. */
static bool has_exact(const struct suite *other, const struct suite_family *f,
		      const struct suite_config *c)
{
	const struct suite_family *same = suite_family(other, f->key);

	return same && suite_config(same, c->key);
}

/* What the Python glue noted of a config's constexprs; zero where it noted nothing. */
static struct hash128 constexprs(const struct suite_config *c)
{
	return c->members[0].note ? c->members[0].note->values : (struct hash128){0};
}

/* Constexprs that leave no block shape (GROUP_M) tell configs apart, where both sides have notes.
 */
static bool other_constexprs(const struct suite_config *x, const struct suite_config *y)
{
	struct hash128 a = constexprs(x), b = constexprs(y);

	return !hash_is_zero(a) && !hash_is_zero(b) && !hash_equal(a, b);
}

/*
 * Configs of that entry name which have the loose key of `wanted`, no other constexprs, and which
 * the other suite does not have exactly; *first gets the first.
 */
static size_t count_loose(const struct suite *s, const struct suite *other, const char *name,
			  const struct suite_config *wanted, const struct suite_config **first)
{
	size_t n = 0;

	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *f = &s->families[i];

		for (size_t j = 0; !strcmp(f->name, name) && j < f->config_count; j++) {
			const struct suite_config *c = &f->configs[j];

			if (!hash_equal(c->loose, wanted->loose) || other_constexprs(c, wanted) ||
			    has_exact(other, f, c))
				continue;
			if (!n++)
				*first = c;
		}
	}
	return n;
}

static char *ambiguous(struct partner *out, const char *format, const char *name, size_t here,
		       size_t there)
{
	out->pairing = PAIRING_AMBIGUOUS;
	return text_format(format, here, there, name);
}

/* Rule 2 for kernels with metadata: same entry name and loose key, in any family. */
static const struct suite_config *find_loose(struct partner *out, const struct suite *side,
					     const char *name, const struct recorded_kernel *k)
{
	const struct suite_config *found = NULL, *own = NULL;
	size_t here, there;

	if (hash_is_zero(k->config->loose))
		return NULL;
	there = count_loose(side, k->suite, k->family->name, k->config, &found);
	if (!there)
		return NULL;
	here = count_loose(k->suite, side, k->family->name, k->config, &own);
	if (here == 1 && there == 1)
		return found;
	out->reason = ambiguous(out,
				"%zu recorded configs and %zu of %s have this entry, argument "
				"types, block shapes and options, but other sources: rule with "
				"--pair",
				name, here, there);
	return NULL;
}

static bool same_layout(const struct suite_member *x, const struct suite_member *y)
{
	size_t n, m;
	const struct record_param *p = member_params(x, &n), *q = member_params(y, &m);

	if (!p || !q || n != m)
		return false;
	for (size_t i = 0; i < n; i++)
		if (p[i].offset != q[i].offset || p[i].size != q[i].size)
			return false;
	return true;
}

/* Rule 2 for a bare cubin of the side: equal entry and parameter layout; PTX tells several apart.
 */
static const struct suite_config *find_bare(struct partner *out, const struct suite *side,
					    const char *name, const struct recorded_kernel *k)
{
	const struct suite_config *found = NULL, *same_ptx = NULL;
	size_t there = 0, equal = 0;

	for (size_t i = 0; i < side->family_count; i++) {
		const struct suite_family *f = &side->families[i];

		if (f->metadata || strcmp(f->name, k->family->name) != 0)
			continue;
		for (size_t j = 0; j < f->config_count; j++) {
			const struct suite_member *m = &f->configs[j].members[0];

			if (!same_layout(m, k->member))
				continue;
			there++;
			found = &f->configs[j];
			if (hash_is_zero(m->ptx_hash) ||
			    !hash_equal(m->ptx_hash, k->member->ptx_hash))
				continue;
			equal++;
			same_ptx = found;
		}
	}
	if (equal == 1) {
		out->pairing = PAIRING_EXACT;
		return same_ptx;
	}
	if (there == 1 && k->family->config_count == 1)
		return found;
	if (there)
		out->reason = ambiguous(out,
					"%zu recorded configs of this entry and %zu cubins without "
					"metadata of %s take these parameters: rule with --pair",
					name, k->family->config_count, there);
	return NULL;
}

/* Finds the config of `side` that belongs to the recorded one. */
static const struct suite_config *find_config(struct partner *out, const struct suite *side,
					      const char *name, const struct recorded_kernel *k)
{
	const struct suite_family *f = suite_family(side, k->family->key);
	const struct suite_config *c = f ? suite_config(f, k->config->key) : NULL;

	out->pairing = PAIRING_EXACT;
	if (c)
		return c;
	if (f && !k->family->metadata) {
		if (f->config_count == 1 && k->family->config_count == 1)
			return &f->configs[0];
		out->reason = ambiguous(out,
					"no metadata, and %zu recorded against %zu machine codes "
					"of this entry in %s",
					name, k->family->config_count, f->config_count);
		return NULL;
	}
	out->pairing = PAIRING_SOURCE_CHANGED;
	c = find_loose(out, side, name, k);
	if (c || out->reason || !k->family->metadata)
		return c;
	return find_bare(out, side, name, k);
}

/* ---- images that were made from recorded ones ---- */

static const struct suite_member *find_member(const struct suite *s, struct hash128 image,
					      const char *entry, const struct suite_config **config)
{
	for (size_t i = 0; i < s->family_count; i++)
		for (size_t j = 0; j < s->families[i].config_count; j++) {
			const struct suite_config *c = &s->families[i].configs[j];

			for (size_t k = 0; k < c->member_count; k++)
				if (hash_equal(c->members[k].image->id, image) &&
				    !strcmp(c->members[k].entry, entry)) {
					*config = c;
					return &c->members[k];
				}
		}
	return NULL;
}

const struct suite_member *partner_successor(const struct suite *side, const struct suite_member *m,
					     const struct suite_config **config)
{
	struct hash128 id;

	for (size_t i = 0; i < side->bundle_count; i++)
		if (made_successor(side->bundles[i], m->image->id, &id))
			return find_member(side, id, m->entry, config);
	return NULL;
}

/* Rule 0. True where the side's bundle tells what became of this image. */
static bool find_successor(struct partner *out, const struct suite *side, const char *name,
			   const struct recorded_kernel *k)
{
	struct hash128 base = k->member->image->id, id;

	for (size_t i = 0; i < side->bundle_count; i++) {
		const char *failure = made_failure(side->bundles[i], base);

		if (failure)
			out->reason = text_format("%s: %s", name, failure);
		else if (made_successor(side->bundles[i], base, &id))
			out->member = find_member(side, id, k->member->entry, &out->config);
		else
			continue;
		out->pairing = PAIRING_EXACT;
		if (!out->member && !out->reason)
			out->reason = text_format("%s: the image made anew has no entry %s", name,
						  k->member->entry);
		return true;
	}
	return false;
}

/*
 * Launch geometry belongs to a compiled kernel: it can be worked out from the recorded one only
 * where the source is the same.
 */
static void require_geometry(struct partner *out, const char *name, const struct recorded_kernel *k)
{
	const struct suite_member *m = out->member;
	uint32_t threads = m->code ? m->code->max_threads : 0;

	if (m->launch_count || out->pairing == PAIRING_EXACT ||
	    (!hash_is_zero(m->ptx_hash) && hash_equal(m->ptx_hash, k->member->ptx_hash)))
		return;
	if (m->triton)
		out->reason = text_format("%s geometry unknown: its source differs, and no launch "
					  "of it was recorded",
					  name);
	else if (k->member->code && threads != k->member->code->max_threads)
		out->reason = text_format("%s geometry unknown: a cubin without metadata, for %u "
					  "threads a block instead of %u",
					  name, threads, k->member->code->max_threads);
}

int partner_find(struct partner *out, const struct suite *side, const char *name,
		 const struct pair_rules *rules, const struct recorded_kernel *k)
{
	const struct pair_rule *rule = pair_rule_of(rules, k->config);

	*out = (struct partner){0};
	if (rule && !rule->b) {
		out->pairing = PAIRING_A_ONLY;
		out->reason = text_format("no partner by %s, line %zu", rules->path, rule->line);
	} else if (rule || !find_successor(out, side, name, k)) {
		if (rule)
			out->pairing = PAIRING_BY_RULE;
		out->config = rule ? rule->b : find_config(out, side, name, k);
		if (out->config)
			out->member = choose(out->config, k->config, k->member, &out->reason);
		if (out->config && !out->member && out->reason)
			out->pairing = PAIRING_AMBIGUOUS;
	}
	if (out->member && !out->reason)
		require_geometry(out, name, k);
	else if (!out->member && !out->reason)
		out->reason = text_format("%s has no such config", name);
	return out->member || out->reason ? 0 : -ENOMEM;
}
