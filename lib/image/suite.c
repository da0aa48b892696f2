/* SPDX-License-Identifier: MIT */
/* Groups the kernels of captures into families and configs. */
#include "lib/image/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/identity.h"
#include "lib/image/suite_classes.h"
#include "lib/image/suite_image.h"

/* A member with the keys by which it is grouped. */
struct keyed {
	struct suite_member member;
	struct hash128 family, config;
};

struct suite_private {
	struct bundle **bundles;
	struct suite_image *
		*images; /* those of all bundles, allocated one by one: members point in */
	size_t image_count, image_capacity;
	struct keyed *keyed; /* while building */
	size_t keyed_count, keyed_capacity;
	struct suite_member *members; /* all, by family and config */
	struct suite_config *configs; /* all, by family */
	char (*plain_options)[24];    /* one a config: "code 1a2b3c4d" where there is no metadata */
};

static int no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for the kernel suite");
}

static int set_keys(struct keyed *k, const struct suite_image *image, struct error *err)
{
	const struct suite_member *m = &k->member;

	if (m->triton) {
		k->family = m->triton->family;
		k->config = m->triton->config;
		return 0;
	}
	k->config = m->code ? m->code_hash : image->record->id;
	if (m->kernel && m->kernel->params.count)
		return identity_plain(m->entry, m->kernel->params.items, m->kernel->params.count,
				      &k->family, err);
	return identity_plain(m->entry, m->code ? m->code->params : NULL,
			      m->code ? m->code->param_count : 0, &k->family, err);
}

static int add_member(struct suite *s, size_t bundle, const struct suite_image *image,
		      const struct record_kernel *kernel, struct error *err)
{
	struct suite_private *p = s->priv;
	const char *entry = kernel ? kernel->entry : image->triton->name;
	struct suite_member *m;

	if (!entry)
		return error_set(err, EINVAL, ERROR_NO_OFFSET, "%s: kernel %" PRIu32 " has no name",
				 s->bundles[bundle]->path, kernel->number);
	if (array_reserve(&p->keyed, p->keyed_count, &p->keyed_capacity, sizeof(*p->keyed)) < 0)
		return no_memory(err);
	p->keyed[p->keyed_count] = (struct keyed){0};
	m = &p->keyed[p->keyed_count++].member;
	m->bundle = bundle;
	m->image = image->record;
	m->kernel = kernel;
	m->entry = entry;
	m->cubin = image->cubin;
	m->code = image->cubin ? cubin_kernel(image->cubin, entry) : NULL;
	m->problem = image->problem;
	m->ptx_hash = image->ptx_hash;
	if (m->code)
		m->code_hash = m->code->code;
	if (image->triton && !strcmp(image->triton->name, entry)) {
		m->triton = image->triton;
		m->note = image->note;
		m->special = image->triton->special;
	}
	return set_keys(&p->keyed[p->keyed_count - 1], image, err);
}

static int add_image(struct suite *s, size_t bundle, const struct record_image *record,
		     struct error *err)
{
	struct suite_private *p = s->priv;
	const struct bundle *b = s->bundles[bundle];
	struct suite_image *image = calloc(1, sizeof(*image));
	bool used = false;
	int r;

	if (!image ||
	    array_reserve(&p->images, p->image_count, &p->image_capacity, sizeof(*p->images)) < 0) {
		free(image);
		return no_memory(err);
	}
	p->images[p->image_count++] = image;
	r = suite_image_read(image, b, record, err);
	for (size_t i = 0; i < b->kernels.count && !r; i++) {
		if (!hash_equal(b->kernels.items[i].image, record->id))
			continue;
		used = true;
		r = add_member(s, bundle, image, &b->kernels.items[i], err);
	}
	if (!used && !r && image->triton)
		r = add_member(s, bundle, image, NULL, err);
	else if (!used)
		s->unused_images++;
	return r;
}

static int collect(struct suite *s, struct error *err)
{
	for (size_t i = 0; i < s->bundle_count; i++) {
		const struct bundle *b = s->bundles[i];

		for (size_t k = 0; k < b->images.count; k++) {
			int r = add_image(s, i, &b->images.items[k], err);

			if (r)
				return r;
		}
		for (size_t k = 0; k < b->kernels.count; k++) {
			if (!bundle_image(b, b->kernels.items[k].image))
				return error_set(err, EINVAL, ERROR_NO_OFFSET,
						 "%s: kernel %" PRIu32
						 " is of an image that is not there",
						 b->path, b->kernels.items[k].number);
		}
	}
	return 0;
}

static int keyed_compare(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int r = hash_compare(x->family, y->family);

	if (!r)
		r = hash_compare(x->config, y->config);
	if (!r)
		r = hash_compare(x->member.special, y->member.special);
	if (!r)
		r = hash_compare(x->member.image->id, y->member.image->id);
	if (!r)
		r = x->member.bundle < y->member.bundle ? -1 : x->member.bundle > y->member.bundle;
	return r;
}

