/* SPDX-License-Identifier: MIT */
/* Runs a kernel's address-recording variant once and turns its bitmaps into extents. */
#include "shim/extents.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base.h"
#include "lib/pairs.h"
#include "shim/bitmaps.h"
#include "shim/clock.h"
#include "shim/facts.h"
#include "shim/globals.h"
#include "shim/hooks.h"
#include "shim/pointers.h"
#include "shim/recorder.h"
#include "shim/tensor_maps.h"
#include "shim/variants.h"

#define PLAIN_SHARED_BYTES (48u << 10) /* more has to be asked for */
#define KEPT_ATTRIBUTES    4u
#define ROUNDS_MAX         8u /* steps of following pointers in memory, at least */

/* Over a whole measurement: variants, their places and the device's buffer. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct measurement {
	struct regions *regions;
	const struct launch_facts *f;
	CUstream stream;
	bool ahead;   /* the memory is not yet what the launch will find */
	bool depends; /* and the extents depend on it */
	const struct ptx_variant_entry *entry;
	CUmodule module;
	CUfunction function;
	struct place *place;
	/* Where the regions that are module variables lie in the variant's module; else 0. */
	uint64_t *variables;
	unsigned char *params;  /* pointers to module variables lead to those of the variant */
	struct ptx_span *spans; /* of the regions, then of the variant's variables */
	size_t span_count;
	struct bitmaps bitmaps;
	CUdeviceptr buffer;
	uint64_t outside; /* an address that it touches outside its regions */
	char *why;        /* regions->extents */
};

__attribute__((format(printf, 2, 3))) static bool fail(struct measurement *m, const char *format,
						       ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(m->why, sizeof(m->regions->extents), format, ap);
	va_end(ap);
	return false;
}

static bool failed(struct measurement *m, CUresult r, const char *step)
{
	char text[160];

	return fail(m, "%s: %s", step, driver_error_text(&real, r, text, sizeof(text)));
}

/* ---- before ---- */

static bool find_variant(struct measurement *m)
{
	struct image *image = m->f->kernel->image;
	const char *why = NULL;
	CUresult r;

	m->place = variants_place(&why);
	if (!m->place)
		return fail(m, "%s", why);
	m->module = variants_get(image, m->f->kernel->entry, m->place, &m->entry, m->why,
				 sizeof(m->regions->extents));
	if (!m->module)
		return false;
	m->depends = m->ahead && m->entry->careful;
	if (m->depends)
		return fail(m, "in a graph, and its addresses depend on memory");
	r = real.cuModuleGetFunction(&m->function, m->module, m->f->kernel->entry);
	return r == CUDA_SUCCESS ? true : failed(m, r, "its variant");
}

/*
 * The variant's own variables get the contents of the program's, and its parameters point to them:
 * all accesses of a variable then go one way, but for pointers that lie in memory.
 */
static bool bring_variables(struct measurement *m)
{
	const char *hidden;
	CUresult r;

	if (m->entry->names_variables && m->regions->missing)
		return fail(m, "%s", m->regions->missing);
	hidden = m->entry->names_variables ? globals_hidden(m->regions, m->module) : NULL;
	if (hidden)
		return fail(m, "its module variable %s is not found by the driver", hidden);
	m->variables = calloc(m->regions->count + 1, sizeof(*m->variables));
	m->params = malloc(m->f->params_size + 1);
	if (!m->variables || !m->params)
		return fail(m, "no host memory for its variables");
	memcpy(m->params, m->f->params, m->f->params_size);
	r = globals_copy(m->regions, m->module, m->stream, m->variables);
	if (r != CUDA_SUCCESS)
		return failed(m, r, "copying its module variables");
	for (size_t i = 0; i < m->regions->count; i++) {
		const struct record_region *g = &m->regions->items[i];

		for (size_t k = 0; m->variables[i] && k < g->param_offsets.count; k++) {
			uint64_t at = g->param_offsets.items[k], word;

			if (at + sizeof(word) > m->f->params_size)
				continue;
			memcpy(&word, m->params + at, sizeof(word));
			word += m->variables[i] - g->base;
			memcpy(m->params + at, &word, sizeof(word));
		}
	}
	return true;
}

