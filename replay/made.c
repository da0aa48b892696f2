/* SPDX-License-Identifier: MIT */
/* A capture bundle of kernels that no run recorded: imported, reassembled or recompiled ones. */
#include "replay/made.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base.h"
#include "lib/image/cubin.h"
#include "lib/origin.h"

#define SUCCESSOR "made."
#define FAILURE   "failed."

void made_image_clear(struct made_image *m)
{
	free(m->data);
	free(m->path);
	free(m->ptxas);
	free(m->ptxas_how);
	for (size_t i = 0; i < MADE_SUFFIX_COUNT; i++) {
		free(m->files[i].name);
		free(m->files[i].path);
		free(m->files[i].data);
	}
	*m = (struct made_image){0};
}

static uint64_t unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int failed(const struct made *m, int rc, struct error *err)
{
	return error_set(err, -rc, ERROR_NO_OFFSET, "writing %s: %s", m->path, strerror(-rc));
}

int made_open(struct made *m, const char *path, int argc, char **argv, struct error *err)
{
	char directory[PATH_MAX] = "", host[256] = "";
	struct record_run run = {.tool_version = KERNELAB_VERSION,
				 .command = {(const char **)argv, (size_t)argc},
				 .directory = directory,
				 .host = host,
				 .pid = (uint64_t)getpid(),
				 .start_ns = unix_ns(),
				 .no_data = true};
	int rc;

	*m = (struct made){.path = strdup(path)};
	if (!m->path)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory to write %s", path);
	rc = bundle_writer_open(&m->writer, path, BUNDLE_CAPTURE);
	if (rc) {
		free(m->path);
		*m = (struct made){0};
		return error_set(err, -rc, ERROR_NO_OFFSET, "cannot create %s: %s", path,
				 strerror(-rc));
	}
	if (!getcwd(directory, sizeof(directory)))
		directory[0] = 0;
	gethostname(host, sizeof(host) - 1);
	rc = bundle_put_run(m->writer, &run);
	if (rc) {
		failed(m, rc, err);
		made_abandon(m);
	}
	return rc;
}

/* ---- images ---- */

static int put_file(struct made *m, struct hash128 image, const struct made_file *f)
{
	uint64_t n = chunk_count(0, f->size);
	_cleanup_free_ struct hash128 *keys = calloc(n ? n : 1, sizeof(*keys));
	struct record_file r = {.image = image,
				.name = f->name,
				.path = f->path,
				.size = f->size,
				.chunks = {keys, n}};
	int rc = keys ? bundle_put_content(m->writer, 0, f->data, f->size, keys) : -ENOMEM;

	return rc ? rc : bundle_put_file(m->writer, &r);
}

static int put_image(struct made *m, struct hash128 id, const struct made_image *image,
		     const struct cubin *cubin)
{
	enum { SOURCE = 1, TTIR = 2 };
	uint64_t n = chunk_count(0, image->size);
	_cleanup_free_ struct hash128 *keys = calloc(n ? n : 1, sizeof(*keys));
	struct origin_evidence evidence = {.source = image->files[SOURCE].data,
					   .source_size = image->files[SOURCE].size,
					   .ttir = image->files[TTIR].data,
					   .ttir_size = image->files[TTIR].size,
					   .entry = cubin->kernel_count ? cubin->kernels[0].entry
									: NULL,
					   .image_path = image->path};
	struct record_image r = {.id = id,
				 .kind = IMAGE_CUBIN,
				 .size = image->size,
				 .chunks = {keys, n},
				 .loader = image->loader,
				 .path = image->path,
				 .ptxas = image->ptxas ? image->ptxas : cubin->tool,
				 .ptxas_how = image->ptxas  ? image->ptxas_how
					      : cubin->tool ? "tool string in the cubin"
							    : "unknown: no tool string"};
	int rc = keys ? bundle_put_content(m->writer, 0, image->data, image->size, keys) : -ENOMEM;

	r.origin = origin_decide(&evidence, &r.origin_how);
	return rc ? rc : bundle_put_image(m->writer, &r);
}

static int put_kernels(struct made *m, struct hash128 id, const struct cubin *cubin)
{
	for (size_t i = 0; i < cubin->kernel_count; i++) {
		const struct cubin_kernel *k = &cubin->kernels[i];
		struct record_kernel r = {.number = (uint32_t)m->kernel_count,
					  .image = id,
					  .entry = k->entry,
					  .params_how = ".nv.info",
					  .registers = k->registers,
					  .static_shared_bytes = k->static_shared_bytes};
		int rc;

		r.params.items = k->params;
		r.params.count = k->param_count;
		rc = array_reserve(&m->kernels, m->kernel_count, &m->kernel_capacity,
				   sizeof(*m->kernels));
		if (!rc)
			rc = bundle_put_kernel(m->writer, &r);
		if (rc)
			return rc;
		m->kernels[m->kernel_count] = (struct made_kernel){id, strdup(k->entry)};
		if (!m->kernels[m->kernel_count++].entry)
			return -ENOMEM;
	}
	return 0;
}