/* What a member of a family knows of it; the first one counts, but for better names. */
static void fill_family(struct suite_family *f, const struct keyed *k, bool first)
{
	const struct suite_member *m = &k->member;
	const struct signature *sig = m->triton ? m->triton->signature : NULL;

	if (first) {
		f->key = k->family;
		f->name = m->entry;
		f->origin = (enum origin)m->image->origin;
		f->origin_how = m->image->origin_how ? m->image->origin_how : "";
		f->source = sig ? sig->source_file : "";
		f->line = sig ? sig->source_line : 0;
		f->metadata = m->triton;
	}
	if (first ||
	    (signature_has_names(sig) && f->arg_count && !strcmp(f->args[0].name, "arg0"))) {
		f->args = sig ? sig->args : NULL;
		f->arg_count = sig ? sig->arg_count : 0;
	}
}

static void fill_config(struct suite_config *c, const struct keyed *first, char (*plain)[24])
{
	const struct suite_member *m = &first->member;

	c->key = first->config;
	if (m->triton) {
		c->loose = m->triton->loose;
		c->options = m->triton->options;
	} else {
		snprintf(*plain, sizeof(*plain), "%s %08" PRIx32, m->code ? "code" : "image",
			 (uint32_t)(first->config.high >> 32));
		c->options = *plain;
	}
}

/* Cuts the sorted members into configs, and these into families. */
static int group(struct suite *s, struct error *err)
{
	struct suite_private *p = s->priv;
	size_t n = p->keyed_count, configs = 0;

	p->members = calloc(n + 1, sizeof(*p->members));
	p->configs = calloc(n + 1, sizeof(*p->configs));
	p->plain_options = calloc(n + 1, sizeof(*p->plain_options));
	s->families = calloc(n + 1, sizeof(*s->families));
	if (!p->members || !p->configs || !p->plain_options || !s->families)
		return no_memory(err);
	if (n)
		qsort(p->keyed, n, sizeof(*p->keyed), keyed_compare);
	for (size_t i = 0; i < n; i++) {
		const struct keyed *k = &p->keyed[i];
		bool family = !i || !hash_equal(k->family, k[-1].family);
		bool config = family || !hash_equal(k->config, k[-1].config);

		p->members[i] = k->member;
		if (family)
			s->families[s->family_count++].configs = &p->configs[configs];
		fill_family(&s->families[s->family_count - 1], k, family);
		if (config) {
			p->configs[configs].members = &p->members[i];
			fill_config(&p->configs[configs], k, &p->plain_options[configs]);
			s->families[s->family_count - 1].config_count++;
			configs++;
		}
		p->configs[configs - 1].special_count +=
			config || !hash_equal(k->member.special, k[-1].member.special);
		p->configs[configs - 1].member_count++;
	}
	return 0;
}

static int family_compare(const void *a, const void *b)
{
	const struct suite_family *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	if (!r)
		r = strcmp(x->source, y->source);
	if (!r)
		r = x->line < y->line ? -1 : x->line > y->line;
	return r ? r : hash_compare(x->key, y->key);
}

static int config_compare(const void *a, const void *b)
{
	const struct suite_config *x = a, *y = b;
	int r = strverscmp(x->options, y->options);

	return r ? r : hash_compare(x->key, y->key);
}

static void sort(struct suite *s)
{
	for (size_t i = 0; i < s->family_count; i++)
		qsort(s->families[i].configs, s->families[i].config_count,
		      sizeof(struct suite_config), config_compare);
	if (s->family_count)
		qsort(s->families, s->family_count, sizeof(*s->families), family_compare);
}

int suite_build(struct suite **out, struct bundle *const *bundles, size_t count, struct error *err)
{
	struct suite *s = calloc(1, sizeof(*s));
	int r;

	if (s)
		s->priv = calloc(1, sizeof(*s->priv));
	if (s && s->priv)
		s->priv->bundles = calloc(count + 1, sizeof(*bundles));
	if (!s || !s->priv || !s->priv->bundles) {
		suite_free(s);
		return no_memory(err);
	}
	for (size_t i = 0; i < count; i++)
		s->priv->bundles[i] = bundles[i];
	s->bundles = s->priv->bundles;
	s->bundle_count = count;
	r = collect(s, err);
	if (!r)
		r = group(s, err);
	if (!r)
		r = suite_count(s, err);
	if (!r)
		r = suite_find_missing(s, err);
	if (r) {
		suite_free(s);
		return r;
	}
	sort(s);
	free(s->priv->keyed);
	s->priv->keyed = NULL;
	*out = s;
	return 0;
}

void suite_free(struct suite *s)
{
	struct suite_private *p = s ? s->priv : NULL;

	for (size_t i = 0; p && i < p->image_count; i++) {
		suite_image_clear(p->images[i]);
		free(p->images[i]);
	}
	for (size_t i = 0; p && p->members && i < p->keyed_count; i++) {
		free(p->members[i].launches);
		free(p->members[i].classes);
		free(p->members[i].left);
	}
	if (p) {
		free(p->bundles);
		free(p->images);
		free(p->keyed);
		free(p->members);
		free(p->configs);
		free(p->plain_options);
	}
	if (s) {
		free(s->families);
		free(s->missing);
	}
	free(p);
	free(s);
}

const struct suite_family *suite_family(const struct suite *s, struct hash128 key)
{
	for (size_t i = 0; i < s->family_count; i++) {
		if (hash_equal(s->families[i].key, key))
			return &s->families[i];
	}
	return NULL;
}

const struct suite_config *suite_config(const struct suite_family *f, struct hash128 key)
{
	for (size_t i = 0; i < f->config_count; i++) {
		if (hash_equal(f->configs[i].key, key))
			return &f->configs[i];
	}
	return NULL;
}
