/* SPDX-License-Identifier: MIT */
/* The table of loaded images and the writing of IMAGE and FILE records. */
#include "shim/images.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "kernelab/bundle.h"
#include "lib/base.h"
#include "lib/origin.h"
#include "shim/extents.h"
#include "shim/facts.h"
#include "shim/glue.h"
#include "shim/hooks.h"
#include "shim/image_ptx.h"
#include "shim/kernels.h"
#include "shim/map.h"
#include "shim/ptxas.h"
#include "shim/recorder.h"

#define RUN_FILE_MAX      (16u << 20)
#define LIBRARY_IMAGE_MAX (64u << 20)
#define LIBRARY_KEPT_MAX  (1u << 20) /* cuBLAS loads many, and none is wanted */

/* A module or library of the program. */
struct holder {
	uint64_t handle, library; /* library: whose module it is, or 0 */
	struct image *image;
};

/* By handle: table_lock. By hash and the files of the run: load_lock. */
static struct map holders, by_id, run_files;

static struct image *image_of(uint64_t handle)
{
	const struct holder *h = map_get(&holders, handle);

	return h ? h->image : NULL;
}

/* 90; 0 where no context tells. */
static unsigned current_sm(void)
{
	CUdevice device;
	int major = 0, minor = 0;

	if (real.cuCtxGetDevice(&device) != CUDA_SUCCESS)
		return 0;
	real.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	real.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	return (unsigned)(10 * major + minor);
}

/* ---- writing ---- */

static int put_contents(struct bundle_writer *w, const void *data, size_t size,
			struct hashes *chunks)
{
	chunks->count = chunk_count(0, size);
	chunks->items = calloc(chunks->count + 1, sizeof(*chunks->items));
	if (!chunks->items)
		return -ENOMEM;
	return size ? bundle_put_content(w, 0, data, size, chunks->items) : 0;
}

static int put_file(struct bundle_writer *w, struct hash128 image, const struct cache_file *f)
{
	struct record_file record = {
		.image = image, .name = f->name, .path = f->path, .size = f->size};
	int r = put_contents(w, f->data, f->size, &record.chunks);

	if (r >= 0)
		r = bundle_put_file(w, &record);
	free(record.chunks.items);
	return r;
}

/* A file of the whole run, once. What cannot be read is left out: it is context, not evidence. */
static int put_run_file(struct bundle_writer *w, const char *path)
{
	uint64_t key = hash_bytes(path, strlen(path)).low | 1;
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *data = NULL, *name = strdup(slash ? slash + 1 : path);
	_cleanup_free_ char *copy = strdup(path);
	struct cache_file f = {.name = name, .path = copy};

	if (!name || !copy)
		return -ENOMEM;
	if (map_get(&run_files, key))
		return 0;
	if (map_put(&run_files, key, &run_files) < 0 ||
	    file_read_all(path, RUN_FILE_MAX, &data, &f.size) < 0)
		return 0;
	f.data = data;
	return put_file(w, (struct hash128){0}, &f);
}

/* Inductor keeps the winners of its autotuning beside the generated code. */
static int put_best_configs(struct bundle_writer *w, const char *source)
{
	const char *slash = strrchr(source, '/');
	_cleanup_free_ char *folder = slash ? strndup(source, (size_t)(slash - source)) : NULL;
	DIR *dir = folder ? opendir(folder) : NULL;
	int r = 0;

	if (!dir)
		return 0;
	for (struct dirent *d; r >= 0 && (d = readdir(dir));) {
		size_t n = strlen(d->d_name);
		_cleanup_free_ char *path = NULL;

		if (n < 12 || strcmp(d->d_name + n - 12, ".best_config") != 0)
			continue;
		path = text_format("%s/%s", folder, d->d_name);
		r = path ? put_run_file(w, path) : -ENOMEM;
	}
	closedir(dir);
	return r;
}

static int put_image_record(struct bundle_writer *w, const struct image *image, const char *note)
{
	struct ptxas_guess ptxas;
	struct record_image record = {
		.id = image->id,
		.kind = image->kind,
		.size = image->size,
		.origin = image->origin,
		.origin_how = image->origin_how,
		.loader = image->loader,
		.path = image->path,
		.cache_entry = image->cache.folder,
		.ptxas = ptxas.version,
		.ptxas_how = ptxas.how,
	};
	int r;

	ptxas_guess(image, image->data, note, &ptxas);
	r = put_contents(w, image->data, image->size, &record.chunks);
	if (r >= 0)
		r = bundle_put_image(w, &record);
	free(record.chunks.items);
	return r;
}

