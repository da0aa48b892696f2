/* SPDX-License-Identifier: MIT */
/* One function a record type that refers to something. */
#include "lib/bundle/verify.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "lib/base.h"
#include "lib/bundle/reader.h"

typedef unsigned long long ull;

struct verify {
	const struct bundle *b;
	const struct verify_calls *calls;
	struct verify_totals *totals;
};

__attribute__((format(printf, 2, 3))) static void fault(struct verify *v, const char *format, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	v->totals->faults++;
	if (v->calls->report)
		v->calls->report(v->calls->user, text);
}

/* A replay writes a case's trials before the case, and cases before their config. */
static void miss(struct verify *v, const char *what, ull number, const char *of, uint32_t to)
{
	if (v->b->stopped)
		v->totals->behind++;
	else
		fault(v, "%s %llu: no %s %u", what, number, of, to);
}

/* ---- chunks ---- */

static int verify_chunk_contents(struct verify *v)
{
	const struct chunk_table *t = &v->b->priv->chunks;
	_cleanup_free_ void *data = malloc(CHUNK_BYTES);
	uint64_t count, total, stored;

	if (!data)
		return -ENOMEM;
	bundle_chunk_totals(v->b, &count, &total, &stored);
	for (size_t i = 0; i < t->count; i++) {
		struct error err;
		int status =
			bundle_read_chunk(v->b, t->items[i].key, data, t->items[i].raw_bytes, &err);

		if (status == -ENOMEM)
			return status;
		if (status)
			fault(v, "%s", err.message);
		v->totals->chunks++;
		v->totals->chunk_bytes += t->items[i].raw_bytes;
		if (v->calls->progress && i % 64 == 63)
			v->calls->progress(v->calls->user, v->totals->chunk_bytes, total);
	}
	return 0;
}

/*
 * Every key of a range must be there with that chunk's size; the first that is not is named. holes:
 * a zero key is a chunk that was not recorded (whether it may be missing the reader has judged).
 */
static void want_chunks(struct verify *v, uint64_t base, uint64_t size, const struct hashes *keys,
			bool holes, const char *what)
{
	for (size_t i = 0; i < keys->count; i++) {
		char text[HASH_TEXT_BYTES];
		uint64_t address;
		uint32_t bytes;

		chunk_range(base, size, i, &address, &bytes);
		if ((holes && hash_is_zero(keys->items[i])) ||
		    chunk_table_find(&v->b->priv->chunks, keys->items[i], bytes))
			continue;
		fault(v, "%s: chunk %zu (%s, %u bytes) is not in the bundle", what, i,
		      hash_text(keys->items[i], text), bytes);
		return;
	}
}

/* ---- captures ---- */

static void verify_images(struct verify *v)
{
	for (size_t i = 0; i < v->b->images.count; i++) {
		const struct record_image *image = &v->b->images.items[i];
		char text[HASH_TEXT_BYTES], what[64];
		struct error err;
		void *data;
		size_t size;

		snprintf(what, sizeof(what), "image %s", hash_text(image->id, text));
		if (bundle_image(v->b, image->id) != image)
			fault(v, "%s is there twice", what);
		if (!image->chunks.count)
			continue;
		want_chunks(v, 0, image->size, &image->chunks, false, what);
		if (bundle_read_image(v->b, image, &data, &size, &err))
			fault(v, "%s", err.message);
		else
			free(data);
	}
}

static void verify_files(struct verify *v)
{
	for (size_t i = 0; i < v->b->files.count; i++) {
		const struct record_file *f = &v->b->files.items[i];
		char what[300];

		snprintf(what, sizeof(what), "file %.280s", f->name ? f->name : "(no name)");
		want_chunks(v, 0, f->size, &f->chunks, false, what);
		if (!f->name || strchr(f->name, '/'))
			fault(v, "%s: a name with a folder, or none", what);
		if (!hash_is_zero(f->image) && !bundle_image(v->b, f->image))
			fault(v, "%s: its image is not in the bundle", what);
	}
}

