/* SPDX-License-Identifier: MIT */
/* Writes bundles out of Triton cache entries. */
#include "tests/image/entry_bundle.h"

#include <err.h>
#include <string.h>

#include "lib/base.h"
#include "lib/image/cubin.h"
#include "lib/origin.h"

#define MAX_BYTES (16u << 20)

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct hashes store(struct bundle_writer *w, const void *data, size_t size)
{
	struct hashes h = {.count = chunk_count(0, size)};

	h.items = calloc(h.count + 1, sizeof(*h.items));
	if (!h.items || bundle_put_content(w, 0, data, size, h.items) < 0)
		errx(1, "cannot store contents");
	return h;
}

static void add_file(struct bundle_writer *w, struct hash128 image, const char *stem,
		     const char *prefix, const char *suffix)
{
	_cleanup_free_ char *path = text_format("%s%s", stem, suffix);
	_cleanup_free_ char *name = text_format("%s%s%s", prefix, base_name(stem), suffix);
	_cleanup_free_ char *data = NULL;
	size_t size;
	struct record_file f = {.image = image, .name = name, .path = path};

	if (file_read_all(path, MAX_BYTES, &data, &size) < 0)
		return;
	f.size = size;
	f.chunks = store(w, data, size);
	if (bundle_put_file(w, &f) < 0)
		errx(1, "cannot put %s", path);
	free(f.chunks.items);
}

static struct record_image add_image(struct bundle_writer *w, const char *stem, size_t extra,
				     char **data)
{
	_cleanup_free_ char *path = text_format("%s.cubin", stem);
	struct record_image image = {.kind = IMAGE_CUBIN, .loader = "cuModuleLoadData"};
	struct origin_evidence evidence = {.source = "", .entry = base_name(stem)};
	size_t size;
	char *grown;

	if (file_read_all(path, MAX_BYTES, data, &size) < 0)
		errx(1, "cannot read %s", path);
	grown = realloc(*data, size + extra + 1);
	if (!grown)
		errx(1, "no memory");
	memset(grown + size, 0, extra + 1);
	*data = grown;
	image.size = size + extra;
	image.id = hash_bytes(*data, image.size);
	image.chunks = store(w, *data, image.size);
	image.origin = origin_decide(&evidence, &image.origin_how);
	if (bundle_put_image(w, &image) < 0)
		errx(1, "cannot put %s", path);
	free(image.chunks.items);
	return image;
}

struct hash128 entry_bundle_add(struct bundle_writer *w, const char *stem, uint32_t number,
				size_t extra)
{
	static const char *const suffixes[] = {".json", ".source", ".ttir", ".ttgir"};
	_cleanup_free_ char *data = NULL;
	struct record_image image = add_image(w, stem, extra, &data);
	struct record_kernel kernel = {
		.number = number, .image = image.id, .entry = base_name(stem), .registers = 16};
	struct cubin *c = NULL;
	struct error e;

	add_file(w, image.id, stem, "__grp__", ".json"); /* a group file comes first in a folder */
	for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++)
		add_file(w, image.id, stem, "", suffixes[i]);
	if (number == UINT32_MAX)
		return image.id;
	if (cubin_parse(&c, data, image.size, &e) < 0)
		errx(1, "%s: %s", stem, e.message);
	kernel.params.items = c->kernels[0].params;
	kernel.params.count = c->kernels[0].param_count;
	kernel.params_how = ".nv.info";
	if (bundle_put_kernel(w, &kernel) < 0)
		errx(1, "cannot put kernel %s", kernel.entry);
	cubin_free(c);
	return image.id;
}

void entry_bundle_launch(struct bundle_writer *w, uint64_t seq, uint32_t kernel, uint32_t x)
{
	struct record_launch l = {.seq = seq,
				  .kernel = kernel,
				  .grid = {x, 1, 1},
				  .block = {128, 1, 1},
				  .shape_class = {x, kernel},
				  .call = "cuLaunchKernelEx"};

	if (bundle_put_launch(w, &l) < 0)
		errx(1, "cannot put a launch");
}

void entry_bundle_class(struct bundle_writer *w, uint32_t kernel, uint32_t x, uint64_t seen,
			const char *reason)
{
	struct record_class c = {.kernel = kernel,
				 .shape_class = {x, kernel},
				 .grid = {x, 1, 1},
				 .seen = seen,
				 .recorded = 1,
				 .reason = reason};

	if (bundle_put_class(w, &c) < 0)
		errx(1, "cannot put a class");
}