static int put_image(struct bundle_writer *w, const struct image *image)
{
	struct cache_file note;
	bool noted = glue_note(image->id, &note);
	int r = put_image_record(w, image, note.data);

	for (size_t i = 0; r >= 0 && i < CACHE_SUFFIX_COUNT; i++)
		if (image->cache.files[i].data)
			r = put_file(w, image->id, &image->cache.files[i]);
	if (r >= 0 && noted)
		r = put_file(w, image->id, &note);
	free(note.name);
	free(note.path);
	free(note.data);
	if (r >= 0 && image->origin == ORIGIN_INDUCTOR && image->signature &&
	    *image->signature->source_file == '/')
		r = put_run_file(w, image->signature->source_file);
	return r;
}

/* What a launch ran may be among those that are left out. */
static int put_more(struct bundle_writer *w, const struct image *image)
{
	char hex[HASH_TEXT_BYTES];
	_cleanup_free_ char *text =
		text_format("%s: the driver made more than %u different cubins of it",
			    hash_text(image->id, hex), JITTED_MAX);

	return text ? facts_put(w, "capture.cupti_left", text, "only the first ones are recorded")
		    : -ENOMEM;
}

/* Those that are not written yet. Caller holds load_lock. */
static int put_jitted(struct bundle_writer *w, struct image *image)
{
	int r = cupti_write_facts(w);

	for (unsigned i = 0; r >= 0 && i < image->jitted.count; i++) {
		struct jitted_cubin *c = &image->jitted.items[i];
		_cleanup_free_ char *name = c->data ? jitted_name(c) : NULL;
		struct cache_file f = {.name = name, .data = c->data, .size = c->size};

		if (!c->data)
			continue;
		r = name ? put_file(w, image->id, &f) : -ENOMEM;
		free(c->data);
		c->data = NULL;
	}
	if (r >= 0 && image->jitted.more && !image->jitted.told) {
		image->jitted.told = true;
		r = put_more(w, image);
	}
	return r;
}

/* Names of its module variables, and a FACT where they cannot be had. */
static int find_globals(struct bundle_writer *w, struct image *image)
{
	_cleanup_free_ char *ptx = NULL, *text = NULL;
	char hex[HASH_TEXT_BYTES];
	size_t size;
	int r = image_globals_find(&image->globals, image->data, image->size, image->kind);

	if (r >= 0 && image->globals.count && image->kind != IMAGE_PTX) {
		ptx = image_ptx(image, current_sm(), &size);
		r = ptx ? image_globals_types(&image->globals, ptx, size) : 0;
	}
	if (r < 0 || !image->globals.unknown)
		return r;
	text = text_format("%s: %s", hash_text(image->id, hex), image->globals.unknown);
	return text ? facts_put(w, "capture.module_globals_unknown", text,
				"when its module was loaded")
		    : -ENOMEM;
}

static void write_image(struct image *image)
{
	struct bundle_writer *w;

	if (recorder_open() < 0)
		return;
	w = recorder_acquire();
	if (!w)
		return;
	if (recorder_put(put_image(w, image), "writing an image") &&
	    recorder_put(put_jitted(w, image), "writing the driver's machine code") &&
	    recorder_put(find_globals(w, image), "looking for module variables"))
		image->wanted = true;
	recorder_release();
	if (recorder_settings()->extents && !recorder_settings()->no_data)
		image->ptx = image_ptx(image, current_sm(), &image->ptx_size);
	free(image->data);
	image->data = NULL;
	for (size_t i = 0; i < CACHE_SUFFIX_COUNT; i++) {
		free(image->cache.files[i].data);
		image->cache.files[i].data = NULL;
	}
}

/* ---- deciding ---- */

/* An image with nothing to record stays out of the bundle: its names decide, once they are known.
 */
static bool name_wanted(const struct image *image, const char *entry)
{
	const struct selection *settings = recorder_settings();

	if (!settings->has_kernels && !settings->has_exclude)
		return true;
	if (!entry && image->signature)
		entry = image->signature->entry;
	return entry && !selection_left_out(settings, entry);
}