static void verify_kernels(struct verify *v)
{
	for (size_t i = 0; i < v->b->kernels.count; i++) {
		const struct record_kernel *k = &v->b->kernels.items[i];

		if (bundle_kernel(v->b, k->number) != k)
			fault(v, "kernel %u is there twice", k->number);
		if (!bundle_image(v->b, k->image))
			fault(v, "kernel %u (%s): its image is not in the bundle", k->number,
			      k->entry ? k->entry : "?");
	}
	for (size_t i = 0; i < v->b->classes.count; i++)
		if (!bundle_kernel(v->b, v->b->classes.items[i].kernel))
			fault(v, "shape class %zu: no kernel %u", i, v->b->classes.items[i].kernel);
}

static void verify_params(struct verify *v, const struct record_launch *l,
			  const struct record_kernel *k)
{
	for (size_t i = 0; l->params.size && i < k->params.count; i++) {
		const struct record_param *p = &k->params.items[i];

		if ((uint64_t)p->offset + p->size > l->params.size)
			fault(v,
			      "launch %llu: parameter %zu ends at byte %llu of a parameter buffer "
			      "of %zu",
			      (ull)l->seq, i, (ull)p->offset + p->size, l->params.size);
	}
}

static void verify_launches(struct verify *v)
{
	for (size_t i = 0; i < v->b->launches.count; i++) {
		const struct record_launch *l = &v->b->launches.items[i];
		const struct record_kernel *k = bundle_kernel(v->b, l->kernel);

		if (bundle_launch(v->b, l->seq) != l)
			fault(v, "launch %llu is there twice", (ull)l->seq);
		if (k)
			verify_params(v, l, k);
		else
			fault(v, "launch %llu: no kernel %u", (ull)l->seq, l->kernel);
		for (size_t j = 0; j < l->regions.count; j++) {
			const struct record_region *r = &l->regions.items[j];
			char what[64];

			snprintf(what, sizeof(what), "launch %llu, region %zu", (ull)l->seq, j);
			want_chunks(v, r->base, r->size, &r->chunks, l->measured, what);
		}
	}
}

static void verify_changes(struct verify *v, const struct record_after *a,
			   const struct record_launch *l)
{
	for (size_t i = 0; i < a->changes.count; i++) {
		const struct record_change *c = &a->changes.items[i];
		const struct record_region *r = &l->regions.items[c->region];
		char text[HASH_TEXT_BYTES];
		uint64_t address;
		uint32_t bytes;

		chunk_range(r->base, r->size, c->chunk, &address, &bytes);
		if (chunk_table_find(&v->b->priv->chunks, c->key, bytes))
			continue;
		fault(v, "after launch %llu: chunk %llu of region %u (%s) is not in the bundle",
		      (ull)a->seq, (ull)c->chunk, c->region, hash_text(c->key, text));
		return;
	}
}

static void verify_afters(struct verify *v)
{
	for (size_t i = 0; i < v->b->afters.count; i++) {
		const struct record_after *a = &v->b->afters.items[i];
		const struct record_launch *l = bundle_launch(v->b, a->seq);

		if (bundle_after(v->b, a->seq) != a)
			fault(v, "after launch %llu is there twice", (ull)a->seq);
		if (l)
			verify_changes(v, a, l);
		else
			fault(v, "after launch %llu: there is no such launch", (ull)a->seq);
	}
}

/* ---- results ---- */

static void check_configs(struct verify *v, const struct lookup *families,
			  const struct lookup *configs)
{
	const struct bundle *b = v->b;

	for (size_t i = 0; i < b->families.count; i++)
		if (lookup_hash(families, b->families.items[i].key) != i)
			fault(v, "family %s is there twice",
			      b->families.items[i].name ? b->families.items[i].name : "?");
	for (size_t i = 0; i < b->configs.count; i++) {
		const struct record_config *c = &b->configs.items[i];

		if (lookup_number(configs, c->number) != i)
			fault(v, "config %u is there twice", c->number);
		if (lookup_hash(families, c->family) == SIZE_MAX)
			fault(v, "config %u: its family is not in the bundle", c->number);
	}
}

