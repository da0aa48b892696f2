/* SPDX-License-Identifier: MIT */
/* Our own kernels: restore, compare, fill and change memory where it lies. */
#include "replay/kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/kernels_ptx.h"

#define THREADS    256u
#define LOG_BYTES  1024
#define TRY_CHUNKS 4

_Static_assert(CHUNK_BYTES == SLICES * SLICE_BYTES && SLICE_BYTES == THREADS * 16 * 8,
	       "8 rounds of 16 bytes a thread");

static CUresult launch(CUfunction f, const struct driver *d, size_t blocks, CUstream stream,
		       void **params)
{
	if (!blocks)
		return CUDA_SUCCESS;
	if (blocks > INT32_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	return d->cuLaunchKernel(f, (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, stream, params, NULL);
}

CUresult kernels_restore(const struct kernels *k, CUdeviceptr live, CUdeviceptr pristine,
			 CUdeviceptr flags, size_t chunks, CUstream stream)
{
	void *params[] = {&live, &pristine, &flags};

	return launch(k->restore, k->driver, chunks * SLICES, stream, params);
}

CUresult kernels_compare(const struct kernels *k, CUdeviceptr live, CUdeviceptr pristine,
			 CUdeviceptr reference, CUdeviceptr flags, size_t chunks, CUstream stream)
{
	void *params[] = {&live, &pristine, &reference, &flags};

	return launch(k->compare, k->driver, chunks * SLICES, stream, params);
}

CUresult kernels_fill(const struct kernels *k, CUdeviceptr runs, size_t count, uint8_t byte,
		      CUstream stream)
{
	uint32_t value = byte;
	void *params[] = {&runs, &value};

	return launch(k->fill, k->driver, count, stream, params);
}

CUresult kernels_change(const struct kernels *k, CUdeviceptr rows, size_t count,
			const struct change *change, CUstream stream)
{
	uint32_t kind = change->kind;
	int32_t exponent = change->exponent;
	uint64_t seed = change->seed;
	double step = change->step;
	void *params[] = {&rows, &kind, &exponent, &seed, &step};

	return launch(k->change, k->driver, count, stream, params);
}

CUresult kernels_look(const struct kernels *k, CUdeviceptr rows, size_t count, uint32_t look,
		      CUdeviceptr flags, CUstream stream)
{
	void *params[] = {&rows, &look, &flags};

	return launch(k->look, k->driver, count, stream, params);
}

/* What the trial below works on. */
struct known {
	CUdeviceptr live, pristine, other, tables, flags;
};

/*
 * Four chunks. First and last byte of the second one differ by one bit from pristine, and only the
 * last one from the reference, whose address of the fourth is unknown.
 */
static bool try_compare(const struct kernels *k, const struct known *x, CUstream stream)
{
	const struct driver *d = k->driver;
	uint8_t flags[TRY_CHUNKS * SLICES], wanted[TRY_CHUNKS * SLICES] = {0};
	size_t table = TRY_CHUNKS * sizeof(uint64_t), last = 2 * (size_t)CHUNK_BYTES - 1;

	wanted[SLICES] = SLICE_CHANGED;
	wanted[2 * SLICES - 1] = SLICE_CHANGED | SLICE_DIFFERS;
	memset(wanted + 3 * SLICES, SLICE_DIFFERS, SLICES);
	return d->cuMemsetD8Async(x->live, 0x5c, TRY_CHUNKS * CHUNK_BYTES, stream) == 0 &&
	       d->cuMemsetD8Async(x->pristine, 0x5c, TRY_CHUNKS * CHUNK_BYTES, stream) == 0 &&
	       d->cuMemsetD8Async(x->other, 0x5c, TRY_CHUNKS * CHUNK_BYTES, stream) == 0 &&
	       d->cuMemsetD8Async(x->live + CHUNK_BYTES, 0x5d, 1, stream) == 0 &&
	       d->cuMemsetD8Async(x->other + CHUNK_BYTES, 0x5d, 1, stream) == 0 &&
	       d->cuMemsetD8Async(x->live + last, 0xdc, 1, stream) == 0 &&
	       kernels_compare(k, x->tables, x->tables + table, x->tables + 2 * table, x->flags,
			       TRY_CHUNKS, stream) == CUDA_SUCCESS &&
	       d->cuMemcpyDtoHAsync_v2(flags, x->flags, sizeof(flags), stream) == CUDA_SUCCESS &&
	       d->cuStreamSynchronize(stream) == CUDA_SUCCESS &&
	       !memcmp(flags, wanted, sizeof(flags));
}

/* Restored by the flags of that comparison, nothing is left that differs. */
static bool try_restore(const struct kernels *k, const struct known *x, CUstream stream)
{
	const struct driver *d = k->driver;
	uint8_t flags[TRY_CHUNKS * SLICES], none[TRY_CHUNKS * SLICES] = {0};
	size_t table = TRY_CHUNKS * sizeof(uint64_t);

	return kernels_restore(k, x->tables, x->tables + table, x->flags, TRY_CHUNKS, stream) ==
		       CUDA_SUCCESS &&
	       kernels_compare(k, x->tables, x->tables + table, x->tables + table, x->flags,
			       TRY_CHUNKS, stream) == CUDA_SUCCESS &&
	       d->cuMemcpyDtoHAsync_v2(flags, x->flags, sizeof(flags), stream) == CUDA_SUCCESS &&
	       d->cuStreamSynchronize(stream) == CUDA_SUCCESS &&
	       !memcmp(flags, none, sizeof(flags));
}

static int try_known(const struct kernels *k, CUstream stream, struct error *err)
{
	const struct driver *d = k->driver;
	const size_t bytes = TRY_CHUNKS * (size_t)CHUNK_BYTES;
	uint64_t tables[3][TRY_CHUNKS];
	CUdeviceptr memory = 0;
	struct known x;
	bool good;

	if (d->cuMemAlloc_v2(&memory, 3 * bytes + CHUNK_BYTES) != CUDA_SUCCESS)
		return error_set(err, ENOMEM, ERROR_NO_OFFSET,
				 "not even %zu bytes of device memory are free: other processes "
				 "use it",
				 3 * bytes + CHUNK_BYTES);
	x = (struct known){memory, memory + bytes, memory + 2 * bytes, memory + 3 * bytes,
			   memory + 3 * bytes + CHUNK_BYTES / 2};
	for (size_t i = 0; i < TRY_CHUNKS; i++) {
		tables[0][i] = x.live + i * (size_t)CHUNK_BYTES;
		tables[1][i] = x.pristine + i * (size_t)CHUNK_BYTES;
		tables[2][i] = i + 1 < TRY_CHUNKS ? x.other + i * (size_t)CHUNK_BYTES : 0;
	}
	good = d->cuMemcpyHtoD_v2(x.tables, tables, sizeof(tables)) == CUDA_SUCCESS &&
	       try_compare(k, &x, stream) && try_restore(k, &x, stream);
	d->cuMemFree_v2(memory);
	return good ? 0
		    : error_set(err, EIO, ERROR_NO_OFFSET,
				"the device restores or compares memory wrongly");
}

static CUresult load(struct kernels *k, char *log, size_t log_bytes)
{
	const struct driver *d = k->driver;
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)log_bytes};
	CUresult r = d->cuModuleLoadDataEx(&k->module, kernels_ptx, 2, options, values);

	if (r == CUDA_SUCCESS)
		r = d->cuModuleGetFunction(&k->restore, k->module, "kernelab_restore");
	if (r == CUDA_SUCCESS)
		r = d->cuModuleGetFunction(&k->compare, k->module, "kernelab_compare");
	if (r == CUDA_SUCCESS)
		r = d->cuModuleGetFunction(&k->fill, k->module, "kernelab_fill");
	if (r == CUDA_SUCCESS)
		r = d->cuModuleGetFunction(&k->change, k->module, "kernelab_change");
	if (r == CUDA_SUCCESS)
		r = d->cuModuleGetFunction(&k->look, k->module, "kernelab_look");
	return r;
}

int kernels_open(struct kernels *k, const struct driver *driver, CUstream stream, struct error *err)
{
	static char log[LOG_BYTES];
	char text[160];
	CUresult r;

	*k = (struct kernels){.driver = driver};
	log[0] = 0;
	r = load(k, log, sizeof(log));
	log[sizeof(log) - 1] = 0;
	if (r != CUDA_SUCCESS)
		return error_set(err, ENOTSUP, ERROR_NO_OFFSET,
				 "the driver cannot compile the PTX that restores and compares "
				 "memory (is libnvidia-ptxjitcompiler.so.1 there?): %s %.160s",
				 driver_error_text(driver, r, text, sizeof(text)), log);
	return try_known(k, stream, err);
}
