/* SPDX-License-Identifier: MIT */
/* A worker's device: context, modules, one launch at a time. Lives only in the worker process. */
#include "replay/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base.h"
#include "replay/code.h"

#define LOG_BYTES          4096
#define DEVICE_BYTES_A_SEC 1e10        /* slowest GPU at restoring and comparing */
#define CYCLES_A_US        2000        /* more than the clock of any GPU so far */
#define PLAIN_SHARED_BYTES (48u << 10) /* more shared memory has to be asked for */

static int driver_failed(struct runner *r, CUresult result, struct error *err, const char *what)
{
	char text[160];

	return error_set(err, EIO, ERROR_NO_OFFSET, "%s: %s", what,
			 driver_error_text(&r->driver, result, text, sizeof(text)));
}

void runner_step(struct runner *r, enum phase phase, enum side side, enum trial_kind kind,
		 uint32_t index, double seconds)
{
	pulse_set(r->pulse, (struct step){phase, side, kind, index, seconds});
}

/* ---- opening ---- */

static int open_context(struct runner *r, struct error *err)
{
	const struct driver *d = &r->driver;
	CUresult result = d->cuInit(0);
	int count = 0;

	if (result == CUDA_SUCCESS)
		result = d->cuDeviceGetCount(&count);
	if (result == CUDA_SUCCESS && !count)
		return error_set(err, ENODEV, ERROR_NO_OFFSET, "the driver has no device");
	if (result == CUDA_SUCCESS)
		result = d->cuDeviceGet(&r->device, r->ordinal);
	if (result == CUDA_SUCCESS)
		result = d->cuDevicePrimaryCtxRetain(&r->context, r->device);
	if (result == CUDA_ERROR_OUT_OF_MEMORY)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET,
				 "device %d has no memory for a context: other processes use it",
				 r->ordinal);
	if (result == CUDA_SUCCESS)
		result = d->cuCtxSetCurrent(r->context);
	return result == CUDA_SUCCESS ? 0 : driver_failed(r, result, err, "device");
}

static int open_stream(struct runner *r, struct error *err)
{
	const struct driver *d = &r->driver;
	CUresult result = d->cuStreamCreate(&r->stream, CU_STREAM_NON_BLOCKING);
	CUevent *events[] = {&r->begin, &r->restored, &r->start, &r->stop, &r->end};

	for (size_t i = 0; result == CUDA_SUCCESS && i < ARRAY_LENGTH(events); i++)
		result = d->cuEventCreate(events[i], CU_EVENT_DEFAULT);
	if (result != CUDA_SUCCESS)
		return driver_failed(r, result, err, "stream");
	return board_open(&r->board, d, r->stream, &r->watch, err);
}

static void send_ready(struct runner *r, const struct error *refused)
{
	const struct driver *d = &r->driver;
	struct packet *p = &r->packet;
	char name[128] = "";
	int major = 0, minor = 0, version = 0;
	size_t bytes = 0;

	d->cuDeviceGetName(name, sizeof(name), r->device);
	d->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, r->device);
	d->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, r->device);
	d->cuDeviceTotalMem_v2(&bytes, r->device);
	d->cuDriverGetVersion(&version);
	name[sizeof(name) - 1] = 0;
	r->software = !strncmp(name, "kernelab", 8);
	r->sm = r->software ? 0 : (unsigned)(10 * major + minor);
	packet_clear(p);
	packet_put_text(p, name);
	packet_put_u64(p, r->software);
	packet_put_u64(p, (uint64_t)major);
	packet_put_u64(p, (uint64_t)minor);
	packet_put_u64(p, bytes);
	packet_put_u64(p, (uint64_t)version);
	packet_put_u64(p, r->memory.refused.count);
	packet_put_text(p, r->memory.refused.count ? refused->message : "");
	if (wire_send(r->fd, WIRE_READY, p))
		r->parent_gone = true;
}

/* Of a device that may not be usable; "" unknown. */
static const char *device_name(const struct runner *r, char *out, int size)
{
	const struct driver *d = &r->driver;
	CUdevice device;

	out[0] = 0;
	if (d->cuDeviceGet && d->cuDeviceGet(&device, r->ordinal) == CUDA_SUCCESS)
		d->cuDeviceGetName(out, size - 1, device);
	out[size - 1] = 0;
	return out;
}