int made_add(struct made *m, const struct made_image *image, struct hash128 *id, struct error *err)
{
	struct cubin *cubin;
	int rc = cubin_parse(&cubin, image->data, image->size, err);

	if (rc)
		return rc == -ENOMEM ? rc : error_prefix(err, "%s", image->path ? image->path : "");
	*id = hash_bytes(image->data, image->size);
	for (size_t i = 0; i < m->count; i++)
		if (hash_equal(m->ids[i], *id)) {
			cubin_free(cubin);
			return 0;
		}
	rc = array_reserve(&m->ids, m->count, &m->capacity, sizeof(*m->ids));
	if (!rc)
		rc = put_image(m, *id, image, cubin);
	for (size_t i = 0; !rc && i < MADE_SUFFIX_COUNT; i++)
		if (image->files[i].data)
			rc = put_file(m, *id, &image->files[i]);
	if (!rc)
		rc = put_kernels(m, *id, cubin);
	cubin_free(cubin);
	if (rc)
		return failed(m, rc, err);
	m->ids[m->count++] = *id;
	return 0;
}

/* ---- launches ---- */

/* Number of the kernel of image `id` with that entry; SIZE_MAX if it has none. */
static size_t kernel_number(const struct made *m, struct hash128 id, const char *entry)
{
	for (size_t i = 0; i < m->kernel_count; i++)
		if (hash_equal(m->kernels[i].image, id) && !strcmp(m->kernels[i].entry, entry))
			return i;
	return SIZE_MAX;
}

static int put_launch(struct made *m, const struct record_launch *l, size_t kernel)
{
	struct record_launch r = *l;

	r.seq = ++m->launches; /* those of several recordings may be equal */
	r.kernel = (uint32_t)kernel;
	r.flags |= LAUNCH_NO_DATA;
	r.regions.items = NULL;
	r.regions.count = 0;
	r.measured = false;
	r.note = r.extents = NULL;
	r.sweep = 0;
	return bundle_put_launch(m->writer, &r);
}

int made_launches(struct made *m, const struct bundle *from, struct hash128 base, struct hash128 id,
		  struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < from->launches.count; i++) {
		const struct record_launch *l = &from->launches.items[i];
		const struct record_kernel *k = bundle_kernel(from, l->kernel);
		size_t number =
			k && hash_equal(k->image, base) ? kernel_number(m, id, k->entry) : SIZE_MAX;

		if (number != SIZE_MAX)
			rc = put_launch(m, l, number);
	}
	return rc ? failed(m, rc, err) : 0;
}

int made_tensor_maps(struct made *m, const struct bundle *from, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < from->tensor_maps.count; i++)
		rc = bundle_put_tensor_map(m->writer, &from->tensor_maps.items[i]);
	return rc ? failed(m, rc, err) : 0;
}

/* ---- facts ---- */

int made_fact(struct made *m, const char *name, const char *value, const char *how,
	      struct error *err)
{
	struct record_fact fact = {.name = name, .value = value, .how = how};
	int rc = bundle_put_fact(m->writer, &fact);

	return rc ? failed(m, rc, err) : 0;
}

static void outcome_name(char *name, size_t size, const char *prefix, struct hash128 base)
{
	char hex[HASH_TEXT_BYTES];

	snprintf(name, size, "%s%s", prefix, hash_text(base, hex));
}

int made_outcome(struct made *m, struct hash128 base, const struct hash128 *id, const char *reason,
		 struct error *err)
{
	char name[64], hex[HASH_TEXT_BYTES];

	outcome_name(name, sizeof(name), id ? SUCCESSOR : FAILURE, base);
	return made_fact(m, name, id ? hash_text(*id, hex) : reason,
			 "made from this recorded image", err);
}

bool made_successor(const struct bundle *b, struct hash128 base, struct hash128 *id)
{
	const char *value;
	char name[64];

	outcome_name(name, sizeof(name), SUCCESSOR, base);
	value = bundle_fact(b, name);
	return value && !hash_parse(value, id);
}

const char *made_failure(const struct bundle *b, struct hash128 base)
{
	char name[64];

	outcome_name(name, sizeof(name), FAILURE, base);
	return bundle_fact(b, name);
}

/* ---- the end ---- */

static void forget(struct made *m)
{
	for (size_t i = 0; i < m->kernel_count; i++)
		free(m->kernels[i].entry);
	free(m->kernels);
	free(m->ids);
	free(m->path);
	*m = (struct made){0};
}

int made_close(struct made *m, struct error *err)
{
	struct record_end end = {.clean = true, .time_ns = unix_ns()};
	int rc = bundle_put_end(m->writer, &end), closed = bundle_writer_close(m->writer);

	m->writer = NULL;
	if (rc || closed)
		rc = failed(m, rc ? rc : closed, err);
	forget(m);
	return rc;
}

void made_abandon(struct made *m)
{
	if (m->writer) {
		bundle_writer_abandon(m->writer);
		unlink(m->path);
	}
	forget(m);
}