static bool lay_out(struct measurement *m)
{
	size_t n = m->regions->count;
	const char *why;

	m->spans = calloc(2 * n + 1, sizeof(*m->spans));
	if (!m->spans)
		return fail(m, "no host memory for the list of its regions");
	for (size_t i = 0; i < n; i++)
		m->spans[m->span_count++] =
			(struct ptx_span){m->regions->items[i].base, m->regions->items[i].size};
	for (size_t i = 0; i < n; i++)
		if (m->variables[i])
			m->spans[m->span_count++] =
				(struct ptx_span){m->variables[i], m->regions->items[i].size};
	why = bitmaps_init(&m->bitmaps, m->spans, m->span_count);
	return why ? fail(m, "%s", why) : true;
}

static bool find_buffer(struct measurement *m)
{
	CUresult r;

	m->buffer = variants_buffer(m->place, m->bitmaps.device_bytes, &r);
	return m->buffer ? true : failed(m, r, "device memory for bitmaps");
}

static bool upload(struct measurement *m)
{
	CUdeviceptr symbol;
	size_t size;
	CUresult r = real.cuModuleGetGlobal_v2(&symbol, &size, m->module, PTX_TABLE_SYMBOL);

	if (r == CUDA_SUCCESS && size != sizeof(m->buffer))
		return fail(m, "its variant has no table");
	if (r == CUDA_SUCCESS)
		r = bitmaps_upload(&m->bitmaps, m->spans, m->span_count, m->buffer, symbol,
				   m->stream);
	return r == CUDA_SUCCESS ? true : failed(m, r, "the table of regions");
}

/* ---- the run ---- */

