/* SPDX-License-Identifier: MIT */
/* Look-ups in an open bundle. */
#include <stdio.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "lib/bundle/reader.h"

const struct record_image *bundle_image(const struct bundle *b, struct hash128 id)
{
	size_t at = lookup_hash(&b->priv->images, id);

	return at == SIZE_MAX ? NULL : &b->images.items[at];
}

const struct record_kernel *bundle_kernel(const struct bundle *b, uint32_t number)
{
	size_t at = lookup_number(&b->priv->kernels, number);

	return at == SIZE_MAX ? NULL : &b->kernels.items[at];
}

const struct record_after *bundle_after(const struct bundle *b, uint64_t seq)
{
	size_t at = lookup_number(&b->priv->afters, seq);

	return at == SIZE_MAX ? NULL : &b->afters.items[at];
}

const struct record_launch *bundle_launch(const struct bundle *b, uint64_t seq)
{
	size_t at = lookup_number(&b->priv->launches, seq);

	return at == SIZE_MAX ? NULL : &b->launches.items[at];
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), wanted = strlen(suffix);

	return length >= wanted && !strcmp(name + length - wanted, suffix);
}

const struct record_file *bundle_file(const struct bundle *b, struct hash128 image,
				      const char *suffix)
{
	const struct lookup *l = &b->priv->files;

	for (size_t at = lookup_first(l, image);
	     at < l->count && hash_equal(l->entries[at].key, image); at++) {
		const struct record_file *f = &b->files.items[l->entries[at].index];

		if (f->name && ends_in(f->name, suffix))
			return f;
	}
	return NULL;
}

const struct record_file *bundle_driver_cubin(const struct bundle *b, struct hash128 image,
					      unsigned sm)
{
	char name[sizeof(DRIVER_CUBIN_NAME) + 16], second[sizeof(name) + 2];

	snprintf(name, sizeof(name), DRIVER_CUBIN_NAME, sm);
	snprintf(second, sizeof(second), "%s.2", name);
	return bundle_file(b, image, second) ? NULL : bundle_file(b, image, name);
}

bool file_is_driver_cubin(const struct record_file *f, unsigned *sm)
{
	int end = 0; /* stays so where the name ends earlier, or goes on otherwise */

	return f->name && sscanf(f->name, DRIVER_CUBIN_NAME "%n", sm, &end) == 1 && end &&
	       (!f->name[end] || f->name[end] == '.');
}

void bundle_count_driver_cubins(const struct bundle *b, size_t *images, size_t *with)
{
	const struct lookup *l = &b->priv->files;

	*images = *with = 0;
	for (size_t i = 0; i < b->images.count; i++) {
		const struct record_image *image = &b->images.items[i];
		bool has = false;
		unsigned sm;

		if (image->kind != IMAGE_PTX && image->kind != IMAGE_FATBIN)
			continue;
		for (size_t at = lookup_first(l, image->id);
		     !has && at < l->count && hash_equal(l->entries[at].key, image->id); at++)
			has = file_is_driver_cubin(&b->files.items[l->entries[at].index], &sm);
		(*images)++;
		*with += has;
	}
}

/* Facts are few; the last one of a name counts. */
const char *bundle_problem(const struct bundle *b)
{
	if (!b->complete)
		return *b->damage ? b->damage : "the capture was killed";
	if (!b->ends.count)
		return "the capture did not end by itself";
	if (!b->ends.items[0].clean)
		return b->ends.items[0].incomplete ? b->ends.items[0].incomplete : "incomplete";
	return "";
}

const char *bundle_fact(const struct bundle *b, const char *name)
{
	for (size_t i = b->facts.count; i-- > 0;)
		if (b->facts.items[i].name && !strcmp(b->facts.items[i].name, name))
			return b->facts.items[i].value ? b->facts.items[i].value : "";
	return NULL;
}