int runner_open(struct runner *r, const char *driver_path)
{
	struct error err = {0};
	char name[96];
	int rc = driver_open(&r->driver, driver_path, &err);

	if (!rc)
		rc = open_context(r, &err);
	if (!rc) { /* before anything else allocates */
		rc = memory_reserve(&r->memory, &r->driver, r->device, &r->watch, &r->plan->reserve,
				    &err);
		if (rc == -EADDRNOTAVAIL)
			rc = 0;
	}
	if (!rc) {
		struct error refused = err;

		rc = open_stream(r, &err);
		if (!rc)
			send_ready(r, &refused);
	}
	if (rc) {
		packet_clear(&r->packet);
		packet_put_text(&r->packet, err.message);
		packet_put_text(&r->packet, device_name(r, name, sizeof(name)));
		wire_send(r->fd, WIRE_FAILED, &r->packet);
	}
	return rc;
}

/* ---- modules ---- */

static int load_module(struct runner *r, const struct bound *bound, CUmodule *module,
		       struct error *err)
{
	static char log[LOG_BYTES];
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
	_cleanup_free_ void *data = NULL;
	CUresult result;
	size_t size;
	int rc;

	rc = code_read(bound->bundle, bound->image, r->sm, &data, &size, err);
	if (rc)
		return rc;
	log[0] = 0;
	result = r->driver.cuModuleLoadDataEx(module, data, ARRAY_LENGTH(options), options, values);
	if (result == CUDA_SUCCESS)
		return 0;
	log[sizeof(log) - 1] = 0;
	for (char *c = log; *c; c++)
		if (*c == '\n')
			*c = ' ';
	driver_failed(r, result, err, "loading the image");
	if (log[0])
		error_set(err, EIO, ERROR_NO_OFFSET, "loading the image: %.380s", log);
	return -EIO;
}

static int get_module(struct runner *r, const struct bound *bound, CUmodule *module,
		      struct error *err)
{
	struct hash128 code = code_id(bound->bundle, bound->image->id, r->sm);
	int rc;

	for (size_t i = 0; i < r->module_count; i++) {
		if (hash_equal(r->modules[i].code, code)) {
			*module = r->modules[i].module;
			return 0;
		}
	}
	rc = array_reserve(&r->modules, r->module_count, &r->module_capacity, sizeof(*r->modules));
	if (rc)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for modules");
	rc = load_module(r, bound, module, err);
	if (!rc)
		r->modules[r->module_count++] = (struct loaded_module){code, *module};
	return rc;
}

void ready_free(struct ready *ready, struct runner *r)
{
	for (size_t i = 0; i < ARRAY_LENGTH(ready->scratch); i++)
		if (ready->scratch[i])
			r->driver.cuMemFree_v2(ready->scratch[i]);
	variables_free(&ready->variables);
	free(ready->pointers);
	*ready = (struct ready){0};
}

/* Writes the scratch addresses into the parameter buffer: it belongs to this process's copy. */
static int make_scratch(struct ready *ready, struct runner *r, struct error *err)
{
	for (size_t i = 0; i < ready->bound->scratch_count; i++) {
		const struct scratch *s = &ready->bound->scratch[i];
		CUresult result = r->driver.cuMemAlloc_v2(&ready->scratch[i], s->bytes);

		if (result != CUDA_SUCCESS)
			return driver_failed(r, result, err, "scratch memory");
		memcpy(ready->bound->params + s->offset, &ready->scratch[i], 8);
	}
	return 0;
}

/* Parameters that lead into a module variable lead to where it lies now. */
static int point_to_variables(const struct ready *ready, const struct contents *contents,
			      struct error *err)
{
	const struct bound *b = ready->bound;