/* Clusters change what a kernel computes; other attributes only when and beside what it runs. */
static unsigned keep_attributes(const struct launch_call *call, CUlaunchAttribute *kept)
{
	unsigned n = 0;

	for (unsigned i = 0; i < call->attribute_count && n < KEPT_ATTRIBUTES; i++)
		if (call->attributes[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
		    call->attributes[i].id ==
			    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
			kept[n++] = call->attributes[i];
	return n;
}

static CUresult launch(const struct measurement *m)
{
	const struct launch_call *c = m->f->call;
	size_t size = m->f->params_size;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, m->params, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &size, CU_LAUNCH_PARAM_END};
	CUlaunchAttribute attributes[KEPT_ATTRIBUTES];
	CUlaunchConfig config = {
		.gridDimX = c->grid[0],
		.gridDimY = c->grid[1],
		.gridDimZ = c->grid[2],
		.blockDimX = c->block[0],
		.blockDimY = c->block[1],
		.blockDimZ = c->block[2],
		.sharedMemBytes = c->shared_bytes,
		.hStream = m->stream,
		.attrs = attributes,
		.numAttrs = keep_attributes(c, attributes),
	};

	if (config.numAttrs && !real.cuLaunchKernelEx)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (config.numAttrs) {
		real.cuFuncSetAttribute(m->function,
					CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
		return real.cuLaunchKernelEx(&config, m->function, NULL, extra);
	}
	return real.cuLaunchKernel(m->function, c->grid[0], c->grid[1], c->grid[2], c->block[0],
				   c->block[1], c->block[2], c->shared_bytes, m->stream, NULL,
				   extra);
}

static CUresult allow_shared_memory(const struct measurement *m)
{
	if (m->f->call->shared_bytes + m->f->kernel->static_shared_bytes <= PLAIN_SHARED_BYTES)
		return CUDA_SUCCESS;
	return real.cuFuncSetAttribute(m->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       (int)m->f->call->shared_bytes);
}

/* Once a bundle: bitmaps are copied as a whole, which takes longer. */
static void note_whole(void)
{
	static _Atomic(struct bundle_writer *) noted;
	struct bundle_writer *w = recorder_acquire();

	if (!w)
		return;
	if (atomic_exchange(&noted, w) != w)
		recorder_put(facts_put(w, "capture.bitmaps", "whole",
				       "the kernel that looks through them cannot be loaded"),
			     "writing a fact");
	recorder_release();
}

/* Behind the variant on its stream. */
static CUresult look_through(struct measurement *m)
{
	CUfunction pieces = m->bitmaps.piece_count ? variants_pieces(m->place) : NULL;

	if (m->bitmaps.piece_count && !pieces)
		note_whole();
	return bitmaps_look(&m->bitmaps, pieces, m->stream);
}

static bool read_table(struct measurement *m)
{
	const char *why;
	CUresult r = bitmaps_read(&m->bitmaps, m->stream, &why);

	return r == CUDA_SUCCESS ? true : failed(m, r, why);
}

static bool run(struct measurement *m)
{
	CUresult r = allow_shared_memory(m);

	if (r == CUDA_SUCCESS)
		r = launch(m);
	if (r == CUDA_SUCCESS)
		r = look_through(m);
	if (r != CUDA_SUCCESS)
		return failed(m, r, "launching its variant");
	if (!stream_wait(m->stream, recorder_settings()->wait_before_s, &r)) {
		if (r == CUDA_ERROR_NOT_READY) {
			fail(m, "its variant ran longer than %g seconds (KERNELAB_WAIT_BEFORE)",
			     recorder_settings()->wait_before_s);
			variants_give_up(m->f->kernel->image, m->why);
			/* It may still write there. */
			variants_lose_buffer(m->buffer);
			return false;
		}
		return failed(m, r, "running its variant");
	}
	return read_table(m);
}

/* ---- after ---- */

static int add_range(struct measurement *m, bool write, uint64_t address, uint64_t bytes)
{
	for (size_t i = 0; i < m->regions->count; i++) {
		struct record_region *g = &m->regions->items[i];
		uint64_t offset = address - g->base;

		if (offset >= g->size)
			continue;
		if (bytes > g->size - offset)
			bytes = g->size - offset;
		return pairs_add(write ? &g->writes : &g->reads, offset, bytes);
	}
	return -ENOENT;
}

/* The whole tensor of each descriptor that the kernel loads or stores through. */
static bool add_tensors(struct measurement *m)
{
	uint64_t all = m->entry->tensor_reads | m->entry->tensor_writes;

	for (unsigned i = 0; i < 64; i++) {
		uint64_t bit = 1ull << i, address, bytes;
		const char *why;
		int r = 0;

		if (!(all & bit))
			continue;
		if (i >= m->f->kernel->param_count ||
		    m->f->kernel->params[i].offset + sizeof(CUtensorMap) > m->f->params_size)
			return fail(m, "parameter %u is used as a TMA descriptor, but is none", i);
		why = tensor_maps_extent(m->f->params + m->f->kernel->params[i].offset, &address,
					 &bytes);
		if (why)
			return fail(m, "TMA descriptor %u %s", i, why);
		if (m->entry->tensor_reads & bit)
			r = add_range(m, false, address, bytes);
		if (!r && m->entry->tensor_writes & bit)
			r = add_range(m, true, address, bytes);
		if (r)
			return fail(m, "the tensor of TMA descriptor %u is in no region", i);
	}
	return true;
}

/*
 * Adds what was seen of the variant's copy of a variable. What was seen of the variable itself came
 * by a pointer in memory: a replay, in which the variable lies elsewhere, follows that only where
 * nothing went by its name.
 */
static int add_variable(struct measurement *m, size_t span, struct record_region *g, bool *merged)
{
	struct ptx_bitmaps bitmaps = bitmaps_view(&m->bitmaps);
	struct u64s reads = {0}, writes = {0};
	int r = ptx_table_ranges(&bitmaps, m->spans, span, &reads, &writes, merged);

	if (!reads.count && !writes.count && (g->reads.count || g->writes.count))
		g->memory = MEMORY_ALLOCATION; /* memory like any other to this launch */
	else if ((g->reads.count || g->writes.count) && !g->note)
		g->note = strdup("a pointer in memory leads to it: a replay cannot follow that");
	for (size_t k = 0; r >= 0 && k < reads.count; k += 2)
		r = pairs_add(&g->reads, reads.items[k], reads.items[k + 1]);
	for (size_t k = 0; r >= 0 && k < writes.count; k += 2)
		r = pairs_add(&g->writes, writes.items[k], writes.items[k + 1]);
	if (r >= 0 && g->constant &&
	    m->entry->names_variables) /* its loads are of no global memory, and not noted */
		r = pairs_add(&g->reads, 0, g->size);
	free(reads.items);
	free(writes.items);
	return r;
}

static bool read_ranges(struct measurement *m, bool *merged)
{
	struct ptx_bitmaps bitmaps = bitmaps_view(&m->bitmaps);
	size_t span = m->regions->count;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->regions->count; i++) {
		struct record_region *g = &m->regions->items[i];

		r = ptx_table_ranges(&bitmaps, m->spans, i, &g->reads, &g->writes, merged);
		if (r >= 0 && m->variables[i])
			r = add_variable(m, span++, g, merged);
	}
	return r < 0 ? fail(m, "no host memory for ranges") : add_tensors(m);
}

static void finish(struct measurement *m)
{
	struct ptx_table table = bitmaps_head(&m->bitmaps);
	bool merged = false;

	if (!table.ran) {
		fail(m, "its variant did not run");
		return;
	}
	if (table.stopped) {
		fail(m, "its addresses depend on what it writes itself");
		return;
	}
	if (!read_ranges(m, &merged)) {
		regions_forget_extents(m->regions);
		return;
	}
	m->regions->measured = true;
	m->outside = table.outside;
	if (table.outside)
		fail(m, "it touches memory outside its regions, e.g. 0x%llx%s",
		     (unsigned long long)table.outside, merged ? "; narrow gaps are filled" : "");
	else if (merged)
		fail(m, "narrow gaps are filled: more than %u ranges", PTX_RANGES_MAX);
}

/* An unbounded wait for another thread's measurement would be one more way to hang. */
static bool take_lock(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1 + (time_t)recorder_settings()->wait_before_s;
	return !pthread_mutex_timedlock(&lock, &until);
}

static void add_limit(struct regions *regions, const char *limited)
{
	size_t used = strlen(regions->extents);

	snprintf(regions->extents + used, sizeof(regions->extents) - used,
		 "%spointers in memory: %s", used ? "; " : "", limited);
}

static struct measurement begin(struct regions *regions, const struct launch_facts *f,
				CUstream stream)
{
	regions->measured = false;
	*regions->extents = 0;
	return (struct measurement){
		.regions = regions, .f = f, .stream = stream, .why = regions->extents};
}

static void end(struct measurement *m)
{
	free(m->variables);
	free(m->params);
	free(m->spans);
	bitmaps_free(&m->bitmaps);
}

/* One run of the variant over the regions as they are. Returns an address outside them, or 0. */
static uint64_t measure(struct regions *regions, const struct launch_facts *f, CUstream stream)
{
	struct measurement m = begin(regions, f, stream);

	if (find_variant(&m) && bring_variables(&m) && lay_out(&m) && find_buffer(&m) &&
	    upload(&m) && run(&m))
		finish(&m);
	end(&m);
	return m.outside;
}

/*
 * A launch that touches memory outside its regions got there by pointers in memory: those it read
 * are followed, and it is measured again with more regions, until it stays inside them.
 */
static void measure_all(struct regions *regions, const struct launch_facts *f, CUstream stream)
{
	uint64_t outside = measure(regions, f, stream);
	const char *limited = NULL;

	for (unsigned round = 0; outside && round < ROUNDS_MAX; round++) {
		size_t before = regions->count;

		if (regions_add(regions, outside, REGIONS_NO_PARAM) < 0)
			break;
		if (!pointers_follow(regions, stream, NULL, &limited) && regions->count == before)
			break;
		regions_forget_extents(regions);
		regions_merge(regions);
		outside = measure(regions, f, stream);
	}
	if (regions->measured)
		regions_drop_untouched(regions);
	if (outside && limited)
		add_limit(regions, limited);
}

/* Without a measurement all that pointers lead to may be touched. */
static void follow_all(struct regions *regions, CUstream stream)
{
	const char *limited = NULL;
	unsigned round = 0;

	while (round < ROUNDS_MAX && pointers_follow(regions, stream, NULL, &limited)) {
		regions_merge(regions);
		round++;
	}
	if (round == ROUNDS_MAX && !limited)
		limited = "not followed for more than 8 steps";
	if (limited)
		add_limit(regions, limited);
}

/* NULL if the launch can be measured; else why not. */
static const char *unmeasurable(const struct launch_facts *f)
{
	if (!recorder_settings()->extents)
		return "KERNELAB_EXTENTS is off";
	if (!f->kernel->layout_known)
		return "the layout of its parameters is not known";
	/* A launch that the driver refuses (its context is gone, and the memory with it) must not
	 * run as a variant, whose fault would be the program's. */
	if (!kernels_usable(f->call->function))
		return "its function is not one of the current context";
	return NULL;
}

/* Takes the lock, if the launch can be measured; else false, and regions->extents says why. */
static bool may_measure(struct regions *regions, const struct launch_facts *f)
{
	const char *why = unmeasurable(f);

	regions->measured = false;
	*regions->extents = 0;
	if (!why && take_lock())
		return true;
	snprintf(regions->extents, sizeof(regions->extents), "%s",
		 why ? why : "another thread measured for too long (KERNELAB_WAIT_BEFORE)");
	return false;
}

static _Atomic uint64_t measure_us;

int extents_write_facts(struct bundle_writer *w)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)atomic_load(&measure_us));
	return facts_put(w, "capture.measure_us", text,
			 "microseconds that launches waited for their extents to be measured");
}