void images_decide(struct image *image, const char *entry)
{
	const struct selection *settings = recorder_settings();
	const struct cache_file *files = image->cache.files;
	struct origin_evidence evidence = {
		.source = files[CACHE_SOURCE].data,
		.source_size = files[CACHE_SOURCE].size,
		.ttir = files[CACHE_TTIR].data,
		.ttir_size = files[CACHE_TTIR].size,
		.entry = entry,
		.image_path = image->path,
		.caller = image->caller,
	};
	enum origin origin;
	const char *how;

	if (image->wanted || !image->data)
		return;
	origin = origin_decide(&evidence, &how);
	if (origin != ORIGIN_OTHER && settings->origin_name >= 0) {
		origin = (enum origin)settings->origin_name;
		how = "KERNELAB_ORIGIN_NAME";
	}
	pthread_mutex_lock(&recorder_table_lock);
	image->origin = origin;
	image->origin_how = how;
	pthread_mutex_unlock(&recorder_table_lock);
	if (settings->origins & 1u << image->origin && name_wanted(image, entry))
		write_image(image);
}

static struct image *image_new(struct hash128 id, char *data, size_t size, enum image_kind kind,
			       const char *path, const char *loader, const void *caller)
{
	struct image *image = calloc(1, sizeof(*image));
	const struct cache_file *source;
	Dl_info info;

	if (!image) {
		free(data);
		return NULL;
	}
	image->id = id;
	image->kind = kind;
	image->size = size;
	image->data = data;
	image->path = path ? realpath(path, NULL) : NULL;
	if (path && !image->path)
		image->path = strdup(path);
	image->loader = loader;
	if (dladdr(caller, &info) && info.dli_fname)
		image->caller = strdup(info.dli_fname);
	cache_find(data, size, image->path, &image->cache);
	/* Triton 3.2 and earlier write no .source; TTIR after the passes has the same arguments. */
	source = &image->cache.files[CACHE_SOURCE];
	if (!signature_readable(source->data, source->size))
		source = &image->cache.files[CACHE_TTIR];
	if (source->data)
		tails_find_blocks(&image->blocks, source->data, source->size);
	if (source->data &&
	    signature_parse(&image->signature, source->data, source->size, NULL) < 0)
		image->signature = NULL;
	return image;
}

static struct image *image_get(char *data, size_t size, enum image_kind kind, const char *path,
			       const char *loader, const void *caller)
{
	struct hash128 id = hash_bytes(data, size);
	struct image *image = map_get(&by_id, id.low | 1);

	if (image && hash_equal(image->id, id)) {
		if (image->wanted || image->data)
			free(data);
		else
			image->data = data; /* it was dropped when its last module went */
		return image;
	}
	image = image_new(id, data, size, kind, path, loader, caller);
	if (!image || map_put(&by_id, id.low | 1, image) < 0) {
		recorder_fail("remembering an image", -ENOMEM);
		return NULL;
	}
	return image;
}

/* Caller holds load_lock. */
static void hold(uint64_t handle, uint64_t library, struct image *image)
{
	struct holder *h = malloc(sizeof(*h)), *old;
	int r = -ENOMEM;

	if (h) {
		*h = (struct holder){handle, library, image};
		pthread_mutex_lock(&recorder_table_lock);
		old = map_get(&holders, handle);
		r = map_put(&holders, handle, h);
		if (r < 0) {
			free(h);
		} else {
			image->modules++;
			/* One whose unloading was not seen, or which was asked for again. */
			if (old)
				old->image->modules--;
			free(old);
		}
		pthread_mutex_unlock(&recorder_table_lock);
	}
	if (r < 0)
		recorder_fail("remembering a module", r);
}

void images_loaded(CUmodule module, char *data, size_t size, enum image_kind kind, const char *path,
		   const char *loader, const void *caller)
{
	struct image *image;

	pthread_mutex_lock(&recorder_load_lock);
	image = image_get(data, size, kind, path, loader, caller);
	if (image) {
		images_decide(image, NULL);
		hold((uintptr_t)module, 0, image);
	}
	pthread_mutex_unlock(&recorder_load_lock);
}

/* ---- what the driver compiled ---- */

static const char *library_left_out(enum image_kind kind, size_t size)
{
	if (size > LIBRARY_IMAGE_MAX)
		return "its image, loaded as a library, is larger than 64 MiB: not copied";
	if (kind == IMAGE_FATBIN && !(recorder_settings()->origins & 1u << ORIGIN_OTHER))
		return "from a fatbin loaded as a library (KERNELAB_ORIGIN=all records such)";
	return NULL;
}

void images_listen(enum image_kind kind, struct cupti_watch *w)
{
	*w = (struct cupti_watch){0};
	if (kind == IMAGE_PTX || kind == IMAGE_FATBIN)
		cupti_begin(w);
}

