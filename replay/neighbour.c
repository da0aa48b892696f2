/* SPDX-License-Identifier: MIT */
/* Other conditions for a launch that its result must not depend on: neighbours, caches, room. */
#include "replay/neighbour.h"

#include <errno.h>

/*
 * A multiprocessor has four schedulers, and warp w of a block goes to scheduler w % 4. Of the
 * spinning kernel's 16 warps only those of one scheduler stay, and take its issue slots: the warps
 * of another block that are there fall behind those that are not. It ends when the first word is
 * set, or after so many cycles. The gate holds the stream until it has begun.
 */
#define SPIN_THREADS 512u
#define FMA4(a, b, c, d)                                                             \
	"fma.rn.f32 " a ", " a ", %f9, %f10;\nfma.rn.f32 " b ", " b ", %f9, %f10;\n" \
	"fma.rn.f32 " c ", " c ", %f9, %f10;\nfma.rn.f32 " d ", " d ", %f9, %f10;\n"
#define FMA8 FMA4("%f1", "%f2", "%f3", "%f4") FMA4("%f5", "%f6", "%f7", "%f8")

static const char neighbour_ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry kernelab_spin(.param .u64 pwords, .param .u32 ppart, .param .u64 "
	"pcycles)\n"
	"{\n.reg .pred %p<5>;\n.reg .b32 %r<8>;\n.reg .f32 %f<12>;\n.reg .b64 %d<8>;\n"
	"ld.param.u64 %d1, [pwords];\nld.param.u32 %r1, [ppart];\nld.param.u64 %d2, [pcycles];\n"
	"mov.u32 %r2, %tid.x;\nshr.u32 %r3, %r2, 5;\nand.b32 %r3, %r3, 3;\n"
	"setp.ne.u32 %p1, %r3, %r1;\n@%p1 bra done;\n"
	"mov.u32 %r4, 1;\nst.volatile.global.u32 [%d1+4], %r4;\n"
	"mov.u64 %d3, %clock64;\ncvt.rn.f32.u32 %f1, %r2;\n"
	"mov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nmov.f32 %f5, %f1;\n"
	"mov.f32 %f6, %f1;\nmov.f32 %f7, %f1;\nmov.f32 %f8, %f1;\n"
	"mov.f32 %f9, 0f3F000000;\nmov.f32 %f10, 0f3F800000;\n"
	"again:\n" FMA8 FMA8 FMA8 FMA8
	"ld.volatile.global.u32 %r5, [%d1];\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra ends;\n"
	"mov.u64 %d4, %clock64;\nsub.u64 %d4, %d4, %d3;\nsetp.lt.u64 %p3, %d4, %d2;\n"
	"@%p3 bra again;\n"
	"ends:\n" /* sums near 2: the store keeps the arithmetic alive */
	"add.f32 %f1, %f1, %f2;\nadd.f32 %f3, %f3, %f4;\nadd.f32 %f5, %f5, %f6;\n"
	"add.f32 %f7, %f7, %f8;\nadd.f32 %f1, %f1, %f3;\nadd.f32 %f5, %f5, %f7;\n"
	"add.f32 %f1, %f1, %f5;\nsetp.lt.f32 %p4, %f1, 0f00000000;\n"
	"@%p4 st.global.f32 [%d1+8], %f1;\n"
	"done:\nret;\n}\n"
	".visible .entry kernelab_gate(.param .u64 pwords, .param .u64 pcycles)\n"
	"{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %d<6>;\n"
	"ld.param.u64 %d1, [pwords];\nld.param.u64 %d2, [pcycles];\nmov.u64 %d3, %clock64;\n"
	"again:\nld.volatile.global.u32 %r1, [%d1+4];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra done;\n"
	"mov.u64 %d4, %clock64;\nsub.u64 %d4, %d4, %d3;\nsetp.lt.u64 %p2, %d4, %d2;\n"
	"@%p2 bra again;\n"
	"done:\nret;\n}\n";

#define WORDS_BYTES   16u
#define EMPTIER_LEAST ((size_t)1 << 20)

static CUresult open_parts(struct neighbour *n, CUdevice device)
{
	const struct driver *d = n->driver;
	int value = 0;
	CUresult r = d->cuModuleLoadDataEx(&n->module, neighbour_ptx, 0, NULL, NULL);

	if (r == CUDA_SUCCESS)
		r = d->cuModuleGetFunction(&n->spin, n->module, "kernelab_spin");
	if (r == CUDA_SUCCESS)
		r = d->cuModuleGetFunction(&n->gate, n->module, "kernelab_gate");
	if (r == CUDA_SUCCESS)
		r = d->cuStreamCreate(&n->stream, CU_STREAM_NON_BLOCKING);
	if (r == CUDA_SUCCESS)
		r = d->cuEventCreate(&n->before, CU_EVENT_DISABLE_TIMING);
	if (r == CUDA_SUCCESS)
		r = d->cuEventCreate(&n->after, CU_EVENT_DISABLE_TIMING);
	if (r == CUDA_SUCCESS)
		r = d->cuMemAlloc_v2(&n->words, WORDS_BYTES);
	if (r == CUDA_SUCCESS)
		r = d->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
					    device);
	n->multiprocessors = value > 0 ? (unsigned)value : 1;
	value = 0;
	if (r == CUDA_SUCCESS)
		r = d->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
	n->emptier_bytes = 2 * (value > 0 ? (size_t)value : 0);
	if (n->emptier_bytes < EMPTIER_LEAST)
		n->emptier_bytes = EMPTIER_LEAST;
	return r;
}

