/* SPDX-License-Identifier: MIT */
/* What is loaded for an image: itself, or the machine code that the recorded run's driver made. */
#include "replay/code.h"

const struct record_file *code_of_driver(const struct bundle *b, struct hash128 image, unsigned sm)
{
	return sm ? bundle_driver_cubin(b, image, sm) : NULL;
}

struct hash128 code_id(const struct bundle *b, struct hash128 image, unsigned sm)
{
	const struct record_file *made = code_of_driver(b, image, sm);

	return made ? hash_bytes(made->chunks.items,
				 made->chunks.count * sizeof(*made->chunks.items))
		    : image;
}

void code_add(struct hash_state *h, const struct bundle *b, struct hash128 image)
{
	for (size_t i = 0; i < b->files.count; i++) {
		const struct record_file *f = &b->files.items[i];
		unsigned sm;

		if (!hash_equal(f->image, image) || !file_is_driver_cubin(f, &sm))
			continue;
		hash_state_add_text(h, f->name);
		hash_state_add(h, f->chunks.items, f->chunks.count * sizeof(*f->chunks.items));
	}
}

int code_read(const struct bundle *b, const struct record_image *image, unsigned sm, void **data,
	      size_t *size, struct error *err)
{
	const struct record_file *made = code_of_driver(b, image->id, sm);

	return made ? bundle_read_file(b, made, (char **)data, size, err)
		    : bundle_read_image(b, image, data, size, err);
}