	for (size_t i = 0; i < b->variable_word_count; i++) {
		const struct variable_word *w = &b->variable_words[i];
		uint64_t word;

		if (w->variable >= contents->variable_count || !ready->variables.at[w->variable])
			return error_set(err, EINVAL, ERROR_NO_OFFSET,
					 "a parameter of %s leads to module variable %s, which its "
					 "module does not have",
					 b->entry,
					 w->variable < contents->variable_count
						 ? contents->variables[w->variable].name
						 : "?");
		word = ready->variables.at[w->variable] + w->into;
		memcpy(b->params + w->offset, &word, sizeof(word));
	}
	return 0;
}

/* Encodes the tensor of `d` anew, in the shape that this image wants. */
static int encode(struct runner *r, const struct bound *b, const struct descriptor *d,
		  struct error *err)
{
	enum { MAX_RANK = 5 };
	const struct record_tensor_map *t = d->tensor, *s = d->shape;
	uint32_t rank = (uint32_t)t->dims.count, box[MAX_RANK], steps[MAX_RANK];
	CUtensorMap map;
	CUresult result;

	if (!r->driver.cuTensorMapEncodeTiled || !rank || rank > MAX_RANK ||
	    t->strides_bytes.count + 1 < rank || s->box.count != rank ||
	    s->element_strides.count != rank)
		return error_set(err, ENOTSUP, ERROR_NO_OFFSET,
				 "a TMA descriptor of %s cannot be encoded anew", b->entry);
	for (uint32_t i = 0; i < rank; i++) {
		box[i] = (uint32_t)s->box.items[i];
		steps[i] = (uint32_t)s->element_strides.items[i];
	}
	result = r->driver.cuTensorMapEncodeTiled(
		&map, (CUtensorMapDataType)s->data_type, rank, (void *)(uintptr_t)t->address,
		(const cuuint64_t *)t->dims.items, (const cuuint64_t *)t->strides_bytes.items, box,
		steps, (CUtensorMapInterleave)s->interleave, (CUtensorMapSwizzle)s->swizzle,
		(CUtensorMapL2promotion)s->l2_promotion, (CUtensorMapFloatOOBfill)s->oob_fill);
	if (result != CUDA_SUCCESS)
		return driver_failed(r, result, err, "encoding a TMA descriptor");
	memcpy(b->params + d->offset, &map, sizeof(map));
	return 0;
}

int ready_make(struct ready *ready, struct runner *r, const struct bound *bound, struct error *err)
{
	enum activity before = stopwatch_switch(&r->watch, ACTIVITY_LOADING);
	CUmodule module;
	CUresult result;
	int static_bytes = 0, rc;

	*ready = (struct ready){.bound = bound};
	rc = get_module(r, bound, &module, err);
	stopwatch_switch(&r->watch, before);
	if (rc)
		return rc;
	result = r->driver.cuModuleGetFunction(&ready->function, module, bound->entry);
	if (result != CUDA_SUCCESS)
		return driver_failed(r, result, err, bound->entry);
	if (r->driver.cuFuncGetAttribute(&static_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
					 ready->function) != CUDA_SUCCESS)
		static_bytes = 0;
	if (bound->shared_bytes + (uint64_t)static_bytes > PLAIN_SHARED_BYTES) {
		result = r->driver.cuFuncSetAttribute(
			ready->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			(int)bound->shared_bytes);
		if (result != CUDA_SUCCESS)
			return driver_failed(r, result, err, "dynamic shared memory");
	}
	ready->pointers = calloc(bound->layout_count + 1, sizeof(*ready->pointers));
	if (!ready->pointers)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for parameters");
	for (size_t i = 0; i < bound->layout_count; i++)
		ready->pointers[i] = bound->params + bound->layout[i].offset;
	rc = make_scratch(ready, r, err);
	if (!rc)
		rc = variables_find(&ready->variables, &r->driver, module, r->board.contents, err);
	if (!rc)
		rc = point_to_variables(ready, r->board.contents, err);
	for (size_t i = 0; !rc && i < bound->descriptor_count; i++)
		rc = encode(r, bound, &bound->descriptors[i], err);
	if (rc)
		ready_free(ready, r);
	return rc;
}

/* ---- launching ---- */

void outcome_free(struct outcome *o)
{
	snapshot_free(&o->after);
	*o = (struct outcome){0};
}