/* What was opened of it before something failed: each launch may try again. */
static void close_parts(struct neighbour *n)
{
	const struct driver *d = n->driver;

	if (n->words)
		d->cuMemFree_v2(n->words);
	if (n->after)
		d->cuEventDestroy_v2(n->after);
	if (n->before)
		d->cuEventDestroy_v2(n->before);
	if (n->stream)
		d->cuStreamDestroy_v2(n->stream);
	if (n->module)
		d->cuModuleUnload(n->module);
	*n = (struct neighbour){0};
}

static CUresult empty_caches(struct neighbour *n, CUstream stream)
{
	CUresult r =
		n->emptier ? CUDA_SUCCESS : n->driver->cuMemAlloc_v2(&n->emptier, n->emptier_bytes);

	return r == CUDA_SUCCESS
		       ? n->driver->cuMemsetD8Async(n->emptier, 0, n->emptier_bytes, stream)
		       : r;
}

void neighbour_rest(struct neighbour *n)
{
	if (n->emptier)
		n->driver->cuMemFree_v2(n->emptier);
	n->emptier = 0;
}

int neighbour_open(struct neighbour *n, const struct driver *driver, CUdevice device,
		   struct error *err)
{
	char text[160];
	CUresult r;

	if (n->driver)
		return 0;
	n->driver = driver;
	r = open_parts(n, device);
	if (r == CUDA_SUCCESS)
		return 0;
	close_parts(n);
	return error_set(err, r == CUDA_ERROR_OUT_OF_MEMORY ? ENOMEM : EIO, ERROR_NO_OFFSET,
			 "kernels that disturb: %s",
			 driver_error_text(driver, r, text, sizeof(text)));
}

static CUresult begin_spinning(struct neighbour *n, uint32_t part, uint64_t cycles, CUstream stream)
{
	const struct driver *d = n->driver;
	void *spin[] = {&n->words, &part, &cycles}, *gate[] = {&n->words, &cycles};
	CUresult r = d->cuMemsetD8Async(n->words, 0, WORDS_BYTES, stream);

	if (r == CUDA_SUCCESS)
		r = d->cuEventRecord(n->before, stream);
	if (r == CUDA_SUCCESS)
		r = d->cuStreamWaitEvent(n->stream, n->before, 0);
	if (r == CUDA_SUCCESS)
		r = d->cuLaunchKernel(n->spin, n->multiprocessors, 1, 1, SPIN_THREADS, 1, 1, 0,
				      n->stream, spin, NULL);
	return r == CUDA_SUCCESS
		       ? d->cuLaunchKernel(n->gate, 1, 1, 1, 1, 1, 1, 0, stream, gate, NULL)
		       : r;
}

CUresult neighbour_begin(struct neighbour *n, enum disturbance way, uint64_t cycles,
			 CUstream stream)
{
	switch (way) {
	case DISTURB_FIRST:
		return begin_spinning(n, 0, cycles, stream);
	case DISTURB_THIRD:
		return begin_spinning(n, 2, cycles, stream);
	case DISTURB_COLD:
		return empty_caches(n, stream);
	default:
		return CUDA_SUCCESS;
	}
}

CUresult neighbour_end(struct neighbour *n, enum disturbance way, CUstream stream)
{
	const struct driver *d = n->driver;
	CUresult r;

	if (way != DISTURB_FIRST && way != DISTURB_THIRD)
		return CUDA_SUCCESS;
	r = d->cuMemsetD32Async(n->words, 1, 1, stream);
	if (r == CUDA_SUCCESS)
		r = d->cuEventRecord(n->after, n->stream);
	return r == CUDA_SUCCESS ? d->cuStreamWaitEvent(stream, n->after, 0) : r;
}
