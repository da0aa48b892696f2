/* SPDX-License-Identifier: MIT */
/* Which kernel of B belongs to which kernel of A. Pure: works on suites, opens nothing. */
#include "replay/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"

void pairs_free(struct pairs *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->items[i].reason);
		free(p->items[i].launches);
	}
	free(p->items);
	*p = (struct pairs){0};
}

static bool same_kernel(const struct suite_member *x, const struct suite_member *y)
{
	return hash_equal(x->image->id, y->image->id) && !strcmp(x->entry, y->entry);
}

/* True if an earlier member of the config is the same image and entry (of another bundle). */
static bool is_repeated(const struct suite_config *c, size_t index)
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
	if (n == 1 || (n && all_same_code(found, n)))
		return found[0];
	for (size_t i = 0; i < n; i++) /* the recorded image itself is among them */
		if (same_kernel(found[i], base))
			return found[i];
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

/* Rule 2 for kernels with metadata: same entry name and loose key, in any family. */
static const struct suite_config *find_loose(const struct suite *s, const char *name,
					     struct hash128 loose)
{
	if (hash_is_zero(loose))
		return NULL;
	for (size_t i = 0; i < s->family_count; i++) {
		const struct suite_family *f = &s->families[i];

		for (size_t j = 0; !strcmp(f->name, name) && j < f->config_count; j++)
			if (hash_equal(f->configs[j].loose, loose))
				return &f->configs[j];
	}
	return NULL;
}

/* Finds the config of `side` that belongs to a config of the base suite. */
static const struct suite_config *find_config(const struct suite *side,
					      const struct suite_family *family,
					      const struct suite_config *config,
					      enum pairing *pairing, char **reason)
{
	const struct suite_family *f = suite_family(side, family->key);
	const struct suite_config *c = f ? suite_config(f, config->key) : NULL;

	*pairing = PAIRING_EXACT;
	if (c)
		return c;
	if (f && !family->metadata) {
		if (f->config_count == 1 && family->config_count == 1)
			return &f->configs[0];
		*reason =
			text_format("no metadata, and %zu against %zu machine codes of this entry",
				    family->config_count, f->config_count);
		return NULL;
	}
	*pairing = PAIRING_SOURCE_CHANGED;
	return find_loose(side, family->name, config->loose);
}

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

/* The member of side (suite of A or B) for p->base. */
static const struct suite_member *side_member(const struct suite *side, const struct suite *base,
					      struct pair *p, const struct suite_config **config,
					      enum pairing *pairing)
{
	*pairing = PAIRING_EXACT;
	*config = p->config;
	if (side == base)
		return p->base;
	*config = find_config(side, p->family, p->config, pairing, &p->reason);
	return *config ? choose(*config, p->config, p->base, &p->reason) : NULL;
}

static int pair_one(struct pairs *out, const struct suite *base, const struct suite *a,
		    const struct suite *b, struct pair p)
{
	const struct suite_config *a_config;
	enum pairing a_pairing, b_pairing;
	int rc = array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items));

	if (rc)
		return rc;
	p.a = side_member(a, base, &p, &a_config, &a_pairing);
	if (!p.a && !p.reason)
		p.reason = strdup("A has no such config");
	p.b = side_member(b, base, &p, &p.b_config, &b_pairing);
	if (!p.b && !p.reason)
		p.reason = strdup("B has no such config");
	p.pairing = !p.b                    ? PAIRING_A_ONLY
		    : !p.a                  ? PAIRING_B_ONLY
		    : a_pairing > b_pairing ? a_pairing
					    : b_pairing;
	rc = add_launches(&p, p.config);
	if (!rc && !p.launch_count && !p.reason)
		p.reason = strdup(p.base->seen ? "no launch of it was recorded"
					       : "loaded, but never launched in the recording");
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

static int add_b_only(struct pairs *out, const struct suite_family *family,
		      const struct suite_config *config, const struct suite_member *m)
{
	int rc = array_reserve(&out->items, out->count, &out->capacity, sizeof(*out->items));
	char *reason = strdup("only B has it: nothing recorded to run it on");

	if (rc || !reason) {
		free(reason);
		return -ENOMEM;
	}
	out->items[out->count++] = (struct pair){.family = family,
						 .config = config,
						 .b = m,
						 .b_config = config,
						 .pairing = PAIRING_B_ONLY,
						 .reason = reason};
	return 0;
}

/* Calls pair_one for each different kernel of the base suite, or add_b_only for those of b. */
static int walk(struct pairs *out, const struct suite *base, const struct suite *a,
		const struct suite *b, bool b_only)
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
					rc = pair_one(out, base, a, b, p);
				else if (!is_used(out, &c->members[k]))
					rc = add_b_only(out, f, c, &c->members[k]);
				if (rc)
					return rc;
			}
		}
	}
	return 0;
}

int pairs_build(struct pairs *out, const struct suite *base, const struct suite *a,
		const struct suite *b)
{
	int rc;

	*out = (struct pairs){0};
	rc = walk(out, base, a, b, false);
	if (!rc && b != base)
		rc = walk(out, base, a, b, true);
	if (rc)
		pairs_free(out);
	return rc;
}