void images_library_listen(enum image_kind kind, struct cupti_watch *w)
{
	images_listen(library_left_out(kind, 0) ? IMAGE_UNKNOWN : kind, w);
}

void images_listen_late(const void *holder, struct cupti_watch *w)
{
	const struct image *image;
	bool open = false;

	*w = (struct cupti_watch){0};
	if (!recorder_settings()->cupti)
		return;
	pthread_mutex_lock(&recorder_table_lock);
	image = image_of((uintptr_t)holder);
	open = image && !image->left_out &&
	       (image->kind == IMAGE_PTX || image->kind == IMAGE_FATBIN) && !image->jitted.count;
	pthread_mutex_unlock(&recorder_table_lock);
	if (open)
		cupti_begin(w);
}

/* Several modules of one call cannot be told apart. Caller holds load_lock. */
static int put_unclear(struct bundle_writer *w, const struct image *image, unsigned modules)
{
	char hex[HASH_TEXT_BYTES];
	_cleanup_free_ char *text = text_format("%s: the driver loaded %u modules in one call",
						hash_text(image->id, hex), modules);

	return text ? facts_put(w, "capture.cupti_unclear", text,
				"which of them is its machine code is not told")
		    : -ENOMEM;
}

/* Of a fatbin that could not be read the driver's code tells the variables. Caller holds load_lock.
 */
static void find_globals_heard(struct image *image, const char *cubin, size_t size)
{
	struct image_globals found;
	char hex[HASH_TEXT_BYTES];
	struct bundle_writer *w;

	/* Mostly nothing of it has been launched yet; another thread may be at it. */
	if (!image->wanted || !image->globals.unknown || image->modules != 1)
		return;
	if (image_globals_find(&found, cubin, size, IMAGE_CUBIN) < 0 || found.unknown) {
		image_globals_free(&found);
		return;
	}
	pthread_mutex_lock(&recorder_table_lock);
	image->replaced = image->globals; /* once: what is known now stays */
	image->globals = found;
	pthread_mutex_unlock(&recorder_table_lock);
	w = recorder_acquire();
	if (!w)
		return;
	recorder_put(facts_put(w, "capture.module_globals_heard", hash_text(image->id, hex),
			       "its module variables are known by the driver's machine code"),
		     "writing a fact");
	recorder_release();
}

static void write_heard(struct image *image, const struct cupti_watch *w)
{
	struct bundle_writer *out = image->wanted ? recorder_acquire() : NULL;

	if (!out)
		return;
	if (w->modules > 1)
		recorder_put(put_unclear(out, image, w->modules), "writing a fact");
	recorder_put(put_jitted(out, image), "writing the driver's machine code");
	recorder_release();
}

void images_heard(const void *holder, struct cupti_watch *w)
{
	struct image *image;
	unsigned sm;

	if (!recorder_settings()->cupti)
		return;
	pthread_mutex_lock(&recorder_load_lock);
	pthread_mutex_lock(&recorder_table_lock);
	image = image_of((uintptr_t)holder);
	pthread_mutex_unlock(&recorder_table_lock);
	sm = w->cubin && w->modules == 1 ? current_sm() : 0;
	if (image && sm) {
		find_globals_heard(image, w->cubin, w->size);
		pthread_mutex_lock(&recorder_table_lock);
		jitted_add(&image->jitted, w->cubin, w->size, sm);
		pthread_mutex_unlock(&recorder_table_lock);
		w->cubin = NULL;
	}
	if (image)
		write_heard(image, w);
	free(w->cubin);
	w->cubin = NULL;
	pthread_mutex_unlock(&recorder_load_lock);
}

/* ---- libraries ---- */

/* One known by its kernels' names only. */
static struct image *image_left_out(enum image_kind kind, size_t size, const char *loader,
				    const char *why)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image) {
		recorder_fail("remembering a library", -ENOMEM);
		return NULL;
	}
	image->kind = kind;
	image->size = size;
	image->loader = loader;
	image->origin = ORIGIN_OTHER;
	image->left_out = why;
	return image;
}

static char *copy_image(const void *start, size_t size)
{
	char *copy = malloc(size + 1);

	if (!copy) {
		recorder_fail("copying an image", -ENOMEM);
		return NULL;
	}
	memcpy(copy, start, size);
	copy[size] = 0;
	return copy;
}

/* What is not wanted now may be after a look at an entry's name, but not at any price. */
static void drop_unwanted(struct image *image)
{
	if (image->wanted || !image->data || image->size <= LIBRARY_KEPT_MAX)
		return;
	free(image->data);
	image->data = NULL;
}