void extents_measure(struct regions *regions, const struct launch_facts *f, CUstream stream)
{
	double start = clock_seconds();

	if (may_measure(regions, f)) {
		measure_all(regions, f, stream);
		pthread_mutex_unlock(&lock);
		atomic_fetch_add(&measure_us, (uint64_t)((clock_seconds() - start) * 1e6));
	}
	if (!regions->measured && f->kernel->layout_known)
		follow_all(regions, stream);
}

bool extents_measure_ahead(struct regions *regions, const struct launch_facts *f, CUstream stream)
{
	struct measurement m;

	if (!may_measure(regions, f))
		return false;
	m = begin(regions, f, stream);
	m.ahead = true;
	if (find_variant(&m) && bring_variables(&m) && lay_out(&m) && find_buffer(&m) &&
	    upload(&m) && run(&m))
		finish(&m);
	end(&m);
	if (regions->measured)
		regions_drop_untouched(regions);
	pthread_mutex_unlock(&lock);
	return m.depends;
}

/* ---- in a graph ---- */

struct extents_probe {
	struct measurement m;
	size_t params_size;
	void *extra[5];
};

bool extents_probes_begin(void)
{
	return take_lock();
}

void extents_probes_end(void)
{
	pthread_mutex_unlock(&lock);
}