/* An extent names an argument of its family, counted from 1. */
static void check_cases(struct verify *v, const struct lookup *families,
			const struct lookup *configs)
{
	const struct bundle *b = v->b;

	for (size_t i = 0; i < b->cases.count; i++) {
		const struct record_case *c = &b->cases.items[i];
		size_t at = lookup_number(configs, c->config);

		if (lookup_number(&b->priv->cases, c->number) != i)
			fault(v, "case %u is there twice", c->number);
		if (at == SIZE_MAX) {
			miss(v, "case", c->number, "config", c->config);
			continue;
		}
		at = lookup_hash(families, b->configs.items[at].family);
		for (size_t j = 0; at != SIZE_MAX && j < c->extents.count; j++)
			if (c->extents.items[j].arg > b->families.items[at].args.count)
				fault(v, "case %u, extent %zu: argument %u of %zu", c->number, j,
				      c->extents.items[j].arg, b->families.items[at].args.count);
	}
}

static int verify_configs(struct verify *v)
{
	const struct bundle *b = v->b;
	struct lookup families = {0}, configs = {0};
	int status = lookup_build(&families, b->families.items, b->families.count,
				  sizeof(struct record_family), offsetof(struct record_family, key),
				  LOOKUP_HASH);

	if (!status)
		status = lookup_build(&configs, b->configs.items, b->configs.count,
				      sizeof(struct record_config),
				      offsetof(struct record_config, number), LOOKUP_U32);
	if (!status) {
		check_configs(v, &families, &configs);
		check_cases(v, &families, &configs);
	}
	lookup_free(&families);
	lookup_free(&configs);
	return status;
}

static void verify_trials(struct verify *v)
{
	for (size_t i = 0; i < v->b->trials.count; i++) {
		const struct record_trial *t = &v->b->trials.items[i];
		size_t at = lookup_number(&v->b->priv->cases, t->test_case);

		if (at == SIZE_MAX) {
			miss(v, "trial", i, "case", t->test_case);
			continue;
		}
		if (t->side >= SIDE_COUNT)
			fault(v, "trial %zu of case %u: side %u", i, t->test_case, t->side);
		for (size_t j = 0; j < t->contents.count; j++) {
			const struct record_extent *e = &v->b->cases.items[at].extents.items[j];
			char what[80];

			snprintf(what, sizeof(what), "trial %zu of case %u, extent %zu", i,
				 t->test_case, j);
			want_chunks(v, e->address, e->size, &t->contents.items[j].chunks, false,
				    what);
		}
	}
}

static void verify_references(struct verify *v)
{
	for (size_t i = 0; i < v->b->references.count; i++) {
		const struct record_reference *r = &v->b->references.items[i];
		size_t at = lookup_number(&v->b->priv->cases, r->test_case);

		if (at == SIZE_MAX)
			miss(v, "reference", i, "case", r->test_case);
		else if (r->extent >= v->b->cases.items[at].extents.count)
			fault(v, "reference %zu of case %u: no extent %u", i, r->test_case,
			      r->extent);
		if (r->values.size != r->elements.count * sizeof(double))
			fault(v, "reference %zu of case %u: %zu bytes of values of %zu elements", i,
			      r->test_case, r->values.size, r->elements.count);
	}
}

int bundle_verify(const struct bundle *b, const struct verify_calls *calls,
		  struct verify_totals *totals)
{
	struct verify v = {b, calls, totals};
	int status;

	*totals = (struct verify_totals){.records = b->priv->records.count};
	totals->unfinished = b->stopped;
	if (!b->complete)
		fault(&v, "not complete, whole up to byte %llu of %llu: %s", (ull)b->valid_bytes,
		      (ull)b->file_bytes, b->damage);
	totals->faults -= b->stopped;
	status = verify_chunk_contents(&v);
	if (status)
		return status;
	verify_images(&v);
	verify_files(&v);
	verify_kernels(&v);
	verify_launches(&v);
	verify_afters(&v);
	status = verify_configs(&v);
	verify_trials(&v);
	verify_references(&v);
	return status;
}