static CUresult launch_plain(struct runner *r, const struct ready *ready, uint32_t shared_bytes)
{
	const struct bound *b = ready->bound;

	return r->driver.cuLaunchKernel(ready->function, b->grid[0], b->grid[1], b->grid[2],
					b->block[0], b->block[1], b->block[2], shared_bytes,
					r->stream, ready->pointers, NULL);
}

static CUresult launch_with_attributes(struct runner *r, const struct ready *ready,
				       uint32_t shared_bytes)
{
	const struct bound *b = ready->bound;
	CUlaunchAttribute attributes[BOUND_MAX_ATTRIBUTES + 1] = {0};
	CUlaunchConfig config = {.gridDimX = b->grid[0],
				 .gridDimY = b->grid[1],
				 .gridDimZ = b->grid[2],
				 .blockDimX = b->block[0],
				 .blockDimY = b->block[1],
				 .blockDimZ = b->block[2],
				 .sharedMemBytes = shared_bytes,
				 .hStream = r->stream,
				 .attrs = attributes};
	bool cooperative = false;

	for (size_t i = 0; i < b->attribute_count; i++) {
		CUlaunchAttribute *a = &attributes[config.numAttrs++];

		a->id = (CUlaunchAttributeID)b->attributes[i].id;
		memcpy(&a->value, b->attributes[i].value, sizeof(a->value));
		cooperative |= a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
	}
	if (b->cooperative && !cooperative) {
		attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		attributes[config.numAttrs++].value.cooperative = 1;
	}
	return r->driver.cuLaunchKernelEx(&config, ready->function, ready->pointers, NULL);
}

/* A failed launch or wait: is only this launch bad, or the context with it? */
static void note_failure(struct runner *r, struct outcome *out, CUresult result,
			 enum trial_status status)
{
	char text[160];

	out->status = status;
	snprintf(out->reason, sizeof(out->reason), "%s",
		 driver_error_text(&r->driver, result, text, sizeof(text)));
	if (r->driver.cuCtxSynchronize() != CUDA_SUCCESS)
		r->lost = true;
}

/* Memory as the launch is to find it; enqueued. */
static int prepare(struct runner *r, const struct ready *ready, const struct moment *when,
		   const struct setting *s, struct error *err)
{
	int rc = board_restore(&r->board, err);

	if (s->poison || s->change) {
		stopwatch_switch(&r->watch, ACTIVITY_CHANGING);
		r->driver.cuEventRecord(r->restored, r->stream);
	}
	if (!rc && s->poison)
		rc = board_fill(&r->board, s->fill, err);
	if (!rc && s->poison && when->phase == PHASE_PROBE)
		rc = board_keep_filled(&r->board, s->poison, s->fill, err);
	if (!rc && s->change)
		rc = board_change(&r->board, s->change, err);
	for (size_t i = 0; !rc && i < ready->bound->scratch_count; i++) {
		CUresult result =
			r->driver.cuMemsetD8Async(ready->scratch[i], s->poison ? s->fill : 0,
						  ready->bound->scratch[i].bytes, r->stream);
		if (result != CUDA_SUCCESS)
			rc = driver_failed(r, result, err, "scratch memory");
	}
	return rc ? rc : board_copy_variables(&r->board, &ready->variables, true, err);
}

/* The picture that is most likely the outcome. */
static enum bank bank_to_compare(const struct moment *when)
{
	bool first_a = when->phase == PHASE_A && when->kind == TRIAL_REPEAT && !when->index;
	bool first_b = when->phase == PHASE_B && when->kind == TRIAL_REPEAT && !when->index;

	if (when->phase == PHASE_PROBE)
		return BANK_FILLED;
	if (when->side == SIDE_B && !first_b)
		return BANK_SIDE;
	return first_a ? BANK_BEFORE : BANK_A;
}

/* The picture that the outcome becomes; BANK_BEFORE: none. */
static enum bank bank_to_keep(const struct moment *when)
{
	bool first = when->kind == TRIAL_REPEAT && !when->index;

