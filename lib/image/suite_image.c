/* SPDX-License-Identifier: MIT */
/* Reads an image of a bundle and the Triton cache entry that was recorded with it. */
#include "lib/image/suite_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/ptx_text.h"
#include "lib/signature.h"

/* Triton's group files, __grp__k.json, list the entry's files: no metadata of a kernel. */
static const struct record_file *find_file(const struct bundle *b, struct hash128 image,
					   const char *suffix)
{
	for (size_t i = 0; i < b->files.count; i++) {
		const struct record_file *f = &b->files.items[i];
		size_t n = f->name ? strlen(f->name) : 0, m = strlen(suffix);

		if (n > m && hash_equal(f->image, image) && !strcmp(f->name + n - m, suffix) &&
		    strncmp(f->name, "__grp__", strlen("__grp__")) != 0)
			return f;
	}
	return NULL;
}

static void note(struct suite_image *image, const char *what, const struct error *e)
{
	if (!*image->problem)
		snprintf(image->problem, sizeof(image->problem), "%s: %.200s", what, e->message);
}

/* Contents of the file with that suffix; data NULL if there is none or it is damaged (noted). */
static int read_file(struct suite_image *image, const struct bundle *b, const char *suffix,
		     char **data, struct span *text)
{
	const struct record_file *f = find_file(b, image->record->id, suffix);
	struct error e;
	size_t size = 0;
	int r;

	*text = (struct span){0};
	if (!f)
		return 0;
	r = bundle_read_file(b, f, data, &size, &e);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		*data = NULL;
		note(image, f->name, &e);
		return 0;
	}
	*text = (struct span){*data, size};
	return 0;
}

/* A damaged note is told, and the rest is read without it. */
static int read_note(struct suite_image *image, const struct bundle *b)
{
	_cleanup_free_ char *data = NULL;
	struct span text;
	struct error e;
	int r = read_file(image, b, NOTE_SUFFIX, &data, &text);

	if (r < 0 || !text.data)
		return r;
	r = note_parse(&image->note, &text, &e);
	if (r == -EINVAL) {
		image->note = NULL;
		note(image, "glue", &e);
		return 0;
	}
	return r;
}

/* .source, or .ttir where there is none, or none that can be read. */
static int read_ir(struct suite_image *image, const struct bundle *b, char **data,
		   struct span *text)
{
	int r = read_file(image, b, ".source", data, text);

	if (r || signature_readable(text->data, text->size))
		return r;
	free(*data);
	*data = NULL;
	return read_file(image, b, ".ttir", data, text);
}

static int read_metadata(struct suite_image *image, const struct bundle *b)
{
	_cleanup_free_ char *json = NULL, *source = NULL, *ttgir = NULL, *ptx = NULL;
	struct triton_texts texts = {0};
	struct span ptx_text;
	struct error e;
	int r;

	if (read_note(image, b) || read_file(image, b, ".json", &json, &texts.json) ||
	    read_ir(image, b, &source, &texts.source) ||
	    read_file(image, b, ".ttgir", &ttgir, &texts.ttgir) ||
	    read_file(image, b, ".ptx", &ptx, &ptx_text))
		return -ENOMEM;
	if (ptx_text.data)
		image->ptx_hash = ptx_canonical_hash(ptx_text.data, ptx_text.size);
	if (!texts.json.data)
		return 0;
	texts.note = image->note;
	r = triton_kernel_parse(&image->triton, &texts, &e);
	if (r < 0 && r != -ENOMEM) {
		image->triton = NULL;
		note(image, "metadata", &e);
		return 0;
	}
	return r;
}

int suite_fatbin_pick(struct fatbin_pick *out, const struct bundle *b,
		      const struct record_image *record, struct error *err)
{
	const struct record_device *d = b->devices.count ? &b->devices.items[0] : NULL;
	const char *force = bundle_fact(b, "env.CUDA_FORCE_PTX_JIT");
	_cleanup_free_ void *data = NULL;
	size_t size = 0;
	int r = bundle_read_image(b, record, &data, &size, err);

	*out = (struct fatbin_pick){0};
	if (r < 0)
		return r;
	if (!d)
		return error_set(err, ENODEV, ERROR_NO_OFFSET,
				 "a fatbin, and no device that the run used");
	return fatbin_pick(out, data, size, 10 * d->cc_major + d->cc_minor, force && atoi(force),
			   err);
}

/* The cubin that the recorded GPU takes, with its PTX if that is beside it; else only PTX. */
static int read_fatbin(struct suite_image *image, const struct bundle *b, struct error *e)
{
	struct fatbin_pick pick;
	int r = suite_fatbin_pick(&pick, b, image->record, e);

	if (!r && pick.cubin)
		r = cubin_parse(&image->cubin, pick.cubin, pick.cubin_size, e);
	else if (!r && pick.ptx && hash_is_zero(image->ptx_hash))
		image->ptx_hash = ptx_canonical_hash(pick.ptx, pick.ptx_size);
	if (!r && image->cubin && !image->cubin->ptx && pick.cubin_arch == pick.ptx_arch) {
		image->cubin->ptx = pick.ptx;
		image->cubin->ptx_size = pick.ptx_size;
		pick.ptx = NULL;
	}
	fatbin_pick_free(&pick);
	return r;
}

static int read_cubin(struct suite_image *image, const struct bundle *b, struct error *e)
{
	_cleanup_free_ void *data = NULL;
	size_t size = 0;
	int r = bundle_read_image(b, image->record, &data, &size, e);

	if (!r && image->record->kind == IMAGE_CUBIN)
		r = cubin_parse(&image->cubin, data, size, e);
	else if (!r && hash_is_zero(image->ptx_hash))
		image->ptx_hash = ptx_canonical_hash(data, strnlen(data, size));
	return r;
}

static int read_code(struct suite_image *image, const struct bundle *b)
{
	struct error e;
	int r;

	if (image->record->kind == IMAGE_CUBIN || image->record->kind == IMAGE_PTX)
		r = read_cubin(image, b, &e);
	else if (image->record->kind == IMAGE_FATBIN)
		r = read_fatbin(image, b, &e);
	else
		return 0;
	if (r < 0 && r != -ENOMEM) {
		image->cubin = NULL;
		note(image, "image", &e);
		return 0;
	}
	if (!r && hash_is_zero(image->ptx_hash) && image->cubin && image->cubin->ptx)
		image->ptx_hash = ptx_canonical_hash(image->cubin->ptx, image->cubin->ptx_size);
	return r;
}

int suite_image_read(struct suite_image *out, const struct bundle *b,
		     const struct record_image *record, struct error *err)
{
	*out = (struct suite_image){.record = record};
	if (read_metadata(out, b) < 0 || read_code(out, b) < 0) {
		suite_image_clear(out);
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "%s: no memory for an image",
				 b->path);
	}
	return 0;
}

void suite_image_clear(struct suite_image *image)
{
	triton_kernel_free(image->triton);
	note_free(image->note);
	cubin_free(image->cubin);
	*image = (struct suite_image){0};
}