struct extents_probe *extents_probe_new(struct regions *regions, const struct launch_facts *f,
					CUstream stream, uint64_t *bytes)
{
	struct extents_probe *p = calloc(1, sizeof(*p));
	CUlaunchAttribute kept[KEPT_ATTRIBUTES];
	bool good;

	if (!p)
		return NULL;
	p->m = begin(regions, f, stream);
	if (!real.cuGraphAddKernelNode_v2)
		good = fail(&p->m, "in a graph, and the driver adds no kernels to graphs");
	else if (keep_attributes(f->call, kept))
		good = fail(&p->m, "in a graph, with clusters, and its addresses depend on memory");
	else
		good = find_variant(&p->m) && bring_variables(&p->m) && lay_out(&p->m);
	*bytes = p->m.bitmaps.device_bytes;
	if (good)
		return p;
	end(&p->m);
	free(p);
	return NULL;
}

bool extents_probe_variable(const struct extents_probe *p, size_t index, CUdeviceptr *to,
			    CUdeviceptr *from, size_t *bytes)
{
	for (size_t i = 0; i < p->m.regions->count; i++) {
		if (!p->m.variables[i] || index--)
			continue;
		*to = p->m.variables[i];
		*from = p->m.regions->items[i].base;
		*bytes = p->m.regions->items[i].size;
		return true;
	}
	return false;
}

CUresult extents_probe_start(struct extents_probe *p, CUdeviceptr memory,
			     CUDA_KERNEL_NODE_PARAMS *node)
{
	const struct launch_call *c = p->m.f->call;
	CUresult r;

	p->m.buffer = memory;
	p->params_size = p->m.f->params_size;
	memcpy(p->extra,
	       (void *[]){CU_LAUNCH_PARAM_BUFFER_POINTER, p->m.params, CU_LAUNCH_PARAM_BUFFER_SIZE,
			  &p->params_size, CU_LAUNCH_PARAM_END},
	       sizeof(p->extra));
	*node = (CUDA_KERNEL_NODE_PARAMS){
		.func = p->m.function,
		.gridDimX = c->grid[0],
		.gridDimY = c->grid[1],
		.gridDimZ = c->grid[2],
		.blockDimX = c->block[0],
		.blockDimY = c->block[1],
		.blockDimZ = c->block[2],
		.sharedMemBytes = c->shared_bytes,
		.extra = p->extra,
	};
	r = allow_shared_memory(&p->m);
	if (r != CUDA_SUCCESS)
		return r;
	return upload(&p->m) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

uint64_t extents_probe_end(struct extents_probe *p, bool ran)
{
	uint64_t outside;
	CUresult r = ran ? look_through(&p->m) : CUDA_ERROR_NOT_READY;

	if (ran && r != CUDA_SUCCESS)
		failed(&p->m, r, "looking through its bitmaps");
	else if (ran && read_table(&p->m))
		finish(&p->m);
	outside = p->m.outside;
	end(&p->m);
	free(p);
	return outside;
}

void extents_drop(struct image *image)
{
	if (!image->variant)
		return;
	if (!take_lock())
		return;
	variants_unload(image);
	pthread_mutex_unlock(&lock);
}

void extents_forget(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	variants_forget();
}