	if (when->phase == PHASE_A)
		return first ? BANK_A : BANK_BEFORE;
	if (when->phase == PHASE_B)
		return first ? BANK_SIDE : BANK_BEFORE;
	return when->phase == PHASE_FURTHER && when->side == SIDE_A ? BANK_SIDE : BANK_BEFORE;
}

/* As much dynamic shared memory that a second block has no room beside it. */
static CUresult take_room(struct runner *r, const struct ready *ready, uint32_t *shared_bytes)
{
	const struct driver *d = &r->driver;
	int most = 0, fixed = 0;
	CUresult result = d->cuDeviceGetAttribute(
		&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, r->device);

	if (result == CUDA_SUCCESS)
		result = d->cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
					       ready->function);
	if (result != CUDA_SUCCESS || most <= fixed || (uint32_t)(most - fixed) < *shared_bytes)
		return result;
	*shared_bytes = (uint32_t)(most - fixed);
	return d->cuFuncSetAttribute(ready->function,
				     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - fixed);
}

/*
 * A spinning kernel lasts so long at most: some times what the launch took, and 0.1 ms. The
 * software device runs one kernel after the other, and the clock stands still for a warp's turn.
 */
static uint64_t spin_cycles(const struct runner *r, const struct setting *s)
{
	return r->software ? 0 : (uint64_t)((3 * s->usual_us + 100) * CYCLES_A_US);
}

static CUresult launch_all(struct runner *r, const struct ready *ready, const struct setting *s)
{
	bool attributes = ready->bound->attribute_count || ready->bound->cooperative;
	uint32_t shared_bytes = ready->bound->shared_bytes;
	CUresult result = CUDA_SUCCESS;

	if (s->disturb == DISTURB_ROOM)
		result = take_room(r, ready, &shared_bytes);
	else if (s->disturb)
		result = neighbour_begin(&r->neighbour, s->disturb, spin_cycles(r, s), r->stream);
	if (result == CUDA_SUCCESS)
		result = r->driver.cuEventRecord(r->start, r->stream);
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < (s->launches ? s->launches : 1); i++)
		result = attributes ? launch_with_attributes(r, ready, shared_bytes)
				    : launch_plain(r, ready, shared_bytes);
	if (result == CUDA_SUCCESS)
		result = r->driver.cuEventRecord(r->stop, r->stream);
	if (s->disturb && r->neighbour.driver) {
		CUresult ended = neighbour_end(&r->neighbour, s->disturb, r->stream);

		result = result == CUDA_SUCCESS ? ended : result;
	}
	/* Its launch is over here: what follows is not its time. */
	return result == CUDA_SUCCESS && r->software ? r->driver.cuStreamSynchronize(r->stream)
						     : result;
}

/* Moves time between two events from the launch's activity to another one. */
static void charge(struct runner *r, CUevent from, CUevent to, enum activity a)
{
	uint64_t *kernels = &r->pulse->cost.ns[ACTIVITY_KERNELS], ns;
	float ms = 0;

	if (r->driver.cuEventElapsedTime(&ms, from, to) != CUDA_SUCCESS || !(ms > 0))
		return;
	ns = (uint64_t)((double)ms * 1e6);
	ns = ns < *kernels ? ns : *kernels;
	*kernels -= ns;
	r->pulse->cost.ns[a] += ns;
}

/*
 * Launches, compares, waits. The outcome says how that went; no snapshot yet. On a GPU nothing is
 * waited for between restoring and comparing.
 */
static int launch_and_wait(struct runner *r, const struct ready *ready, const struct moment *when,
			   const struct setting *s, enum look look, struct outcome *out,
			   struct error *err)
{
	uint64_t began = monotonic_ns();
	CUresult result;
	float ms = 0;
	int rc;

