/* SPDX-License-Identifier: MIT */
/* Collects what is known of the run behind a capture. */
#include "tools/suite_head.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/context.h"

/* value is taken over; NULL means that there was no memory for it. */
static int add(struct head *h, const char *name, char *value, const char *how)
{
	if (!value || array_reserve(&h->lines, h->count, &h->capacity, sizeof(*h->lines)) < 0) {
		free(value);
		return -ENOMEM;
	}
	h->lines[h->count++] = (struct head_line){name, value, how ? how : ""};
	return 0;
}

static int add_run(struct head *h, const struct record_run *run)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < run->command.count; i++)
		fprintf(f, "%s%s", i ? " " : "", run->command.items[i]);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	if (add(h, "command", text, "") < 0)
		return -ENOMEM;
	if (run->rank && *run->rank && add(h, "rank", strdup(run->rank), "") < 0)
		return -ENOMEM;
	return run->no_data ? add(h, "contents", strdup("none"), "captured with --no-data") : 0;
}

static int add_device(struct head *h, const struct record_device *d)
{
	return add(h, "device",
		   text_format("%s, sm_%" PRIu32 "%" PRIu32 ", driver %" PRIu32 ".%" PRIu32,
			       d->name ? d->name : "?", d->cc_major, d->cc_minor,
			       d->driver_version / 1000, d->driver_version % 1000 / 10),
		   d->software ? "kernelab's software device" : "");
}