void images_library_loaded(CUlibrary library, const void *code, char *data, size_t size,
			   const char *path, const char *loader, const void *caller)
{
	enum image_kind kind = data ? image_kind_of(data, size) : IMAGE_UNKNOWN;
	const void *start = data;
	struct image *image = NULL;
	const char *why;

	if (!data && !image_measure(code, &kind, &start, &size))
		return;
	why = library_left_out(kind, size);
	if (!why && !data)
		data = copy_image(start, size);
	pthread_mutex_lock(&recorder_load_lock);
	if (why)
		image = image_left_out(kind, size, loader, why);
	else if (data)
		image = image_get(data, size, kind, path, loader, caller);
	if (why)
		free(data);
	if (image) {
		images_decide(image, NULL);
		drop_unwanted(image);
		hold((uintptr_t)library, 0, image);
	}
	pthread_mutex_unlock(&recorder_load_lock);
}

void images_library_module(CUlibrary library, CUmodule module)
{
	struct image *image;

	pthread_mutex_lock(&recorder_load_lock);
	pthread_mutex_lock(&recorder_table_lock);
	image = images_of_library(library);
	pthread_mutex_unlock(&recorder_table_lock);
	if (image)
		hold((uintptr_t)module, (uintptr_t)library, image);
	pthread_mutex_unlock(&recorder_load_lock);
}

/* ---- unloading ---- */

/* Images whose variants go with their last module: extents_drop takes a lock that ranks higher. */
struct dropped {
	struct image *images[16];
	unsigned count;
};

/* Caller holds both locks. */
static void let_go(struct holder *h, struct dropped *dropped)
{
	struct image *image = h->image;

	kernels_drop_holder(h->handle);
	free(h);
	if (--image->modules)
		return;
	/* Not wanted until now, so its bytes would only be a leak of the program's memory. */
	free(image->data);
	image->data = NULL;
	jitted_drop(&image->jitted);
	if (dropped->count < ARRAY_LENGTH(dropped->images))
		dropped->images[dropped->count++] = image;
}

static void drop(const struct dropped *dropped)
{
	for (unsigned i = 0; i < dropped->count; i++)
		extents_drop(dropped->images[i]);
}

void images_unloading(CUmodule module)
{
	struct dropped dropped = {0};
	struct holder *h;

	pthread_mutex_lock(&recorder_load_lock);
	pthread_mutex_lock(&recorder_table_lock);
	h = map_remove(&holders, (uintptr_t)module);
	if (h)
		let_go(h, &dropped);
	pthread_mutex_unlock(&recorder_table_lock);
	pthread_mutex_unlock(&recorder_load_lock);
	drop(&dropped);
}

struct library_unload {
	uint64_t library;
	struct dropped dropped;
};

static int of_library(void *value, void *data)
{
	struct holder *h = value;
	struct library_unload *u = data;

	if (h->handle != u->library && h->library != u->library)
		return 0;
	let_go(h, &u->dropped);
	return 1;
}

void images_library_unloading(CUlibrary library)
{
	struct library_unload u = {.library = (uintptr_t)library};

	pthread_mutex_lock(&recorder_load_lock);
	pthread_mutex_lock(&recorder_table_lock);
	map_filter(&holders, of_library, &u);
	pthread_mutex_unlock(&recorder_table_lock);
	pthread_mutex_unlock(&recorder_load_lock);
	drop(&u.dropped);
}

struct image *images_of_module(CUmodule module)
{
	return image_of((uintptr_t)module);
}

struct image *images_of_library(CUlibrary library)
{
	return image_of((uintptr_t)library);
}

struct best_configs {
	struct bundle_writer *w;
	int r;
};

static int visit_best_configs(void *value, void *data)
{
	const struct image *image = value;
	struct best_configs *b = data;

	if (b->r >= 0 && image->wanted && image->origin == ORIGIN_INDUCTOR && image->signature &&
	    *image->signature->source_file == '/')
		b->r = put_best_configs(b->w, image->signature->source_file);
	return 0;
}

int images_write_end(struct bundle_writer *w)
{
	_cleanup_free_ char *autotune = glue_autotune_path();
	struct best_configs b = {.w = w};

	map_filter(&by_id, visit_best_configs, &b);
	if (b.r >= 0 && autotune)
		b.r = put_run_file(w, autotune);
	return b.r;
}

void images_forget(void)
{
	holders = by_id = run_files = (struct map){0};
}