	result = launch_all(r, ready, s);
	if (result != CUDA_SUCCESS) {
		note_failure(r, out, result, TRIAL_STATUS_LAUNCH_ERROR);
		if (r->lost) /* a device that runs launches at once reports the fault here */
			out->status = TRIAL_STATUS_FAULT;
		else
			board_spoil(&r->board);
		return 0;
	}
	if (r->software)
		runner_step(r, PHASE_SETUP, when->side, when->kind, when->index,
			    when->setup_seconds);
	rc = board_copy_variables(&r->board, &ready->variables, false, err);
	if (!rc)
		rc = board_compare(&r->board, bank_to_compare(when), err);
	if (!rc && look != LOOK_NONE)
		rc = board_look(&r->board, look, err);
	if (rc)
		return rc;
	r->driver.cuEventRecord(r->end, r->stream);
	result = r->driver.cuStreamSynchronize(r->stream);
	out->wall_ns = monotonic_ns() - began;
	if (result != CUDA_SUCCESS) {
		note_failure(r, out, result, TRIAL_STATUS_FAULT);
		if (!r->lost)
			board_spoil(&r->board);
	} else if (r->driver.cuEventElapsedTime(&ms, r->start, r->stop) == CUDA_SUCCESS) {
		out->time_us = (double)ms * 1000.0;
	}
	return 0;
}

/* The trial itself, from restored memory to the end of the comparison. */
static int run_trial(struct runner *r, const struct ready *ready, const struct moment *when,
		     const struct setting *s, struct outcome *out, struct error *err)
{
	uint64_t bytes = r->board.contents->chunks * (uint64_t)CHUNK_BYTES;
	/* On a GPU the launch's limit runs while it is restored and compared too. */
	double seconds = when->seconds + (r->software ? 0 : (double)bytes / DEVICE_BYTES_A_SEC);
	enum activity before = stopwatch_switch(&r->watch, ACTIVITY_HOST);
	bool can_look = false;
	int rc = 0;

	r->pulse->cost.trials++;
	r->pulse->cost.launches += s->launches ? s->launches : 1;
	if (s->disturb)
		rc = neighbour_open(&r->neighbour, &r->driver, r->device, err);
	if (!rc && s->poison)
		rc = board_plan_fill(&r->board, s->poison, err);
	if (!rc && s->change)
		rc = board_plan_change(&r->board, s->change, err);
	if (!rc && s->look != LOOK_NONE)
		rc = board_plan_look(&r->board, &s->outputs->extents, &s->outputs->bytes, &can_look,
				     err);
	stopwatch_switch(&r->watch, ACTIVITY_RESTORING);
	r->driver.cuEventRecord(r->begin, r->stream);
	if (!rc)
		rc = prepare(r, ready, when, s, err);
	if (!rc) {
		stopwatch_switch(&r->watch, ACTIVITY_KERNELS);
		runner_step(r, when->phase, when->side, when->kind, when->index, seconds);
		rc = launch_and_wait(r, ready, when, s, can_look ? s->look : LOOK_NONE, out, err);
		runner_step(r, PHASE_SETUP, when->side, when->kind, when->index,
			    when->setup_seconds);
	}
	stopwatch_switch(&r->watch, before);
	if (!rc && out->status == TRIAL_STATUS_OK) {
		CUevent restored = s->poison || s->change ? r->restored : r->start;

		if (!r->software)
			charge(r, r->begin, restored, ACTIVITY_RESTORING);
		if (!r->software && restored != r->start)
			charge(r, restored, r->start, ACTIVITY_CHANGING);
		charge(r, r->stop, r->end, ACTIVITY_COMPARING);
	}
	return rc;
}

int runner_launch(struct runner *r, const struct ready *ready, const struct moment *when,
		  const struct setting *setting, struct outcome *out, struct error *err)
{
	static const struct setting plain = {0};
	const struct setting *s = setting ? setting : &plain;
	const struct bound *b = ready->bound;
	enum bank keep = bank_to_keep(when);
	int rc;

	*out = (struct outcome){0};
	if ((b->attribute_count || b->cooperative) && !r->driver.cuLaunchKernelEx)
		return error_set(err, ENOTSUP, ERROR_NO_OFFSET,
				 "the driver has no cuLaunchKernelEx for this launch's attributes");
	runner_step(r, PHASE_SETUP, when->side, when->kind, when->index, when->setup_seconds);
	rc = run_trial(r, ready, when, s, out, err);
	if (rc || out->status != TRIAL_STATUS_OK)
		return rc;
	rc = snapshot_init(&out->after, r->board.contents);
	if (rc)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET, "no memory for a snapshot");
	rc = board_read(&r->board, bank_to_compare(when), s->read, s->away ? keep : BANK_BEFORE,
			&out->after, err);
	if (!rc && keep != BANK_BEFORE)
		rc = board_keep(&r->board, keep, &out->after, err);
	if (rc)
		outcome_free(out);
	return rc;
}