static bool ends(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* All facts about versions and commits; a later fact replaces an earlier one of its name. */
static int add_versions(struct head *h, const struct bundle *b)
{
	for (size_t i = 0; i < b->facts.count; i++) {
		const struct record_fact *f = &b->facts.items[i];

		if (!f->name || !f->value || bundle_fact(b, f->name) != f->value ||
		    (!ends(f->name, "version") && !ends(f->name, "commit") &&
		     !ends(f->name, ".package")))
			continue;
		if (add(h, f->name, strdup(f->value), f->how) < 0)
			return -ENOMEM;
	}
	if (!bundle_fact(b, "triton.commit") && !bundle_fact(b, "compiler.commit"))
		return add(h, "compiler.commit", strdup("unspecified"), "");
	return 0;
}

/* What the capture was told to leave out, and what it did not get. */
static int add_selection(struct head *h, const struct bundle *b)
{
	static const char *const shown[] = {
		"env.KERNELAB_KERNELS",       "env.KERNELAB_EXCLUDE",
		"env.KERNELAB_SKIP_LAUNCHES", "env.KERNELAB_SAMPLE",
		"env.KERNELAB_START_AFTER",   "env.KERNELAB_STOP_AFTER",
		"env.KERNELAB_MAX_LAUNCHES",  "env.KERNELAB_MAX_BYTES",
		"env.KERNELAB_RANKS",         "env.KERNELAB_MAX_REGION",
		"env.KERNELAB_PER_CLASS",     "capture.rank",
		"capture.compile_benchmarks", "capture.unseen_callers",
		"capture.unentered_bytes",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(shown); i++) {
		const char *value = bundle_fact(b, shown[i]);
		const char *name = strncmp(shown[i], "env.", 4) ? shown[i] : shown[i] + 4;

		if (value && add(h, name, strdup(value), "") < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What came of --cupti. */
static int add_cupti(struct head *h, const struct bundle *b)
{
	const char *library = bundle_fact(b, "capture.cupti");
	const char *refused = bundle_fact(b, "capture.cupti_refused");
	size_t images, with;

	if (!bundle_fact(b, "env.KERNELAB_CUPTI"))
		return 0;
	bundle_count_driver_cubins(b, &images, &with);
	return add(h, "driver's code",
		   text_format("of %zu of %zu images of PTX or fatbins", with, images),
		   refused   ? refused
		   : library ? library
			     : "CUPTI was not needed");
}

/* The bundle's kernels with Triton metadata. malloc'ed; NULL without memory. */
static const struct suite_member **triton_members(const struct suite *s, size_t bundle,
						  size_t *count)
{
	const struct suite_member **list = calloc(1, sizeof(*list));
	size_t capacity = 1;

	*count = 0;
	for (size_t i = 0; list && i < s->family_count; i++) {
		for (size_t c = 0; c < s->families[i].config_count; c++) {
			const struct suite_config *config = &s->families[i].configs[c];

			for (size_t m = 0; m < config->member_count; m++) {
				const struct suite_member *member = &config->members[m];

				if (member->bundle != bundle || !member->triton)
					continue;
				if (array_reserve(&list, *count, &capacity, sizeof(*list)) < 0) {
					free(list);
					return NULL;
				}
				list[(*count)++] = member;
			}
		}
	}
	return list;
}

/* Of how many kernels with metadata the Python glue noted constexprs and source. */
static int add_notes(struct head *h, const struct suite *s, size_t bundle)
{
	size_t kernels, noted = 0;
	const struct suite_member **list = triton_members(s, bundle, &kernels);

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < kernels; i++)
		noted += list[i]->note != NULL;
	free(list);
	if (!kernels)
		return 0;
	return add(h, "Python notes", text_format("on %zu of %zu kernels", noted, kernels),
		   noted == kernels                                          ? ""
		   : bundle_fact(s->bundles[bundle], "env.KERNELAB_NO_GLUE") ? "--no-glue"
		   : !bundle_fact(s->bundles[bundle], "triton.folder")
			   ? "no Triton seen in the program"
			   : "not compiled in this run (Inductor's caches were warm: "
			     "--fresh-cache), Triton before 3.4, or a Python without the glue");
}

/* Which Triton compiled how many images, as their metadata has it: proof, unlike a fact of the run.
 */
static int add_compilers(struct head *h, const struct suite *s, size_t bundle)
{
	size_t count;
	const struct suite_member **list = triton_members(s, bundle, &count);
	int r = list ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !r; i++) {
		const char *version = list[i]->triton->triton_version;
		size_t n = 0, before = 0;

		for (size_t k = 0; k < count; k++) {
			bool same = !strcmp(version, list[k]->triton->triton_version);

			n += same;
			before += same && k < i;
		}
		if (!before)
			r = add(h, "triton",
				text_format("%s in %zu of %zu kernels",
					    *version ? version : "before 3.3", n, count),
				"metadata of the images");
	}
	if (!r && !count && !bundle_fact(s->bundles[bundle], "triton.version"))
		r = add(h, "triton.version", strdup("unspecified"), "");
	free(list);
	return r;
}

static const char *ptxas_of(const struct record_image *image)
{
	return image->ptxas && *image->ptxas ? image->ptxas : "unknown";
}

/* Which ptxas made how many of the images: one process may mix two. */
static int add_assemblers(struct head *h, const struct bundle *b)
{
	for (size_t i = 0; i < b->images.count; i++) {
		const struct record_image *image = &b->images.items[i];
		size_t n = 0, before = 0;

		for (size_t k = 0; k < b->images.count; k++) {
			bool same = !strcmp(ptxas_of(image), ptxas_of(&b->images.items[k]));

			n += same;
			before += same && k < i;
		}
		if (!before &&
		    add(h, "ptxas",
			text_format("%s in %zu of %zu images", ptxas_of(image), n, b->images.count),
			image->ptxas_how) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_questions(struct head *h, const struct bundle *b)
{
	size_t count;
	const struct context_question *q = context_questions(&count);

	h->open = calloc(count + 1, sizeof(*h->open));
	if (!h->open)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *owned = NULL;
		const char *how;

		if (!context_answer(b, &q[i], &how, &owned))
			h->open[h->open_count++] = q[i].name;
	}
	return 0;
}

int head_make(struct head *h, const struct suite *s, size_t index)
{
	const struct bundle *b = s->bundles[index];

	*h = (struct head){0};
	for (size_t i = 0; i < b->runs.count; i++) {
		if (add_run(h, &b->runs.items[i]) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < b->devices.count; i++) {
		if (add_device(h, &b->devices.items[i]) < 0)
			return -ENOMEM;
	}
	if (add_versions(h, b) < 0 || add_selection(h, b) < 0 || add_cupti(h, b) < 0 ||
	    add_compilers(h, s, index) < 0 || add_notes(h, s, index) < 0 ||
	    add_assemblers(h, b) < 0)
		return -ENOMEM;
	return add_questions(h, b);
}

void head_free(struct head *h)
{
	for (size_t i = 0; i < h->count; i++)
		free(h->lines[i].value);
	free(h->lines);
	free(h->open);
	*h = (struct head){0};
}