/* Tells how much a launch needs and how much there is. */
static int too_large(struct runner *r, const struct ranges *pieces, struct error *err)
{
	size_t free_bytes = 0, all_bytes = 0;

	r->driver.cuMemGetInfo_v2(&free_bytes, &all_bytes);
	return error_set(err, E2BIG, ERROR_NO_OFFSET,
			 "needs %.3f GB of device memory; the device has %.3f GB, of which %.3f GB "
			 "are free beside this process",
			 (double)ranges_bytes(pieces) * 1e-9, (double)all_bytes * 1e-9,
			 (double)free_bytes * 1e-9);
}

int runner_take(struct runner *r, const struct contents *contents, struct error *err)
{
	int rc = memory_map(&r->memory, &contents->pieces, err);

	if (rc == -ENOMEM) { /* what earlier launches left there may be in the way */
		board_clear(&r->board);
		rc = memory_map(&r->memory, &contents->pieces, err);
	}
	if (rc)
		memory_unmap(&r->memory);
	if (rc == -ENOMEM)
		return too_large(r, &contents->pieces, err);
	return rc ? rc : board_take(&r->board, contents, err);
}

/* ---- shipping ---- */

static size_t sent_slot(const struct runner *r, struct hash128 key)
{
	size_t i = key.low & (r->sent_capacity - 1);

	while (!hash_is_zero(r->sent[i]) && !hash_equal(r->sent[i], key))
		i = (i + 1) & (r->sent_capacity - 1);
	return i;
}

/* Notes a key; true if the parent has that chunk. */
static bool sent_before(struct runner *r, struct hash128 key)
{
	size_t i;

	if (2 * (r->sent_count + 1) > r->sent_capacity) {
		size_t capacity = r->sent_capacity ? 2 * r->sent_capacity : 1024;
		struct hash128 *old = r->sent, *bigger = calloc(capacity, sizeof(*bigger));
		size_t old_capacity = r->sent_capacity;

		if (!bigger)
			return false; /* sent again: the writer keeps one copy */
		r->sent = bigger;
		r->sent_capacity = capacity;
		for (i = 0; i < old_capacity; i++)
			if (!hash_is_zero(old[i]))
				r->sent[sent_slot(r, old[i])] = old[i];
		free(old);
	}
	i = sent_slot(r, key);
	if (!hash_is_zero(r->sent[i]))
		return true;
	r->sent[i] = key;
	r->sent_count++;
	return false;
}

int runner_ship(struct runner *r, struct packet *keys, const struct snapshot *s, uint64_t address,
		uint64_t size)
{
	const struct byteset shape = {.pieces = &s->base->pieces, .chunks = s->base->chunks};
	size_t chunk = byteset_chunk(&shape, address);
	uint64_t n = chunk_count(address, size);

	packet_put_u64(keys, n);
	for (uint64_t i = 0; i < n; i++) {
		enum activity before = stopwatch_switch(&r->watch, ACTIVITY_HASHING);
		struct page *page = snapshot_page(s, chunk + i);
		struct hash128 key;
		uint32_t offset, bytes;
		uint64_t at;

		chunk_range(address, size, i, &at, &bytes);
		offset = at % CHUNK_BYTES;
		key = page_hash(page, offset, bytes);
		stopwatch_switch(&r->watch, ACTIVITY_SENDING);
		if (!sent_before(r, key) &&
		    wire_send_raw(r->fd, WIRE_CHUNK, page_bytes(page) + offset, bytes))
			r->parent_gone = true;
		stopwatch_switch(&r->watch, before);
		packet_put_hash(keys, key);
	}
	return keys->bad ? -ENOMEM : 0;
}
